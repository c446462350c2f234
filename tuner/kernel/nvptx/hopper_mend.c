/* Sums of wgmma kernels that elements of other groups or outputs have made NaN, as statements. The copied
 * filter of windows whose groups or outputs became one has zeros that the convolution does not multiply
 * (problem/pack.h). The product of such a zero is 0, or NaN where the pixel is infinite or NaN: a sum that is
 * no NaN is right. Threads test their sums once a tile, and those that find a NaN make each such sum again
 * from memory, without the zeros, which the copy has marked. This costs an addition for each sum of a tile,
 * and is slow only where results are NaN. */
#include "kernel/contract.h"
#include "kernel/lower/build.h"
#include "kernel/nvptx/hopper.h"
#include "kernel/nvptx/lanes.h"
#include "problem/pack.h"

enum { TESTS = 4 };            /* chains of additions, so that each waits for the fourth before it */
enum { WG, THREAD, SUM, ROW }; /* slots of variables */

typedef struct {
    const GpuPlan *p;
    const MatrixInst *in;
    Stmts *s;
    ExprPool *pool;
    const Window *w;
    int n_rows, n_acc; /* instructions along the rows; sums of one */
} Mend;

/* The element of A (0) or B at coordinate x of M or N, and of K. */
static Access element(const Mend *c, int t, const Expr *x, const Expr *k)
{
    const ContractNames names = {.s = c->s, .prefix = "args."};
    const Expr *batch = expr_var(c->pool, "p.batch", 0, 0, INT32_MAX);
    const Expr *const coord[CONTRACT_COORDS] = {t ? k : x, t ? x : k, batch};
    const Value *base = value_named(c->s, "args.%c", "ab"[t]);
    Access a = access_element(SPACE_GLOBAL, "g_T", gpu_type_bytes(&c->p->in), base,
                              contract_address(c->p->indices, t, &names, coord));
    if (t) a.guard = contract_inside(c->p->indices, t, &names, k, x);
    return a;
}

static const Value *widened(const Mend *c, const Value *x)
{
    const char *widen = gpu_widen(c->p->in.type);
    return *widen ? value_call(c->s, widen, x) : x;
}

/* Adds the products of channel `channel` of tap `tap` to `total`. */
static void add_product(const Mend *c, const Expr *tap, const Expr *channel)
{
    Stmts *s = c->s;
    ExprPool *pool = c->pool;
    const ContractNames names = {.s = s, .prefix = "args."};
    const IndexList *sums = &c->p->indices->group[INDICES_K];
    const Expr *x = contract_extent(&names, c->w->tap[0]), *k = expr_const(pool, 0);
    for (int32_t i = sums->n; i-- > 0;) {
        const Expr *digit = sums->v[i] == c->w->channel  ? channel
                            : sums->v[i] == c->w->tap[0] ? expr_mod(pool, tap, x)
                                                         : expr_div(pool, tap, x);
        k = expr_add(pool, expr_mul(pool, k, contract_extent(&names, sums->v[i])), digit);
    }
    k = stmt_let(s, "k", expr_u31(pool, k));
    const Expr *m = expr_var(pool, "m", 0, 0, INT32_MAX), *n = expr_var(pool, "n", 0, 0, INT32_MAX);
    const Value *x_a = stmt_define(s, "g_T", "x", value_load(s, element(c, 0, m, k)));
    const Value *bits = c->p->in.part_bytes == 4 ? gpu_as_bits(c->p->dialect, s, x_a) : x_a;
    stmt_if(s, op(c, VALUE_NE, bits, value_int(s, pack_mark(c->p->in.part_bytes))));
    const Value *x_b = stmt_define(s, "g_T", "y", value_load(s, element(c, 1, n, k)));
    stmt_update(s, VALUE_ADD, reg(c, "total"), product(c, widened(c, x_a), widened(c, x_b)));
    stmt_end(s);
}

/* Prints own_sum(): the sum of row m and column n over the tile's part of K. */
static void own_sum(const Mend *c)
{
    Stmts *s = c->s;
    ExprPool *pool = c->pool;
    const int most = INT32_MAX / c->p->depth_u;
    const ContractNames names = {.s = s, .prefix = "args."};
    stmt_function(s, (Function){.result = "g_TC",
                                .name = "own_sum",
                                STMT_PARAMS({"const WindowArgs &", "args"}, {"const WorkTile &", "p"},
                                            {"int", "m"}, {"int", "n"})});
    const Value *total = stmt_var(s, "g_TC", "total", value_int(s, 0));
    const Value *rows = value_cast(s, "int", reg(c, "args.m")),
                *columns = value_cast(s, "int", reg(c, "args.n"));
    stmt_if(s, both(c, op(c, VALUE_LT, reg(c, "m"), rows), op(c, VALUE_LT, reg(c, "n"), columns)));
    const Expr *i = stmt_loop(s, (Loop){.var = "i",
                                        .type = "u32",
                                        .start = expr_const(pool, 0),
                                        .limit = expr_var(pool, "p.count", 0, 0, most),
                                        .unroll = UNROLL_NONE});
    const Expr *chunk = expr_mul(pool, i, expr_var(pool, "p.step", 0, 0, most));
    chunk = expr_add(pool, expr_within(pool, chunk, 0, most), expr_var(pool, "p.first", 0, 0, most));
    chunk = stmt_let(s, "chunk", expr_within(pool, chunk, 0, most));
    const Expr *tap = stmt_let(s, "tap", hopper_tap(c->p, c->w, s, chunk));
    const Expr *first = expr_mul_i(pool, hopper_chunk_of_tap(c->p, s, chunk, tap), c->p->depth_u);
    first = stmt_let(s, "first", first);
    const Expr *behind = expr_op(pool, EXPR_MIN, expr_add_i(pool, first, c->p->depth_u),
                                 contract_extent(&names, c->w->channel));
    const Expr *channel = stmt_loop(s, (Loop){.var = "channel",
                                              .type = "u32",
                                              .start = first,
                                              .limit = stmt_let(s, "behind", behind),
                                              .unroll = UNROLL_NONE});
    add_product(c, tap, channel);
    for (int n = 0; n < 3; n++) stmt_end(s);
    stmt_return(s, total);
    stmt_end(s);
}

