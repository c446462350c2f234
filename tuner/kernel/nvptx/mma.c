/* Compute part of ring kernels with mma.sync: f16, bf16, tf32, f64, int8 and 8-bit floats. In each operand
 * K or the free dimension may be contiguous; mma_read.c reads fragments. */
#include "base/log.h"
#include "index/matrix_lanes.h"
#include "kernel/lower/build.h"
#include "kernel/nvptx/ring_acc.h"

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

/* ---- accumulators ---- */

/* The 16 rows of mma.sync lie along N and its 8 columns along M, so that a thread's accumulators are
 * adjacent along M, where D is contiguous. Where readers transpose bytes in registers, four tiles of 8 are
 * interleaved: consecutive elements belong to different tiles. */
typedef struct {
    const GpuPlan *p;
    const Mma *m;
    Stmts *s;
    int waves[2], tile[2]; /* tile: elements of a wave along M and N */
    int nx, ny;            /* instructions of a wave along N and M */
    bool interleaved[2];
} Acc;

enum { X_ROWS = 16, Y_COLUMNS = 8, SUMS = 4, TID = 0 };

static bool is_interleaved(const GpuPlan *p, int i) { return gpu_type_bytes(&p->in) == 1 && p->op[i].tlu; }

int ring_mma_adjacent(const GpuPlan *p) { return is_interleaved(p, 1) ? 1 : X_ROWS; }

static Acc acc_of(const GpuPlan *p, const Mma *m, Stmts *s)
{
    Acc c = {.p = p, .m = m, .s = s};
    for (int i = 0; i < 2; i++) {
        c.waves[i] = p->matrix.waves[i];
        c.tile[i] = p->mt[i] / c.waves[i];
        c.interleaved[i] = is_interleaved(p, i);
    }
    c.nx = c.tile[1] / X_ROWS, c.ny = c.tile[0] / Y_COLUMNS;
    return c;
}

/* Row of D of column x of tile j of instructions, and column of D of row x of tile i, counted from the
 * first of the wave. */
static const Expr *place_m(const Acc *c, const Expr *j, const Expr *x)
{
    ExprPool *p = &c->s->pool;
    if (!c->interleaved[0]) return expr_add(p, expr_mul_i(p, j, Y_COLUMNS), x);
    const Expr *four = expr_mul_i(p, expr_div_i(p, j, 4), 4 * Y_COLUMNS);
    return expr_add(p, expr_add(p, four, expr_mul_i(p, x, 4)), expr_mod_i(p, j, 4));
}
static const Expr *place_n(const Acc *c, const Expr *i, const Expr *x)
{
    ExprPool *p = &c->s->pool;
    if (!c->interleaved[1]) return expr_add(p, expr_mul_i(p, i, X_ROWS), x);
    const Expr *two = expr_mul_i(p, expr_div_i(p, i, 2), 2 * X_ROWS);
    const Expr *of_tile = expr_mul_i(p, expr_mod_i(p, i, 2), 2);
    const Expr *of_row = expr_add(p, expr_mul_i(p, expr_mod_i(p, x, 8), 4), expr_div_i(p, x, 8));
    return expr_add(p, expr_add(p, two, of_row), of_tile);
}

static MatrixAccLane lane_of(const Acc *c, const Expr *lane, const Expr *sum)
{
    return matrix_acc_lane(&c->s->pool, &c->m->layout, lane, sum);
}

/* Run r has two consecutive rows of D. For its element e: the instruction's tile along M, and the number of
 * the accumulator in that tile. */
static const Expr *tile_of_run(const Acc *c, const Expr *r, const Expr *e)
{
    ExprPool *p = &c->s->pool;
    const Expr *j = expr_mod_i(p, r, c->ny);
    if (!c->interleaved[0]) return j;
    const Expr *pair = expr_mul_i(p, expr_mod_i(p, j, 2), 2);
    return expr_add(p, expr_add(p, expr_mul_i(p, expr_div_i(p, j, 4), 4), pair), e);
}
static const Expr *sum_of_run(const Acc *c, const Expr *r, const Expr *e)
{
    ExprPool *p = &c->s->pool;
    const Expr *low = c->interleaved[0] ? expr_mod_i(p, expr_div_i(p, expr_mod_i(p, r, c->ny), 2), 2) : e;
    return expr_add(p, expr_mul_i(p, expr_mod_i(p, expr_div_i(p, r, c->ny), 2), 2), low);
}

