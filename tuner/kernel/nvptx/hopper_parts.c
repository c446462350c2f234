/* The parts of K of a cluster (ClusterK) as statements: each work-group writes its sums to its own shared
 * memory, in the memory of the ring, as columns of D. Each then adds every n-th column over all parts, in
 * the order of the parts, through distributed shared memory, and stores the elements inside D. With
 * GlobalSplitU several clusters have parts of a tile: they store their sums to the workspace, and a second
 * kernel adds those up. Between the two, and before the ring is filled again, all threads of the cluster
 * meet; consumer_derive counts their meetings. */
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/lanes.h"

enum {
    RUN = 4,           /* rows that a thread adds at once, 16 bytes */
    WORD = 4,          /* bytes of a sum */
    RUNS_AHEAD = 16,   /* runs that a thread loads before it adds them up, where they go to the workspace */
    RESULTS_AHEAD = 8, /* or become results, whose code is longer */
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
    const MatrixAccLane own = nvptx_acc_lane(pool, c->p, c->in, thread, j);
    const Expr *first = expr_add(pool, expr_mul_i(pool, wg, c->n_rows), r);
    const Expr *x = expr_add(pool, expr_mul_i(pool, first, WGMMA_ROWS), own.row);
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

/* The result of row m + e. old: C's element. */
static const Value *result(const Parts *c, const Expr *e, const Value *old)
{
    const Value *x = hopper_result(c->s, "g_combined", value_at(c->s, reg(c, "sum"), e), old, reg(c, "reads"),
                                   value_at(c->s, reg(c, "rows"), e), reg(c, "of_col"));
    return value_call(c->s, "g_from_c", x);
}

static Access four_at(const Parts *c, const char *base)
{
    const int bytes = RUN * gpu_type_bytes(&c->p->out);
    return access_at(SPACE_GLOBAL, "Four", bytes, reg(c, base), NULL);
}

/* Four results as one vector. */
static void store_vector(const Parts *c)
{
    Stmts *s = c->s;
    const Value *out = stmt_var(s, "Four", "out", NULL), *old = stmt_var(s, "Four", "old", NULL);
    stmt_if(s, reg(c, "reads"));
    stmt_set(s, old, value_load(s, four_at(c, "c")));
    stmt_end(s);
    const Expr *e = stmt_unrolled(s, "e", 0, RUN);
    stmt_set(s, value_at(s, value_field(s, out, "v"), e),
             result(c, e, value_at(s, value_field(s, old, "v"), e)));
    stmt_end(s);
    stmt_store(s, four_at(c, "d"), out);
}

static void store_each(const Parts *c, const Value *m, const Value *rows)
{
    Stmts *s = c->s;
    const int bytes = gpu_type_bytes(&c->p->out);
    const Expr *e = stmt_unrolled(s, "e", 0, RUN);
    const Value *of_c = value_call(s, "g_c_at_m", value_expr(s, e), reg(c, "args.ldc"));
    const Value *of_d = value_call(s, "g_d_at_m", value_expr(s, e), reg(c, "args.ldd"));
    stmt_if(s, value_op(s, VALUE_LT, sum(c, m, value_expr(s, e)), rows));
    const Value *old = stmt_var(s, "g_TD", "old", NULL);
    stmt_if(s, reg(c, "reads"));
    stmt_set(s, old,
             value_load(s, access_element(SPACE_GLOBAL, "g_TD", bytes, sum(c, reg(c, "c"), of_c), NULL)));
    stmt_end(s);
    stmt_store(s, access_element(SPACE_GLOBAL, "g_TD", bytes, sum(c, reg(c, "d"), of_d), NULL),
               result(c, e, old));
    stmt_end(s);
    stmt_end(s);
}

static const Value *address_bits(Stmts *s, const char *of) { return value_cast(s, "u64", value_reg(s, of)); }

/* Prints store_four(): the results of rows m to m + 3 of a column, as one vector where it is aligned and
 * inside D. */
static void store_four(const Parts *c)
{
    Stmts *s = c->s;
    const int bytes = RUN * gpu_type_bytes(&c->p->out);
    const Value *m = reg(c, "m"), *n = reg(c, "n"), *ops = reg(c, "ops"), *batch = reg(c, "batch"),
                *args = reg(c, "args"), *zero = value_int(s, 0), *four = value_int(s, RUN);
    const Value *rows = value_cast(s, "int", reg(c, "args.m")),
                *columns = value_cast(s, "int", reg(c, "args.n"));
    stmt_struct(s, "Four", bytes);
    stmt_array(s, "g_TD", "v", DIMS(RUN));
    stmt_end(s);
    stmt_function(s, (Function){.name = "store_four",
                                STMT_PARAMS({stmts_name(s, "const g_TC (&sum)[%d]", RUN), NULL},
                                            {"const Args &", "args"}, {"const g_Ops &", "ops"}, {"int", "m"},
                                            {"int", "n"}, {"int", "batch"})});
    stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_LT, m, rows), value_op(s, VALUE_LT, n, columns)));
    const Value *reads = hopper_reads(c->p, s);
    stmt_define(s, "g_TD *const", "d", value_call(s, "d_at", args, m, n, batch));
    stmt_define(s, "g_TD *const", "c", value_cast(s, "g_TD *", value_call(s, "c_at", args, m, n, batch)));
    stmt_array(s, "g_OfRow", "rows", DIMS(RUN));
    stmt_var(s, "g_OfCol", "of_col", NULL);
    if (fused_any(&c->p->fused)) {
        stmt_call(s, "g_rows<4>", ops, m, value_call(s, "g_rows_whole<4>", ops, m, four), reg(c, "rows"));
        stmt_call(s, "g_cols<1>", ops, n, value_reg(s, "false"),
                  value_op(s, VALUE_ADDRESS, reg(c, "of_col"), NULL));
    }
    if (gpu_contiguous_results(c->p)) {
        const Value *bits =
            value_op(s, VALUE_OR, address_bits(s, "d"), value_select(s, reads, address_bits(s, "c"), zero));
        const Value *aligned = value_op(s, VALUE_EQ, value_op(s, VALUE_MOD, bits, value_int(s, bytes)), zero);
        stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_LE, sum(c, m, four), rows), aligned));
        store_vector(c);
        stmt_else(s);
    }
    store_each(c, m, rows);
    if (gpu_contiguous_results(c->p)) stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

