/* Derivation: the unrolled loop, prefetch from local memory, edges, packed dimensions, last checks. */
#include "space/derive_internal.h"

/* Interleaves elements along K for dot product instructions. */
bool derive_dot_layout(Derive *d)
{
    Solution *s = d->s;
    int32_t layout = s->LocalDotLayout, type = d->f->type;
    if (layout <= 1) return true;
    s->DirectToLdsA = s->DirectToLdsB = 0;
    if (!d->assembly) return true;
    if (s->EnableMatrixInstruction) {
        REJECT(d, DOT_MI, layout);
        return true;
    }
    if (type == TYPE_I8 || is_f8(type)) {
        if (layout != 4 || !d->f->hpa) STOP(d, DOT_TYPE, layout);
    } else if (type == TYPE_H) {
        if (layout > 2 || !d->f->hpa) STOP(d, DOT_TYPE, layout);
    } else {
        STOP(d, DOT_TYPE, layout);
    }
    if (layout != s->InnerUnroll) STOP(d, DOT_UNROLL, layout, s->InnerUnroll);
    if (s->LSPA % layout || s->LSPB % layout) STOP(d, DOT_LOADS, layout, s->LSPA, s->LSPB);
    return true;
}

/* A local read that is wider than the instruction's operand serves several iterations. */
static bool check_wide_prefetch(Derive *d)
{
    const Solution *s = d->s;
    if (!s->EnableMatrixInstruction || s->PrefetchLocalRead == 0) return true;
    int32_t covers = s->LocalReadVectorWidth / s->MIInputPerThread, plr = s->PrefetchLocalRead % s->LoopIters;
    if (covers == 0) STOP(d, LRVW_SMALL, s->LocalReadVectorWidth, s->MIInputPerThread);
    if (s->LoopIters % covers) REJECT(d, PLR_UNEVEN, s->LoopIters, covers);
    if (plr && s->LoopIters - plr * covers <= 0)
        REJECT(d, PLR_TOO_FEW, s->PrefetchLocalRead, s->LoopIters, covers);
    if (s->PrefetchLocalRead > 1 && plr == 0) REJECT(d, PLR_SLOW, s->PrefetchLocalRead, s->LoopIters);
    return true;
}

bool derive_loop(Derive *d)
{
    Solution *s = d->s;
    s->LoopUnroll = s->DepthULds / s->LocalSplitU;
    if (s->LoopUnroll * s->LocalSplitU != s->DepthULds) STOP(d, LOOP_SPLIT, s->DepthULds, s->LocalSplitU);
    if (!d->assembly && s->InnerUnroll != 1) REJECT(d, SOURCE_INNER_UNROLL, s->InnerUnroll);
    s->LoopUnroll /= s->InnerUnroll;
    if (!derive_store_in_loop(d) || !derive_dot_layout(d)) return false;
    s->LoopIters = s->EnableMatrixInstruction ? s->LoopUnroll / s->MatrixInstK : s->LoopUnroll;
    if (s->LoopIters < 1) STOP(d, LOOP_EMPTY, s->DepthULds, s->LocalSplitU * s->InnerUnroll);
    if (s->PrefetchLocalRead >= 2 * s->LoopIters) REJECT(d, PLR_MUCH, s->PrefetchLocalRead, s->LoopIters);
    if (s->PrefetchLocalRead % s->LoopIters > 1) REJECT(d, PLR_SLOW, s->PrefetchLocalRead, s->LoopIters);
    return check_wide_prefetch(d);
}

static bool check_split_lds(Derive *d)
{
    const Solution *s = d->s;
    if (s->DepthULdsDivisor <= 1) return true;
    if (s->PrefetchGlobalRead == 2) REJECT(d, SPLIT_LDS_PGR2, s->DepthULdsDivisor);
    if (s->ScheduleIterAlg != 3) REJECT(d, SPLIT_LDS_SIA, s->ScheduleIterAlg);
    if (s->DirectToLdsA || s->DirectToLdsB) REJECT(d, SPLIT_LDS_DTL, s->DepthULdsDivisor);
    if (d->f->tlu[0] || d->f->tlu[1] || !s->UnrollMajorLDSA || !s->UnrollMajorLDSB)
        REJECT(d, SPLIT_LDS_LAYOUT, s->DepthULdsDivisor);
    if (s->PrefetchGlobalRead == 1 && s->PrefetchLocalRead == 0)
        REJECT(d, SPLIT_LDS_PLR0, s->DepthULdsDivisor);
    for (int t = 0; t < 2; t++)
        if (AB(s, GlobalLoadVectorWidth, t) * d->f->bpe < 4 * s->DepthULdsDivisor)
            REJECT(d, SPLIT_LDS_WIDTH, t, AB(s, GlobalLoadVectorWidth, t), s->DepthULdsDivisor);
    return true;
}

bool derive_wide_reads(Derive *d)
{
    Solution *s = d->s;
    if (s->TransposeLDS == 1) {
        if (!s->EnableMatrixInstruction) REJECT(d, TRANSPOSE_MI);
        if (d->f->tlu[0] && d->f->tlu[1]) REJECT(d, TRANSPOSE_NT);
    }
    if (s->EnableMatrixInstruction && s->LocalReadVectorWidth > s->MIInputPerThread) {
        int32_t covers = s->LocalReadVectorWidth / s->MIInputPerThread;
        if (!(s->PrefetchLocalRead >= s->LoopIters && s->InnerUnroll == 1) && s->InnerUnroll < covers)
            REJECT(d, LRVW_PREFETCH, s->LocalReadVectorWidth, s->PrefetchLocalRead, s->LoopIters);
    }
    if (!check_split_lds(d)) return false;
    if (s->GlobalReadPerMfma > 100 && s->PrefetchGlobalRead == 2) REJECT(d, GRPM_PGR2, s->GlobalReadPerMfma);
    if (s->UseInstOffsetForGRO == -1) s->UseInstOffsetForGRO = s->DirectToLdsA || s->DirectToLdsB;
    return true;
}