/* A part of the results has one tile of instructions of each wave along N. */
static AccRuns runs_of(const Acc *c)
{
    ExprPool *p = &c->s->pool;
    const int runs = c->nx * c->ny * 2, wave = c->tile[1];
    const AccNames x = ring_acc_names(c->p, p, runs);
    const Expr *zero = expr_const(p, 0), *first = sum_of_run(c, x.r, zero);
    const MatrixAccLane own = lane_of(c, zero, first);
    const Expr *part = expr_div_i(p, x.r, 2 * c->ny), *in = expr_mod_i(p, x.n, wave);
    const Expr *line = expr_add(p, in, own.row);
    const Expr *of_line = expr_mod_i(p, x.slot, X_ROWS), *row = of_line;
    if (c->interleaved[1]) {
        line = expr_add(p, expr_div_i(p, in, 2), expr_div_i(p, own.row, 8));
        row = expr_add(p, expr_div_i(p, of_line, 2), expr_mul_i(p, expr_mod_i(p, of_line, 2), 8));
    }
    const Expr *column = expr_mul_i(p, expr_div_i(p, x.slot, X_ROWS), wave);
    return (AccRuns){.runs = runs,
                     .run = 2,
                     .parts = c->nx,
                     .row = expr_add(p, x.m, place_m(c, tile_of_run(c, x.r, zero), own.col)),
                     .col = expr_add(p, x.n, place_n(c, part, own.row)),
                     .subscript = {part, tile_of_run(c, x.r, x.e), sum_of_run(c, x.r, x.e)},
                     .part = part,
                     .slot = expr_add(p, expr_mul_i(p, expr_div_i(p, x.n, wave), X_ROWS), line),
                     .column = expr_add(p, column, place_n(c, x.part, row))};
}

static const Value *sum_at(const Acc *c, const Expr *i, const Expr *j)
{
    return value_at(c->s, value_at(c->s, reg(c, "v"), i), j);
}

/* Waves lie along M first, then along N. LocalSplitU: further ones begin at other steps of K. */
static void init(const Acc *c)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const int waves = c->waves[0] * c->waves[1];
    ring_acc_member(s, "init", true, (const StmtParam[]){{"int", "tid"}}, 1);
    const AccThread of = ring_acc_thread(s);
    const Expr *lane = of.lane, *wave = of.warp, *zero = expr_const(p, 0);
    const Expr *of_n = expr_mod_i(p, expr_div_i(p, wave, c->waves[0]), c->waves[1]);
    stmt_set(s, reg(c, "m"), value_expr(s, expr_mul_i(p, expr_mod_i(p, wave, c->waves[0]), c->tile[0])));
    stmt_set(s, reg(c, "n"), value_expr(s, expr_mul_i(p, of_n, c->tile[1])));
    stmt_call(s, "a.init", reg(c, "m"), value_expr(s, lane));
    stmt_call(s, "b.init", reg(c, "n"), value_expr(s, lane));
    const Value *from = value_expr(s, expr_mul_i(p, expr_div_i(p, wave, waves), c->p->steps));
    if (c->p->lsu > 1) stmt_call(s, "a.skip", from);
    if (c->p->lsu > 1) stmt_call(s, "b.skip", from);
    const MatrixAccLane own = lane_of(c, lane, zero);
    stmt_update(s, VALUE_ADD, reg(c, "m"), value_expr(s, place_m(c, zero, own.col)));
    stmt_update(s, VALUE_ADD, reg(c, "n"), value_expr(s, place_n(c, zero, own.row)));
    const Expr *i = stmt_unrolled(s, "i", TID, c->nx), *j = stmt_unrolled(s, "j", TID, c->ny);
    const Expr *e = stmt_unrolled(s, "e", TID, SUMS);
    stmt_set(s, value_at(s, sum_at(c, i, j), e), value_int(s, 0));
    for (int l = 0; l < 4; l++) stmt_end(s);
}

static void load(const Acc *c)
{
    static const StmtParam param[] = {{"@Frag &", "f"}, {"@u32", "sa"}, {"@u32", "sb"}, {"int", "ks"}};
    Stmts *s = c->s;
    ring_acc_member(s, "load", false, param, sizeof param / sizeof *param);
    stmt_call(s, "b.load", reg(c, "f.x"), reg(c, "sb"), reg(c, "ks"));
    stmt_call(s, "a.load", reg(c, "f.y"), reg(c, "sa"), reg(c, "ks"));
    stmt_call(s, "@round", reg(c, "f"));
    stmt_end(s);
}

/* The products of fragment i of x with all of y; every other one goes backwards, so that the last fragment
 * of y is used twice in a row. */
static void products(const Acc *c, const Expr *i, const Value *x, const char *y)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    const Expr *jj = stmt_unrolled(s, "jj", TID, c->ny);
    const Expr *back = expr_sub(p, expr_const(p, c->ny - 1), jj);
    const Expr *j = stmt_let(s, "j", expr_select(p, expr_and_i(p, i, 1), back, jj));
    stmt_call(s, "@mma", sum_at(c, i, j), x, value_at(s, reg(c, y), j));
    stmt_end(s);
}

