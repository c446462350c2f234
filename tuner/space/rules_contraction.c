/* Rules of contractions whose indices are not those of a GEMM (problem/indices.h), or whose batch is packed
 * into a free dimension. */
#include "space/derive_internal.h"

/* Are the groups of a convolution among the batch indices? All others have the constant stride 0 in B. */
static bool has_groups(const ProblemType *pt)
{
    int32_t n_fixed = 0;
    for (int32_t i = 0; i < pt->SetConstStrideB.n; i++)
        n_fixed += pt->SetConstStrideB.v[i][1] == 0 &&
                   index_list_has(&pt->IndicesBatch, pt->SetConstStrideB.v[i][0]);
    return pt->OperationType >= OP_CONV_FORWARD && n_fixed < pt->IndicesBatch.n;
}

bool check_contraction(Derive *d)
{
    const Solution *s = d->s;
    const Deriver *f = d->f;
    if (!f->contraction && !s->PackBatchDims) return true;
    if (!f->strided_batched || fused_any(&f->fused)) REJECT(d, CONTRACTION_FORM);
    if (s->PackBatchDims && has_groups(f->pt)) REJECT(d, CONTRACTION_GROUP, s->PackBatchDims);
    if (f->target->family == TARGET_HOST && (s->GlobalSplitU > 1 || s->StreamK))
        REJECT(d, CONTRACTION_SPLIT, s->GlobalSplitU, s->StreamK);
    return true;
}
