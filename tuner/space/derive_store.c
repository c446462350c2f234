/* Derivation: how results are stored: remapping through local memory, register kinds, stores inside the loop.
 */
#include "space/derive_internal.h"

/* StoreRemapVectorWidth -1: the width that avoids bank conflicts, where remapping is possible. */
static void auto_remap(Derive *d)
{
    Solution *s = d->s;
    int32_t width = max32(8 / d->f->dest_bpe, s->MacroTile0 / s->WavefrontSize);
    int32_t pad = max32(width, s->MIOutputVectorWidth);
    int64_t waves1 = s->EnableMatrixInstruction ? s->MIWaveGroup.v[1] : 0;
    int64_t bytes = (int64_t)(s->MacroTile0 + pad) * s->MatrixInstN * waves1;
    bytes *= s->GlobalAccumulation != GACC_NONE ? d->f->compute_bpe : d->f->dest_bpe;
    bool impossible = !is_pow2(s->MacroTile0) || bytes > d->f->max_lds || s->SourceSwap ||
                      (s->GlobalSplitU > 1 && s->GlobalAccumulation != GACC_MULTIPLE) ||
                      (s->MatrixInstBN > 1 && s->MatrixInstN == 4);
    s->StoreRemapVectorWidth = impossible ? 0 : width;
}

static bool check_source_swap(Derive *d)
{
    Solution *s = d->s;
    if (s->SourceSwap) {
        if (!s->EnableMatrixInstruction) STOP(d, SOURCE_SWAP_MI);
        if (s->StoreRemapVectorWidth) STOP(d, SOURCE_SWAP_REMAP, s->StoreRemapVectorWidth);
    } else if (s->EnableMatrixInstruction && s->MatrixInstBM > 1 && s->MatrixInstN == 4 &&
               s->MatrixInstM > s->MIOutputVectorWidth && !s->GuaranteeNoPartialA &&
               s->AssertFree0ElementMultiple % width_num(s->GlobalLoadVectorWidthA)) {
        STOP(d, MI4_AF0EM, s->AssertFree0ElementMultiple, s->GlobalLoadVectorWidthA);
    }
    return true;
}

static bool check_arch_vgpr(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    if (s->EnableMatrixInstruction && (d->caps & CAP_WMMA)) s->MIArchVgpr = 1;
    if (!s->MIArchVgpr) return true;
    if (!s->EnableMatrixInstruction) STOP(d, ARCH_VGPR_MI);
    if (!(d->caps & (CAP_MFMA_VGPR | CAP_WMMA))) STOP(d, ARCH_VGPR_ARCH);
    bool type = f->compute == TYPE_D || f->compute == TYPE_S || (f->compute == TYPE_H && f->hpa) ||
                f->compute == TYPE_I || is_complex(f->compute);
    if ((d->caps & CAP_MFMA) && !type) STOP(d, ARCH_VGPR_TYPE);
    if (f->compute == TYPE_C && !(d->caps & CAP_FMA_F32)) STOP(d, ARCH_VGPR_FMA);
    return true;
}

bool derive_store(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    if (s->StoreRemapVectorWidth == -1) auto_remap(d);
    int32_t a = width_num(s->GlobalLoadVectorWidthA), b = width_num(s->GlobalLoadVectorWidthB);
    s->GuaranteeNoPartialA = !f->tlu[0] || s->AssertFree0ElementMultiple % a == 0;
    s->GuaranteeNoPartialB = !f->tlu[1] || s->AssertFree1ElementMultiple % b == 0;
    if (!check_source_swap(d)) return false;
    s->LdsInitCVgprs =
        (d->caps & CAP_ACC_CD) && s->EnableMatrixInstruction && s->StorePriorityOpt && f->type == TYPE_D;
    if (!check_arch_vgpr(d)) return false;
    if (s->AtomicAddC) {
        if (f->type != TYPE_D) STOP(d, ATOMIC_C_TYPE);
        if (s->AssertBetaValue != 1) STOP(d, ATOMIC_C_BETA, s->AssertBetaValue);
        if (!s->AssertCEqualsD) STOP(d, ATOMIC_C_BUFFER);
    }
    bool multiplies_bf16 = s->EnableMatrixInstruction || (f->writer && f->target->family == TARGET_AMDGCN);
    if (f->fp16_alt && !(f->type == TYPE_H && f->hpa && multiplies_bf16)) STOP(d, FP16_ALT);
    if (f->stochastic && !is_f8(f->type)) STOP(d, STOCHASTIC);
    return true;
}

