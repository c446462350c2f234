/* Derivation: shape of the global loads (LSC x LSP elements per load), strides, width of local reads. */
#include "space/derive_internal.h"

static int32_t waves(const Solution *s) { return max32(s->NumThreads / s->WavefrontSize, 1); }

static bool divides(const Derive *d, int t, int32_t loads, int32_t coalesced, int32_t perp)
{
    return loads % coalesced == 0 && d->vectors_coalesced[t] % coalesced == 0 &&
           perp % (loads / coalesced) == 0;
}

/* The number of coalesced loads with which the search starts: 1, more for DirectToVgpr. */
static int32_t first_coalesced(const Derive *d, int t)
{
    const Solution *s = d->s;
    if (!AB(s, DirectToVgpr, t) || !s->EnableMatrixInstruction) return 1;
    int32_t width = max32(AB(s, GlobalLoadVectorWidth, t), 1);
    if (d->f->tlu[t]) return max32(ceil_div(AB(s, MIWaveTile, t), width), 1);
    int32_t k = s->MatrixInstK * width * s->LocalSplitU / s->MIInputPerThread;
    return max32(ceil_div(s->DepthU, k), 1);
}

static bool find_coalesced(Derive *d, int t, int32_t perp)
{
    Solution *s = d->s;
    int32_t loads = AB(s, NumLoads, t), *nlc = &AB(s, NumLoadsCoalesced, t), found = 0;
    if (*nlc == 1) {
        for (int32_t n = first_coalesced(d, t); n <= loads && !found; n++)
            if (divides(d, t, loads, n, perp)) found = n;
        if (!found) STOP(d, NLC_NONE, t);
        *nlc = found;
    } else if (*nlc == -1) {
        for (int32_t n = loads; n > 0 && !found; n--)
            if (divides(d, t, loads, n, perp)) found = n;
        if (!found) STOP(d, NLC_NONE, t);
        *nlc = found;
    } else {
        if (*nlc < 1 || *nlc > loads) STOP(d, NLC_TOO_MANY, t, *nlc, loads);
        if (!divides(d, t, loads, *nlc, perp)) STOP(d, NLC_DIVIDE, t, *nlc, loads);
    }
    AB(s, NumLoadsPerpendicular, t) = loads / *nlc;
    return true;
}

static bool load_tile(Derive *d, int t)
{
    Solution *s = d->s;
    bool separate = AB(s, WaveSeparateGlobalRead, t) != 0;
    int32_t perp = separate ? ceil_div(d->elements_perp[t], waves(s)) : d->elements_perp[t];
    if (!find_coalesced(d, t, perp)) return false;
    int32_t c = AB(s, NumLoadsCoalesced, t), p = AB(s, NumLoadsPerpendicular, t), tile = AB(s, MacroTile, t);
    AB(s, LSC, t) = d->f->tlu[t] ? tile / c : ceil_div(s->DepthU, c);
    AB(s, LSP, t) = d->f->tlu[t] ? ceil_div(s->DepthU, p) : tile / p;
    if (separate) AB(s, LSP, t) = ceil_div(AB(s, LSP, t), waves(s));
    return true;
}

/* FractionalLoad: each load covers complete rows, and some lanes load nothing. False: no width fits. */
bool derive_load_tile_fractional(Derive *d, int t, int32_t depth_u, int32_t width)
{
    Solution *s = d->s;
    int32_t tile = AB(s, MacroTile, t), par = d->f->tlu[t] ? tile : depth_u,
            perp = d->f->tlu[t] ? depth_u : tile;
    int32_t least = d->f->type == TYPE_H && (d->caps & CAP_ECC_HALF) ? 2 : 1, best = -1;
    int32_t *lsc = &AB(s, LSC, t), *lsp = &AB(s, LSP, t), k = 1;
    if (AB(s, DirectToVgpr, t) && d->f->tlu[t] && s->EnableMatrixInstruction)
        k = max32(s->MatrixInstK * s->LocalSplitU / s->MIInputPerThread, 1);
    for (int32_t w = width; w >= least && best < 0; w /= 2) {
        int32_t per_load = s->NumThreads * w / k;
        bool one_row = par >= per_load;
        *lsc = one_row ? per_load : par;
        *lsp = one_row ? k : min32(perp, per_load / par);
        if (*lsc < 1 || *lsp < 1 || *lsc % w) continue;
        best = w;
        for (w /= 2; w >= least; w /= 2) { /* narrower vectors that still cover the load's elements */
            if (s->NumThreads * w / k < *lsc * *lsp) break;
            if (*lsc % w == 0) best = w;
        }
        break;
    }
    if (best < 0) return false;
    AB(s, GlobalLoadVectorWidth, t) = best;
    AB(s, NumLoadsCoalesced, t) = ceil_div(par, *lsc);
    AB(s, NumLoadsPerpendicular, t) = ceil_div(perp, *lsp);
    AB(s, fractionalPerpOverhang, t) = perp % *lsp;
    return true;
}

