/* The planner of kernels without local memory. See direct.h. */
#include "space/direct.h"

#include "problem/datatype.h"
#include "problem/problem.h"

bool direct_is(const Solution *s, TargetFamily family)
{
    return family == TARGET_NVPTX && s->DirectToVgprA && s->DirectToVgprB && s->MatrixInstruction.n < 4;
}

void direct_plan(const Solution *s, DirectPlan *p)
{
    const ProblemType *pt = s->pt;
    const int32_t tile[] = {s->ThreadTile0, s->ThreadTile1};
    const int32_t in = type_bytes((DataType)pt->DataType), sum = type_bytes((DataType)pt->ComputeDataType);
    const bool contiguous[] = {pt->TLUA != 0, pt->TLUB != 0}; /* along M, N */
    *p = (DirectPlan){.width = {s->GlobalLoadVectorWidthA, s->GlobalLoadVectorWidthB}, .run = 1};
    for (int t = 0; t < 2; t++) {
        if (p->width[t] < 1) p->width[t] = 1;
        p->vector[t] = contiguous[t] ? p->width[t] : 1;
        if (!contiguous[t] && p->width[t] > p->run) p->run = p->width[t];
    }
    int32_t loaded = 0, parts = s->LocalSplitU > 1 ? s->LocalSplitU : 1;
    p->runs = s->DepthU / (parts * p->run);
    for (int t = 0; t < 2; t++) {
        p->loads[t] = tile[t] * p->run / p->width[t];
        int32_t words = (p->width[t] * in + 3) / 4;
        loaded += p->loads[t] * words * p->runs;
    }
    p->sums = tile[0] * tile[1];
    /* 16-bit sums are kept in 32 bits */
    int32_t bytes = sum < 4 ? 4 : sum;
    p->registers = p->sums * bytes / 4 + loaded * (s->PrefetchGlobalRead > 0 ? 2 : 1);
    p->local_bytes = parts > 1 ? s->MacroTile0 * s->MacroTile1 * parts * bytes : 0;
}
