/* Passes of kernels without local memory. Distribute: threads load what they multiply themselves, groups of
 * them share K. Pipeline: with PrefetchGlobalRead the loads of the next DepthU are in flight while the
 * current one is multiplied. Edges: which ops look at sizes. */
#include "kernel/gpu/maps.h"
#include "kernel/passes.h"

bool direct_is_program(const Program *p) { return p->gpu && p->gpu->direct; }

Err direct_distribute(Program *p)
{
    TRY(gpu_tiles(p));
    return gpu_maps_read(p, NULL);
}

static Op *load(Program *p, int operand, int set)
{
    static const char *const to[] = {"reg_a", "reg_b"}, *const from[] = {"a", "b"};
    Op *o = pass_tile_op(p, OP_LOAD_TILE, program_tile(p, to[operand]), program_tile(p, from[operand]), -1);
    if (o) o->set = set, o->ahead = set;
    return o;
}

static Op *multiply(Program *p)
{
    return pass_tile_op(p, OP_TILE_MMA, program_tile(p, "acc"), program_tile(p, "reg_a"),
                        program_tile(p, "reg_b"));
}

static Op *phase_loop(Program *p, Phase phase, Op *body)
{
    Op *o = pass_loop(p, LEVEL_GROUP, DIM_K, p->gpu->depth_u, body);
    if (o) o->phase = phase, o->split = p->gpu->lsu;
    return o;
}

/* Loads the chunk `set` iterations ahead, and multiplies the current one. */
static Op *chunk_loop(Program *p, Phase phase, int set)
{
    int a = program_tile(p, "a"), b = program_tile(p, "b"), by = p->gpu->depth_u;
    bool loads = phase != PHASE_DRAIN;
    Op *const ops[] = {loads ? load(p, 0, set) : NULL, loads ? load(p, 1, set) : NULL, multiply(p),
                       loads ? pass_move(p, a, by) : NULL, loads ? pass_move(p, b, by) : NULL};
    return phase_loop(p, phase, pass_list(ops, 5));
}

Err direct_pipeline(Program *p)
{
    const bool ahead = p->gpu->prefetch > 0;
    const Epilogue e = gpu_epilogue(p->gpu);
    Op *const ops[] = {pass_tile_op(p, OP_INIT_TILE, program_tile(p, "a"), -1, -1),
                       pass_tile_op(p, OP_INIT_TILE, program_tile(p, "b"), -1, -1),
                       pass_tile_op(p, OP_INIT_TILE, program_tile(p, "acc"), -1, -1),
                       ahead ? load(p, 0, 0) : NULL,
                       ahead ? load(p, 1, 0) : NULL,
                       chunk_loop(p, ahead ? PHASE_MAIN : PHASE_ALL, ahead ? 1 : 0),
                       ahead ? chunk_loop(p, PHASE_DRAIN, 0) : NULL,
                       chunk_loop(p, PHASE_REST, 0),
                       epilogue_ops(p, &e)};
    enum { N = sizeof ops / sizeof *ops };
    for (int i = 0; i < N; i++)
        if (i != 3 && i != 4 && i != 6) TRY_ALLOC(ops[i]);
    p->body = pass_list(ops, N);
    return ERR_OK;
}

static void mark(const Program *p, Op *list, Phase phase)
{
    for (Op *o = list; o; o = o->next) {
        if (o->kind == OP_LOOP) {
            if (o->phase == PHASE_REST) o->guards = 1u << DIM_K;
            mark(p, o->body, o->phase);
        } else
            o->guards = gpu_guards(p, o, phase);
    }
}

Err direct_edges(Program *p)
{
    mark(p, p->body, PHASE_ALL);
    return gpu_epilogue_read(p, NULL);
}
