/* Launch: windows whose kernels have several taps of a line in a stage (WindowTaps, problem/window.h): lines
 * of outputs continue into the padding between them. */
#include "client/runtime/launch_priv.h"

/* The pad along W; -1: positions behind the tensor are not known to be zeros. */
static int32_t pad_of(const IndexSizes *x, const Window *w)
{
    for (int32_t i = 0; i < x->indices.n_pads[w->pixels]; i++)
        if ((w->per_tap ? x->indices.pad[w->pixels][i].sum : x->indices.pad[w->pixels][i].free) == w->out[0])
            return i;
    return -1;
}

bool window_wide(const LibSolution *s, const IndexSizes *x, WindowCopy *out)
{
    enum { CORNER = 128 }; /* positions beside a tensor that a box of pixels may have */
    const Window *w = &out->window;
    const int64_t taps = x->size[w->tap[0]], outs = x->size[w->out[0]], n = s->map.window_taps;
    const int32_t pad = pad_of(x, w);
    WindowShape shape[WINDOW_SPATIAL];
    if (w->group >= 0 || w->image_in_batch || pad < 0 || taps % n) return false;
    if (window_shape(x, w, shape)) {
        err_clear();
        return false;
    }
    const int64_t apart = shape[0].dilation;
    if (outs < 2 || shape[0].step != 1 || (n - 1) * apart > WINDOW_REACH) return false;
    const int64_t wide = window_wide_outs(outs, (taps - 1) * apart, shape[0].size, shape[0].lower);
    if (wide - outs >= CORNER || wide > INT32_MAX) return false;
    const unsigned t = (unsigned)w->pixels;
    IndexSizes *to = &out->dims;
    const int64_t edge = index_pad_edge(x, (int)t, pad);
    to->size[w->out[0]] = wide;
    to->pad_end[t][pad] = 0;
    to->pad_end[t][pad] = index_pad_edge(to, (int)t, pad) - edge;
    out->outs_w = outs;
    return true;
}