/* Prints leave_four(): a run of a cluster's sums to the workspace, for the kernel that adds up those of all
 * clusters of a tile. */
static void leave_four(const Parts *c)
{
    Stmts *s = c->s;
    const int bytes = RUN * WORD;
    const Value *m = reg(c, "m"), *n = reg(c, "n"), *args = reg(c, "args"), *zero = value_int(s, 0);
    const Value *rows = value_cast(s, "int", reg(c, "args.m")),
                *columns = value_cast(s, "int", reg(c, "args.n"));
    const char *const size[] = {"args.m", "args.n", "args.batch"};
    stmt_struct(s, "Four", bytes);
    stmt_array(s, "g_TD", "v", DIMS(RUN));
    stmt_end(s);
    stmt_function(s, (Function){.name = "leave_four",
                                STMT_PARAMS({stmts_name(s, "const g_TC (&sum)[%d]", RUN), NULL},
                                            {"const Args &", "args"}, {"int", "m"}, {"int", "n"},
                                            {"int", "batch"}, {"u32", "part"})});
    stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_LT, m, rows), value_op(s, VALUE_LT, n, columns)));
    const Value *part = value_cast(s, "u64", reg(c, "part"));
    for (int i = 0; i < 3; i++) part = value_op(s, VALUE_MUL, part, reg(c, size[i]));
    stmt_define(s, "g_TD *const", "d",
                sum(c, value_call(s, "workspace_at", args, m, n, reg(c, "batch")), part));
    const Value *aligned =
        value_op(s, VALUE_EQ, value_op(s, VALUE_MOD, address_bits(s, "d"), value_int(s, bytes)), zero);
    const Value *four = value_int(s, RUN);
    stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_LE, sum(c, m, four), rows), aligned));
    const Value *out = stmt_var(s, "Four", "out", NULL);
    const Expr *e = stmt_unrolled(s, "e", 0, RUN);
    stmt_set(s, value_at(s, value_field(s, out, "v"), e), value_at(s, reg(c, "sum"), e));
    stmt_end(s);
    stmt_store(s, four_at(c, "d"), out);
    stmt_else(s);
    e = stmt_unrolled(s, "e", 0, RUN);
    stmt_if(s, value_op(s, VALUE_LT, sum(c, m, value_expr(s, e)), rows));
    stmt_store(s, access_element(SPACE_GLOBAL, "g_TD", WORD, sum(c, reg(c, "d"), value_expr(s, e)), NULL),
               value_at(s, reg(c, "sum"), e));
    for (int i = 0; i < 5; i++) stmt_end(s);
}

/* Loads a run of the sums of all parts into v. */
static void load_run(const Parts *c, const Expr *m, const Expr *n, const Value *v)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *rank = expr_var(pool, "rank", 0, 0, c->sharing * c->parts - 1);
    const Expr *q = stmt_unrolled(s, "q", 0, c->parts);
    const Expr *of = expr_add(pool, expr_mul_i(pool, q, c->sharing), expr_mod_i(pool, rank, c->sharing));
    stmt_call(s, "load_remote", sum(c, reg(c, "shared.base"), value_expr(s, place(c, m, n))),
              value_expr(s, of), value_at(s, v, q));
    stmt_end(s);
}

