/* Derivation: loads that skip registers (DirectToLds) or local memory (DirectToVgpr), packing registers. */
#include "space/derive_internal.h"

/* The rule that forbids VgprForLocalReadPacking; RULE_NONE: no rule does. */
static RuleId packing_obstacle(const Derive *d)
{
    const Solution *s = d->s;
    /* Tensile reports the last reason that applies. */
    RuleId why = RULE_NONE;
    if (!s->EnableMatrixInstruction) why = RULE_PACKING_MI;
    if (!(d->caps & CAP_ECC_HALF)) why = RULE_PACKING_ARCH;
    if (!(s->ScheduleIterAlg == 3 && s->PrefetchLocalRead >= 1)) why = RULE_PACKING_SCHEDULE;
    if (!(d->f->bpe < 4 && (!s->UnrollMajorLDSA || !s->UnrollMajorLDSB))) why = RULE_PACKING_TYPE;
    return why;
}

static bool vgpr_types(Derive *d, int t)
{
    Solution *s = d->s;
    int32_t type = d->f->type;
    if (s->DirectToVgprA && s->DirectToVgprB && s->PrefetchGlobalRead == 2) STOP(d, DTV_BOTH_PGR2);
    if (!s->EnableMatrixInstruction) STOP(d, DTV_MI, t);
    if (type == TYPE_4XI8 || type == TYPE_I || type == TYPE_X) STOP(d, DTV_TYPE, t);
    if (!d->f->tlu[t] && s->PrefetchLocalRead == 0) STOP(d, DTV_PLR0, t);
    if (!d->f->tlu[t] && (type == TYPE_S || type == TYPE_C)) STOP(d, DTV_SINGLE, t);
    if (d->f->bpe < 4 && d->f->tlu[t]) {
        int32_t width = t ? s->VectorWidthB : s->VectorWidthA;
        if (d->f->bpe * width < 4 || packing_obstacle(d) != RULE_NONE) STOP(d, DTV_SMALL, t, width);
        s->VgprForLocalReadPacking = s->ClusterLocalRead = 1;
    }
    if (t == 0 && !(s->MIWaveGroup.v[1] == 1 && s->MatrixInstBN == 1))
        STOP(d, DTV_WAVES, t, s->MIWaveGroup.v[1], s->MatrixInstBN);
    if (t == 1 && !(s->MIWaveGroup.v[0] == 1 && s->MatrixInstBM == 1))
        STOP(d, DTV_WAVES, t, s->MIWaveGroup.v[0], s->MatrixInstBM);
    if (AB(s, WaveSeparateGlobalRead, t)) STOP(d, DTV_WAVE_SEPARATE, t);
    return true;
}

static bool vgpr_shapes(Derive *d, int t)
{
    Solution *s = d->s;
    bool tlu = d->f->tlu[t];
    int32_t wave_tile = s->MIWaveTile.v[t], width = t ? s->VectorWidthB : s->VectorWidthA;
    int32_t load = AB(s, GlobalLoadVectorWidth, t), coalesced = AB(s, NumLoadsCoalesced, t);
    if (!s->FractionalLoad && tlu && coalesced * load != wave_tile)
        STOP(d, DTV_COALESCED, t, coalesced, load, wave_tile);
    if (wave_tile < width) STOP(d, DTV_WAVE_TILE, t, wave_tile, width);
    if (!s->ExpandPointerSwap) STOP(d, DTV_POINTER_SWAP, t);
    if (tlu && width != load) STOP(d, DTV_WIDTH, t, width, load);
    if (s->FractionalLoad && !tlu) STOP(d, DTV_FRACTIONAL, t);
    int32_t k = s->MatrixInstK * load * s->LocalSplitU / s->MIInputPerThread;
    if (!tlu && (k < 1 || coalesced != s->DepthU / k)) STOP(d, DTV_COALESCED_K, t, coalesced, s->DepthU, k);
    if (!tlu && load != s->LocalReadVectorWidth) STOP(d, DTV_READ_WIDTH, t, load, s->LocalReadVectorWidth);
    if (!tlu && s->PrefetchLocalRead == 1 && width > 1) STOP(d, DTV_PLR1, t, width);
    if (s->ScheduleIterAlg < 3 && s->PrefetchGlobalRead == 2) STOP(d, DTV_SIA, t, s->ScheduleIterAlg);
    if (s->InnerUnroll > 1) STOP(d, DTV_INNER_UNROLL, t, s->InnerUnroll);
    if (AB(s, ThreadSeparateGlobalRead, t)) STOP(d, DTV_THREAD_SEPARATE, t);
    if (t == 1 && (d->f->tlu[0] == (s->UnrollMajorLDSA != 0) || d->f->tlu[1] == (s->UnrollMajorLDSB != 0)))
        STOP(d, DTV_UNROLL_MAJOR, t);
    AB(s, GlobalReadCoalesceGroup, t) = tlu;
    return true;
}

bool derive_direct_to_vgpr(Derive *d)
{
    Solution *s = d->s;
    for (int t = 0; t < 2; t++) {
        if (!AB(s, DirectToVgpr, t)) continue;
        if (!vgpr_types(d, t) || !vgpr_shapes(d, t)) return false;
        AB(s, DirectToLds, t) = 0;
    }
    return true;
}