/* Loads of partial vectors at the edge of a tensor. */
bool derive_edges(Derive *d)
{
    Solution *s = d->s;
    bool guaranteed = s->GuaranteeNoPartialA && s->GuaranteeNoPartialB;
    if (d->buffer_load && s->EdgeType == EDGE_SHIFTPTR && !guaranteed) s->UseSgprForGROUsed = 0;
    if (s->EnableMatrixInstruction) {
        int32_t b = width_num(s->GlobalLoadVectorWidthB);
        if (!s->GuaranteeNoPartialB && s->MatrixInstN % b) REJECT(d, MI_EDGE_WIDTH, s->MatrixInstN, b);
    } else {
        for (int t = 0; t < 2; t++) {
            int32_t width = AB(s, GlobalLoadVectorWidth, t);
            if ((!d->buffer_load || !AB(s, GuaranteeNoPartial, t)) && width > 1 && width != s->VectorWidth)
                REJECT(d, EDGE_WIDTH, t, width, s->VectorWidth);
        }
    }
    s->AssertMinApproxSize = s->VectorWidth > 1 ? (d->assembly ? 3 : 2) : 0;
    if (!d->buffer_load && s->FractionalLoad) REJECT(d, FRACTIONAL_BUFFER, s->FractionalLoad);
    return true;
}

bool derive_scalar_offsets(Derive *d)
{
    Solution *s = d->s;
    if (s->UseSgprForGROUsed == -1) {
        int32_t loads = s->NumLoadsCoalescedA * s->NumLoadsPerpendicularA +
                        s->NumLoadsCoalescedB * s->NumLoadsPerpendicularB;
        s->UseSgprForGROUsed =
            !(loads > 35 || s->DirectToVgprA || s->DirectToVgprB); /* scalar registers are limited */
    }
    if (d->packed0 && !s->GuaranteeNoPartialA) REJECT(d, PACKED_PARTIAL, 0);
    if (d->packed1 && !s->GuaranteeNoPartialB) REJECT(d, PACKED_PARTIAL, 1);
    if (d->packed0 || d->packed1) {
        s->UseSgprForGROUsed = 0;
        if (s->EdgeType != EDGE_SHIFTPTR) REJECT(d, PACKED_EDGE);
        if (d->assembly && !d->buffer_load) REJECT(d, PACKED_BUFFER);
    }
    return true;
}

bool derive_vector_store(Derive *d)
{
    Solution *s = d->s;
    if (d->packed0 && s->PackGranularity == 2) {
        int32_t multiple = s->AssertFree0ElementMultiple;
        if (!d->assembly) {
            if (multiple < s->VectorWidth) REJECT(d, PACKED_MULTIPLE, multiple, s->VectorWidth);
        } else if (multiple < s->VectorWidth || multiple == 1) {
            if (s->VectorStore > 0) REJECT(d, PACKED_MULTIPLE, multiple, s->VectorWidth);
            s->VectorStoreUsed = 0;
        }
    }
    const int32_t *c = intmap_get(&s->AssertStrideCEqual, 0), *out = intmap_get(&s->AssertStrideDEqual, 0);
    if (!(c && *c == 1 && out && *out == 1)) {
        if (s->VectorStore > 0) REJECT(d, STRIDE_STORE);
        s->VectorStoreUsed = 0;
    }
    bool pads = d->f->zero_pad[0] || d->f->zero_pad[1];
    if (pads) s->UseSgprForGROUsed = 0;
    for (int t = 0; t < 2 && d->assembly; t++) {
        if (!d->f->zero_pad[t]) continue;
        if (AB(s, GlobalLoadVectorWidth, t) != 1 && d->f->zero_pad_contiguous[t])
            REJECT(d, ZERO_PAD_WIDTH, t, AB(s, GlobalLoadVectorWidth, t));
        if (!d->buffer_load) REJECT(d, ZERO_PAD_BUFFER, t);
    }
    return true;
}

static bool check_efficiency_test(Derive *d)
{
    const Solution *s = d->s;
    static const int8_t tiles[][2] = {{6, 4}, {4, 6}, {4, 4}, {6, 6}, {8, 4}, {4, 8}};
    if (!d->f->unroll_loop_efficiency) return true;
    if (is_16bit(d->f->type) || d->f->type == TYPE_4XI8) REJECT(d, EFFICIENCY_TYPE);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        if (s->ThreadTile0 == tiles[i][0] && s->ThreadTile1 == tiles[i][1]) return true;
    REJECT(d, EFFICIENCY_TILE, s->ThreadTile0, s->ThreadTile1);
    return true;
}

bool derive_last_checks(Derive *d)
{
    Solution *s = d->s;
    if (!check_efficiency_test(d) || !derive_packing_registers(d)) return false;
    if (s->ExtraLatencyForLR < 0 && !s->DirectToVgprA && !s->DirectToVgprB) s->ExtraLatencyForLR = 0;
    if (d->assembly) return true;
    if (s->PrefetchGlobalRead == 2) {
        REJECT(d, SOURCE_PGR2);
    } else if (s->LoopDoWhile) {
        int64_t least = (int64_t)s->DepthU * s->GlobalSplitU - 1;
        const int32_t *k = intmap_get(&s->AssertSizeGreaterThan, 3);
        if (!(k && *k >= least)) REJECT(d, SOURCE_DO_WHILE, least);
    }
    return true;
}
