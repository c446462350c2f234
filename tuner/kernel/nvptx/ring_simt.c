/* Compute part of ring kernels with fused multiply-adds on thread tiles. A thread reads vectors of 16 bytes
 * from shared memory. They lie along M or N, or with UnrollMajorLDS along K; a step then has several
 * elements of K. The lanes of a warp form a grid. The tile of a thread consists of runs of 16 bytes, with
 * one run of each other lane in between. Where B's vectors lie along K, it has single columns instead of
 * runs along N: adjacent lanes then read adjacent rows of B's tile, which are in different banks. */
#include "kernel/lower/build.h"
#include "kernel/nvptx/ring_acc.h"

enum { VECTOR_BYTES = 16, TID = 0 };

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    RingTile tile[2];
    bool along_k[2]; /* the operand's vectors lie along K */
    bool single;     /* a thread has single columns, not runs, along N */
    int ve, kv;      /* elements of a vector; elements of K of a step */
    int lanes[2], warps[2], tt[2];
} Simt;

static Simt simt_of(const GpuPlan *p, Stmts *s)
{
    Simt c = {.p = p, .s = s, .ve = VECTOR_BYTES / gpu_type_bytes(&p->in), .kv = p->k_step};
    for (int i = 0; i < 2; i++) {
        const RingCopy copy = ring_copy_of(p, s, i);
        c.tile[i] = copy.tile;
        c.along_k[i] = !copy.k_rows && !copy.tile.transposed;
        c.lanes[i] = i ? ACC_LANES / p->ring.lanes_m : p->ring.lanes_m;
        c.warps[i] = p->sg[i] / c.lanes[i];
        c.tt[i] = p->tt[i];
    }
    c.single = c.along_k[1];
    return c;
}

/* Lines of a part that have one run, or single columns, of each lane along N. */
static int lines_of_lanes(const GpuPlan *p)
{
    return ACC_LANES / p->ring.lanes_m * (VECTOR_BYTES / gpu_type_bytes(&p->in));
}

int ring_simt_adjacent(const GpuPlan *p) { return lines_of_lanes(p); }

/* ---- places ---- */

/* The thread's first row (0) or column (1). */
static const Expr *first_of(const Simt *c, AccThread t, int i)
{
    ExprPool *pool = &c->s->pool;
    const Expr *in = i ? expr_div_i(pool, t.lane, c->lanes[0]) : expr_mod_i(pool, t.lane, c->lanes[0]);
    const Expr *of = i ? expr_mod_i(pool, expr_div_i(pool, t.warp, c->warps[0]), c->warps[1])
                       : expr_mod_i(pool, t.warp, c->warps[0]);
    return expr_add(pool, expr_mul_i(pool, of, (int64_t)c->lanes[i] * c->tt[i]),
                    expr_mul_i(pool, in, i && c->single ? 1 : c->ve));
}

/* Elements from the thread's first row or column to number `i` of its own. */
static const Expr *step_of(const Simt *c, int side, const Expr *i)
{
    ExprPool *pool = &c->s->pool;
    if (side && c->single) return expr_mul_i(pool, i, c->lanes[1]);
    const Expr *run = expr_mul_i(pool, expr_div_i(pool, i, c->ve), (int64_t)c->lanes[side] * c->ve);
    return expr_add(pool, run, expr_mod_i(pool, i, c->ve));
}

static AccRuns runs_of(const Simt *c)
{
    ExprPool *pool = &c->s->pool;
    const int along = c->tt[0] / c->ve, runs = along * c->tt[1], block = c->lanes[1] * c->tt[1],
              line = lines_of_lanes(c->p);
    const AccNames x = ring_acc_names(c->p, pool, runs);
    const Expr *in_row = expr_mod_i(pool, x.r, along), *j = expr_div_i(pool, x.r, along);
    const Expr *at = expr_add(pool, expr_mul_i(pool, j, c->tt[0]), expr_mul_i(pool, in_row, c->ve));
    const Expr *of_n = expr_mul_i(pool, expr_div_i(pool, x.n, block), line);
    const Expr *own = expr_mul_i(pool, expr_mod_i(pool, j, c->ve), c->single ? c->lanes[1] : 1);
    const Expr *slot = expr_add(pool, expr_add(pool, of_n, expr_mod_i(pool, x.n, block)), own);
    const Expr *column = expr_mul_i(pool, expr_div_i(pool, x.slot, line), block);
    column = expr_add(pool, column, expr_mul_i(pool, x.part, line));
    return (AccRuns){.runs = runs,
                     .run = c->ve,
                     .parts = c->tt[1] / c->ve,
                     .row = expr_add(pool, x.m, step_of(c, 0, expr_mul_i(pool, in_row, c->ve))),
                     .col = expr_add(pool, x.n, step_of(c, 1, j)),
                     .subscript = {expr_add(pool, at, x.e)},
                     .part = expr_div_i(pool, j, c->ve),
                     .slot = slot,
                     .column = expr_add(pool, column, expr_mod_i(pool, x.slot, line))};
}