static void mac(const Acc *c)
{
    Stmts *s = c->s;
    ring_acc_member(s, "mac", true, (const StmtParam[]){{"const @Frag &", "f"}}, 1);
    const Expr *i = stmt_unrolled(s, "i", TID, c->nx);
    products(c, i, value_at(s, reg(c, "f.x"), i), "f.y");
    stmt_end(s);
    stmt_end(s);
}

/* The same of 8-bit floats, whose fragments are converted to two of f16 each. */
static void mac_halves(const Acc *c)
{
    Stmts *s = c->s;
    ExprPool *p = &s->pool;
    ring_acc_member(s, "mac", true, (const StmtParam[]){{"const @Frag &", "f"}}, 1);
    const Expr *h = stmt_unrolled(s, "h", TID, 2);
    stmt_array(s, "@u32", "y", DIMS(c->ny, 2));
    const Expr *j = stmt_unrolled(s, "j", TID, c->ny);
    const Value *y = value_at(s, reg(c, "y"), j);
    stmt_call(s, "@halves_a", value_at_i(s, y, 0), value_at_i(s, y, 1),
              value_at(s, value_at(s, reg(c, "f.y"), j), h));
    stmt_end(s);
    const Expr *i = stmt_unrolled(s, "i", TID, c->nx);
    stmt_array(s, "@u32", "x", DIMS(4));
    const Expr *e = stmt_unrolled(s, "e", TID, 2), *word = expr_add(p, expr_mul_i(p, h, 2), e);
    stmt_call(s, "@halves_b", value_at(s, reg(c, "x"), e), value_at(s, reg(c, "x"), expr_add_i(p, e, 2)),
              value_at(s, value_at(s, reg(c, "f.x"), i), word));
    stmt_end(s);
    products(c, i, reg(c, "x"), "y");
    for (int l = 0; l < 3; l++) stmt_end(s);
}

/* Prints @round. */
static void rounding(const GpuPlan *p, const Acc *c, Stmts *s)
{
    static const char *const fragment[] = {"f.x", "f.y"};
    const int n[] = {c->nx, c->ny}, registers_of[] = {c->m->x, c->m->y};
    stmt_function(s, (Function){.name = "@round", STMT_PARAMS({"@Frag &", "f"})});
    for (int k = 0; k < 2 && p->ring.rounds_xf32; k++) {
        const Expr *i = stmt_unrolled(s, "i", GPU_E, n[k]),
                   *e = stmt_unrolled(s, "e", GPU_E, registers_of[k]);
        const Value *x = value_at(s, value_at(s, value_reg(s, fragment[k]), i), e);
        const AsmOperand operand = {"+r", x};
        stmt_asm(s,
                 (Asm){.text = rounding_text(s, p->ring.rounds_xf32), .operand = &operand, .n_outputs = 1});
        stmt_end(s);
        stmt_end(s);
    }
    stmt_do(s, value_cast(s, "void", value_reg(s, "f")));
    stmt_end(s);
}

/* Prints @Acc. */
static void accumulators(const Acc *c, const AccRuns *runs)
{
    Stmts *s = c->s;
    stmt_struct(s, "@Acc", 0);
    stmt_array(s, "@TC", "v", DIMS(c->nx, c->ny, SUMS));
    stmt_var(s, "int", "m", NULL);
    stmt_var(s, "int", "n", NULL);
    stmt_var(s, "@ReadA", "a", NULL);
    stmt_var(s, "@ReadB", "b", NULL);
    init(c);
    load(c);
    if (by_halves(c->p))
        mac_halves(c);
    else
        mac(c);
    ring_acc_results(s, runs);
    stmt_end(s);
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
    const Acc c = acc_of(p, &m, &s);
    const AccRuns runs = runs_of(&c);
    gpu_heading(&s, "---- multiply: mma.sync on wave tiles ----");
    fragment_type(&m, &s);
    ring_acc_constants(&s, &runs);
    stmt_struct(&s, "@Frag", 0);
    stmt_array(&s, "@F", "x", DIMS(c.nx, m.x));
    stmt_array(&s, "@F", "y", DIMS(c.ny, m.y));
    stmt_end(&s);
    for (int i = 0; i < 2; i++)
        ring_mma_reader(
            &s,
            &(MmaReader){
                .p = p, .layout = &m.layout, .i = i, .tile = c.tile[i], .words = i ? m.x : m.y, .row = i});
    instruction(p, &m, &s);
    for (int i = 0; i < 2 && by_halves(p); i++) halves(p, &s, i);
    rounding(p, &c, &s);
    accumulators(&c, &runs);
    gpu_put(p, &s, out);
}
