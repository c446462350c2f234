/* Which helper kernels a solution needs. See helper.h. */
#include "kernel/helper.h"

#include "kernel/gpu/gpu.h"

#include "problem/helper_name.h"
#include "problem/pack.h"

/* Returns the indices of C as names of helper kernels have them: "Cijk". */
static Str c_indices(const ProblemType *pt, char out[HELPER_INDICES_MAX])
{
    int32_t n = pt->NumIndicesC < HELPER_INDICES_MAX ? pt->NumIndicesC : HELPER_INDICES_MAX - 1;
    out[0] = 'C';
    for (int32_t i = 0; i < n; i++) out[i + 1] = (char)('i' + i);
    return (Str){out, (size_t)n + 1};
}

static Err add(Arena *a, const char *name, HelperKind kind, bool ga, HelperKernel *out, size_t *n)
{
    if (*n == HELPERS_MAX) FAIL(ERR_FAILED, "more than %d helper kernels for one solution", HELPERS_MAX);
    HelperKernel h = {arena_dup(a, str_from(name)), kind, ga};
    TRY_ALLOC(h.symbol.s);
    out[(*n)++] = h;
    return ERR_OK;
}

/* Adds the reductions that Tensile's launcher may choose for the compute type. The launcher chooses how far
 * the loop over parts is unrolled, the elements of a thread (1 or 2) and the number of reducers. */
static Err post_gsu(Arena *a, const Solution *s, Str c, HelperKernel *out, size_t *n)
{
    const ProblemType *pt = s->pt;
    bool wide = pt->ComputeDataType == TYPE_S || pt->ComputeDataType == TYPE_D;
    bool unrolled = s->GlobalAccumulation == GACC_MULTIPLE && wide;
    uint32_t gsu = (uint32_t)s->GlobalSplitU;
    char base[HELPER_NAME_MAX], name[HELPER_SYMBOL_MAX];
    const Fused fused = problem_fused(pt);
    /* rows are counted along all indices of M, neighbours along D's first one alone */
    wide = wide && (problem_is_gemm(pt) || !fused_any(&fused));
    helper_post_gsu_name(c, (DataType)pt->DestDataType, pt->StridedBatched, &fused, base);
    for (uint32_t reducers = 1; reducers <= 4; reducers *= 2) {
        bool power = (gsu & (gsu - 1)) == 0;
        if (reducers > 1 && (!unrolled || !power || gsu < 32 * reducers)) continue;
        if (reducers == 2 && pt->ComputeDataType == TYPE_S) continue;
        for (uint32_t width = 1; width <= (wide ? 2 : 1); width++) {
            const Reduction r = {gsu, unrolled ? 16 * reducers : 1, width, reducers};
            helper_reduction_name(base, &r, name);
            TRY(add(a, name, HELPER_POST_GSU, false, out, n));
        }
    }
    return ERR_OK;
}

Err kernel_helpers(Arena *a, const Solution *s, HelperKernel out[HELPERS_MAX], size_t *n)
{
    char indices[HELPER_INDICES_MAX], name[HELPER_NAME_MAX];
    const ProblemType *pt = s->pt;
    const Str c = c_indices(pt, indices);
    const bool ga = s->GlobalAccumulation == GACC_SINGLE;
    *n = 0;
    if (s->PackOperands) {
        const int bytes = type_bytes((DataType)pt->DataType);
        const char *pack = problem_is_gemm(pt) ? pack_kernel_name(bytes) : pack_window_name(bytes);
        if (!pack)
            FAIL(ERR_INPUT, "operands of type '%s' are not copied", type_letter((DataType)pt->DataType));
        TRY(add(a, pack, HELPER_PACK, false, out, n));
    }
    if (s->GlobalAccumulation == GACC_PARTIALS) {
        if (s->SelfResetCounters) return ERR_OK;
        TRY(add(a, FLAGS_SYMBOL, HELPER_FLAGS, false, out, n));
        return ERR_OK;
    }
    if (s->GlobalSplitU <= 1 && !(s->StreamK && s->StreamKAtomic)) return ERR_OK;
    helper_beta_only_name(c, (DataType)pt->DestDataType, pt->StridedBatched, ga, name);
    if (s->GlobalAccumulation != GACC_MULTIPLE) TRY(add(a, name, HELPER_BETA_ONLY, ga, out, n));
    return ga || s->GlobalAccumulation == GACC_MULTIPLE ? post_gsu(a, s, c, out, n) : ERR_OK;
}

Err kernel_emit_helper(const ProblemType *pt, const Target *t, const HelperKernel *h, Buf *out)
{
    switch (h->kind) {
    case HELPER_PACK:
        return kernel_emit_pack(pt, t, h->symbol, out);
    case HELPER_FLAGS:
        return kernel_emit_flags(pt, t, h->symbol, out);
    case HELPER_POST_GSU:
        return kernel_emit_post_gsu(pt, t, h->symbol, out);
    default:
        return kernel_emit_beta_only(pt, t, h->ga, h->symbol, out);
    }
}

bool helper_is_for_both(const ProblemType *pt, const Target *t, Str symbol)
{
    const Fused fused = problem_fused(pt);
    if (!target_family(t)->one_half_helper || pt->DestDataType != TYPE_H || fused_any(&fused)) return false;
    return helper_name_is_plain_post_gsu(symbol);
}

bool helper_serves(const ProblemType *made_for, const ProblemType *pt, const Target *t, Str symbol)
{
    if (pack_kernel_bytes(symbol.s, symbol.n)) return true; /* the name has all parameters */
    if (str_eq(symbol, str_from(FLAGS_SYMBOL))) return true;
    if (made_for->UseInitialStridesCD != pt->UseInitialStridesCD) return false; /* arguments differ */
    return made_for->ComputeDataType == pt->ComputeDataType || helper_is_for_both(pt, t, symbol);
}
