/* The parts of K of a cluster (ClusterK) as statements: each work-group writes its sums to its own shared
 * memory, in the memory of the ring, as columns of D. Each then adds every n-th column over all parts, in
 * the order of the parts, through distributed shared memory, and stores the elements inside D. Between the
 * two, and before the ring is filled again, all threads of the cluster meet; consumer_derive counts their
 * meetings. */
#include "index/matrix_lanes.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/lanes.h"

enum {
    RUN = 4,  /* rows that a thread adds at once, 16 bytes */
    WORD = 4, /* bytes of a sum */
    WG,
    THREAD,
    ROW /* slots of variables */
};

typedef struct {
    const GpuPlan *p;
    const MatrixInst *in;
    Stmts *s;
    bool swap;
    int parts, sharing, n_rows, n_acc;
    int pitch; /* elements from one column to the next; the padding spreads a fragment over all banks */
} Parts;

static Parts parts_of(const GpuPlan *p, const MatrixInst *in, Stmts *s)
{
    const bool swap = p->matrix.swap;
    return (Parts){.p = p,
                   .in = in,
                   .s = s,
                   .swap = swap,
                   .parts = hopper_members(p),
                   .sharing = hopper_sharing(p),
                   .n_rows = p->matrix.tiles[swap],
                   .n_acc = p->mt[!swap] / 2,
                   .pitch = p->mt[0] + (swap ? 8 : 4)};
}

static const Value *reg(const Parts *c, const char *name) { return value_reg(c->s, name); }
static const Value *sum(const Parts *c, const Value *x, const Value *y)
{
    return value_op(c->s, VALUE_ADD, x, y);
}

/* Bytes from the first sum to that of row m and column n of the work-group's tile. */
static const Expr *place(const Parts *c, const Expr *m, const Expr *n)
{
    ExprPool *pool = &c->s->pool;
    return expr_mul_i(pool, expr_add(pool, expr_mul_i(pool, n, c->pitch), m), WORD);
}

/* The place of accumulator j of instruction r of a warp group. */
static const Expr *place_of(const Parts *c, const Expr *r, const Expr *j)
{
    ExprPool *pool = &c->s->pool;
    const Expr *wg = expr_var(pool, "wg", WG, 0, c->p->groups.consumers - 1);
    const Expr *thread = expr_var(pool, "thread", THREAD, 0, WGMMA_LANES - 1);
    const MatrixAccLane own = matrix_acc_lane(pool, c->in, thread, j);
    const Expr *first = expr_add(pool, expr_mul_i(pool, wg, c->n_rows), r);
    const Expr *in = c->p->groups.rows_from_registers ? nvptx_spread_row(pool, own.row) : own.row;
    const Expr *x = expr_add(pool, expr_mul_i(pool, first, WGMMA_ROWS), in);
    return c->swap ? place(c, own.col, x) : place(c, x, own.col);
}

/* Prints write_sums(). Two neighbouring accumulators are in one row of the instruction. */
static void write_sums(const Parts *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    stmt_function(
        s, (Function){.name = "write_sums",
                      STMT_PARAMS({"Sums &", "acc"}, {"u32", "base"}, {"u32", "wg"}, {"u32", "thread"})});
    const Expr *r = stmt_unrolled(s, "r", ROW, c->n_rows);
    const Expr *j = stmt_loop(s, (Loop){.var = "j",
                                        .start = expr_const(pool, 0),
                                        .limit = expr_const(pool, c->n_acc),
                                        .step = 2,
                                        .unroll = UNROLL_FULL});
    j = expr_multiple(pool, j, 2);
    const Value *to = stmt_define(s, "u32", "to", sum(c, reg(c, "base"), value_expr(s, place_of(c, r, j))));
    const Value *acc = value_at(s, reg(c, "acc"), r);
    const Value *x = value_call(s, "word_of", value_at(s, acc, j));
    const Value *y = value_call(s, "word_of", value_at(s, acc, expr_add_i(pool, j, 1)));
    if (c->swap)
        stmt_call(s, "store_two", to, x, y);
    else {
        stmt_call(s, "store_word", to, x);
        stmt_call(s, "store_word", sum(c, to, value_int(s, (int64_t)c->pitch * WORD)), y);
    }
    for (int i = 0; i < 3; i++) stmt_end(s);
}

