/* The problemPredicate of a solution in a library. */
#include <string.h>

#include "fmt/write.h"
#include "problem/predicate.h"
#include "problem/problem.h"
#include "space/solution.h"

/* ---- problemPredicate ---- */

/* Several entries become a nested And, as in Tensile. */
static Err add_map(PredList *l, PredId id, const IntMap *m)
{
    unsigned n = 0;
    for (int32_t i = 0; i < m->n; i++) n += m->v[i] != -1;
    if (n > 1) {
        TRY(pred_push(l, (PredOp){.id = PRED_AND, .n_children = (uint16_t)n}));
        l->op[l->n - 1].span = n + 1;
    }
    for (int32_t i = 0; i < m->n; i++)
        if (m->v[i] != -1) TRY(pred_add(l, id, m->key[i], m->v[i]));
    return ERR_OK;
}

static Err add_multiple(PredList *l, PredId id, int index, int32_t value)
{
    return value > 1 ? pred_add(l, id, index, value) : ERR_OK;
}

static Err add_real(PredList *l, PredId id, int32_t hundredths)
{
    if (hundredths <= 0) return ERR_OK;
    return pred_push(l, (PredOp){.id = (uint8_t)id, .v.r = {hundredths / 100.0, 0}});
}

static Err add_scalar(PredList *l, PredId id, int32_t value)
{
    if (value == 0) return ERR_OK;
    return pred_add(l, id, 0, value == 1 ? SCALAR_ONE : SCALAR_NEG_ONE);
}

/* Predicates of the Assert* parameters, in the order of the parameter table. */
static Err add_asserts(PredList *l, const Solution *s)
{
    TRY(add_multiple(l, PRED_BOUND_MULTIPLE, -1, s->AssertSummationElementMultiple));
    TRY(add_multiple(l, PRED_FREE0_MULTIPLE, 0, s->AssertFree0ElementMultiple));
    TRY(add_multiple(l, PRED_FREE1_MULTIPLE, 0, s->AssertFree1ElementMultiple));
    TRY(add_map(l, PRED_STRIDE_A, &s->AssertStrideAEqual));
    TRY(add_map(l, PRED_STRIDE_B, &s->AssertStrideBEqual));
    TRY(add_map(l, PRED_STRIDE_C, &s->AssertStrideCEqual));
    TRY(add_map(l, PRED_STRIDE_D, &s->AssertStrideDEqual));
    TRY(add_map(l, PRED_SIZE_EQUAL, &s->AssertSizeEqual));
    TRY(add_map(l, PRED_SIZE_GREATER, &s->AssertSizeGreaterThan));
    TRY(add_map(l, PRED_SIZE_MULTIPLE, &s->AssertSizeMultiple));
    TRY(add_map(l, PRED_SIZE_LESS, &s->AssertSizeLessThan));
    TRY(add_real(l, PRED_AI_AT_LEAST, s->AssertAIGreaterThanEqual));
    TRY(add_real(l, PRED_AI_AT_MOST, s->AssertAILessThanEqual));
    TRY(add_scalar(l, PRED_ALPHA_VALUE, s->AssertAlphaValue));
    TRY(add_scalar(l, PRED_BETA_VALUE, s->AssertBetaValue));
    if (s->AssertCEqualsD) TRY(pred_add(l, PRED_C_EQUALS_D, 0, 0));
    if (s->Fp16AltImpl) TRY(pred_add(l, PRED_FP16_ALT, 0, true));
    if (s->Fp16AltImplRound) TRY(pred_add(l, PRED_FP16_ALT_ROUND, 0, true));
    return ERR_OK;
}

