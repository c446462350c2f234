/* Values that compiled amdgcn kernels cannot honour, although assembly kernels could. They are rejected only
 * where kernels are made (DeriveLimits.writer), so that counts of solutions equal Tensile's.
 *
 * Parameters without effect in compiled kernels are in effect.def. Two have an effect in some kernels only:
 * LdsPad is replaced by a layout that kernel/amdgcn/layout.c chooses by counting bank conflicts in kernels
 * with matrix or dot product instructions; VectorWidth follows from MIWaveTile and 16 bytes in kernels with
 * matrix instructions.
 */
#include "space/derive_internal.h"

/* ThreadSeparateGlobalRead: kernel/gpu divides the lanes of a row among the groups of a wave. */
static bool check_separate(Derive *d, int t)
{
    const Solution *s = d->s;
    int32_t separate = AB(s, ThreadSeparateGlobalRead, t), lanes = AB(s, LVC, t);
    if (!separate) return true;
    if (!AB(s, GlobalReadCoalesceGroup, t) || lanes < 1 || lanes % (2 * separate) ||
        s->WavefrontSize % lanes || s->WavefrontSize != d->f->target->wave_size)
        REJECT(d, AMD_SEPARATE, t, separate, lanes);
    return true;
}

/* DirectToLds: rules beside those of Tensile, which are in derive_direct.c. */
static bool check_to_local(Derive *d, int t)
{
    const Solution *s = d->s;
    const int32_t load = AB(s, GlobalLoadVectorWidth, t), bytes = load ? load * d->f->bpe : 4;
    if (!AB(s, DirectToLds, t)) return true;
    if (!target_loads_to_local(d->f->target, bytes)) REJECT(d, AMD_DTL_LOAD, t, bytes);
    if (d->f->fp16_alt) REJECT(d, AMD_DTL_CONVERTS, t);
    return true;
}

/* FractionalLoad: whether some lanes' loads of the operand lie outside of its tile, as gpu_check_loads
 * decides. */
static bool is_fractional(const Derive *d, int t)
{
    const Solution *s = d->s;
    const int32_t tile = AB(s, MacroTile, t), tlu = d->f->tlu[t];
    const int32_t waves = AB(s, WaveSeparateGlobalRead, t) ? s->NumThreads / s->WavefrontSize : 1;
    const int32_t along = AB(s, NumLoadsCoalesced, t) * AB(s, LSC, t);
    const int32_t across = AB(s, NumLoadsPerpendicular, t) * AB(s, LSP, t) * waves;
    return s->FractionalLoad && (along != (tlu ? tile : s->DepthU) || across != (tlu ? s->DepthU : tile) ||
                                 AB(s, LVC, t) * AB(s, LSP, t) != s->NumThreads / waves);
}

/* DirectToVgpr: rules beside those of Tensile, which are in derive_direct.c. Registers hold all fragments of
 * a chunk of K, and of each chunk that is prefetched. */
static bool check_to_registers(Derive *d, int t)
{
    const Solution *s = d->s;
    const int32_t id = t ? PARAM_DirectToVgprB : PARAM_DirectToVgprA, sets = s->PrefetchGlobalRead + 1;
    if (!AB(s, DirectToVgpr, t) || !s->EnableMatrixInstruction) return true;
    if (gathers(d)) REJECT(d, AMD_DTV, id);
    if (!AB(s, DirectToVgpr, 1 - t) && is_fractional(d, 1 - t)) REJECT(d, AMD_DTV, id);
    const int64_t lsu = s->LocalSplitU > 1 ? s->LocalSplitU : 1;
    const int64_t along_k = (int64_t)s->DepthU / lsu * s->MIInputPerThread / s->MatrixInstK;
    const int64_t lane = s->MIWaveTile.v[t] * along_k;
    const int64_t n = lane * d->f->bpe / 4 * sets; /* elements of a chunk */
    const int64_t sum = d->f->compute_bpe < 4 ? 1 : d->f->compute_bpe / 4;
    const int64_t sums = s->NumElementsPerThread * sum;
    /* When accumulators fill the AGPRs, fragments, loads and addresses share the other half of the register
     * file. Kernels of 256x256x64 in rocBLAS's logic for gfx942, with 64 registers of fragments, spill 20 to
     * 40 registers. */
    enum { SUMS_FILL = 240, BESIDE_SUMS = 48 };
    const bool crowded = sums >= SUMS_FILL && n > BESIDE_SUMS;
    if (crowded || n + sums > d->f->target->n_vector_regs)
        REJECT(d, AMD_DTV_REGISTERS, id, n, sets, n + sums);
    return true;
}