/* ---- fragments ---- */

/* The address of the thread's first row or column in a stage. LocalSplitU: of consecutive steps of K each
 * part of the work-group takes one. */
static const Expr *address_of(const Simt *c, AccThread of, int i)
{
    ExprPool *pool = &c->s->pool;
    const RingTile *t = &c->tile[i];
    const Expr *first = expr_var(pool, i ? "n" : "m", TID, 0, c->p->mt[i] - 1);
    const Expr *at = c->along_k[i] ? ring_row(pool, t, expr_within(pool, first, 0, t->rows - 1))
                                   : expr_mul_i(pool, first, t->element_bytes);
    if (c->p->lsu == 1) return at;
    const Expr *part = expr_div_i(pool, of.warp, c->warps[0] * c->warps[1]);
    return expr_add(pool, at,
                    expr_mul_i(pool, part, c->along_k[i] ? VECTOR_BYTES : (int64_t)c->kv * t->row_bytes));
}

static void init(const Simt *c)
{
    Stmts *s = c->s;
    ring_acc_member(s, "init", true, (const StmtParam[]){{"int", "tid"}}, 1);
    const AccThread t = ring_acc_thread(s);
    stmt_set(s, reg(c, "m"), value_expr(s, first_of(c, t, 0)));
    stmt_set(s, reg(c, "n"), value_expr(s, first_of(c, t, 1)));
    stmt_set(s, reg(c, "a"), value_expr(s, address_of(c, t, 0)));
    stmt_set(s, reg(c, "b"), value_expr(s, address_of(c, t, 1)));
    const Expr *i = stmt_unrolled(s, "i", 0, (int64_t)c->tt[0] * c->tt[1]);
    stmt_set(s, value_at(s, reg(c, "v"), i), value_call_0(s, "@zero"));
    stmt_end(s);
    stmt_end(s);
}

/* Loads a vector from a stage into "u". base: the stage's tile. */
static void vector(const Simt *c, const char *base, const char *first, const Expr *at)
{
    Stmts *s = c->s;
    stmt_array(s, "@T", "u", DIMS(c->ve));
    const Value *from = value_op(s, VALUE_ADD, reg(c, base), reg(c, first));
    stmt_call(s, "@lds4", value_cast(s, "@u32 *", reg(c, "u")),
              value_op(s, VALUE_ADD, from, value_expr(s, at)));
}

/* Loads the thread's rows or columns, each with kv consecutive elements of K, from step `ks` on. */
static void read(const Simt *c, int i)
{
    static const char *const base[] = {"sa", "sb"}, *const first[] = {"a", "b"}, *const to[] = {"f.a", "f.b"};
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const RingTile *t = &c->tile[i];
    const int lsu = c->p->lsu, n = c->tt[i];
    const Expr *ks = expr_var(pool, "ks", 0, 0, c->p->steps - 1), *step = expr_mul_i(pool, ks, lsu);
    if (c->along_k[i]) {
        const Expr *j = stmt_unrolled(s, "i", 0, n), *row = step_of(c, i, j);
        const Expr *at = ring_row(pool, t, expr_within(pool, row, 0, t->rows - 1));
        vector(c, base[i], first[i], expr_add(pool, expr_mul_i(pool, step, VECTOR_BYTES), at));
        const Expr *k = stmt_unrolled(s, "k", 0, c->ve);
        stmt_set(s, value_at(s, reg(c, to[i]), expr_add(pool, expr_mul_i(pool, k, n), j)),
                 value_at(s, reg(c, "u"), k));
        stmt_end(s);
        stmt_end(s);
        return;
    }
    const Expr *k = stmt_unrolled(s, "k", 0, c->kv), *j = stmt_unrolled(s, "i", 0, n / c->ve);
    const Expr *at = expr_mul_i(pool, expr_add(pool, expr_mul_i(pool, step, c->kv), k), t->row_bytes);
    vector(c, base[i], first[i],
           expr_add(pool, at, expr_mul_i(pool, j, (int64_t)c->lanes[i] * VECTOR_BYTES)));
    const Expr *e = stmt_unrolled(s, "e", 0, c->ve), *in = e;
    if (t->transposed)
        in = expr_op(pool, EXPR_XOR, e,
                     ring_element_swizzle(pool, t, expr_within(pool, step, 0, t->rows - 1)));
    const Expr *of = expr_add(pool, expr_mul_i(pool, k, n), expr_mul_i(pool, j, c->ve));
    stmt_set(s, value_at(s, reg(c, to[i]), expr_add(pool, of, in)), value_at(s, reg(c, "u"), e));
    for (int l = 0; l < 3; l++) stmt_end(s);
}

