/* Program passes of kernels that multiply by wgmma. Their warp groups are specialised. Distribute: a producer
 * fills stages of A and B in local memory by TMA, and consumer warp groups multiply from there. Pipeline:
 * each role has its own loop over K, in which it waits for empty or full stages (mbarriers). With EngineStore
 * the results pass through local memory in slices that TMA stores. */
#include "kernel/gpu/gpu.h"
#include "kernel/passes.h"
#include "problem/matrix_inst.h"

bool hopper_is(const Program *p) { return p->gpu && p->gpu->groups.used; }

/* Makes tile number `at` a local memory copy of tile `from`, with n_buffers stages. */
static void local_tile(Program *p, int at, const char *name, int from, int32_t n_buffers)
{
    Tile t = p->tile[from];
    t.name = name;
    t.space = SPACE_LOCAL;
    t.view = NULL;
    t.n_buffers = n_buffers;
    p->tile[at] = t;
}

Err hopper_distribute(Program *p)
{
    enum { ROWS = WGMMA_ROWS };
    const GpuPlan *plan = p->gpu;
    const GpuWarpGroups *g = &plan->groups;
    /* wgmma reads A and B from local memory, so they have no register tiles */
    local_tile(p, program_tile(p, "reg_a"), "local_a", program_tile(p, "a"), g->stages);
    local_tile(p, program_tile(p, "reg_b"), "local_b", program_tile(p, "b"), g->stages);
    /* the accumulators of a warp group; the 64 rows of wgmma lie along M, or with swap along N */
    Tile *acc = &p->tile[program_tile(p, "acc")];
    int rows = plan->matrix.swap ? 1 : 0, columns = rows ? plan->matrix.m : plan->matrix.n;
    int repeats = plan->matrix.tiles[rows];
    acc->wg_map.layout[rows] = g->pingpong ? 1 : g->consumers, acc->wg_map.layout[1 - rows] = 1;
    acc->wg_map.data[rows] = repeats * ROWS, acc->wg_map.data[1 - rows] = columns;
    acc->sg_map.layout[rows] = ROWS / 2, acc->sg_map.layout[1 - rows] = 4;
    acc->sg_map.data[rows] = 2 * repeats, acc->sg_map.data[1 - rows] = columns / 4;
    return ERR_OK;
}

/* ---- pipeline ---- */

static Op *role_op(Program *p, OpKind kind, Role role, int t0, int t1, int t2)
{
    Op *o = pass_tile_op(p, kind, t0, t1, t2);
    if (o) o->role = role;
    return o;
}

static Op *role_loop(Program *p, Op *body) { return pass_loop(p, LEVEL_GROUP, DIM_K, p->gpu->depth_u, body); }

static Op *producer_loop(Program *p)
{
    int a = program_tile(p, "a"), b = program_tile(p, "b");
    Op *const ops[] = {role_op(p, OP_WAIT, ROLE_PRODUCER, -1, -1, -1),
                       role_op(p, OP_LOAD_TILE, ROLE_PRODUCER, program_tile(p, "local_a"), a, -1),
                       role_op(p, OP_LOAD_TILE, ROLE_PRODUCER, program_tile(p, "local_b"), b, -1),
                       pass_move(p, a, p->gpu->depth_u), pass_move(p, b, p->gpu->depth_u)};
    return role_loop(p, pass_list(ops, 5));
}

static Op *consumer_loop(Program *p)
{
    Op *const ops[] = {role_op(p, OP_WAIT, ROLE_CONSUMER, -1, -1, -1),
                       role_op(p, OP_TILE_MMA, ROLE_CONSUMER, program_tile(p, "acc"),
                               program_tile(p, "local_a"), program_tile(p, "local_b"))};
    return role_loop(p, pass_list(ops, 2));
}

Err hopper_pipeline(Program *p)
{
    const Epilogue e = gpu_epilogue(p->gpu);
    Op *const ops[] = {pass_tile_op(p, OP_INIT_TILE, program_tile(p, "a"), -1, -1),
                       pass_tile_op(p, OP_INIT_TILE, program_tile(p, "b"), -1, -1), producer_loop(p),
                       consumer_loop(p), epilogue_ops(p, &e)};
    for (int i = 0; i < 5; i++) TRY_ALLOC(ops[i]);
    p->body = pass_list(ops, 5);
    return ERR_OK;
}

/* ---- edges: TMA loads zeros past them, and does not store there ---- */

Err hopper_edges(Program *p)
{
    for (Op *o = p->body; o; o = o->next) {
        const int at = o->kind == OP_STORE_TILE ? o->tile[0] : o->kind == OP_LOAD_TILE ? o->tile[1] : -1;
        if (at >= 0 && p->tile[at].space == SPACE_GLOBAL) o->guards = 1u << DIM_M | 1u << DIM_N;
        if (o->kind != OP_LOOP) continue;
        o->guards = 1u << DIM_K;
        for (Op *in = o->body; in; in = in->next)
            if (in->kind == OP_LOAD_TILE)
                in->guards = 1u << p->tile[in->tile[1]].dim[0] | 1u << p->tile[in->tile[1]].dim[1];
    }
    return gpu_epilogue_read(p, NULL);
}