static bool check_remap(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    int32_t width = s->StoreRemapVectorWidth;
    if (!s->BufferStore) STOP(d, REMAP_BUFFER, width);
    if (!s->EnableMatrixInstruction) STOP(d, REMAP_MI, width);
    if (s->GlobalSplitU > 1 && s->GlobalAccumulation != GACC_MULTIPLE) STOP(d, REMAP_GSU, width);
    if (d->packed0 || d->packed1) STOP(d, REMAP_PACKED, width);
    if (s->MatrixInstBN > 1 && s->MatrixInstN == 4) STOP(d, REMAP_MI4, width);
    if (!is_pow2(s->MacroTile0)) REJECT(d, REMAP_TILE, s->MacroTile0);
    int32_t least = max32(4 / f->dest_bpe, 1);
    int32_t most = 16 / (s->GlobalAccumulation != GACC_NONE ? f->compute_bpe : f->dest_bpe);
    if (width < least || width > most) STOP(d, REMAP_WIDTH, width, least, most);
    if (width * s->WavefrontSize < s->MacroTile0) STOP(d, REMAP_NARROW, width, s->MacroTile0);
    if (s->MacroTile0 * s->MatrixInstN / s->MIWaveGroup.v[0] < width * s->WavefrontSize)
        STOP(d, REMAP_WIDE, width, s->MacroTile0, s->MatrixInstN);
    return true;
}

bool derive_store_remap(Derive *d, int64_t *lds_elements)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    if (!s->StoreRemapVectorWidth) return true;
    if (!check_remap(d)) return false;
    int32_t pad = max32(s->StoreRemapVectorWidth, s->MIOutputVectorWidth), factor = 1;
    if (s->GlobalAccumulation != GACC_NONE)
        factor = f->compute_bpe / f->bpe;
    else if (f->dest_bpe > f->bpe)
        factor = f->dest_bpe / f->bpe;
    int64_t n = (int64_t)(s->MacroTile0 + pad) * s->MatrixInstN * s->MIWaveGroup.v[1] * factor;
    if (s->LDSBuffer1 && s->ScheduleIterAlg == 3 && *lds_elements < n &&
        (f->type == TYPE_I8 || is_f8(f->type)))
        STOP(d, REMAP_BOUND, n, *lds_elements);
    if (n > *lds_elements) *lds_elements = n;
    return true;
}

static bool check_store_in_loop(Derive *d)
{
    const Solution *s = d->s;
    int32_t type = d->f->type;
    if (type != TYPE_D && type != TYPE_Z) STOP(d, LOOP_STORE_TYPE);
    if (s->LocalSplitU > 1) STOP(d, LOOP_STORE_LSU, s->LocalSplitU);
    if (s->MIArchVgpr) STOP(d, LOOP_STORE_VGPR);
    if (!s->PersistentKernel || !s->PrefetchAcrossPersistent || !s->PrefetchAcrossPersistentMode)
        STOP(d, LOOP_STORE_PAP);
    if (type == TYPE_D && s->VectorWidthA != 2) STOP(d, LOOP_STORE_VW, s->VectorWidthA);
    if (s->AtomicAddC && s->StoreVectorWidth != 1) STOP(d, LOOP_STORE_ATOMIC, s->StoreVectorWidth);
    if (s->ScheduleGlobalRead != 1 || !s->PrefetchGlobalRead || !s->ExpandPointerSwap ||
        s->ScheduleIterAlg != 3)
        STOP(d, LOOP_STORE_SCHEDULE, s->ScheduleGlobalRead, s->PrefetchGlobalRead, s->ScheduleIterAlg);
    int32_t waves1 = s->EnableMatrixInstruction ? s->MIWaveGroup.v[1] : 0;
    if (waves1 != 1 && waves1 != 4) STOP(d, LOOP_STORE_WAVES, waves1);
    if (s->StoreCInUnrollExact && s->StoreCInUnrollPostLoop) STOP(d, LOOP_STORE_EXACT_POST);
    if (!s->SourceSwap) STOP(d, LOOP_STORE_SWAP);
    if (type == TYPE_D && s->NumElementsPerBatchStore == 1) STOP(d, LOOP_STORE_BATCH);
    if (!s->BufferStore) STOP(d, LOOP_STORE_BUFFER);
    if (s->VectorWidthB > 1) STOP(d, LOOP_STORE_VWB, s->VectorWidthB);
    return true;
}

bool derive_store_in_loop(Derive *d)
{
    Solution *s = d->s;
    if (!s->StoreCInUnroll) {
        s->StoreCInUnrollPostLoop = s->StoreCInUnrollExact = 0;
        return true;
    }
    if (!check_store_in_loop(d)) return false;
    const int32_t *greater = intmap_get(&s->AssertSizeGreaterThan, 3),
                  *equal = intmap_get(&s->AssertSizeEqual, 3);
    if (s->PrefetchGlobalRead == 2 && !(greater && *greater >= s->DepthU * 2))
        STOP(d, LOOP_STORE_K, s->DepthU * 2);
    int32_t exact = s->DepthU * s->ThreadTile0 * s->ThreadTile1 / s->VectorWidthA;
    if (s->StoreCInUnrollExact && !(equal && *equal == exact)) STOP(d, LOOP_STORE_EXACT, exact);
    return true;
}