bool derive_load_tiles(Derive *d)
{
    Solution *s = d->s;
    if (!s->FractionalLoad && !(load_tile(d, 0) && load_tile(d, 1))) return false;
    s->UnrollMajorLDSA = (s->TransposeLDS && !d->f->tlu[0]) || s->UnrollMajorLDSA;
    s->UnrollMajorLDSB = (s->TransposeLDS && !d->f->tlu[1]) || s->UnrollMajorLDSB;
    for (int t = 0; t < 2; t++) {
        AB(s, LVC, t) = vectors(d->f, AB(s, LSC, t), AB(s, GlobalLoadVectorWidth, t));
        AB(s, LVP, t) = vectors(d->f, AB(s, LSP, t), AB(s, GlobalLoadVectorWidth, t));
    }
    return true;
}

/* Vector loads need a contiguous dimension (stride 1). */
bool derive_unit_strides(Derive *d)
{
    Solution *s = d->s;
    for (int t = 0; t < 2; t++) {
        const IndexList *assign = d->f->assign[t];
        int32_t index = d->f->tlu[t] ? d->f->index01[t] : d->f->index_unroll, position = 0;
        while (position < assign->n - 1 && assign->v[position] != index) position++;
        const int32_t *stride = intmap_get(t ? &s->AssertStrideBEqual : &s->AssertStrideAEqual, position);
        if (AB(s, GlobalLoadVectorWidth, t) != 1 && !(stride && *stride == 1))
            REJECT(d, STRIDE_WIDTH, t, position, AB(s, GlobalLoadVectorWidth, t));
    }
    if (!d->assembly) {
        for (int t = 0; t < 2; t++) {
            if (AB(s, LdsBlockSizePerPad, t) == -1) AB(s, LdsBlockSizePerPad, t) = 0;
            if (AB(s, LdsPad, t) == -1) AB(s, LdsPad, t) = 0;
        }
        if (s->LdsPadA != s->LdsPadB) STOP(d, SOURCE_PADS, s->LdsPadA, s->LdsPadB);
    }
    return true;
}

bool derive_local_read_width(Derive *d)
{
    Solution *s = d->s;
    int32_t width = s->LocalReadVectorWidth;
    if (!s->EnableMatrixInstruction) {
        if (width != s->VectorWidth) REJECT(d, LRVW_VALU, width, s->VectorWidth);
        return true;
    }
    d->wide_lrvw_b = d->f->tlu[1] && !s->UnrollMajorLDSB && s->MIInputPerThread == 1 && s->SourceSwap &&
                     s->DirectToVgprA && d->f->tlu[0] && s->VectorWidthB == width;
    if (width < s->MIInputPerThread) REJECT(d, LRVW_SMALL, width, s->MIInputPerThread);
    if (width <= s->MIInputPerThread) return true;
    if (!s->UnrollMajorLDSA && !s->UnrollMajorLDSB && !(s->DirectToVgprA && d->wide_lrvw_b))
        REJECT(d, LRVW_TRANSPOSE, width, s->MIInputPerThread);
    if (s->UnrollMajorLDSA && !s->UnrollMajorLDSB && s->DirectToVgprA) REJECT(d, LRVW_TT_DTVA, width);
    return true;
}
