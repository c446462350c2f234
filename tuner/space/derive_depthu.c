/* Derivation: DepthU, given or searched, and number and width of the loads that fill a macro tile. */
#include "space/derive_internal.h"

/* State of the search: a negative DepthU is increased when a found value is doubled. */
typedef struct {
    int32_t user, depth, depth_lds, most;
    int32_t width[2]; /* GlobalLoadVectorWidth before it is reduced */
} Search;

/* Halves `width` until all threads load the same number of vectors. False: no width does. */
static bool reduce_width(Derive *d, int t, int32_t total, int32_t width)
{
    Solution *s = d->s;
    bool valid = true;
    int32_t per_load = s->NumThreads * width_num(width) / width_den(d->f, width);
    if (per_load < 1) per_load = 1;
    if (total < per_load) {
        int32_t part = per_load / total;
        if (per_load % total || width < 1 || width % part) valid = false;
        width /= part;
        per_load /= part;
        if (per_load < 1) per_load = 1;
        /* No vector is left; a width of 0 would mean a part of an element. */
        if (width < 1) valid = false, width = 1;
    } else if (total % per_load) {
        valid = false;
    }
    AB(s, GlobalLoadVectorWidth, t) = width;
    AB(s, NumLoads, t) = total / per_load;
    return valid;
}

static int32_t wanted_width(const Derive *d, const Search *w, int t)
{
    const Solution *s = d->s;
    bool direct = t ? s->DirectToLdsB && !s->DirectToVgprB : s->DirectToLdsA;
    if (!direct || w->width[t] * d->f->bpe <= 4) return w->width[t];
    if (target_loads_to_local(d->f->target, w->width[t] * d->f->bpe)) return w->width[t];
    return d->f->bpe <= 4 ? 4 / d->f->bpe : 0;
}

static bool fits_widths(const Derive *d, const Search *w)
{
    const Solution *s = d->s;
    int32_t a = s->GlobalLoadVectorWidthA, b = s->GlobalLoadVectorWidthB;
    if (!s->FractionalLoad) {
        if (w->user == -1 && (a != 1 || b != 1)) return false;
        if (w->user == -2 && a < w->width[0] && b < w->width[1]) return false;
        if (w->user <= -3 && (a < w->width[0] || b < w->width[1])) return false;
    }
    return !(!d->f->tlu[0] && w->depth < a) && !(!d->f->tlu[1] && w->depth < b);
}

/* Lanes of a quad that load separate rows (ThreadSeparateGlobalRead) need enough of K. */
static bool fits_thread_separate(const Derive *d, Search *w)
{
    const Solution *s = d->s;
    int32_t min_lanes = max32(4 / d->f->bpe, 1);
    w->depth_lds = w->depth / s->DepthULdsDivisor;
    for (int t = 0; t < 2; t++) {
        int32_t separate = 2 * AB(s, ThreadSeparateGlobalRead, t), width = AB(s, GlobalLoadVectorWidth, t);
        if (!separate || d->f->tlu[t]) continue;
        if (w->depth < min_lanes * width_num(width) * separate / width_den(d->f, width)) return false;
        if (t && w->depth_lds > 0 && s->WavefrontSize * width / w->depth_lds > s->MatrixInstN) return false;
        if (w->depth_lds / separate < s->LocalReadVectorWidth) return false;
    }
    return true;
}

static bool check_widths(Derive *d)
{
    const Solution *s = d->s;
    int32_t a = s->GlobalLoadVectorWidthA, b = s->GlobalLoadVectorWidthB, type = d->f->type;
    if (!d->assembly) return true;
    if (is_16bit(type) && (d->caps & CAP_ECC_HALF) && (a <= 1 || b <= 1)) REJECT(d, ECC_HALF_GLVW, a, b);
    if ((type == TYPE_I8 || is_f8(type)) && (a < 4 || b < 4)) REJECT(d, GLVW_BYTE, a, b);
    return true;
}

