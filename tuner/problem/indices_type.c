/* The indices of a problem type. See indices.h. */
#include "problem/indices.h"

static Err of_type(const ProblemType *pt, Buf *text, Indices *out)
{
    Fused fused;
    problem_operation_identifier(pt, text);
    TRY(buf_check(text));
    Str identifier = buf_view(text);
    fused_of_identifier(&identifier, &fused);
    return indices_read(identifier, out);
}

Err indices_of_type(const ProblemType *pt, int32_t pack, Indices *out)
{
    const TupleList *const pads[2] = {&pt->ZeroPadA, &pt->ZeroPadB};
    Buf text;
    buf_init(&text);
    Err e = of_type(pt, &text, out);
    buf_fini(&text);
    TRY(e);
    out->initial_ab = pt->UseInitialStridesAB, out->initial_cd = pt->UseInitialStridesCD;
    for (int t = 0; t < 2; t++) {
        out->n_pads[t] = pads[t]->n;
        for (int32_t i = 0; i < pads[t]->n; i++)
            out->pad[t][i].free = pads[t]->v[i][0], out->pad[t][i].sum = pads[t]->v[i][1];
    }
    indices_pack(out, pack);
    return ERR_OK;
}
