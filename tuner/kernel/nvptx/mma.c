/* Wave tiles by mma.sync: f16, bf16, tf32, f64, int8 and 8-bit floats, either dimension of either operand
 * contiguous. The text's readers take fragments from shared memory without bank conflicts: 32 bytes along K
 * by ldmatrix; 16-bit elements along the free dimension by transposing ldmatrix; longer ones by plain loads;
 * bytes by turning 4x4 of them in registers. */
#include "base/log.h"
#include "kernel/nvptx/lanes.h"
#include "kernel/nvptx/ring.h"

/* Numbers of two bytes of a fragment each, in the order of m16n8k16: its steps take bytes 0, 1 of every four
 * as elements 0 to 7 of K, bytes 2, 3 as 8 to 15. Both operands have that order, so that sums are the same.
 */

/* The text's name of mma.sync, and the operands of its asm statement. */
typedef struct {
    const MatrixInst *in;
    char sum, part;  /* constraints of accumulators and fragments */
    int x, y;        /* registers of the row (x) and the column (y) operand */
    MatrixInst held; /* whose layout fragments and sums have */
} Mma;

/* sm_90 has no mma.sync of 8-bit floats: compilers make m16n8k32 of conversions, two of binary16, whose sums
 * they add to the accumulators. The same is written out here, with sums in the accumulators: binary16 has all
 * numbers of both formats. */
static bool by_halves(const GpuPlan *p) { return gpu_is_f8(p->in.type) && p->target->isa[0] >= 9; }

/* Four numbers of 8 bits as two and two of binary16; e5m2 is its upper half. */
static void halves(const GpuPlan *p, Stmts *s, int i)
{
    const Value *low = value_reg(s, "low"), *high = value_reg(s, "high"), *x = value_reg(s, "x");
    stmt_function(s,
                  (Function){.name = stmts_name(s, "@halves_%c", p->op[i].name),
                             STMT_PARAMS({"unsigned &", "low"}, {"unsigned &", "high"}, {"unsigned", "x"})});
    if (p->op[i].type.type == TYPE_B8) {
        static const char *const order[] = {"0x1404", "0x3424"};
        for (int h = 0; h < 2; h++)
            stmt_set(s, h ? high : low,
                     value_call(s, "__byte_perm", x, value_int(s, 0), value_literal(s, order[h])));
    } else {
        const AsmOperand operands[] = {{"=r", low}, {"=r", high}, {"r", x}};
        const char *cvt = "cvt.rn.f16x2.e4m3x2";
        const char *text = stmts_name(
            s, "{ .reg .b16 low, high; mov.b32 {low, high}, %%2; %s %%0, low; %s %%1, high; }", cvt, cvt);
        stmt_asm(s, (Asm){.text = text, .operand = operands, .n_outputs = 2, .n_inputs = 1});
    }
    stmt_end(s);
}

/* Constraints and registers of an instruction; n: how many of them count as one. */
static void operands_of(Mma *m, int n)
{
    const bool d = m->in->sum == TYPE_D;
    const int bytes = type_bytes(m->in->a), unit = d ? 8 : 4;
    m->sum = d ? 'd' : m->in->sum == TYPE_I ? 'r' : 'f';
    m->part = d ? 'd' : 'r';
    m->x = n * m->in->n_a * bytes / unit, m->y = m->in->n_b * bytes / unit;
}

/* Describes the plan's mma.sync. Its row operand is B; two instructions of 8 rows count as one. */
static Err mma_of(const GpuPlan *p, Mma *m)
{
    const GpuMatrix *mi = &p->matrix;
    DataType part[2] = {p->op[0].type.type, p->op[1].type.type};
    int32_t shape[] = {mi->m, mi->n, mi->k, mi->b};
    if (p->math == TYPE_X) part[0] = part[1] = TYPE_X;
    const MatrixInst *held = m->in = matrix_inst(p->target, part[1], part[0], shape);
    if (by_halves(p)) {
        part[0] = part[1] = TYPE_H, shape[2] /= 2;
        m->in = matrix_inst(p->target, part[1], part[0], shape);
    }
    if (!held || !m->in || matrix_unit(m->in) != MATRIX_UNIT_MMA)
        FAIL(ERR_INPUT, "%s has no mma.sync %dx%dx%dx%d for types '%s' and '%s'", p->target->name, shape[0],
             shape[1], shape[2], shape[3], type_letter(part[1]), type_letter(part[0]));
    const int n = mi->m < 16 ? 2 : 1;
    operands_of(m, n);
    m->held = *held;
    m->held.m *= n, m->held.n_a *= n, m->held.n_acc *= n;
    return ERR_OK;
}