/* Tries w->depth. False: the solution is rejected; *valid: the depth fits. */
static bool try_depth(Derive *d, Search *w, bool *valid)
{
    Solution *s = d->s;
    int32_t iters = w->depth_lds / s->LocalSplitU / s->InnerUnroll;
    if (s->EnableMatrixInstruction) iters /= s->MatrixInstK;
    if (iters < 1) STOP(d, LOOP_EMPTY, w->depth_lds, s->LocalSplitU * s->InnerUnroll);
    *valid = w->depth_lds % (s->PrefetchLocalRead % iters + 1) == 0;
    int32_t coalesced[2];
    for (int t = 0; t < 2; t++) {
        int32_t tile = AB(s, MacroTile, t);
        coalesced[t] = d->f->tlu[t] ? tile : w->depth;
        d->elements_perp[t] = d->f->tlu[t] ? w->depth : tile;
        if (s->FractionalLoad)
            *valid &= derive_load_tile_fractional(d, t, w->depth, w->width[t]);
        else
            *valid &= reduce_width(d, t, tile * w->depth, wanted_width(d, w, t));
    }
    if (*valid && !check_widths(d)) return false;
    for (int t = 0; t < 2; t++) {
        int32_t width = AB(s, GlobalLoadVectorWidth, t);
        d->vectors_coalesced[t] = coalesced[t] * width_den(d->f, width) / width_num(width);
    }
    *valid = *valid && fits_widths(d, w) && fits_thread_separate(d, w);
    return true;
}

static bool search(Derive *d, Search *w)
{
    for (bool valid = false;;) {
        if (!try_depth(d, w, &valid)) return false;
        if (valid && w->user >= -3) break;
        if (valid) { /* each step below -3 requests twice the depth that was found */
            w->user++;
            w->depth *= 2;
            w->depth_lds = 2;
        } else if (w->depth < w->most) {
            w->depth += 2;
            w->depth_lds = w->depth / d->s->DepthULdsDivisor;
        } else {
            STOP(d, NO_DEPTH_U, w->most);
        }
        if (w->depth > 65536) STOP(d, NO_DEPTH_U, w->most);
    }
    return true;
}

bool derive_depth_u(Derive *d)
{
    Solution *s = d->s;
    Search w = {s->DepthU, s->DepthU, 0, s->DepthU, {s->GlobalLoadVectorWidthA, s->GlobalLoadVectorWidthB}};
    if (w.user == -1 && s->MacroTile0 != s->MacroTile1) STOP(d, DEPTH_U_SQUARE, s->MacroTile0, s->MacroTile1);
    w.depth_lds = w.user / s->DepthULdsDivisor;
    if (w.user < 0) {
        int32_t waves = s->NumThreads / s->WavefrontSize;
        w.depth = w.depth_lds = 2;
        w.most = d->f->max_depth_u;
        if ((d->f->tlu[0] && s->WaveSeparateGlobalReadA) || (d->f->tlu[1] && s->WaveSeparateGlobalReadB))
            w.depth = max32(w.depth, waves);
    }
    if (s->LocalReadVectorWidth == -1)
        s->LocalReadVectorWidth = s->EnableMatrixInstruction ? s->MIInputPerThread : s->VectorWidth;
    if (s->FractionalLoad && !is_pow2(w.depth)) REJECT(d, FRACTIONAL_DEPTH, w.depth);
    if (!search(d, &w)) return false;
    s->DepthU = w.depth;
    s->DepthULds = w.depth / s->DepthULdsDivisor;
    bool zero_pad = d->f->zero_pad[0] || d->f->zero_pad[1];
    if (s->UnrollIncIsDepthU || s->PackSummationDims == 1 || zero_pad) {
        if (s->DepthU % s->AssertSummationElementMultiple)
            REJECT(d, DEPTH_U_ASEM, s->DepthU, s->AssertSummationElementMultiple);
        s->AssertSummationElementMultiple = s->DepthU;
        s->StaggerU = 0;
    }
    return true;
}
