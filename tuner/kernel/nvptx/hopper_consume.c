/* What the consumer warp groups of wgmma kernels do tile by tile, as statements: the schedules (all share a
 * tile, or ping-pong), the release of stages, and what becomes of the sums. The arrivals that the mbarrier of
 * an empty stage expects are derived from them. */
#include "kernel/lower/build.h"
#include "kernel/lower/consumer.h"
#include "kernel/nvptx/hopper.h"

/* ---- the release of a stage ---- */

/* A release: the threads that arrive, and the work-group at whose mbarrier each does. A tile of A or B is
 * copied by the work-groups that share it, so that those of the same row and column of the cluster must hear
 * of it. */
typedef struct {
    const Expr *arrives, *to;
} Release;
enum { THREAD, RANK };

static Release release_of(const GpuPlan *p, Stmts *s)
{
    ExprPool *pool = &s->pool;
    const int m = p->groups.cluster[0], sharing = hopper_sharing(p);
    const Expr *thread = expr_var(pool, "thread", THREAD, 0, WGMMA_LANES - 1);
    const Expr *rank = expr_var(pool, "rank", RANK, 0, sharing * hopper_members(p) - 1);
    if (sharing == 1) return (Release){expr_op(pool, EXPR_EQ, thread, expr_const(pool, 0)), rank};
    const Expr *own = expr_kept(pool, "own", expr_mod_i(pool, rank, sharing));
    const Expr *column = expr_op(pool, EXPR_EQ, expr_mod_i(pool, thread, m), expr_mod_i(pool, own, m));
    const Expr *row = expr_op(pool, EXPR_EQ, expr_div_i(pool, thread, m), expr_div_i(pool, own, m));
    const Expr *arrives = expr_op(pool, EXPR_LT, thread, expr_const(pool, sharing));
    if (m > 1 && m < sharing) /* else all are in one row or column */
        arrives = expr_op(pool, EXPR_BOTH, arrives, expr_op(pool, EXPR_EITHER, column, row));
    return (Release){arrives, expr_add(pool, expr_sub(pool, rank, own), thread)};
}

/* Prints release(). */
static void release(const GpuPlan *p, Stmts *s)
{
    const Release r = release_of(p, s);
    stmt_function(s, (Function){.name = "release",
                                STMT_PARAMS({"const Shared &", "shared"}, {"u32", "stage"}, {"u32", "rank"},
                                            {"u32", "thread"})});
    stmt_if_expr(s, r.arrives);
    stmt_arrive(s, value_call(s, "shared.empty", value_reg(s, "stage")), value_expr(s, r.to));
    stmt_end(s);
    stmt_end(s);
}

/* Counts the arrivals of one release in every work-group of the cluster at each one's mbarrier. A work-group
 * tells all those that copy to its stages, and no others. */
static Err count_arrivals(const GpuPlan *p, Stmts *s, const Produced *produced, int *arrivals)
{
    const Release r = release_of(p, s);
    const int all = hopper_sharing(p) * hopper_members(p);
    int n[CLUSTER_MAX] = {0};
    for (int rank = 0; rank < all; rank++) {
        uint32_t reached = 0, copy = 0;
        for (int thread = 0; thread < WGMMA_LANES; thread++) {
            const int64_t value[] = {[THREAD] = thread, [RANK] = rank};
            int64_t arrives, to;
            if (!expr_eval(r.arrives, value, &arrives) || !arrives) continue;
            if (!expr_eval(r.to, value, &to) || to < 0 || to >= all)
                FAIL(ERR_FAILED, "thread %d of work-group %d arrives outside of its cluster", thread, rank);
            n[to]++, reached |= UINT32_C(1) << to;
        }
        for (int from = 0; from < all; from++) copy |= (produced->reaches[from] >> rank & 1) << from;
        if (reached != copy)
            FAIL(ERR_FAILED, "work-group %d tells others (0x%x) that a stage is empty than copy to it (0x%x)",
                 rank, reached, copy);
    }
    for (int rank = 0; rank < all; rank++)
        if (n[rank] != n[0])
            FAIL(ERR_FAILED, "work-groups 0 and %d of a cluster get %d and %d arrivals", rank, n[0], n[rank]);
    *arrivals = n[0];
    return ERR_OK;
}

/* ---- tiles ---- */

typedef struct {
    const GpuPlan *p;
    Stmts *s;
} Tiles;

