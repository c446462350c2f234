/* Makes a program from a Solution: the walk, the views of the operands, the numbers of the family's planner,
 * and the ops on whole tiles of the work-group. */
#include "kernel/plan.h"

#include <string.h>

#include "kernel/contract.h"
#include "kernel/epilogue.h"
#include "problem/problem.h"
#include "space/naming.h"
#include "space/stream.h"
#include "space/wgmma.h"

static Op *op_new(Program *p, OpKind kind, int t0, int t1, int t2)
{
    Op *o = ARENA_NEW(p->arena, Op);
    if (!o) return NULL;
    *o = (Op){.kind = kind, .tile = {t0, t1, t2}, .level = LEVEL_GROUP, .unroll = 1, .split = 1};
    return o;
}

/* Appends to a list; false when out of memory. */
static bool op_add(Op **list, Op *o)
{
    if (!o) return false;
    while (*list) list = &(*list)->next;
    *list = o;
    return true;
}

static int add_tile(Program *p, const char *name, char operand, DataType type, Dim rows, Dim cols,
                    int32_t n_rows, int32_t n_cols, const View *view)
{
    p->tile[p->n_tiles] = (Tile){.name = name,
                                 .operand = operand,
                                 .space = view ? SPACE_GLOBAL : SPACE_REGISTER,
                                 .type = type,
                                 .dim = {rows, cols},
                                 .size = {n_rows, n_cols},
                                 .n_buffers = 1,
                                 .view = view};
    return p->n_tiles++;
}

/* Of what the kernel reads: the operands, or the copies of PackOperands. */
static void build_views(Program *p, const Solution *s)
{
    bool trans[4] = {!s->pt->TLUA, s->pt->TLUB};
    for (int i = 0; i < 4 && p->indices; i++) contract_view(&p->view[i], p->indices, i, NULL);
    if (p->indices) return;
    if (s->PackOperands) trans[0] = wgmma_k_major(s, 0), trans[1] = !wgmma_k_major(s, 1);
    for (int i = 0; i < 4; i++) program_view(&p->view[i], i, trans[i]);
}

Walk plan_walk(const Solution *s)
{
    const StreamCost cost = stream_cost(s);
    const bool streams = s->StreamK && !cost.blocks; /* the walk goes over several tiles */
    return (Walk){
        .persistent = s->PersistentKernel != 0 || streams,
        .batch_in_id =
            (streams || (s->PersistentKernel && s->PersistentKernelAlongBatch)) && s->pt->NumIndicesC > 2,
        .prefetches = s->PersistentKernel != 0 && s->PrefetchAcrossPersistent != 0,
        .depth_u = s->DepthU,
        .split = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1,
        .stream_k = s->StreamK,
        .stream_part = cost.blocks ? 0 : cost.part,
        .stream_fix = cost.blocks ? 0 : cost.fix,
        .stream_even = cost.blocks > 0,
        .stream_dies = s->StreamK ? s->StreamKXCCMapping : 0,
        .members = s->ClusterK > 1 ? s->ClusterK : 0,
        .split_rows_round_robin = s->GlobalSplitUWorkGroupMappingRoundRobin,
        .parts_first = s->PartsFirst,
        .split_chunks_round_robin = s->GlobalSplitUSummationAssignmentRoundRobin,
        .mapping = s->WorkGroupMappingType == WGMT_B && s->WorkGroupMappingDim < 0 ? s->WorkGroupMapping : 1,
        .mapping_z = s->WorkGroupMappingType == WGMT_Z,
        .mapping_words = s->WorkGroupMappingDim >= 0,
        .mapping_dim = s->WorkGroupMappingDim > 0,
        .staggers = s->StaggerU != 0,
        .stagger_shift = s->StaggerStrideShift,
        .stagger_mapping = s->StaggerUMapping};
}

static Op *update_offset(Program *p, int tile, int32_t step)
{
    Op *o = op_new(p, OP_UPDATE_TILE_OFFSET, tile, -1, -1);
    if (o) o->dim = DIM_K, o->step = step;
    return o;
}