static bool lds_loads(Derive *d, int t)
{
    Solution *s = d->s;
    int32_t load = AB(s, GlobalLoadVectorWidth, t), bytes = load ? load * d->f->bpe : 4;
    int32_t asem = s->AssertSummationElementMultiple, gsu = s->GlobalSplitU;
    bool tlu = d->f->tlu[t];
    const bool wide = bytes > 4 && target_loads_to_local(d->f->target, bytes);
    if (bytes != 4 && !wide) STOP(d, DTL_BYTES, t, bytes);
    if (d->f->bpe < 4) {
        int32_t free_multiple = t ? s->AssertFree1ElementMultiple : s->AssertFree0ElementMultiple;
        if (!tlu && (asem % gsu || asem / gsu % load)) STOP(d, DTL_ASEM, t, asem, gsu, load);
        if (tlu && free_multiple % load) STOP(d, DTL_FREE_MULTIPLE, t, free_multiple, load);
    }
    if (s->NumThreads % s->WavefrontSize) STOP(d, THREADS_NOT_WAVES, s->NumThreads, s->WavefrontSize);
    if (tlu == (AB(s, UnrollMajorLDS, t) != 0)) STOP(d, DTL_UNROLL_MAJOR, t);
    if (!s->EnableMatrixInstruction && !wide && bytes * s->WavefrontSize > 256)
        STOP(d, DTL_WAVE, t, bytes, s->WavefrontSize);
    int32_t lanes = AB(s, WaveSeparateGlobalRead, t) ? s->WavefrontSize : s->NumThreads;
    if (AB(s, LSC, t) * AB(s, LSP, t) * d->f->bpe != lanes * bytes)
        STOP(d, DTL_TILE, t, AB(s, LSC, t), AB(s, LSP, t), lanes);
    int32_t pad = AB(s, LdsPad, t), block = AB(s, LdsBlockSizePerPad, t);
    if (pad && block != s->WavefrontSize * bytes) STOP(d, DTL_PAD, t, pad, block);
    return true;
}

static bool lds_schedule(Derive *d, int t)
{
    Solution *s = d->s;
    bool tlu = d->f->tlu[t], pgr2 = s->PrefetchGlobalRead == 2;
    int32_t asem = s->AssertSummationElementMultiple, gsu = s->GlobalSplitU;
    int32_t coalesced = AB(s, NumLoadsCoalesced, t);
    if (d->f->bpe >= 8 && pgr2 && !(s->DirectToVgprA || s->DirectToVgprB)) STOP(d, DTL_PGR2_WIDE, t);
    if (coalesced > 1 && !tlu) STOP(d, DTL_COALESCED, t, coalesced);
    if (coalesced > 1 && d->f->type == TYPE_D && s->UseInstOffsetForGRO) STOP(d, DTL_INST_OFFSET, t);
    if (s->PrefetchAcrossPersistentMode == 1 && (asem % gsu || asem / gsu % (s->DepthU * 2)))
        STOP(d, DTL_PAP, t, asem, gsu);
    if (pgr2 && s->PrefetchLocalRead == 1) STOP(d, DTL_PGR2_PLR1, t);
    if (pgr2 && d->f->bpe < 4 && tlu) STOP(d, DTL_PGR2_SMALL, t);
    if (pgr2 && s->MatrixInstB > 1) STOP(d, DTL_PGR2_BLOCKS, t);
    if (!is_pow2(AB(s, MacroTile, t)) && coalesced > 1) STOP(d, DTL_TILE_POW2, t, AB(s, MacroTile, t));
    if (AB(s, ThreadSeparateGlobalRead, t)) {
        int32_t load = AB(s, GlobalLoadVectorWidth, t), width = t ? s->VectorWidthB : s->VectorWidthA;
        if (d->f->bpe > 4) REJECT(d, DTL_SEPARATE_TYPE, t, d->f->bpe);
        if (tlu) REJECT(d, DTL_SEPARATE_TLU, t);
        if (coalesced > 1) REJECT(d, DTL_SEPARATE_COALESCED, t, coalesced);
        if (s->WavefrontSize * width_num(load) / width_den(d->f, load) < s->DepthULds * width)
            REJECT(d, DTL_SEPARATE_DEPTH, t, s->DepthULds);
    }
    if (s->LocalSplitU > 1) STOP(d, DTL_LSU, t, s->LocalSplitU);
    return true;
}

bool derive_direct_to_lds(Derive *d)
{
    Solution *s = d->s;
    for (int t = 0; t < 2; t++) {
        if (!AB(s, DirectToLds, t)) continue;
        if (!lds_loads(d, t) || !lds_schedule(d, t)) return false;
        AB(s, LocalWriteUseSgpr, t) = 1;
    }
    if (s->LDSBuffer1 == -1 && (s->DirectToLdsA || s->DirectToLdsB)) s->LDSBuffer1 = 0;
    s->NoLdsWriteCode = (s->DirectToVgprA || s->DirectToLdsA) && (s->DirectToVgprB || s->DirectToLdsB);
    return true;
}

bool derive_packing_registers(Derive *d)
{
    Solution *s = d->s;
    if (s->VgprForLocalReadPacking) {
        RuleId why = packing_obstacle(d);
        if (why != RULE_NONE) {
            derive_reject(d, why, (const int64_t[5]){0});
            return false;
        }
    }
    if (!s->ClusterLocalRead) return true;
    if (!s->VgprForLocalReadPacking) STOP(d, CLUSTER_PACKING);
    if ((!s->UnrollMajorLDSA && s->VectorWidthA > s->MIInputPerThread) ||
        (!s->UnrollMajorLDSB && s->VectorWidthB > s->MIInputPerThread))
        STOP(d, CLUSTER_WIDTH, s->VectorWidthA, s->VectorWidthB, s->MIInputPerThread);
    return true;
}
