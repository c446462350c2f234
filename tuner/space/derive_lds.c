/* Derivation: local memory: padding against bank conflicts, offsets, size. */
#include "space/derive_internal.h"

enum { N_BANKS = 32, BANK_ROW_BYTES = 128, LDS_ELEMENTS_MAX = 1 << 27 }; /* far above any LDS size */

static int32_t lds_elements(const Derive *d, int t)
{
    const Solution *s = d->s;
    if (AB(s, DirectToVgpr, t)) return 0;
    int32_t block = AB(s, LdsBlockSizePerPad, t);
    int32_t interval = block                      ? block / d->f->bpe
                       : AB(s, UnrollMajorLDS, t) ? s->DepthULds
                                                  : AB(s, MacroTile, t);
    int64_t n = (int64_t)AB(s, MacroTile, t) * s->DepthULds;
    n += n / max32(interval, 1) * AB(s, LdsPad, t);
    return n < LDS_ELEMENTS_MAX ? (int32_t)n : LDS_ELEMENTS_MAX;
}

static int32_t lds_elements_aligned(const Derive *d, int t)
{
    int32_t align = 256 / d->f->bpe, n = lds_elements(d, t);
    return ceil_div(n, align) * align;
}

static int32_t mod_floor(int32_t a, int32_t b) { return (a % b + b) % b; }

/* The pad that spreads the lanes of a matrix instruction over the banks. */
static int32_t auto_pad(const Derive *d, int t, int32_t stride)
{
    const Solution *s = d->s;
    int32_t row = BANK_ROW_BYTES / d->f->bpe, width = t ? s->VectorWidthB : s->VectorWidthA;
    int32_t read_regs = s->LocalReadVectorWidth * d->f->bpe / 4;
    int32_t lanes = t == 0 ? s->MatrixInstM * s->MatrixInstBM : s->MatrixInstN * s->MatrixInstBN;
    if (t == 1 && s->MatrixInstBM > 1) lanes = s->MatrixInstN;
    if (!AB(s, UnrollMajorLDS, t)) {
        int32_t extra = lanes < N_BANKS && lanes * width < row ? lanes * width % row : 0;
        return extra ? mod_floor(row + extra - stride % row, row) : AB(s, LdsPad, t);
    }
    int32_t pad = s->LocalReadVectorWidth, depth = s->DepthULds;
    if (lanes < N_BANKS && (read_regs == 4 || read_regs == 1)) pad *= N_BANKS / lanes;
    pad = max32(AB(s, GlobalLoadVectorWidth, t), pad);
    if (depth > 0 && !is_pow2(depth)) {
        int32_t over = ceil_div(row, depth) * depth % row;
        pad = min32(mod_floor(over + pad, row), mod_floor(over - pad, row));
    }
    return pad;
}

static bool pad_matrix(Derive *d, int t, bool auto_block)
{
    Solution *s = d->s;
    int32_t width = t ? s->VectorWidthB : s->VectorWidthA, *block = &AB(s, LdsBlockSizePerPad, t);
    bool unroll_major = AB(s, UnrollMajorLDS, t) != 0;
    int32_t line = unroll_major ? s->DepthULds : t ? s->MacroTile1 : s->MacroTile0, stride = 0;
    if (unroll_major)
        stride = line * width;
    else if (s->MIInputPerThread > 1)
        stride = line * s->LocalReadVectorWidth;
    if (!is_pow2(line)) stride = *block = 0;
    if (auto_block && stride > 0) {
        *block = BANK_ROW_BYTES;
        while (*block < stride * d->f->bpe) *block *= 2;
    }
    if (*block && *block < line) REJECT(d, LDS_BLOCK, t, line, *block);
    if (d->auto_pad[t]) AB(s, LdsPad, t) = auto_pad(d, t, stride);
    if (AB(s, DirectToLds, t)) AB(s, LdsPad, t) = 0;
    return true;
}

/* Drops automatic pads when local memory would overflow, first those of operands whose K is not contiguous.
 */
static void drop_pads(Derive *d)
{
    Solution *s = d->s;
    for (int unroll_major = 0; unroll_major < 2; unroll_major++) {
        for (int t = 0; t < 2; t++) {
            int64_t n = (int64_t)lds_elements_aligned(d, 0) + lds_elements(d, 1);
            if (s->LDSBuffer1 != 1) n *= 2;
            if (d->auto_pad[t] && n * d->f->bpe > d->f->max_lds &&
                (AB(s, UnrollMajorLDS, t) != 0) == unroll_major)
                AB(s, LdsPad, t) = AB(s, LdsBlockSizePerPad, t) = 0;
        }
    }
}

bool derive_lds_padding(Derive *d)
{
    Solution *s = d->s;
    bool one_operand = s->EnableMatrixInstruction && s->LocalReadVectorWidth == s->MIInputPerThread;
    if (!(d->caps & CAP_WMMA) && s->LocalReadVectorWidth * d->f->bpe / 4 > 4 && !one_operand)
        REJECT(d, LRVW_BIG, s->LocalReadVectorWidth, d->f->bpe);
    for (int t = 0; t < 2; t++) {
        int32_t *pad = &AB(s, LdsPad, t), *block = &AB(s, LdsBlockSizePerPad, t);
        bool auto_block = *block == -1, unroll_major = AB(s, UnrollMajorLDS, t) != 0;
        if (auto_block) *block = 0;
        d->auto_pad[t] = *pad == -1;
        if (*pad == -1) *pad = d->f->tlu[t] && !unroll_major ? 0 : t ? s->VectorWidthB : s->VectorWidthA;
        if (s->EnableMatrixInstruction) {
            if (!pad_matrix(d, t, auto_block)) return false;
        } else {
            if (unroll_major) REJECT(d, VALU_UNROLL_MAJOR, t);
            if (*block) REJECT(d, VALU_LDS_BLOCK, t, *block);
        }
        if (AB(s, DirectToVgpr, t)) *pad = 0;
        if (*pad == 0) *block = 0;
    }
    drop_pads(d);
    return true;
}

