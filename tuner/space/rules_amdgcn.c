/* What compiled kernels for amdgcn cannot honour and an assembly writer could: rejected, with the value,
 * where kernels are made (DeriveLimits.writer). Counting solutions without making them gives Tensile's
 * numbers.
 *
 * What compiled kernels take without an effect is in effect.def. In some kernels alone these have an effect:
 * LdsPad, which in kernels with matrix instructions or dot products gives way to the layout that
 * kernel/amdgcn/layout.c chooses by counting bank conflicts (in the others LdsPad's room is placed so that
 * writes of transposed operands do not meet), and VectorWidth, which in those with matrix instructions
 * follows from MIWaveTile and 16 bytes.
 */
#include "space/derive_internal.h"

/* kernel/gpu divides the lanes of a line among the groups of a wave. */
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

/* Kernels go by the problem type's Fp16AltImpl, the library's predicates by the solution's. With a matrix
 * instruction, bf16's has to have the shape of half's. */
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
    if (!d->f->gemm) REJECT(d, AMD_GEMM, d->f->pt->OperationType);
    const int32_t types[] = {d->f->type, d->f->dest};
    for (int i = 0; i < 2; i++)
        if (is_f8(types[i]) && d->f->target->f8 == F8_NONE) REJECT(d, AMD_TYPE, types[i]);
    if (d->f->stochastic) REJECT(d, AMD_STOCHASTIC);
    if (d->s->CustomKernelName.n) REJECT(d, CUSTOM_KERNEL);
    /* compare and swap takes 4 bytes, which may end behind D's last element */
    if (d->s->GlobalSplitU > 1 && d->s->GlobalAccumulation == GACC_NONE &&
        (is_16bit(d->f->dest) || is_f8(d->f->dest)))
        REJECT(d, AMD_SPLIT_HALF, d->s->GlobalSplitU);
    if (!check_only(d, ONLY_AMD)) return false;
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
