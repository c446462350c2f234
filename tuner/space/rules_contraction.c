/* Rules of contractions whose indices are not those of a GEMM (problem/indices.h), or whose batch is packed
 * into a free dimension. */
#include "space/derive_internal.h"

/* Whether the groups of a convolution are among the batch indices: all other batch indices of a convolution
 * have the constant stride 0 in B. */
static bool has_groups(const ProblemType *pt)
{
    int32_t n_fixed = 0;
    for (int32_t i = 0; i < pt->SetConstStrideB.n; i++)
        n_fixed += pt->SetConstStrideB.v[i][1] == 0 &&
                   index_list_has(&pt->IndicesBatch, pt->SetConstStrideB.v[i][0]);
    return pt->OperationType >= OP_CONV_FORWARD && n_fixed < pt->IndicesBatch.n;
}

/* Whether the vectors of fused operations allow a batch that is packed into M or N: no vector lies along that
 * dimension, and one bias serves all matrices of the batch. */
static bool vectors_fit(const Deriver *f, int32_t pack)
{
    const Along packed = (pack == 1) != (f->tensor0 != 0) ? ALONG_M : ALONG_N;
    for (int o = 0; o < FUSED_OPERANDS && pack; o++)
        if (fused_has(&f->fused, (FusedOperand)o) && fused_along(&f->fused, (FusedOperand)o) == packed)
            return false;
    return !pack || !f->fused.bias || f->pt->OperationType >= OP_CONV_FORWARD;
}

bool check_contraction(Derive *d)
{
    const Solution *s = d->s;
    const Deriver *f = d->f;
    if (!f->contraction && !s->PackBatchDims) return true;
    const bool on_host = f->target->family == TARGET_HOST;
    if (!f->strided_batched || (on_host && fused_any(&f->fused))) REJECT(d, CONTRACTION_FORM);
    if (!vectors_fit(f, s->PackBatchDims)) REJECT(d, CONTRACTION_VECTORS, s->PackBatchDims);
    /* scaleA and scaleB belong to the operands, which kernels of these problem types exchange */
    if (f->tensor0 && f->fused.scale_ab == SCALE_AB_VECTOR) REJECT(d, CONTRACTION_SCALES);
    if (s->PackBatchDims && has_groups(f->pt)) REJECT(d, CONTRACTION_GROUP, s->PackBatchDims);
    if (f->target->family == TARGET_HOST && (s->GlobalSplitU > 1 || s->StreamK))
        REJECT(d, CONTRACTION_SPLIT, s->GlobalSplitU, s->StreamK);
    return true;
}