bool derive_no_tail_loop(Derive *d)
{
    Solution *s = d->s;
    int32_t asem = s->AssertSummationElementMultiple, gsu = s->GlobalSplitU;
    bool no_tail = (asem % gsu ? 1 : asem / gsu) % s->DepthU == 0;
    bool pap = s->PersistentKernel && s->PrefetchAcrossPersistent && s->PrefetchAcrossPersistentMode == 1;
    if (!no_tail && pap) STOP(d, TAIL_PAP, s->DepthU);
    if (!no_tail && !pap && (s->DirectToLdsA || s->DirectToLdsB)) {
        if (s->EnableMatrixInstruction && s->LocalReadVectorWidth > s->MIInputPerThread)
            STOP(d, TAIL_DTL_WIDTH, s->LocalReadVectorWidth, s->MIInputPerThread);
        for (int t = 0; t < 2; t++)
            if (d->f->tlu[t] && AB(s, NumLoadsCoalesced, t) > 1) STOP(d, TAIL_DTL_COALESCED, t);
    }
    if (pap && s->PrefetchGlobalRead == 2) {
        const int32_t *k = intmap_get(&s->AssertSizeGreaterThan, 3);
        if (!(k && *k >= s->DepthU * 2 - 1)) STOP(d, PAP_K, s->DepthU * 2 - 1);
    }
    return true;
}

static bool check_thread_separate(Derive *d)
{
    Solution *s = d->s;
    for (int t = 0; t < 2; t++) {
        int32_t *separate = &AB(s, ThreadSeparateGlobalRead, t);
        if (!*separate || (AB(s, DirectToLds, t) && !d->f->tlu[t])) continue;
        bool vector = AB(s, GlobalReadCoalesceVector, t) != 0;
        int32_t divisor = AB(s, GlobalReadCoalesceGroup, t) ? (vector ? AB(s, LVC, t) : AB(s, LSC, t))
                                                            : (vector ? AB(s, LSP, t) : AB(s, LVP, t));
        if (*separate * 2 >= divisor) REJECT(d, SEPARATE_DIVISOR, t, *separate * 2, divisor);
        if (divisor > s->WavefrontSize) REJECT(d, SEPARATE_WAVE, t, divisor, s->WavefrontSize);
        if (AB(s, DirectToVgpr, t)) *separate = 0;
    }
    return true;
}

/* Offsets of A and B and of their second buffers; returns the elements of both. */
static int32_t lay_out(Derive *d)
{
    Solution *s = d->s;
    int32_t aligned_a = lds_elements_aligned(d, 0), aligned_b = lds_elements_aligned(d, 1);
    s->LdsOffsetA = 0;
    s->LdsOffsetB = aligned_a;
    if (!s->PrefetchGlobalRead) return aligned_a + lds_elements(d, 1);
    s->LdsNumElementsAlignedA = aligned_a;
    s->LdsNumElementsAlignedB = aligned_b;
    int32_t block = aligned_a + aligned_b > 0 ? 1 : 0;
    while (block && block < aligned_a + aligned_b) block *= 2;
    s->LdsOffsetA_Blk = block;
    s->LdsOffsetB_Blk = block + aligned_a;
    return s->LdsOffsetB_Blk + lds_elements(d, 1);
}

bool derive_lds_size(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int64_t both = lay_out(d);
    if (s->EnableMatrixInstruction && (s->DirectToLdsA || s->DirectToLdsB) && s->LDSBuffer1)
        REJECT(d, DTL_ONE_BUFFER, s->LDSBuffer1);
    if (!check_thread_separate(d)) return false;
    if (s->LDSBuffer1 == -1) s->LDSBuffer1 = both * f->bpe > f->max_lds;
    if (s->LDSBuffer1) {
        if (!s->PrefetchGlobalRead) REJECT(d, ONE_BUFFER_PGR0);
        if (s->ScheduleIterAlg < 2 && s->ScheduleLocalWrite)
            REJECT(d, ONE_BUFFER_SCHEDULE, s->ScheduleIterAlg);
        s->LdsOffsetB = lds_elements_aligned(d, 0);
        both = s->LdsOffsetB + lds_elements(d, 1);
    }
    int64_t reduction = 0;
    if (s->LocalSplitU > 1)
        reduction = (int64_t)(f->compute_bpe / f->bpe) * s->LocalSplitU * s->MacroTile0 * s->MacroTile1;
    int64_t occupancy = f->device_lds / s->MaxOccupancy / f->dest_bpe, n = both;
    if (reduction > n) n = reduction;
    if (occupancy > n) n = occupancy;
    if (!derive_store(d) || !derive_store_remap(d, &n)) return false;
    s->LdsNumElements = n > INT32_MAX ? INT32_MAX : (int32_t)n;
    if (n * f->bpe > f->max_lds) STOP(d, LDS_BIG, n * f->bpe, f->max_lds);
    return true;
}
