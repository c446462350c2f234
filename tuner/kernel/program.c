/* Programs: building the work-group's view, finding tiles and ops. The passes are in passes.c, the text in
 * dump.c. */
#include "kernel/program.h"

#include <string.h>

#include "problem/problem.h"

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

static void build_views(Program *p)
{
    const ProblemType *pt = p->s->pt;
    view_matrix(&p->view[0], "m", "size_m", "k", "size_k", "stride_a1", pt->TransposeA);
    view_matrix(&p->view[1], "k", "size_k", "n", "size_n", "stride_b1", pt->TransposeB);
    view_matrix(&p->view[2], "m", "size_m", "n", "size_n", "stride_c1", false);
    view_matrix(&p->view[3], "m", "size_m", "n", "size_n", "stride_d1", false);
}

static void build_walk(Program *p)
{
    const Solution *s = p->s;
    p->walk =
        (Walk){.persistent = s->PersistentKernel != 0,
               .batch_in_id = s->PersistentKernel && s->PersistentKernelAlongBatch && s->pt->NumIndicesC > 2,
               .depth_u = s->DepthU,
               .split = s->GlobalSplitU > 1 ? s->GlobalSplitU : 1,
               .split_rows_round_robin = s->GlobalSplitUWorkGroupMappingRoundRobin,
               .split_chunks_round_robin = s->GlobalSplitUSummationAssignmentRoundRobin,
               .mapping = s->WorkGroupMappingType == WGMT_B ? s->WorkGroupMapping : 1,
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

Err program_build(Program *p, const Solution *s, const Target *t, Arena *arena)
{
    memset(p, 0, sizeof *p);
    p->arena = arena;
    p->s = s;
    p->target = t;
    const ProblemType *pt = s->pt;
    if (pt->OperationType != OP_GEMM) FAIL(ERR_INPUT, "operation %d has no program", (int)pt->OperationType);
    int32_t mt0 = s->MacroTile0, mt1 = s->MacroTile1, du = s->DepthU;
    DataType in = (DataType)pt->DataType, compute = (DataType)pt->ComputeDataType,
             dest = (DataType)pt->DestDataType;
    build_views(p);
    build_walk(p);
    int a = add_tile(p, "a", 'A', in, DIM_M, DIM_K, mt0, du, &p->view[0]);
    int b = add_tile(p, "b", 'B', in, DIM_K, DIM_N, du, mt1, &p->view[1]);
    int c = add_tile(p, "c", 'C', dest, DIM_M, DIM_N, mt0, mt1, &p->view[2]);
    int d = add_tile(p, "d", 'D', dest, DIM_M, DIM_N, mt0, mt1, &p->view[3]);
    int ra = add_tile(p, "reg_a", 'A', in, DIM_M, DIM_K, mt0, du, NULL);
    int rb = add_tile(p, "reg_b", 'B', in, DIM_K, DIM_N, du, mt1, NULL);
    int acc = add_tile(p, "acc", 'P', compute, DIM_M, DIM_N, mt0, mt1, NULL);
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
         op_add(&p->body, op_new(p, OP_EPILOGUE, d, acc, c));
    if (!ok) FAIL(ERR_FAILED, "out of memory for a program of macro tile %dx%d", mt0, mt1);
    return ERR_OK;
}

int program_tile(const Program *p, const char *name)
{
    for (int i = 0; i < p->n_tiles; i++)
        if (!strcmp(p->tile[i].name, name)) return i;
    return -1;
}

Op *op_find(Op *list, OpKind kind)
{
    while (list && list->kind != kind) list = list->next;
    return list;
}