/* A condition on the walk. */
static const Value *has_tile(const Tiles *t)
{
    return value_op(t->s, VALUE_NOT, value_call(t->s, "walk_done", reg(t, "walk")), NULL);
}

static void take_tile(const Tiles *t, const char *name)
{
    stmt_define(t->s, "WorkTile", name,
                value_call(t->s, "work_tile", reg(t, "walk"), reg(t, "args"), reg(t, "rank")));
}

static void next_tile(const Tiles *t) { stmt_call(t->s, "walk_next", reg(t, "walk")); }

/* Ping-pong: the other warp group's tile. first: this one is the second warp group, and has no tile yet. */
static void skip_tile(const Tiles *t, bool first)
{
    Stmts *s = t->s;
    if (!t->p->groups.pingpong) return;
    if (first) {
        stmt_if(s, reg(t, "wg"));
        stmt_call(s, "turn_arrive", value_int(s, 0));
        stmt_end(s);
    }
    stmt_if(s, first ? value_op(s, VALUE_BOTH, reg(t, "wg"), has_tile(t)) : has_tile(t));
    take_tile(t, "other");
    stmt_call(s, "ring.skip", value_field(s, reg(t, "other"), "count"));
    next_tile(t);
    stmt_end(s);
}

/* Adds up the sums of a tile's parts. Declares whether this warp group is to store the tile. */
static void join_parts(const Tiles *t)
{
    Stmts *s = t->s;
    const Value *acc = reg(t, "acc"), *args = reg(t, "args"), *p = reg(t, "p"), *rank = reg(t, "rank");
    const Value *wg = reg(t, "wg"), *thread = reg(t, "thread"), *of_tile = reg(t, "of_tile");
    const Value *stores = stmt_var(s, "bool", "stores", value_int(s, t->p->walk.members <= 1));
    if (t->p->walk.members > 1)
        stmt_call(s, "add_parts", acc, args, of_tile, reg(t, "shared"), p, rank, wg, thread);
    if (!t->p->partial_sums) return;
    const Value *cut = value_op(s, VALUE_GT, value_field(s, p, "parts"), value_int(s, 1));
    (t->p->walk.stream_k ? stmt_if_seldom : stmt_if)(s, cut);
    if (t->p->walk.stream_k)
        stmt_set(s, stores, value_call(s, "join_sums", acc, args, of_tile, p, rank, wg, thread));
    else {
        stmt_set(s, stores, value_int(s, 0));
        stmt_call(s, "add_sums", acc, args, of_tile, p, rank, wg, thread);
    }
    stmt_end(s);
}

static void one_tile(const Tiles *t)
{
    Stmts *s = t->s;
    const Value *acc = reg(t, "acc"), *of_tile = reg(t, "of_tile"), *p = reg(t, "p");
    const Value *wg = reg(t, "wg"), *thread = reg(t, "thread"), *rank = reg(t, "rank");
    const bool pingpong = t->p->groups.pingpong;
    if (pingpong) take_tile(t, "p");
    stmt_var(s, "g_Ops", "of_tile", reg(t, "ops"));
    stmt_call(s, "g_find_bias", of_tile, value_field(s, p, "batch"));
    if (hopper_vectors_early(t->p)) stmt_call(s, "vectors.load", of_tile, p, wg, thread);
    /* without this wait the parity of a stage could be that of an earlier tile's phase */
    const Value *shared = reg(t, "shared"), *ring = reg(t, "ring"), *x = reg(t, "x_offset");
    const Value *chunks = value_field(s, p, "count");
    const Value *of_tile_sums[11] = {acc, shared, ring, chunks, x, rank, wg, thread};
    int n = 8;
    if (hopper_taps(t->p) > 1) of_tile_sums[n++] = reg(t, "apart");
    if (pingpong) {
        stmt_call(s, "turn_wait", wg);
        stmt_do(s, value_call_n(s, "accumulate", n, of_tile_sums));
    } else {
        of_tile_sums[n++] = reg(t, "walk"), of_tile_sums[n++] = reg(t, "args");
        stmt_define(s, "WorkTile", "next", value_call_n(s, "accumulate", n, of_tile_sums));
    }
    if (t->p->groups.mends) stmt_call(s, "mend_sums", acc, reg(t, "args"), p, wg, thread);
    join_parts(t);
    stmt_if(s, reg(t, "stores"));
    stmt_call(s, "store_tile", acc, reg(t, "args"), of_tile, reg(t, "vectors"), reg(t, "map_c"),
              reg(t, "map_d"), reg(t, "shared"), p, wg, thread, reg(t, "phases"));
    stmt_end(s);
    if (pingpong)
        next_tile(t);
    else
        stmt_set(s, p, reg(t, "next"));
}