/* Adds a run of the sums of all parts. */
static void add_run(const Parts *c, const Expr *m, const Expr *n)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *rank = expr_var(pool, "rank", 0, 0, c->sharing * c->parts - 1);
    stmt_array(s, "u32", "v", DIMS(c->parts, RUN));
    stmt_array(s, "g_TC", "sum", DIMS(RUN));
    const Expr *q = stmt_unrolled(s, "q", 0, c->parts);
    const Expr *of = expr_add(pool, expr_mul_i(pool, q, c->sharing), expr_mod_i(pool, rank, c->sharing));
    stmt_call(s, "load_remote", sum(c, reg(c, "shared.base"), value_expr(s, place(c, m, n))),
              value_expr(s, of), value_at(s, reg(c, "v"), q));
    stmt_end(s);
    const Expr *e = stmt_unrolled(s, "e", 0, RUN);
    const Value *total = value_at(s, reg(c, "sum"), e);
    stmt_call(s, "from_word", value_at(s, value_at_i(s, reg(c, "v"), 0), e), total);
    q = stmt_loop(s, (Loop){.var = "q",
                            .start = expr_const(pool, 1),
                            .limit = expr_const(pool, c->parts),
                            .unroll = UNROLL_FULL});
    stmt_var(s, "g_TC", "x", NULL);
    stmt_call(s, "from_word", value_at(s, value_at(s, reg(c, "v"), q), e), reg(c, "x"));
    stmt_update(s, VALUE_ADD, total, reg(c, "x"));
    stmt_end(s);
    stmt_end(s);
}

/* Prints add_parts(). */
static void add_parts(const Parts *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int runs = c->p->mt[0] / RUN, threads = c->p->groups.consumers * WGMMA_LANES;
    stmt_function(
        s, (Function){.name = "add_parts",
                      STMT_PARAMS({"Sums &", "acc"}, {"const Args &", "args"}, {"const g_Ops &", "ops"},
                                  {"const Shared &", "shared"}, {"const WorkTile &", "p"}, {"u32", "rank"},
                                  {"u32", "wg"}, {"u32", "thread"})});
    stmt_comment(s, "no warp group multiplies from the ring any more");
    stmt_do(s, value_call_0(s, "consumers_sync"));
    stmt_call(s, "write_sums", reg(c, "acc"), reg(c, "shared.base"), reg(c, "wg"), reg(c, "thread"));
    stmt_do(s, value_call_0(s, "cluster_sync"));
    const Expr *wg = expr_var(pool, "wg", WG, 0, c->p->groups.consumers - 1);
    const Expr *first = expr_add(pool, expr_mul_i(pool, wg, WGMMA_LANES),
                                 expr_var(pool, "thread", THREAD, 0, WGMMA_LANES - 1));
    const Expr *i = stmt_loop(s, (Loop){.var = "i",
                                        .type = "u32",
                                        .start = first,
                                        .limit = expr_const(pool, (int64_t)runs * (c->p->mt[1] / c->parts)),
                                        .step = threads});
    const Expr *column = expr_mul_i(pool, expr_div_i(pool, i, runs), c->parts);
    const Expr *m = stmt_let(s, "m", expr_mul_i(pool, expr_mod_i(pool, i, runs), RUN));
    const Expr *n = stmt_let(s, "n", expr_add(pool, column, expr_var(pool, "p.part", 0, 0, c->parts - 1)));
    add_run(c, m, n);
    stmt_call(s, "store_four", reg(c, "sum"), reg(c, "args"), reg(c, "ops"),
              sum(c, reg(c, "p.m"), value_expr(s, m)), sum(c, reg(c, "p.n"), value_expr(s, n)),
              reg(c, "p.batch"));
    stmt_end(s);
    stmt_do(s, value_call_0(s, "proxy_fence"));
    stmt_do(s, value_call_0(s, "cluster_sync"));
    stmt_end(s);
}

Err hopper_parts(const GpuPlan *p, const MatrixInst *in, Stmts *s)
{
    const Parts c = parts_of(p, in, s);
    const int bytes = p->mt[1] * c.pitch * WORD;
    if (bytes > p->groups.stages * p->stage_bytes || p->mt[1] % c.parts || p->groups.pingpong)
        FAIL(ERR_INPUT, "%d parts of K of a cluster with %d bytes of sums, the ring has %d", c.parts, bytes,
             p->groups.stages * p->stage_bytes);
    write_sums(&c);
    add_parts(&c);
    return ERR_OK;
}
