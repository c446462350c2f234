/* What a library's reader makes of a solution, without the library: for tests that launch. */
#ifndef TEST_LIB_SOLUTION_H
#define TEST_LIB_SOLUTION_H

#include "client/runtime/library.h"
#include "problem/problem.h"
#include "space/solution.h"

static inline void lib_solution_of(const Solution *s, const char *name, LibSolution *out)
{
    const ProblemType *pt = s->pt;
    *out = (LibSolution){.name = name,
                         .use_beta = pt->UseBeta,
                         .strided_batched = pt->StridedBatched,
                         .compute_type = (uint8_t)pt->ComputeDataType};
    SizeMapping *m = &out->map;
    for (int i = 0; i < 3; i++) m->work_group[i] = s->WorkGroup.v[i];
    m->macro_tile[0] = s->MacroTile0, m->macro_tile[1] = s->MacroTile1, m->macro_tile[2] = 1;
    m->depth_u = s->DepthU;
    m->global_split_u = s->GlobalSplitU;
    m->stagger_u = s->StaggerU;
    m->stagger_stride_shift = s->StaggerStrideShift;
    m->work_group_mapping = s->WorkGroupMapping;
    m->magic_div_alg = s->MagicDivAlg;
    m->persistent_kernel = s->PersistentKernel;
    m->persistent_along_batch = s->PersistentKernelAlongBatch;
    m->global_accumulation = s->GlobalAccumulation;
    m->workspace_bytes_per_c = s->WorkspaceSizePerElemC;
    m->source_kernel = s->KernelLanguage == LANG_SOURCE;
    m->preload_kernargs = s->PreloadKernelArguments == 1;
    m->gsu_round_robin = s->GlobalSplitUWorkGroupMappingRoundRobin;
}

#endif
