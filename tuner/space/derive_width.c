/* Derivation: vector widths, elements per thread, split of the summation (in and between workgroups). */
#include "space/derive_internal.h"

/* Elements in a 32-bit register, at least 1. */
static int32_t default_mi_width(const Deriver *f) { return f->bpe < 4 ? 4 / f->bpe : 1; }

static bool mi_widths(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    if (s->VectorWidth < 1) s->VectorWidth = default_mi_width(f);
    if (s->VectorWidthB < 1) {
        s->VectorWidthB = default_mi_width(f);
        if (f->tlu[1] && !s->UnrollMajorLDSB && s->MIInputPerThread == 1 && s->SourceSwap) {
            if (s->DirectToVgprB && s->GlobalLoadVectorWidthB != -1)
                s->VectorWidthB = s->GlobalLoadVectorWidthB;
            else if (s->DirectToVgprA && f->tlu[0] && s->LocalReadVectorWidth != -1)
                s->VectorWidthB = s->LocalReadVectorWidth;
        }
    }
    if (s->MIWaveTile.v[0] % s->VectorWidth) {
        if (s->SourceSwap) STOP(d, VW_WAVE_TILE, s->MIWaveTile.v[0], s->VectorWidth);
        s->VectorWidth = 1;
    }
    if (s->MIWaveTile.v[1] % s->VectorWidthB) s->VectorWidthB = 1;
    if (s->StoreRemapVectorWidth) s->VectorWidth = s->VectorWidthB = 1;
    return true;
}

bool derive_vector_widths(Derive *d)
{
    Solution *s = d->s;
    if (s->GlobalReadVectorWidth != -1)
        s->GlobalLoadVectorWidthA = s->GlobalLoadVectorWidthB = s->GlobalReadVectorWidth;
    if (s->EnableMatrixInstruction) {
        if (!mi_widths(d)) return false;
    } else {
        if (s->VectorWidth < 1) {
            s->VectorWidth = max32(16 / d->f->bpe, 1);
            while (s->ThreadTile0 % s->VectorWidth || s->ThreadTile1 % s->VectorWidth) s->VectorWidth /= 2;
        }
        if (s->ThreadTile0 % s->VectorWidth || s->ThreadTile1 % s->VectorWidth)
            STOP(d, VW_THREAD_TILE, s->ThreadTile0, s->ThreadTile1, s->VectorWidth);
        s->VectorWidthB = s->VectorWidth;
    }
    s->VectorWidthA = s->VectorWidth;
    if (d->f->n_summation > 1) s->StaggerU = 0;
    if (!d->assembly) return true;
    bool valu = !s->EnableMatrixInstruction;
    if (d->f->type == TYPE_H) {
        if (valu && s->VectorWidth < 2) REJECT(d, VW_HALF, s->VectorWidth);
        if ((d->caps & CAP_ECC_HALF) && !d->f->hpa && s->AssertFree0ElementMultiple % 2)
            REJECT(d, ECC_HALF_AF0EM, s->AssertFree0ElementMultiple);
    }
    if ((d->f->type == TYPE_I8 || is_f8(d->f->type)) && valu && s->VectorWidth < 4)
        REJECT(d, VW_BYTE, s->VectorWidth);
    return true;
}

bool derive_global_widths(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    for (int t = 0; t < 2; t++) {
        int32_t *width = &AB(s, GlobalLoadVectorWidth, t);
        if (*width == -1) *width = d->assembly ? max32(s->VectorWidth, ceil_div(4, f->bpe)) : s->VectorWidth;
        if (*width * f->bpe > 16) STOP(d, GLVW_BIG, *width, f->bpe, t);
    }
    if (s->StoreVectorWidth == -1)
        s->StoreVectorWidth = s->SourceSwap ? s->VectorWidth : f->bpe <= 4 ? 4 : 16 / f->bpe;
    if (s->EnableMatrixInstruction) {
        int32_t whole = s->SourceSwap ? s->VectorWidthA : s->MIOutputVectorWidth;
        if (whole % s->StoreVectorWidth) STOP(d, STORE_WIDTH, whole, s->StoreVectorWidth);
    }
    if (s->VectorWidthA * f->bpe > 16) STOP(d, VW_BIG, s->VectorWidthA, f->bpe);
    if (s->VectorWidthB * f->bpe > 16) STOP(d, VW_BIG, s->VectorWidthB, f->bpe);
    return true;
}