/* Makes the ops: load, multiply and accumulate over K, epilogue, all on whole tiles of the work-group. */
static Err build_ops(Program *p, const Solution *s)
{
    const ProblemType *pt = s->pt;
    const int32_t mt0 = p->host ? p->host->mt0 : s->MacroTile0, mt1 = p->host ? p->host->mt1 : s->MacroTile1,
                  du = p->host ? s->DepthU : p->gpu->depth_u;
    DataType in = (DataType)pt->DataType, compute = (DataType)pt->ComputeDataType,
             dest = (DataType)pt->DestDataType;
    const bool exchanged = indices_are_exchanged(p->indices);
    const DataType type_a = exchanged ? problem_b_type(pt) : problem_a_type(pt),
                   type_b = exchanged ? problem_a_type(pt) : problem_b_type(pt);
    int a = add_tile(p, "a", 'A', type_a, DIM_M, DIM_K, mt0, du, &p->view[0]);
    int b = add_tile(p, "b", 'B', type_b, DIM_K, DIM_N, du, mt1, &p->view[1]);
    add_tile(p, "c", 'C', dest, DIM_M, DIM_N, mt0, mt1, &p->view[2]);
    add_tile(p, "d", 'D', dest, DIM_M, DIM_N, mt0, mt1, &p->view[3]);
    const bool to_bf16 = pt->Fp16AltImpl && in == TYPE_H; /* the loads convert */
    int ra = add_tile(p, "reg_a", 'A', to_bf16 ? TYPE_B : type_a, DIM_M, DIM_K, mt0, du, NULL);
    int rb = add_tile(p, "reg_b", 'B', to_bf16 ? TYPE_B : type_b, DIM_K, DIM_N, du, mt1, NULL);
    int acc = add_tile(p, "acc", 'P', compute, DIM_M, DIM_N, mt0, mt1, NULL);
    const Epilogue e = p->host ? host_epilogue(p->host) : gpu_epilogue(p->gpu);
    TRY(epilogue_tiles(p, &e));
    Op *loop = op_new(p, OP_LOOP, -1, -1, -1);
    bool ok = op_add(&p->body, op_new(p, OP_INIT_TILE, a, -1, -1)) &&
              op_add(&p->body, op_new(p, OP_INIT_TILE, b, -1, -1)) &&
              op_add(&p->body, op_new(p, OP_INIT_TILE, acc, -1, -1)) && op_add(&p->body, loop);
    if (!ok) FAIL(ERR_FAILED, "out of memory for a program of macro tile %dx%d", mt0, mt1);
    loop->dim = DIM_K;
    loop->step = du;
    ok = op_add(&loop->body, op_new(p, OP_LOAD_TILE, ra, a, -1)) &&
         op_add(&loop->body, op_new(p, OP_LOAD_TILE, rb, b, -1)) &&
         op_add(&loop->body, op_new(p, OP_TILE_MMA, acc, ra, rb)) &&
         op_add(&loop->body, update_offset(p, a, du)) && op_add(&loop->body, update_offset(p, b, du)) &&
         op_add(&p->body, epilogue_ops(p, &e));
    if (!ok) FAIL(ERR_FAILED, "out of memory for a program of macro tile %dx%d", mt0, mt1);
    return ERR_OK;
}

static Err full_name(Program *p, const Solution *s)
{
    Buf name;
    buf_init(&name);
    solution_name_full(s, &name);
    p->title = arena_dup(p->arena, buf_view(&name));
    Err e = buf_check(&name);
    buf_fini(&name);
    if (!e) TRY_ALLOC(p->title.s);
    return e;
}

Err solution_indices(const Solution *s, Indices *out)
{
    const ProblemType *pt = s->pt;
    *out = (Indices){0};
    if (indices_are_plain_gemm(pt) && !s->PackBatchDims) {
        out->is_gemm = true;
        return ERR_OK;
    }
    TRY(indices_of_type(pt, s->PackBatchDims, out));
    out->is_gemm = indices_are_gemm(out, NULL);
    out->pack_sums = s->PackSummationDims != 0;
    if (out->is_gemm) return ERR_OK;
    out->outputs_first = s->NvRing == 1 && ring_copies_outputs(s);
    const bool exchanges = indices_rows_of_b(out);
    if (exchanges != (pt->Tensor0 != 0))
        FAIL(ERR_INPUT, "Tensor0 %d, but the first index of D with rows or columns is one of %c", pt->Tensor0,
             exchanges ? 'B' : 'A');
    /* with HostDirectConv the problem's A is always what the kernel calls B */
    if (exchanges || s->HostDirectConv) indices_exchange(out);
    return ERR_OK;
}

/* The indices of a contraction whose form is not that of a GEMM. */
static Err plan_indices(Program *p, const Solution *s)
{
    Indices *x = ARENA_NEW(p->arena, Indices);
    TRY_ALLOC(x);
    TRY(solution_indices(s, x));
    if (!x->is_gemm) p->indices = x;
    return ERR_OK;
}

Err program_build(Program *p, const Solution *s, const Target *t, Arena *arena)
{
    static Err (*const planners[])(Program *, const Solution *) = {
        [TARGET_HOST] = plan_host, [TARGET_AMDGCN] = plan_gpu, [TARGET_NVPTX] = plan_gpu};
    memset(p, 0, sizeof *p);
    p->arena = arena;
    p->target = t;
    TRY(plan_indices(p, s));
    p->walk = plan_walk(s);
    build_views(p, s);
    TRY(full_name(p, s));
    TRY(planners[t->family](p, s));
    return build_ops(p, s);
}
