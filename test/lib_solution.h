/* What a library's reader makes of a solution, without the library: for tests that launch. */
#ifndef TEST_LIB_SOLUTION_H
#define TEST_LIB_SOLUTION_H

#include "client/runtime/library.h"
#include "problem/problem.h"
#include "space/keep.h"
#include "space/solution.h"
#include "space/stream.h"
#include "space/wgmma.h"

/* What createlib writes of tensor maps and clusters. specs: where the maps' descriptions stay. */
static inline void lib_engine_of(const Solution *s, SizeMapping *m, TensorMapSpec specs[TENSOR_MAPS_MAX])
{
    WgmmaPlan p;
    if (s->NvRing != 1 || !wgmma_is(s)) return;
    wgmma_plan(s, &p);
    m->pack_operands = s->PackOperands;
    m->cluster[0] = (uint8_t)s->ClusterM, m->cluster[1] = (uint8_t)s->ClusterN;
    m->cluster[2] = (uint8_t)s->ClusterK;
    m->dependent_launch = s->DependentLaunch != 0;
    m->self_reset = s->SelfResetCounters != 0;
    m->n_tensor_maps = s->EngineStore ? 4 : 2;
    m->tensor_map = specs;
    for (uint8_t i = 0; i < m->n_tensor_maps; i++)
        specs[i] = (TensorMapSpec){.tensor = (uint8_t)(i < 2 ? wgmma_operand(s, i) : i),
                                   .swizzle = (uint16_t)p.swizzle[i],
                                   .box = {(uint16_t)p.box[i][0], (uint16_t)p.box[i][1]}};
}

static inline void lib_solution_of(const Solution *s, const char *name, LibSolution *out)
{
    const ProblemType *pt = s->pt;
    *out = (LibSolution){.name = name,
                         .symbol = name,
                         .use_beta = pt->UseBeta,
                         .use_initial_strides_ab = pt->UseInitialStridesAB,
                         .use_initial_strides_cd = pt->UseInitialStridesCD,
                         .fused = problem_fused(pt),
                         .strided_batched = pt->StridedBatched,
                         .compute_type = (uint8_t)pt->ComputeDataType};
    SizeMapping *m = &out->map;
    for (int i = 0; i < 3; i++) m->work_group[i] = s->WorkGroup.v[i];
    m->macro_tile[0] = s->MacroTile0, m->macro_tile[1] = s->MacroTile1, m->macro_tile[2] = 1;
    m->depth_u = s->DepthU;
    if (s->KeepWindow)
        m->dependent_launch = s->DependentLaunch != 0, m->keep_window = keep_room(s),
        m->keep_rows = keep_rows(s), m->keep_piece = keep_piece(s);
    m->window_taps = s->WindowTaps;
    m->global_split_u = s->GlobalSplitU;
    m->stagger_u = s->StaggerU;
    m->stagger_stride_shift = s->StaggerStrideShift;
    m->work_group_mapping = s->WorkGroupMapping;
    m->magic_div_alg = s->MagicDivAlg;
    m->pack_batch_dims = s->PackBatchDims;
    m->pack_summation_dims = s->PackSummationDims;
    m->persistent_kernel = s->PersistentKernel;
    m->persistent_along_batch = s->PersistentKernelAlongBatch;
    m->global_accumulation = s->GlobalAccumulation;
    m->workspace_bytes_per_c = s->WorkspaceSizePerElemC;
    m->stream_k = s->StreamK, m->stream_k_atomic = s->StreamKAtomic != 0;
    const StreamCost cost = stream_cost(s);
    m->stream_k_part = cost.part, m->stream_k_fix = cost.fix, m->stream_k_blocks = cost.blocks;
    m->source_kernel = s->KernelLanguage == LANG_SOURCE;
    m->preload_kernargs = s->PreloadKernelArguments == 1;
    static TensorMapSpec specs[TENSOR_MAPS_MAX]; /* of the last solution */
    lib_engine_of(s, m, specs);
    static ZeroPadSpec pads[2 * TUPLE_MAX]; /* of the last solution */
    m->zero_pad = pads;
    for (int t = 0; t < 2; t++) {
        const TupleList *of = t ? &pt->ZeroPadB : &pt->ZeroPadA;
        for (int32_t i = 0; i < of->n; i++)
            pads[m->n_zero_pads++] = (ZeroPadSpec){(uint8_t)t, (uint8_t)of->v[i][0], (uint8_t)of->v[i][1]};
    }
    m->gsu_round_robin = s->GlobalSplitUWorkGroupMappingRoundRobin;
    m->mapping_dim = s->WorkGroupMappingDim;
    m->mapping_xcc = s->WorkGroupMappingXCC;
    static const TrafficDevice device = {.dies = 8, .cus = 304, .l2_rate = 3, .llc_rate = 1};
    out->device = &device;
    out->mapping =
        (Mapping){.wgm = s->WorkGroupMapping,
                  .dies = s->WorkGroupMappingXCC < 0 ? device.dies : s->WorkGroupMappingXCC,
                  .group = s->WorkGroupMappingXCCGroup < 0 ? device.cus : s->WorkGroupMappingXCCGroup,
                  .chunk = s->WorkGroupMappingXCCChunk};
}

#endif