/* Defines how far the pixels of a tap are from those of the tap before it in a stage, in the 16 bytes that
 * matrix descriptors count in. */
static void apart(const Tiles *t)
{
    Stmts *s = t->s;
    stmt_define(s, "WindowArgs &", "all", value_cast(s, "const WindowArgs &", reg(t, "args")));
    const Value *rows = value_cast(s, "u32", reg(t, "all.dilation_w"));
    stmt_define(s, "u32", "apart", value_op(s, VALUE_MUL, rows, value_int(s, HOPPER_ROW_BYTES / 16)));
}

static void consume(const Tiles *t)
{
    Stmts *s = t->s;
    const int rows = t->p->matrix.swap, n_acc = t->p->mt[!rows] / 2;
    const Expr *group = expr_var(&s->pool, "wg", 0, 0, t->p->groups.consumers - 1);
    stmt_function(s, (Function){.name = "consume",
                                STMT_PARAMS({"const Args &", "args"}, {"const Map &", "map_c"},
                                            {"const Map &", "map_d"}, {"const Shared &", "shared"},
                                            {"int", "wg"}, {"int", "thread"})});
    stmt_define(s, "u32", "rank", value_call_0(s, "cluster_rank"));
    if (hopper_taps(t->p) > 1) apart(t);
    stmt_define(s, "u32", "x_offset", hopper_group_at(t->p, s, group));
    stmt_var(s, "Ring", "ring", NULL);
    stmt_var(s, "u32", "phases", value_int(s, 0));
    stmt_array(s, "g_TC", "acc", DIMS(t->p->matrix.tiles[rows], n_acc));
    stmt_var(s, "g_Ops", "ops", value_reg(s, "args.ops"));
    stmt_var(s, "Vectors", "vectors", NULL);
    stmt_var(s, "Walk", "walk", value_call(s, "walk_of", reg(t, "args")));
    stmt_call(s, "g_load_numbers", reg(t, "ops"));
    skip_tile(t, true);
    hopper_first_turn(t->p, s);
    if (!t->p->groups.pingpong)
        stmt_var(s, "WorkTile", "p",
                 value_call(s, "work_tile", reg(t, "walk"), reg(t, "args"), reg(t, "rank")));
    stmt_loop(s, (Loop){.condition = has_tile(t)});
    one_tile(t);
    skip_tile(t, false);
    stmt_end(s);
    stmt_if(s, value_op(s, VALUE_EQ, reg(t, "thread"), value_int(s, 0)));
    stmt_do(s, value_call_0(s, "store_wait"));
    stmt_end(s);
    stmt_end(s);
}

/* ---- the whole ---- */

Err hopper_consume(const GpuPlan *p, const MatrixInst *in, const StageRing *ring, const Produced *produced,
                   Stmts *s, int *arrivals)
{
    const Tiles t = {p, s};
    const Consumers c = {.function = "consume",
                         .group = "wg",
                         .n_groups = p->groups.consumers,
                         .ring = ring,
                         .cursor = "ring",
                         .skip = "ring.skip",
                         .full = "shared.full",
                         .tile = {"shared.x", "shared.y"},
                         .release = "release",
                         .done = "walk_done",
                         .next = "walk_next",
                         .take = "work_tile",
                         .count = "count",
                         .store = "store_tile",
                         .meet = "cluster_sync",
                         .meetings = produced->meetings,
                         .turn_wait = "turn_wait",
                         .turn_give = "turn_arrive"};
    int releases = 0;
    release(p, s);
    hopper_products(p, in, ring, s);
    if (p->groups.mends) TRY(hopper_mend(p, in, s));
    hopper_slices(p, s);
    hopper_write(p, in, s);
    TRY(hopper_store(p, s));
    if (p->partial_sums) TRY(hopper_join(p, in, s));
    if (hopper_members(p) > 1) TRY(hopper_parts(p, in, s));
    consume(&t);
    TRY(consumer_derive(s, &c, &releases));
    TRY(count_arrivals(p, s, produced, arrivals));
    *arrivals *= releases;
    return ERR_OK;
}
