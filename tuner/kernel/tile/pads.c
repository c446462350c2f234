/* Pads between the lines of local tiles, chosen by counting bank conflicts of the stores of loads and of the
 * reads of products. See plan.h; what a conflict is: kernel/amdgcn/layout.c. */
#include "base/integer.h"
#include "index/matrix_lanes.h"
#include "kernel/amdgcn/amdgcn.h"
#include "kernel/tile/lower.h"

enum { ACCESSES_MAX = 64, PADS_MAX = 8, READ_WEIGHT = 4 };

/* An access of the first lanes: their elements. */
typedef struct {
    int64_t line[EXPR_LANES_MAX], at[EXPR_LANES_MAX];
    int bytes, weight;
} LanesAccess;

typedef struct {
    const Program *p;
    const TilePlan *plan;
    int tile, n;
    ExprPool pool;
    const Expr *tid;
    LanesAccess access[ACCESSES_MAX];
} Accesses;

static void add(Accesses *a, const Expr *row, const Expr *col, int elements, int weight)
{
    int64_t tid[EXPR_LANES_MAX];
    const int64_t *values[TILE_SLOT_TID + 1] = {0};
    const TilePlace *x = &a->plan->tile[a->tile];
    if (a->n == ACCESSES_MAX || a->pool.failed) return;
    LanesAccess *to = &a->access[a->n++];
    for (int i = 0; i < EXPR_LANES_MAX; i++) tid[i] = i % a->plan->n_threads;
    values[TILE_SLOT_TID] = tid;
    to->bytes = elements * x->layout.bytes, to->weight = weight;
    (void)expr_eval_lanes(x->columns_first ? col : row, EXPR_LANES_MAX, values, to->line);
    (void)expr_eval_lanes(x->columns_first ? row : col, EXPR_LANES_MAX, values, to->at);
}

/* A load stores runs along the side that is contiguous in memory. */
static void add_load(Accesses *a, const Op *o)
{
    const TilePlace *x = &a->plan->tile[a->tile];
    const int side = o->hand->transpose ? 0 : 1, n = tile_run(a->p, a->plan, a->tile, side);
    const bool vector = side == (x->columns_first ? 0 : 1);
    if (!x->mapped) return;
    for (int q = 0; q < (vector ? 1 : n); q++) {
        const Expr *at[2];
        for (int i = 0; i < 2; i++)
            at[i] = tile_element(&a->pool, a->p, a->plan, a->tile, i, a->tid,
                                 expr_const(&a->pool, i == side ? q : 0));
        add(a, at[0], at[1], vector ? n : 1, 1);
    }
}

/* A product reads its operand number `operand` along rows or columns of the sums, or along K. */
static void add_product(Accesses *a, const Op *o, int operand)
{
    ExprPool *pool = &a->pool;
    const int acc = o->tile[0];
    const MatrixInst *in = a->plan->tile[acc].inst;
    const Expr *zero = expr_const(pool, 0), *k = zero, *free;
    int n = 1;
    if (in) {
        const Expr *lane = expr_mod_i(pool, a->tid, a->plan->n_lanes);
        MatrixElement e = matrix_operand_element(pool, in, operand, lane, zero);
        free = expr_add(pool, tile_instruction(pool, a->p, a->plan, acc, operand, a->tid, zero), e.free);
        k = e.k;
        if (type_bytes(in->a) < 4) n = tile_fragment_run(in, operand);
    } else {
        free = tile_element(pool, a->p, a->plan, acc, operand, a->tid, zero);
        n = int_pow2_in(a->plan->tile[acc].sg.data[operand], 16 / a->plan->tile[a->tile].layout.bytes);
    }
    add(a, operand ? k : free, operand ? free : k, n, READ_WEIGHT);
}

static void add_ops(Accesses *a, const Op *list)
{
    for (const Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOAD_TILE && o->tile[0] == a->tile) add_load(a, o);
        for (int i = 0; i < 2 && o->kind == OP_TILE_MMA; i++)
            if (o->tile[1 + i] == a->tile) add_product(a, o, i);
        add_ops(a, o->body);
    }
}

static int conflicts(Accesses *a, const Layout *l)
{
    Expr nodes[32];
    ExprPool pool;
    int n = 0;
    expr_pool_fixed(&pool, nodes, 32);
    const Expr *at = layout_at(&pool, l, expr_var(&pool, "line", 0, 0, HAND_MAX_SIDE),
                               expr_var(&pool, "at", 1, 0, HAND_MAX_SIDE));
    for (int i = 0; i < a->n; i++) {
        const LanesAccess *x = &a->access[i];
        const int64_t *const values[] = {x->line, x->at};
        LdsAccess one = {.n_lanes = a->plan->n_lanes < EXPR_LANES_MAX ? a->plan->n_lanes : EXPR_LANES_MAX,
                         .bytes = x->bytes};
        (void)expr_eval_lanes(at, one.n_lanes, values, one.at);
        n += x->weight * lds_conflicts(&one);
    }
    return n;
}

static void choose(Accesses *a, TilePlace *x, int lines, int64_t *bytes)
{
    const int unit = x->layout.bytes < 16 ? 16 / x->layout.bytes : 1;
    const int64_t plain = layout_bytes(&x->layout, lines);
    Layout best = x->layout;
    int least = conflicts(a, &best);
    for (int pad = 1; pad <= PADS_MAX && least; pad++) {
        Layout l = x->layout;
        l.line += pad * unit;
        if (layout_bytes(&l, lines) - plain > *bytes) break;
        const int n = conflicts(a, &l);
        if (n < least) best = l, least = n;
    }
    *bytes -= layout_bytes(&best, lines) - plain;
    x->layout = best;
}

void tile_plan_pads(const Program *p, TilePlan *plan, int64_t bytes)
{
    for (int i = 0; i < p->n_tiles; i++) {
        TilePlace *x = &plan->tile[i];
        Arena arena;
        Accesses a = {.p = p, .plan = plan, .tile = i};
        if (p->tile[i].space != SPACE_LOCAL) continue;
        arena_init(&arena, 0);
        expr_pool_init(&a.pool, &arena);
        a.tid = expr_var(&a.pool, "tid", TILE_SLOT_TID, 0, plan->n_threads - 1);
        add_ops(&a, p->body);
        if (!a.pool.failed) choose(&a, x, p->tile[i].size[x->columns_first ? 1 : 0], &bytes);
        arena_fini(&arena);
    }
}
