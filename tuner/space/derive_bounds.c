/* Bounds of the numbers that enter a derivation: logic files are untrusted, and arithmetic within these
 * bounds neither divides by zero nor overflows. They are wider than the values that a user may set
 * (params_legal.c). */
#include "space/derive_internal.h"

typedef struct {
    ParamId id;
    int32_t min, max;
    bool not_zero;
} Bound;

static const Bound bounds[] = {
    {PARAM_WavefrontSize, 1, 64, false},
    {PARAM_InnerUnroll, 1, 1024, false},
    {PARAM_LocalDotLayout, 1, 64, false},
    {PARAM_DepthU, -64, 65536, true},
    {PARAM_DepthULdsDivisor, 1, 64, false},
    {PARAM_PrefetchLocalRead, 0, 65536, false},
    {PARAM_GlobalSplitU, 1, 65536, false},
    {PARAM_MaxOccupancy, 1, 1024, false},
    {PARAM_AssertSummationElementMultiple, 1, 1 << 20, false},
    {PARAM_AssertFree0ElementMultiple, 1, 1 << 20, false},
    {PARAM_AssertFree1ElementMultiple, 1, 1 << 20, false},
    {PARAM_VectorWidth, -1, 1024, false},
    {PARAM_VectorWidthB, -1, 1024, false},
    {PARAM_StoreVectorWidth, -1, 1024, true},
    {PARAM_GlobalReadVectorWidth, -1, 1024, true},
    {PARAM_GlobalLoadVectorWidthA, -1, 1024, false},
    {PARAM_GlobalLoadVectorWidthB, -1, 1024, false},
    {PARAM_LocalReadVectorWidth, -1, 1024, false},
    {PARAM_StoreRemapVectorWidth, -1, 1024, false},
    {PARAM_LdsPadA, -1, 4096, false},
    {PARAM_LdsPadB, -1, 4096, false},
    {PARAM_LdsBlockSizePerPadA, -1, 1 << 20, false},
    {PARAM_LdsBlockSizePerPadB, -1, 1 << 20, false},
    {PARAM_NumLoadsCoalescedA, -1, 65536, false},
    {PARAM_NumLoadsCoalescedB, -1, 65536, false},
    {PARAM_ThreadSeparateGlobalReadA, 0, 64, false},
    {PARAM_ThreadSeparateGlobalReadB, 0, 64, false},
    {PARAM_StaggerUStride, 0, 1 << 24, false},
    {PARAM_WorkGroupMapping, -(1 << 20), 1 << 20, false},
    {PARAM_PrefetchGlobalRead, 0, 64, false},
    {PARAM_WorkGroupMappingDim, -1, 1, false},
    {PARAM_WorkGroupMappingXCC, -1, 32, true},
    {PARAM_WorkGroupMappingXCCGroup, -1, 1023, false},
    {PARAM_WorkGroupMappingXCCChunk, 0, 255, false},
    {PARAM_HostRepeatM, 1, 4096, false},
    {PARAM_HostRepeatN, 1, 4096, false},
    {PARAM_HostKeepB, 0, 1024, false},
    {PARAM_HostReadAheadA, 0, 64, false},
    {PARAM_NvRing, -1, 1, false},
    {PARAM_NvLanesM, 0, 32, false},
    {PARAM_NvBlocks, 0, 32, false},
    {PARAM_KeepWindow, 0, 227, false},
    {PARAM_ConsumerSchedule, 0, 1, false},
    {PARAM_ConsumerLag, 0, 15, false},
    {PARAM_WindowTaps, 1, 8, false},
    {PARAM_RingStages, 0, 16, false},
    {PARAM_ClusterM, 1, 4, false},
    {PARAM_ClusterN, 1, 4, false},
    {PARAM_ClusterK, 1, 8, false},
    {PARAM_ProducerRegisters, 0, 256, false},
    {PARAM_ConsumerRegisters, 0, 256, false},
    {PARAM_PackOperands, 0, 7, false},
};

static bool list_within(const IntList *l, int32_t max)
{
    for (int32_t i = 0; i < l->n; i++)
        if (l->v[i] < 1 || l->v[i] > max) return false;
    return true;
}

bool derive_bounds(Derive *d)
{
    const Solution *s = d->s;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const Bound *b = &bounds[i];
        int32_t v = *(const int32_t *)solution_field_const(s, param_at(b->id));
        if (v < b->min || v > b->max || (v == 0 && b->not_zero)) STOP(d, VALUE_RANGE, b->id, v);
    }
    const IntList *wg = &s->WorkGroup, *tt = &s->ThreadTile, *mi = &s->MatrixInstruction;
    if (wg->n != 3 || !list_within(wg, 1024)) STOP(d, VALUE_RANGE, PARAM_WorkGroup, wg->v[0]);
    /* with matrix instructions ThreadTile includes their 32 columns: 32 x 9 occurs */
    if (tt->n != 2 || !list_within(tt, 512)) STOP(d, VALUE_RANGE, PARAM_ThreadTile, tt->v[0]);
    bool none = mi->n == 0 || (mi->n == 1 && mi->v[0] == -1);
    if (!none && ((mi->n != 4 && mi->n != 9) || !list_within(mi, 256)))
        STOP(d, VALUE_RANGE, PARAM_MatrixInstruction, mi->v[0]);
    if (!d->ring && s->PrefetchGlobalRead > 2) REJECT(d, PGR_RING, s->PrefetchGlobalRead);
    return true;
}
