/* See window.h. */
#include "problem/window.h"

#include "base/integer.h"

int window_place_names(const Window *w, bool by_element, const char *const **names)
{
    static const char *const sliding[WINDOW_PLACE_NUMBERS] = {"as_pixels", "rows",   "block_w",
                                                              "block_h",   "outs_w", "outs_h"};
    static const char *const per_tap[] = {"rows", "channels", "pixel", "fold", "taps"};
    *names = w->per_tap ? per_tap : sliding;
    if (!window_is_placed(w, by_element)) return 0;
    return w->per_tap ? (int)(sizeof per_tap / sizeof *per_tap) : WINDOW_PLACE_NUMBERS;
}

/* ---- the roles of indices ---- */

/* The operand whose free indices are positions and images: the other one has a single one. -1: none. */
static int pixels_of(const Indices *x)
{
    for (int t = 0; t < 2; t++)
        if (x->group[t ? INDICES_N : INDICES_M].n >= WINDOW_SPATIAL &&
            x->group[t ? INDICES_M : INDICES_N].n == 1)
            return t;
    return -1;
}

/* The spatial dimensions, in the order of the tensor: the i-th tap moves along the same one as the i-th
 * output position. */
static bool find_positions(const Indices *x, Window *w)
{
    const IndexList *l = &x->tensor[w->pixels];
    const bool grouped = l->n > 1 && index_list_has(&x->group[INDICES_BATCH], l->v[1]);
    int taps = 0, outs = 0;
    w->image = -1;
    w->group = grouped ? l->v[1] : -1;
    for (int32_t i = 1 + grouped; i < l->n; i++) {
        const bool is_tap = w->per_tap == (l->v[i] < x->of_d);
        if (is_tap && taps == WINDOW_SPATIAL) return false;
        if (is_tap)
            w->tap[taps++] = l->v[i];
        else if (outs < WINDOW_SPATIAL)
            w->out[outs++] = l->v[i];
        else if (w->image < 0)
            w->image = l->v[i];
        else
            return false;
    }
    w->image_in_batch = w->image >= 0 && index_list_has(&x->group[INDICES_BATCH], w->image);
    return taps == WINDOW_SPATIAL && outs == WINDOW_SPATIAL && !(grouped && w->image_in_batch) &&
           x->group[INDICES_BATCH].n == w->image_in_batch + grouped;
}

static bool pads_fit(const Indices *x, const Window *w)
{
    if (x->n_pads[1 - w->pixels]) return false;
    for (int32_t p = 0; p < x->n_pads[w->pixels]; p++) {
        const int32_t free = x->pad[w->pixels][p].free, sum = x->pad[w->pixels][p].sum;
        const int32_t out = w->per_tap ? sum : free, tap = w->per_tap ? free : sum;
        int d = 0;
        while (d < WINDOW_SPATIAL && out != w->out[d]) d++;
        if (d == WINDOW_SPATIAL || tap != w->tap[d]) return false;
    }
    return true;
}

/* Whether D has its rows first, then the rest in the order of the pixels; groups follow the rows, or per tap
 * the columns. */
static bool results_fit(const Indices *x, const Window *w)
{
    const IndexList *d = &x->tensor[3];
    const int32_t last = w->per_tap ? w->row : w->image, rows = 1 + (w->group >= 0 && !w->per_tap);
    const int32_t group = w->per_tap ? WINDOW_SPATIAL + 2 : 1;
    if (d->v[0] != (w->per_tap ? w->channel : w->row) ||
        (w->group >= 0 && index_list_find(d, w->group) != group))
        return false;
    for (int i = 0; i < WINDOW_SPATIAL; i++)
        if (index_list_find(d, w->per_tap ? w->tap[i] : w->out[i]) != i + rows) return false;
    return last < 0 || index_list_find(d, last) == WINDOW_SPATIAL + rows;
}

static bool other_fits(const Indices *x, Window *w)
{
    const int other = 1 - w->pixels;
    int32_t mirrored = 0;
    w->row = x->group[other ? INDICES_N : INDICES_M].v[0];
    w->other_k_major = x->tensor[other].v[0] == w->channel && !w->per_tap;
    for (int i = 0; i < WINDOW_SPATIAL; i++) {
        w->mirrored[i] = index_list_has(&x->mirror[other], w->tap[i]);
        mirrored += w->mirrored[i];
    }
    return (w->other_k_major || x->tensor[other].v[0] == w->row) && x->mirror[other].n == mirrored &&
           !x->mirror[w->pixels].n;
}

