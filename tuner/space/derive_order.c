/* Rules of the work-group order: parameters that WorkGroupMappingDim makes kernel arguments
 * (problem/mapping.h). */
#include "problem/mapping.h"
#include "space/derive_internal.h"

static bool check_words(Derive *d)
{
    const Solution *s = d->s;
    const int32_t dies = s->WorkGroupMappingXCC, group = s->WorkGroupMappingXCCGroup;
    if (s->WorkGroupMappingType == WGMT_Z) REJECT(d, ORDER_Z, s->WorkGroupMappingDim);
    if (s->WorkGroupMapping < 0 || s->WorkGroupMapping > MAPPING_WGM_MAX)
        REJECT(d, ORDER_WGM, s->WorkGroupMapping, s->WorkGroupMappingDim, MAPPING_WGM_MAX);
    if (dies > 0 && group > 0 && group % dies) REJECT(d, ORDER_GROUP, group, dies);
    if (s->WorkGroupMappingXCCChunk && group)
        REJECT(d, ORDER_CHUNK_GROUP, s->WorkGroupMappingXCCChunk, group);
    if (s->WorkGroupMappingXCCChunk && s->StreamK)
        REJECT(d, ORDER_CHUNK_STREAM_K, s->WorkGroupMappingXCCChunk, s->StreamK);
    return true;
}

bool derive_order(Derive *d)
{
    static const struct {
        ParamId id;
        int32_t baked;
    } words[] = {{PARAM_WorkGroupMappingXCC, 1},
                 {PARAM_WorkGroupMappingXCCGroup, 0},
                 {PARAM_WorkGroupMappingXCCChunk, 0}};
    if (d->s->WorkGroupMappingDim >= 0) return check_words(d);
    if (d->s->WorkGroupMappingType == WGMT_Z && d->s->WorkGroupMapping > 1 && d->f->writer)
        REJECT(d, ORDER_Z_GRID, d->s->WorkGroupMapping);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int32_t v = *(const int32_t *)solution_field_const(d->s, param_at(words[i].id));
        if (v != words[i].baked) REJECT(d, ORDER_BAKED, words[i].id, v);
    }
    return true;
}

void order_along_n(Solution *s)
{
    if (s->WorkGroupMappingDim >= 0) return;
    if (s->WorkGroupMapping < 0) s->WorkGroupMapping = -s->WorkGroupMapping;
    if (s->WorkGroupMapping == 0) s->WorkGroupMapping = 1;
}

bool solution_shares_kernel(const Solution *s, Solution *out)
{
    if (s->WorkGroupMappingDim < 0 || s->custom) return false;
    *out = *s;
    out->WorkGroupMapping = 0;
    out->WorkGroupMappingXCC = 1;
    out->WorkGroupMappingXCCGroup = out->WorkGroupMappingXCCChunk = 0;
    return true;
}

void order_finish(Solution *s)
{
    for (int i = PARAM_WorkGroupMappingDim; i <= PARAM_WorkGroupMappingXCCChunk; i++) {
        const uint64_t bit = UINT64_C(1) << (i & 63);
        if (s->WorkGroupMappingDim >= 0)
            s->present[i >> 6] |= bit;
        else
            s->present[i >> 6] &= ~bit;
    }
}
