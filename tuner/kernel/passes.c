/* Passes over the program, in order: distribute (work-group -> blocks -> subgroups -> lanes), pipeline
 * (prefetches), edges (which ops must look at sizes). No pass changes
 * what the program computes.
 */
#include "kernel/passes.h"

#include "kernel/epilogue.h"
#include "kernel/host/plan.h"

#include "problem/problem.h"

Op *pass_op(Program *p, Op from)
{
    Op *o = ARENA_NEW(p->arena, Op);
    if (o) *o = from, o->next = NULL;
    return o;
}

/* Links ops into a list in the order given; NULL entries are left out. */
Op *pass_list(Op *const *ops, int n)
{
    Op *first = NULL, **at = &first;
    for (int i = 0; i < n; i++) {
        if (!ops[i]) continue;
        *at = ops[i];
        at = &ops[i]->next;
    }
    return first;
}

Op *pass_loop(Program *p, Level level, Dim dim, int32_t step, Op *body)
{
    return pass_op(p, (Op){.kind = OP_LOOP,
                           .tile = {-1, -1, -1},
                           .level = level,
                           .dim = dim,
                           .step = step,
                           .unroll = 1,
                           .split = 1,
                           .body = body});
}

Op *pass_tile_op(Program *p, OpKind kind, int t0, int t1, int t2)
{
    return pass_op(p, (Op){.kind = kind, .tile = {t0, t1, t2}, .unroll = 1, .split = 1});
}

Op *pass_move(Program *p, int tile, int32_t step)
{
    return pass_op(p, (Op){.kind = OP_UPDATE_TILE_OFFSET,
                           .tile = {tile, -1, -1},
                           .dim = DIM_K,
                           .step = step,
                           .unroll = 1,
                           .split = 1});
}

static int local_tile(Program *p, const char *name, int global, int32_t rows, int32_t cols)
{
    Tile t = p->tile[global];
    t.name = name;
    t.type = p->host->scalar.type; /* packing converts to the compute type */
    t.space = SPACE_LOCAL;
    t.size[0] = rows;
    t.size[1] = cols;
    t.view = NULL;
    p->tile[p->n_tiles] = t;
    return p->n_tiles++;
}

/* Sets the maps of the work-group's tiles: the part of a lane (GPU) or of a vector element (host). */
static void map_tiles(Program *p)
{
    const HostPlan *h = p->host;
    int32_t tt0 = h->mr, tt1 = h->nr, wg0 = h->mc / tt0, wg1 = h->nc / tt1, vw = h->vl;
    Tile *a = &p->tile[program_tile(p, "reg_a")], *b = &p->tile[program_tile(p, "reg_b")];
    Tile *acc = &p->tile[program_tile(p, "acc")];
    a->wg_map = (TileMap){{wg0, 1}, {tt0, 1}};
    b->wg_map = (TileMap){{1, wg1}, {1, tt1}};
    acc->wg_map = (TileMap){{wg0, wg1}, {tt0, tt1}};
    a->sg_map = (TileMap){{vw, 1}, {tt0 / vw, 1}};
    b->sg_map = (TileMap){{1, 1}, {1, tt1}};
    acc->sg_map = (TileMap){{vw, 1}, {tt0 / vw, tt1}};
    a->type = b->type = acc->type;
    a->size[0] = tt0, a->size[1] = 1;
    b->size[0] = 1, b->size[1] = tt1;
    acc->size[0] = tt0, acc->size[1] = tt1;
}

/* Makes the ops of one register tile: init, the loop over k, and those of the epilogue. */
static Op *subgroup_body(Program *p, int from_a, int from_b)
{
    int acc = program_tile(p, "acc"), ra = program_tile(p, "reg_a"), rb = program_tile(p, "reg_b");
    Op *const inner[] = {
        pass_tile_op(p, OP_LOAD_TILE, ra, from_a, -1), pass_tile_op(p, OP_LOAD_TILE, rb, from_b, -1),
        pass_tile_op(p, OP_TILE_MMA, acc, ra, rb), pass_move(p, from_a, 1), pass_move(p, from_b, 1)};
    Op *k = pass_loop(p, LEVEL_LANE, DIM_K, 1, pass_list(inner, 5));
    if (!k) return NULL;
    k->split = p->host->lsu;
    k->unroll = p->host->unroll;
    const Epilogue e = host_epilogue(p->host);
    Op *const body[] = {pass_tile_op(p, OP_INIT_TILE, acc, -1, -1), k, epilogue_ops(p, &e)};
    return body[2] ? pass_list(body, 3) : NULL;
}

/* Host: B is packed a block of columns and a DepthU chunk at a time, A a block of rows; blocks are walked in
 * register tiles, rows first because a stripe of B then stays in the first-level cache. */