static void load(const Simt *c)
{
    static const StmtParam param[] = {{"@Frag &", "f"}, {"@u32", "sa"}, {"@u32", "sb"}, {"int", "ks"}};
    ring_acc_member(c->s, "load", false, param, sizeof param / sizeof *param);
    read(c, 0);
    read(c, 1);
    stmt_end(c->s);
}

/* ---- products ---- */

/* Every other column goes through its rows backwards, so that the last element of A is used twice in a row.
 * */
static void mac(const Simt *c)
{
    static const StmtParam param[] = {{"const @Frag &", "f"}};
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int m = c->tt[0], n = c->tt[1];
    ring_acc_member(s, "mac", true, param, 1);
    const Expr *k = stmt_unrolled(s, "k", 0, c->kv), *j = stmt_unrolled(s, "j", 0, n);
    const Expr *ii = stmt_unrolled(s, "ii", 0, m);
    const Expr *back = expr_sub(pool, expr_const(pool, m - 1), ii);
    const Expr *i = stmt_let(s, "i", expr_select(pool, expr_and_i(pool, j, 1), back, ii));
    const Value *a = value_at(s, reg(c, "f.a"), expr_add(pool, expr_mul_i(pool, k, m), i));
    const Value *b = value_at(s, reg(c, "f.b"), expr_add(pool, expr_mul_i(pool, k, n), j));
    const Value *sum = value_at(s, reg(c, "v"), expr_add(pool, expr_mul_i(pool, j, m), i));
    stmt_set(s, sum, value_call(s, "@madd", value_call(s, "@take_a", a), value_call(s, "@take_b", b), sum));
    for (int l = 0; l < 4; l++) stmt_end(s);
}

/* ---- the whole ---- */

/* Prints the conversions of elements of A and B to the accumulator type. */
static void conversions(const GpuPlan *p, Stmts *s)
{
    for (int i = 0; i < 2; i++) {
        const Value *x = value_reg(s, "x"), *im = value_reg(s, "x.im");
        stmt_function(s, (Function){.result = "@TC",
                                    .name = stmts_name(s, "@take_%c", p->op[i].name),
                                    STMT_PARAMS({"@T", "x"})});
        if (p->op[i].conj) im = value_op(s, VALUE_NEG, im, NULL);
        if (p->in.parts == 2) x = stmt_define(s, "@TC", "y", value_list(s, value_reg(s, "x.re"), im));
        stmt_return(s, x);
        stmt_end(s);
    }
}

void ring_simt_emit(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    const Simt c = simt_of(p, &s);
    const AccRuns runs = runs_of(&c);
    gpu_heading(&s, "---- multiply: fused multiply-adds on thread tiles ----");
    conversions(p, &s);
    ring_acc_constants(&s, &runs);
    stmt_struct(&s, "@Frag", 0);
    stmt_array(&s, "@T", "a", DIMS(c.kv * c.tt[0]));
    stmt_array(&s, "@T", "b", DIMS(c.kv * c.tt[1]));
    stmt_end(&s);
    stmt_struct(&s, "@Acc", 0);
    stmt_array(&s, "@TC", "v", DIMS(c.tt[0] * c.tt[1]));
    stmt_var(&s, "int", "m", NULL);
    stmt_var(&s, "int", "n", NULL);
    stmt_var(&s, "@u32", "a", NULL);
    stmt_var(&s, "@u32", "b", NULL);
    init(&c);
    load(&c);
    mac(&c);
    ring_acc_results(&s, &runs);
    stmt_end(&s);
    gpu_put(p, &s, out);
}