static Err add_type(PredList *l, const ProblemType *pt, Str operation)
{
    DataType a, b;
    unsigned out = (unsigned)pt->DestDataType;
    problem_ab_types(pt, &a, &b);
    TRY(pred_add_operation(l, operation));
    if (!pt->UseBeta) TRY(pred_add(l, PRED_BETA_ZERO, 0, 0));
    TRY(pred_add(l, PRED_STRIDED_BATCHED, 0, pt->StridedBatched));
    TRY(pred_add(l, PRED_TYPES, 0, types_pack((unsigned)a, (unsigned)b, out, out)));
    TRY(pred_add(l, PRED_HPA, 0, pt->HighPrecisionAccumulate));
    TRY(pred_add(l, PRED_F32_XDL, 0, pt->F32XdlMathOp));
    return pred_add(l, PRED_STOCHASTIC, 0, pt->StochasticRounding);
}

/* Columns of D that one tile stores: less than the tile's when an assertion bounds N. */
static int32_t most_columns(const Solution *s)
{
    const IntMap *less = &s->AssertSizeLessThan;
    for (int32_t i = 0; i < less->n; i++)
        if (less->key[i] == 1 && less->v[i] - 1 < s->MacroTile1) return less->v[i] - 1;
    return s->MacroTile1;
}

/* Edge tiles with shifted pointers address up to a vector beyond the tile; buffer instructions reach 4 GiB.
 */
static Err add_limits(PredList *l, const Solution *s, const ProblemType *pt)
{
    int glvw_a = s->GlobalLoadVectorWidthA, glvw_b = s->GlobalLoadVectorWidthB;
    if (s->BufferLoad)
        TRY(pred_add_limits(l, pt->TLUA && s->AssertFree0ElementMultiple < glvw_a ? glvw_a : 0,
                            pt->TLUB && s->AssertFree1ElementMultiple < glvw_b ? glvw_b : 0,
                            pt->TLUA ? s->DepthU : s->MacroTile0, pt->TLUB ? s->DepthU : s->MacroTile1));
    return s->BufferStore ? pred_add(l, PRED_STORE_LIMIT, 0, most_columns(s)) : ERR_OK;
}

/* The least M or N for loads of that width. Host kernels (width -1) and kernels with a ring, which guard
 * every access, take any size. */
static int least_free(const Solution *s, int32_t width) { return width > 0 && s->NvRing != 1 ? width : 1; }

Err pred_from_solution(Arena *a, const Solution *s, bool checks_k, Str operation, const PredOp **out)
{
    PredList l = {.arena = a};
    const ProblemType *pt = s->pt;
    TRY(add_asserts(&l, s));
    TRY(add_type(&l, pt, operation));
    if (pt->DataType != TYPE_4XI8) {
        TRY(pred_add(&l, PRED_LEADING_FREE0, 0, pt->TLUA ? least_free(s, s->GlobalLoadVectorWidthA) : 1));
        TRY(pred_add(&l, PRED_LEADING_FREE1, 0, pt->TLUB ? least_free(s, s->GlobalLoadVectorWidthB) : 1));
    }
    if (s->PackedC0IndicesX.n > 1) TRY(pred_add(&l, PRED_CD_STRIDES_EQUAL, 0, 0));
    TRY(pred_add(&l, PRED_LANGUAGE, 0,
                 s->KernelLanguage == LANG_ASSEMBLY ? LANGUAGE_ASSEMBLY : LANGUAGE_SOURCE));
    bool ordered = s->GlobalAccumulation == GACC_MULTIPLE || s->GlobalAccumulation == GACC_PARTIALS;
    if ((s->GlobalSplitU > 1 && !ordered) || (s->StreamK > 0 && s->StreamKAtomic))
        TRY(pred_add(&l, PRED_DETERMINISTIC, 0, false));
    if (s->PersistentKernel) TRY(pred_add(&l, PRED_PERSISTENT, 0, 0));
    TRY(pred_add(&l, PRED_UNIT, 0, s->EnableMatrixInstruction ? UNIT_MFMA : UNIT_VALU));
    TRY(add_limits(&l, s, pt));
    if ((checks_k || s->GlobalAccumulation != GACC_NONE) && s->StreamK == 0)
        TRY(pred_add(&l, PRED_GSU_MIN_K, 0, (int64_t)s->MinKForGSU * s->GlobalSplitU));
    return pred_finish(&l, out);
}