/* Opens the loops over all sums. Returns whether the current one has number i, and sets *acc. */
static const Value *open_sums(const Mend *c, const Expr *i, const Value **acc)
{
    const Expr *r = stmt_unrolled(c->s, "r", ROW, c->n_rows),
               *j = stmt_unrolled(c->s, "j", ROW + 1, c->n_acc);
    *acc = value_at(c->s, value_at(c->s, reg(c, "acc"), r), j);
    if (!i) return NULL;
    const Expr *at = expr_add(c->pool, expr_mul_i(c->pool, r, c->n_acc), j);
    return value_expr(c->s, expr_op(c->pool, EXPR_EQ, at, i));
}

static void close_sums(const Mend *c)
{
    stmt_end(c->s);
    stmt_end(c->s);
}

/* Opens a block for threads one of whose sums is NaN. */
static void if_any(const Mend *c)
{
    Stmts *s = c->s;
    const Value *acc, *test = stmt_array(s, "g_TC", "test", DIMS(TESTS)), *all = value_at_i(s, test, 0);
    for (int i = 0; i < TESTS; i++) stmt_set(s, value_at_i(s, test, i), value_int(s, 0));
    (void)open_sums(c, NULL, &acc);
    const Expr *j = expr_var(c->pool, "j", ROW + 1, 0, c->n_acc - 1);
    stmt_update(s, VALUE_ADD, value_at(s, test, expr_mod_i(c->pool, j, TESTS)), acc);
    close_sums(c);
    for (int i = 1; i < TESTS; i++) all = sum(c, all, value_at_i(s, test, i));
    all = stmt_define(s, "g_TC", "all_sums", all);
    stmt_if(s, op(c, VALUE_NE, all, all));
}

/* Defines the row and the column of D of sum i. */
static void place(const Mend *c, const Expr *i)
{
    Stmts *s = c->s;
    ExprPool *pool = c->pool;
    const bool swap = c->p->matrix.swap, alone = c->p->groups.pingpong;
    const Expr *wg = alone ? expr_const(pool, 0) : expr_var(pool, "wg", WG, 0, c->p->groups.consumers - 1);
    const Expr *thread = expr_var(pool, "thread", THREAD, 0, WGMMA_LANES - 1);
    const MatrixAccLane own = nvptx_acc_lane(pool, c->p, c->in, thread, expr_mod_i(pool, i, c->n_acc));
    const Expr *of = expr_add(pool, expr_mul_i(pool, wg, c->n_rows), expr_div_i(pool, i, c->n_acc));
    const Expr *row = expr_add(pool, expr_mul_i(pool, of, WGMMA_ROWS), own.row);
    stmt_define(s, "int", "m", offset_by(c, reg(c, "p.m"), swap ? own.col : row));
    stmt_define(s, "int", "n", offset_by(c, reg(c, "p.n"), swap ? row : own.col));
}

static void mend_sums(const Mend *c)
{
    Stmts *s = c->s;
    const Value *acc, *is;
    stmt_function(s, (Function){.name = "mend_sums",
                                STMT_PARAMS({"Sums &", "acc"}, {"const Args &", "all"},
                                            {"const WorkTile &", "p"}, {"int", "wg"}, {"int", "thread"})});
    stmt_define(s, "WindowArgs &", "args", value_cast(s, "const WindowArgs &", reg(c, "all")));
    if_any(c);
    const Expr *i = stmt_loop(s, (Loop){.var = "i",
                                        .start = expr_const(c->pool, 0),
                                        .limit = expr_const(c->pool, (int64_t)c->n_rows * c->n_acc),
                                        .slot = SUM,
                                        .unroll = UNROLL_NONE});
    const Value *x = stmt_var(s, "g_TC", "x", value_int(s, 0));
    is = open_sums(c, i, &acc);
    stmt_set(s, x, value_select(s, is, acc, x));
    close_sums(c);
    stmt_if(s, op(c, VALUE_NE, x, x));
    place(c, i);
    stmt_set(s, x, value_call(s, "own_sum", reg(c, "args"), reg(c, "p"), reg(c, "m"), reg(c, "n")));
    is = open_sums(c, i, &acc);
    stmt_set(s, acc, value_select(s, is, x, acc));
    close_sums(c);
    for (int n = 0; n < 4; n++) stmt_end(s);
}

Err hopper_mend(const GpuPlan *p, const MatrixInst *in, Stmts *s)
{
    Window w;
    if (!p->indices) FAIL(ERR_INPUT, "sums of windows alone are mended");
    TRY(hopper_window(p, &w));
    if (w.per_tap || p->acc.type == TYPE_I)
        FAIL(ERR_INPUT, "sums of %s are not mended", w.per_tap ? "weights" : "integers");
    const Mend c = {.p = p,
                    .in = in,
                    .s = s,
                    .pool = &s->pool,
                    .w = &w,
                    .n_rows = p->matrix.tiles[p->matrix.swap],
                    .n_acc = p->mt[!p->matrix.swap] / 2};
    own_sum(&c);
    mend_sums(&c);
    return ERR_OK;
}
