/* Rules of contractions whose indices are not those of a GEMM (problem/indices.h), or whose batch is packed
 * into a free dimension. */
#include "space/derive_internal.h"

bool check_contraction(Derive *d)
{
    const Solution *s = d->s;
    const Deriver *f = d->f;
    if (!f->contraction && !s->PackBatchDims) return true;
    if (!f->strided_batched || fused_any(&f->fused)) REJECT(d, CONTRACTION_FORM);
    if (s->GlobalSplitU > 1 || s->StreamK) REJECT(d, CONTRACTION_SPLIT, s->GlobalSplitU, s->StreamK);
    return true;
}