bool derive_split_u(Derive *d)
{
    Solution *s = d->s;
    int32_t elements = s->MacroTile0 * s->MacroTile1;
    if (elements < s->NumThreads) STOP(d, TILE_SMALL, elements, s->NumThreads);
    s->NumElementsPerThread = elements / s->NumThreads;
    s->GlobalWriteVectorWidth = min32(s->VectorWidthA, s->NumElementsPerThread);
    if (s->NumElementsPerThread % s->GlobalWriteVectorWidth)
        STOP(d, WRITE_WIDTH, s->NumElementsPerThread, s->GlobalWriteVectorWidth);
    s->NumGlobalWriteVectorsPerThread = s->NumElementsPerThread / s->GlobalWriteVectorWidth;
    if (s->LocalSplitU <= 1) return true;
    if (s->NumThreads % s->MacroTile0) STOP(d, LSU_TILE0, s->NumThreads, s->MacroTile0);
    if (elements % s->NumThreads) STOP(d, LSU_TILE, elements, s->NumThreads);
    if (!s->EnableMatrixInstruction && (d->f->type == TYPE_I8 || is_f8(d->f->type)))
        STOP(d, LSU_BYTE, s->LocalSplitU);
    return true;
}

static bool check_atomic_add(Derive *d)
{
    const Solution *s = d->s;
    if (!s->GlobalSplitUAtomicAdd) return true;
    if (!(d->caps & CAP_ATOMIC_ADD)) REJECT(d, ATOMIC_ADD_ARCH);
    if (s->GlobalSplitUAlgorithm != GSUA_SINGLE) REJECT(d, ATOMIC_ADD_MULTIPLE);
    if (d->f->compute != TYPE_S) REJECT(d, ATOMIC_ADD_TYPE);
    if (!s->BufferStore) REJECT(d, ATOMIC_ADD_BUFFER);
    if (s->VectorAtomicWidth != 1) REJECT(d, ATOMIC_ADD_WIDTH, s->VectorAtomicWidth);
    return true;
}

bool derive_global_split_u(Derive *d)
{
    Solution *s = d->s;
    const Deriver *f = d->f;
    if (s->GlobalSplitU == 1) { /* parameters without meaning get one value */
        s->MinKForGSU = 256;
        s->GlobalSplitUAlgorithm = GSUA_SINGLE;
        if (s->GlobalSplitUAtomicAdd) REJECT(d, ATOMIC_ADD_NO_GSU);
        return true;
    }
    if (!s->GlobalSplitUSummationAssignmentRoundRobin && s->LoopTail) STOP(d, GSU_TAIL);
    bool supported = f->type == TYPE_S || is_f8(f->type) || (f->type == TYPE_D && s->BufferStore) ||
                     f->dest == TYPE_I || (d->assembly && f->compute == TYPE_H) ||
                     s->GlobalAccumulation != GACC_NONE || s->EnableMatrixInstruction;
    if (!supported) STOP(d, GSU_TYPE);
    return check_atomic_add(d);
}

static bool check_half_atomics(Derive *d)
{
    const Solution *s = d->s;
    if (d->f->type != TYPE_H || !d->assembly) return true;
    if (!s->EnableMatrixInstruction && s->VectorWidth < 2) REJECT(d, VW_HALF, s->VectorWidth);
    if (s->GlobalSplitU > 1 && s->GlobalAccumulation == GACC_NONE) {
        if (s->VectorAtomicWidth < 2) REJECT(d, GSU_HALF_ATOMIC, s->VectorAtomicWidth);
        if (s->AssertFree0ElementMultiple < 2) REJECT(d, GSU_HALF_AF0EM, s->AssertFree0ElementMultiple);
        if (s->EnableMatrixInstruction && (d->caps & CAP_WMMA)) STOP(d, GSU_HALF_WMMA);
    }
    return true;
}

bool derive_atomic_width(Derive *d)
{
    Solution *s = d->s;
    int32_t only = d->f->compute_bpe == 2 ? 2 : 1;
    bool atomic = s->GlobalSplitU > 1 && s->GlobalSplitUAlgorithm == GSUA_SINGLE;
    if (s->VectorAtomicWidth == -1) s->VectorAtomicWidth = only;
    if (s->VectorAtomicWidth != only) REJECT(d, ATOMIC_WIDTH, s->VectorAtomicWidth, only);
    if (atomic && s->VectorAtomicWidth > s->GlobalWriteVectorWidth)
        REJECT(d, ATOMIC_WRITE_WIDTH, s->VectorAtomicWidth, s->GlobalWriteVectorWidth);
    return check_half_atomics(d);
}