static Err host_distribute(Program *p)
{
    const HostPlan *h = p->host;
    int32_t mc = h->mc, nc = h->nc, du = h->kc;
    int a = program_tile(p, "a"), b = program_tile(p, "b");
    map_tiles(p);
    int from_a = h->pack[0] ? local_tile(p, "local_a", a, mc, du) : a;
    int from_b = h->pack[1] ? local_tile(p, "local_b", b, du, nc) : b;
    Op *rows = pass_loop(p, LEVEL_SUBGROUP, DIM_M, h->mr, subgroup_body(p, from_a, from_b));
    Op *cols = pass_loop(p, LEVEL_SUBGROUP, DIM_N, h->nr, rows);
    Op *const block[] = {h->pack[0] ? pass_tile_op(p, OP_LOAD_TILE, from_a, a, -1) : NULL,
                         pass_tile_op(p, OP_BARRIER, -1, -1, -1), cols};
    Op *m = pass_loop(p, LEVEL_BLOCK, DIM_M, mc, pass_list(block, 3));
    const bool carries = !host_plan_keeps_sums(h);
    Op *const chunk[] = {
        h->pack[1] ? pass_tile_op(p, OP_LOAD_TILE, from_b, b, -1) : NULL, m, pass_move(p, a, du),
        pass_move(p, b, du),
        carries ? pass_tile_op(p, OP_CARRY_TILE, program_tile(p, "c"), program_tile(p, "d"), -1) : NULL};
    Op *k = pass_loop(p, LEVEL_GROUP, DIM_K, du, pass_list(chunk, 5));
    Op *const whole[] = {pass_tile_op(p, OP_INIT_TILE, a, -1, -1), pass_tile_op(p, OP_INIT_TILE, b, -1, -1),
                         pass_loop(p, LEVEL_BLOCK, DIM_N, nc, k)};
    p->body = pass_list(whole, 3);
    if (!rows || !rows->body || !cols || !m || !k || !p->body)
        FAIL(ERR_FAILED, "out of memory for a program of macro tile %dx%d", h->mt0, h->mt1);
    return ERR_OK;
}

/* Returns the list that holds the lane loop as one of its own ops; NULL: there is no lane loop. */
static Op **lane_list(Op **list)
{
    for (Op *o = *list; o; o = o->next) {
        if (o->kind != OP_LOOP) continue;
        if (o->level == LEVEL_LANE) return list;
        Op **found = lane_list(&o->body);
        if (found) return found;
    }
    return NULL;
}

/* With PrefetchGlobalRead, D's tile is prefetched before the loop over k. PrefetchLocalRead is the number of
 * steps by which A's panel is prefetched ahead. */
static Err host_pipeline(Program *p)
{
    const HostPlan *h = p->host;
    Op **list = lane_list(&p->body), *k = list ? op_find(*list, OP_LOOP) : NULL;
    if (!k) FAIL(ERR_FAILED, "a program without a loop over k cannot be pipelined");
    if (h->prefetch_local > 0) {
        Op *o = pass_tile_op(p, OP_PREFETCH_TILE, k->body->tile[1], -1, -1);
        TRY_ALLOC(o);
        o->distance = h->prefetch_local;
        o->next = k->body;
        k->body = o;
    }
    if (h->prefetch_global > 0) {
        Op *o = pass_tile_op(p, OP_PREFETCH_TILE, program_tile(p, "d"), -1, -1);
        TRY_ALLOC(o);
        o->next = *list;
        *list = o;
    }
    return ERR_OK;
}

static unsigned tile_edges(const Program *p, int tile)
{
    return tile < 0 ? 0 : 1u << p->tile[tile].dim[0] | 1u << p->tile[tile].dim[1];
}

/* Guards ops on global memory at M, N and K. Packed copies are padded with zeros, so that ops which read them
 * need no guard. */
static void mark_edges(const Program *p, Op *list, bool free_edges)
{
    unsigned allowed = free_edges ? 7u : 1u << DIM_K;
    for (Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOOP) {
            o->guards = o->level == LEVEL_LANE ? 0 : 1u << o->dim & allowed;
            mark_edges(p, o->body, free_edges);
            continue;
        }
        int from = o->kind == OP_LOAD_TILE ? o->tile[1] : o->kind == OP_STORE_TILE ? o->tile[0] : -1;
        if (from >= 0 && p->tile[from].space == SPACE_GLOBAL) o->guards = tile_edges(p, from) & allowed;
        if (o->kind == OP_LOAD_TILE && p->tile[o->tile[0]].space == SPACE_REGISTER)
            o->guards &= ~(1u << DIM_K);
    }
}

static Err host_edges(Program *p)
{
    mark_edges(p, p->body, p->host->edges);
    return host_epilogue_read(p, NULL);
}

static Err pass_distribute(Program *p)
{
    if (hopper_is(p)) {
        TRY(hopper_distribute(p));
        return gpu_maps_of_warp_groups(p);
    }
    if (direct_is_program(p)) return direct_distribute(p);
    return p->host ? host_distribute(p) : gpu_distribute(p);
}

static Err pass_pipeline(Program *p)
{
    if (hopper_is(p)) return hopper_pipeline(p);
    if (direct_is_program(p)) return direct_pipeline(p);
    return p->host ? host_pipeline(p) : gpu_pipeline(p);
}

static Err pass_edges(Program *p)
{
    if (hopper_is(p)) return hopper_edges(p);
    if (direct_is_program(p)) return direct_edges(p);
    return p->host ? host_edges(p) : gpu_edges(p);
}

static const Pass passes[] = {
    {"distribute", pass_distribute}, {"pipeline", pass_pipeline}, {"edges", pass_edges}};

const Pass *pass_at(size_t i) { return i < sizeof passes / sizeof passes[0] ? &passes[i] : NULL; }