enum { ASM_MAX = 16 }; /* operands of an instruction */

/* Appends "{%from, ...}" of n operands. */
static void registers(int from, int n, Buf *out)
{
    for (int i = 0; i < n; i++) buf_printf(out, "%s%%%d", i ? ", " : "{", from + i);
    buf_putc(out, '}');
}

/* Appends n elements of an array, from `first` on, as operands. */
static int elements(Stmts *s, const char *constraint, const char *array, int first, int n, AsmOperand *to)
{
    for (int i = 0; i < n; i++)
        to[i] = (AsmOperand){constraint, value_at_i(s, value_reg(s, array), first + i)};
    return n;
}

/* Prints one mma.sync, which adds the product of x[x0] .. and y to c[c0] .. */
static void one_mma(const Mma *m, Stmts *s, int n_sums, int c0, int x0, int n_x)
{
    AsmOperand operands[ASM_MAX];
    const char sum[] = {'+', m->sum, 0}, part[] = {m->part, 0};
    const char *sums = stmts_name(s, "%s", sum), *parts = stmts_name(s, "%s", part);
    Buf text;
    buf_init(&text);
    buf_printf(&text, "mma.sync.aligned.m%dn%dk%d.%s ", m->in->m, m->in->n, m->in->k, m->in->name);
    registers(0, n_sums, &text);
    buf_puts(&text, ", ");
    registers(n_sums, n_x, &text);
    buf_puts(&text, ", ");
    registers(n_sums + n_x, m->y, &text);
    buf_puts(&text, ", ");
    registers(0, n_sums, &text);
    int n = elements(s, sums, "c", c0, n_sums, operands);
    n += elements(s, parts, "x", x0, n_x, operands + n);
    n += elements(s, parts, "y", 0, m->y, operands + n);
    stmt_asm(s, (Asm){.text = stmts_name(s, "%s;", buf_cstr(&text)),
                      .operand = operands,
                      .n_outputs = n_sums,
                      .n_inputs = n - n_sums});
    buf_fini(&text);
}

static void open_instruction(Stmts *s)
{
    stmt_function(
        s, (Function){.name = "@mma", STMT_PARAMS({"@TC *", "c"}, {"const @F *", "x"}, {"const @F *", "y"})});
}

static void fragment_type(const Mma *m, Stmts *s)
{
    stmt_typedef(s, m->part == 'd' ? "double" : "unsigned", "@F", NULL);
}

void nvptx_instruction(const MatrixInst *in, Stmts *s)
{
    Mma m = {.in = in};
    operands_of(&m, 1);
    fragment_type(&m, s);
    open_instruction(s);
    one_mma(&m, s, in->n_acc, 0, 0, m.x);
    stmt_end(s);
}

/* 8x8x4 is all that sm_80 has for doubles: two make one of 16 rows. */
static void instruction(const GpuPlan *p, const Mma *m, Stmts *s)
{
    open_instruction(s);
    if (p->matrix.m == 8)
        for (int h = 0; h < 2; h++) one_mma(m, s, 2, 2 * h, h, 1);
    else
        one_mma(m, s, 4, 0, 0, m->x);
    stmt_end(s);
}

/* The instruction cuts inputs to tf32. NvRoundXF32 1: cvt.rna.tf32, a sequence of instructions on these
 * machines. 2: half a unit of the last place, 2^-11 of the number's power of two, is added, in two
 * instructions. The same for all but denormal numbers (2 cuts them); NaN and infinities stay. */
static const char *rounding_text(Stmts *s, int rounds)
{
    const char *half = "{ .reg .b32 half; and.b32 half, %0, 0xff800000; ";
    if (rounds == 1) return "cvt.rna.tf32.f32 %0, %0;";
    return stmts_name(s, "%s%s", half, "fma.rn.f32 %0, half, 0f3a000000, %0; }");
}