/* DepthULdsDivisor: rules beside those of Tensile, which are in derive_loop.c. All threads share the loads of
 * each part of a chunk (plan_part_loads, kernel/plan_gpu.c). */
static bool check_divisor(Derive *d, int t)
{
    const Solution *s = d->s;
    const int32_t parts = s->DepthULdsDivisor;
    if (parts <= 1) return true;
    if (d->f->contraction || s->DirectToVgprA || s->DirectToVgprB || is_fractional(d, t) ||
        AB(s, GlobalLoadVectorWidth, t) % parts)
        REJECT(d, AMD_DIVISOR, PARAM_DepthULdsDivisor, parts);
    return true;
}

/* Kernels use Fp16AltImpl of the problem type, predicates that of the solution: they must agree. There must
 * be a bf16 matrix instruction of the same shape. */
static bool check_fp16_alt(Derive *d)
{
    const Solution *s = d->s;
    if (s->Fp16AltImpl && !d->f->pt->Fp16AltImpl) REJECT(d, AMD_ALT_PROBLEM);
    if (s->Fp16AltImplRound && !d->f->pt->Fp16AltImplRound) REJECT(d, AMD_ALT_PROBLEM);
    if (d->f->fp16_alt && s->EnableMatrixInstruction && !(d->caps & (CAP_BF16_1K | CAP_WMMA)))
        REJECT(d, AMD_ALT_ARCH);
    return true;
}

static bool check_writer(Derive *d)
{
    if (!check_contraction(d)) return false;
    const int32_t types[] = {d->f->type, d->f->dest};
    for (int i = 0; i < 2; i++)
        if (is_f8(types[i]) && d->f->target->f8 == F8_NONE) REJECT(d, AMD_TYPE, types[i]);
    if (d->f->stochastic) REJECT(d, AMD_STOCHASTIC);
    if (d->s->WorkGroupMappingType == WGMT_Z && d->s->WorkGroupMapping > 1)
        REJECT(d, ORDER_Z_GRID, d->s->WorkGroupMapping);
    if (d->s->AtomicAddC && fused_any(&d->f->fused)) REJECT(d, FUSED_ATOMIC_C);
    if (d->f->compute == TYPE_D && activation_has_exp(d->f->fused.activation)) REJECT(d, FUSED_DOUBLE);
    if (d->s->CustomKernelName.n) REJECT(d, CUSTOM_KERNEL);
    if (!check_only(d, ONLY_AMD)) return false;
    for (int t = 0; t < 2; t++)
        if (!check_to_local(d, t) || !check_to_registers(d, t) || !check_divisor(d, t)) return false;
    return check_fp16_alt(d) && check_separate(d, 0) && check_separate(d, 1);
}

bool derive_writer(Derive *d)
{
    return !d->f->writer || d->f->target->family != TARGET_AMDGCN || check_writer(d);
}

bool solution_writable(const Deriver *f, const Solution *s, Verdict *v)
{
    Solution judged = *s;
    Derive d = {.f = f, .s = &judged, .v = v};
    judged.NoReject = 0;
    v->rule = RULE_NONE;
    if (f->target->family != TARGET_AMDGCN) return true;
    d.caps = isa_caps(f->target->isa);
    return check_writer(&d);
}