const char *window_of(const Indices *x, Window *w)
{
    *w = (Window){.pixels = pixels_of(x)};
    if (x->initial_ab || x->initial_cd || x->conj[0] || x->conj[1] || x->pack_sums)
        return "the first strides must be 1, no operand conjugated and PackSummationDims 0";
    if (x->group[INDICES_K].n != WINDOW_SPATIAL + 1 || w->pixels < 0)
        return "the sum must be over channels and two filter dimensions, or over two of positions and images";
    w->channel = x->tensor[w->pixels].v[0];
    w->per_tap = w->channel < x->of_d;
    if (!w->per_tap && w->channel != x->group[INDICES_K].v[0])
        return "the channels of the pixels must be contiguous (NHWC)";
    if (!find_positions(x, w)) return "the pixels must have two spatial dimensions and images";
    if (!pads_fit(x, w)) return "only the pixels may have zero pads, along their spatial dimensions";
    if (!other_fits(x, w) || !results_fit(x, w))
        return "channels or rows of the other operand must be contiguous, and rows of D (KYXC, NHWC)";
    return NULL;
}

/* ---- numbers ---- */

static int64_t stride_of(const IndexSizes *x, int t, int32_t index)
{
    return x->stride[t][index_list_find(&x->indices.tensor[t], index)];
}

/* *start: elements of padding before the tensor; *edge: the first position after it; -1: there is no
 * padding. */
static void padding(const IndexSizes *x, const Window *w, int d, int64_t *start, int64_t *edge)
{
    *start = 0, *edge = -1;
    for (int32_t p = 0; p < x->indices.n_pads[w->pixels]; p++)
        if ((w->per_tap ? x->indices.pad[w->pixels][p].sum : x->indices.pad[w->pixels][p].free) == w->out[d])
            *start = x->pad_start[w->pixels][p], *edge = index_pad_edge(x, w->pixels, p);
}

static Err shape_of(const IndexSizes *x, const Window *w, int d, WindowShape *s)
{
    enum { CORNER = 128, TAPS = 256, STEP = 8 };
    const int64_t outs = x->size[w->out[d]], taps = x->size[w->tap[d]];
    const int64_t by_out = outs > 1 ? stride_of(x, w->pixels, w->out[d]) : 0,
                  by_tap = taps > 1 ? stride_of(x, w->pixels, w->tap[d]) : 0;
    int64_t start, edge;
    padding(x, w, d, &start, &edge);
    /* the distance of two pixels: any divisor of all distances gives the same addresses */
    s->pitch = int_gcd(int_gcd(by_out, by_tap), int_gcd(start, edge > 0 ? edge : 0));
    if (s->pitch < 1) s->pitch = 1;
    const int64_t last = ((outs - 1) * by_out + (taps - 1) * by_tap) / s->pitch; /* the last that is read */
    s->lower = -(start / s->pitch);
    s->size = (edge < 0 || edge / s->pitch > last ? last + 1 : edge / s->pitch) + s->lower;
    s->step = outs > 1 ? by_out / s->pitch : 1;
    s->dilation = by_tap / s->pitch;
    s->upper = s->lower + (outs - 1) * s->step + 1 - s->size;
    if (s->size < 1 || s->step < 1 || s->step > STEP || s->lower < -CORNER || s->upper < -CORNER ||
        s->upper >= CORNER || s->dilation < 0 || (taps - 1) * s->dilation >= TAPS)
        FAIL(ERR_INPUT,
             "%lld pixels in steps of %lld from %lld on, %lld after the last, %lld taps %lld apart: the copy "
             "engine has no such window",
             (long long)s->size, (long long)s->step, (long long)s->lower, (long long)s->upper,
             (long long)taps, (long long)s->dilation);
    return ERR_OK;
}

Err window_shape(const IndexSizes *x, const Window *w, WindowShape out[WINDOW_SPATIAL])
{
    for (int d = 0; d < WINDOW_SPATIAL; d++) TRY(shape_of(x, w, d, &out[d]));
    return ERR_OK;
}
