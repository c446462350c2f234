/* The sizes, strides and pads of one problem by its indices. See indices.h. */
#include "problem/indices.h"

#include <string.h>

Err index_sizes_of(const ProblemType *pt, const ProblemSize *s, IndexSizes *out)
{
    static const int tensor[INDICES_TENSORS] = {LD_A, LD_B, LD_C, LD_D};
    memset(out, 0, sizeof *out);
    TRY(indices_of_type(pt, 0, &out->indices));
    memcpy(out->size, s->v, sizeof *s->v * (size_t)out->indices.n);
    for (int t = 0; t < INDICES_TENSORS; t++) size_strides(pt, s, tensor[t], out->stride[t]);
    for (int t = 0; t < 2; t++)
        for (int32_t i = 0; i < out->indices.n_pads[t]; i++) {
            const TupleList *of = t ? &pt->ZeroPadB : &pt->ZeroPadA;
            const bool given = s->extra && i < s->extra->n_pad[t];
            out->pad_start[t][i] = given ? s->extra->pad_start[t][i] : of->v[i][2];
            out->pad_end[t][i] = given ? s->extra->pad_end[t][i] : of->v[i][3];
        }
    return ERR_OK;
}