/* Adds a run up, to `sum`. */
static void add_run(const Parts *c, const Value *v)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *e = stmt_unrolled(s, "e", 0, RUN);
    const Value *total = value_at(s, reg(c, "sum"), e);
    stmt_call(s, "from_word", value_at(s, value_at_i(s, v, 0), e), total);
    const Expr *q = stmt_loop(s, (Loop){.var = "q",
                                        .start = expr_const(pool, 1),
                                        .limit = expr_const(pool, c->parts),
                                        .unroll = UNROLL_FULL});
    stmt_var(s, "g_TC", "x", NULL);
    stmt_call(s, "from_word", value_at(s, value_at(s, v, q), e), reg(c, "x"));
    stmt_update(s, VALUE_ADD, total, reg(c, "x"));
    stmt_end(s);
    stmt_end(s);
}

/* The place of run i of this work-group's share: every n-th column of the tile. */
static void let_run(const Parts *c, const Expr *i, const Expr **m, const Expr **n)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int runs = c->p->mt[0] / RUN;
    const Expr *part = expr_var(pool, "p.part", 0, 0, c->parts * hopper_split(c->p) - 1);
    const Expr *column = expr_mul_i(pool, expr_div_i(pool, i, runs), c->parts);
    *m = stmt_let(s, "m", expr_mul_i(pool, expr_mod_i(pool, i, runs), RUN));
    *n = stmt_let(s, "n", expr_add(pool, column, expr_mod_i(pool, part, c->parts)));
}

/* Adds run (m, n) of the share up, and stores it: results, or to the workspace. */
static void store_run(const Parts *c, const Value *v, const Expr *m, const Expr *n)
{
    Stmts *s = c->s;
    const Expr *part = expr_var(&s->pool, "p.part", 0, 0, c->parts * hopper_split(c->p) - 1);
    const Value *row = sum(c, reg(c, "p.m"), value_expr(s, m)),
                *column = sum(c, reg(c, "p.n"), value_expr(s, n));
    stmt_array(s, "g_TC", "sum", DIMS(RUN));
    add_run(c, v);
    if (hopper_split(c->p) > 1)
        stmt_call(s, "leave_four", reg(c, "sum"), reg(c, "args"), row, column, reg(c, "p.batch"),
                  value_expr(s, expr_div_i(&s->pool, part, c->parts)));
    else
        stmt_call(s, "store_four", reg(c, "sum"), reg(c, "args"), reg(c, "ops"), row, column,
                  reg(c, "p.batch"));
}

/* Adds the work-group's share up, and stores it. The loads of several runs are in flight at once. */
static void store_share(const Parts *c, const Expr *first, int64_t all, int threads)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const bool leaves = hopper_split(c->p) > 1;
    const int64_t own = (all + threads - 1) / threads,
                  most = (leaves ? RUNS_AHEAD : RESULTS_AHEAD) / c->parts;
    const int batch = (int)(own < most ? own : most);
    const bool guarded = all % ((int64_t)threads * batch) != 0;
    const Expr *m, *n;
    const Expr *at = stmt_loop(s, (Loop){.var = "at",
                                         .start = expr_const(pool, 0),
                                         .limit = expr_const(pool, own),
                                         .step = batch,
                                         .unroll = leaves ? UNROLL_FULL : UNROLL_NONE});
    const Value *v = stmt_array(s, "u32", "v", DIMS(batch, c->parts, RUN));
    for (int stores = 0; stores < 2; stores++) {
        const Expr *k = stmt_unrolled(s, "k", 0, batch);
        const Expr *turn = expr_mul_i(pool, expr_add(pool, at, k), threads);
        const Expr *i = stmt_let(s, "i", expr_add(pool, first, turn));
        if (guarded) stmt_if_expr(s, expr_op(pool, EXPR_LT, i, expr_const(pool, all)));
        let_run(c, i, &m, &n);
        if (stores)
            store_run(c, value_at(s, v, k), m, n);
        else
            load_run(c, m, n, value_at(s, v, k));
        if (guarded) stmt_end(s);
        stmt_end(s);
    }
    stmt_end(s);
}

/* Prints add_parts(). */
static void add_parts(const Parts *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const int threads = c->p->groups.consumers * WGMMA_LANES;
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
    const int64_t all = (int64_t)(c->p->mt[0] / RUN) * (c->p->mt[1] / c->parts);
    store_share(c, first, all, threads);
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
    stmt_file(s, "nvptx/hopper_parts.cuh");
    if (hopper_split(p) > 1)
        leave_four(&c);
    else
        store_four(&c);
    write_sums(&c);
    add_parts(&c);
    return ERR_OK;
}
