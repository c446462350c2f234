/* Compute part of ring kernels with mma.sync: f16, bf16, tf32, f64, int8 and 8-bit floats. In each operand K
 * or the free dimension may be contiguous. The readers (text/mma_read_*.cuh) load fragments from shared
 * memory without bank conflicts. Where K is contiguous they use ldmatrix on 32 bytes of K. Where the free
 * dimension is contiguous they use transposing ldmatrix for 16-bit elements, plain loads for longer ones, and
 * plain loads with a transpose of 4x4 blocks in registers for bytes. */
#include "base/log.h"
#include "kernel/nvptx/lanes.h"
#include "kernel/nvptx/ring.h"

/* An mma.sync and the operands of its asm statement. */
typedef struct {
    const MatrixInst *in;
    char sum, part;    /* asm constraints of accumulators and fragments */
    int x, y;          /* registers of the row (x) and the column (y) operand */
    MatrixInst layout; /* the instruction whose lane layout fragments and accumulators have */
} Mma;

/* sm_90 has no hardware mma.sync for 8-bit floats. The compiler expands m16n8k32 into conversions and two f16
 * instructions with separate sums, which it then adds to the accumulators. This text does the same, but
 * accumulates directly. It is exact, because f16 contains all values of e4m3 and e5m2. Each f16 instruction
 * takes two of every four bytes along K as its elements; both operands use the same order, so the sums are
 * right. */
static bool by_halves(const GpuPlan *p) { return gpu_is_f8(p->in.type) && p->target->isa[0] >= 9; }

/* Prints the function that converts four 8-bit floats to two pairs of f16. e5m2 is the upper half of an f16.
 */
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

/* Sets the constraints and registers of an instruction; n instructions of 8 rows are used as one of 16. */
static void operands_of(Mma *m, int n)
{
    const bool d = m->in->sum == TYPE_D;
    const int bytes = type_bytes(m->in->a), unit = d ? 8 : 4;
    m->sum = d ? 'd' : m->in->sum == TYPE_I ? 'r' : 'f';
    m->part = d ? 'd' : 'r';
    m->x = n * m->in->n_a * bytes / unit, m->y = m->in->n_b * bytes / unit;
}

/* Finds the plan's mma.sync. Its row operand is B. Two instructions of 8 rows are used as one of 16. */
static Err mma_of(const GpuPlan *p, Mma *m)
{
    const GpuMatrix *mi = &p->matrix;
    DataType part[2] = {p->op[0].type.type, p->op[1].type.type};
    int32_t shape[] = {mi->m, mi->n, mi->k, mi->b};
    if (p->math == TYPE_X) part[0] = part[1] = TYPE_X;
    const MatrixInst *layout = m->in = matrix_inst(p->target, part[1], part[0], shape);
    if (by_halves(p)) {
        part[0] = part[1] = TYPE_H, shape[2] /= 2;
        m->in = matrix_inst(p->target, part[1], part[0], shape);
    }
    if (!layout || !m->in || matrix_unit(m->in) != MATRIX_UNIT_MMA)
        FAIL(ERR_INPUT, "%s has no mma.sync %dx%dx%dx%d for types '%s' and '%s'", p->target->name, shape[0],
             shape[1], shape[2], shape[3], type_letter(part[1]), type_letter(part[0]));
    const int n = mi->m < 16 ? 2 : 1;
    operands_of(m, n);
    m->layout = *layout;
    m->layout.m *= n, m->layout.n_a *= n, m->layout.n_acc *= n;
    return ERR_OK;
}

enum { ASM_MAX = 16 }; /* most operands of an asm statement */

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

/* Prints @mma. For doubles sm_80 only has m8n8k4, and two of them make an instruction of 16 rows. */
static void instruction(const GpuPlan *p, const Mma *m, Stmts *s)
{
    open_instruction(s);
    if (p->matrix.m == 8)
        for (int h = 0; h < 2; h++) one_mma(m, s, 2, 2 * h, h, 1);
    else
        one_mma(m, s, 4, 0, 0, m->x);
    stmt_end(s);
}

/* mma.sync truncates f32 inputs to tf32. NvRoundXF32 1 rounds them by cvt.rna.tf32, which compiles to several
 * instructions on these targets. NvRoundXF32 2 adds half a unit in the last place of tf32, 2^-11 of the
 * value's power of two, in two instructions (mask, fma). Both give the same result except for denormals,
 * which 2 truncates. NaN and infinities are preserved. */
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
    bool d = p->in.type == TYPE_D, transposed = p->op[0].tlu || p->op[1].tlu;
    bool along = !p->op[0].tlu || !p->op[1].tlu;
    int bytes = gpu_type_bytes(&p->in);
    if (p->ring.shifts) stmt_file(s, "nvptx/mma_read_shifted.cuh"), along = transposed = false;
    if (d) stmt_file(s, "nvptx/mma_read_f64.cuh");
    if (!d && along) stmt_file(s, "nvptx/mma_read_k.cuh");
    if (!d && transposed)
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
    if (nvptx_mma_lanes(&m.layout, out)) BUG("lanes of %s", m.layout.name);
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