static void rounding(const GpuPlan *p, Stmts *s)
{
    static const struct {
        const char *fragment, *n;
        int registers;
    } side[] = {{"f.x", "@NX", 4}, {"f.y", "@NY", 2}};
    enum { TILES_MAX = 1024 };
    stmt_function(s, (Function){.name = "@round", STMT_PARAMS({"@Frag &", "f"})});
    for (int k = 0; k < 2 && p->ring.rounds_xf32; k++) {
        const Expr *i = stmt_loop(s, (Loop){.var = "i",
                                            .start = expr_const(&s->pool, 0),
                                            .limit = expr_var(&s->pool, side[k].n, 0, 1, TILES_MAX),
                                            .unroll = UNROLL_FULL});
        const Expr *e = stmt_unrolled(s, "e", GPU_E, side[k].registers);
        const Value *x = value_at(s, value_at(s, value_reg(s, side[k].fragment), i), e);
        const AsmOperand operand = {"+r", x};
        stmt_asm(s,
                 (Asm){.text = rounding_text(s, p->ring.rounds_xf32), .operand = &operand, .n_outputs = 1});
        stmt_end(s);
        stmt_end(s);
    }
    stmt_do(s, value_cast(s, "void", value_reg(s, "f")));
    stmt_end(s);
}

/* Prints the functions that read fragments of A and B from shared memory. */
static void readers(const GpuPlan *p, Stmts *s)
{
    bool d = p->in.type == TYPE_D, turned = p->op[0].tlu || p->op[1].tlu;
    bool along = !p->op[0].tlu || !p->op[1].tlu;
    int bytes = gpu_type_bytes(&p->in);
    if (p->ring.shifts) stmt_file(s, "nvptx/mma_read_shifted.cuh"), along = turned = false;
    if (d) stmt_file(s, "nvptx/mma_read_f64.cuh");
    if (!d && along) stmt_file(s, "nvptx/mma_read_k.cuh");
    if (!d && turned)
        stmt_file(s, bytes == 2   ? "nvptx/mma_read_t16.cuh"
                     : bytes == 4 ? "nvptx/mma_read_t32.cuh"
                                  : "nvptx/mma_read_t8.cuh");
    for (int i = 0; i < 2; i++) {
        const char c = (char)('A' + i), kind = d ? 'D' : p->ring.shifts ? 'S' : p->op[i].tlu ? 'T' : 'K';
        const char *type = stmts_name(s, "@Read%c<@L%c, %s, @WT%d>", kind, c, i ? "true" : "false", i);
        stmt_typedef(s, type, stmts_name(s, "@Read%c", c), NULL);
    }
}

static void numbers(const GpuPlan *p, const Mma *m, Stmts *s)
{
    const GpuMatrix *mi = &p->matrix;
    const bool bytes = gpu_type_bytes(&p->in) == 1;
    stmt_constant(s, "int", "@W0", mi->waves[0]);
    stmt_constant(s, "int", "@W1", mi->waves[1]);
    stmt_constant(s, "int", "@MK", mi->k);
    stmt_constant(s, "int", "@XR", m->x);
    stmt_constant(s, "int", "@YR", m->y);
    stmt_constant(s, "int", "@INTERLEAVED_M", bytes && p->op[0].tlu);
    stmt_constant(s, "int", "@INTERLEAVED_N", bytes && p->op[1].tlu);
}

Err ring_mma_check(const GpuPlan *p)
{
    Mma m = {0};
    return mma_of(p, &m);
}

void ring_mma_emit(const GpuPlan *p, Buf *out)
{
    Stmts s;
    Mma m = {0};
    if (mma_of(p, &m)) BUG("mma.sync of %s was not checked", p->target->name);
    stmts_init(&s, GPU_STMTS_BYTES);
    fragment_type(&m, &s);
    numbers(p, &m, &s);
    gpu_put(p, &s, out);
    if (nvptx_mma_lanes(&m.held, out)) BUG("lanes of %s", m.held.name);
    stmts_init(&s, GPU_STMTS_BYTES);
    stmt_file(&s, "nvptx/mma_tile.cuh");
    readers(p, &s);
    instruction(p, &m, &s);
    for (int i = 0; i < 2 && by_halves(p); i++) halves(p, &s, i);
    rounding(p, &s);
    stmt_file(&s, "nvptx/mma_acc.cuh");
    stmt_file(&s, by_halves(p) ? "nvptx/mma_mac_halves.cuh" : "nvptx/mma_mac.cuh");
    stmt_file(&s, "nvptx/mma_results.cuh");
    gpu_put(p, &s, out);
}
