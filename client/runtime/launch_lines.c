/* Launch: windows of few channels whose lines of pixels the kernel makes itself (problem/lines.h): the
 * contraction that it computes, and its numbers. */
#include "base/integer.h"
#include "client/runtime/launch_priv.h"

enum { RUN_BYTES = 16 }; /* of copies of rows: their addresses and lengths */

/* Outputs of a block: columns of a tile, or per tap chunks of K. */
static int64_t block_of(const LibSolution *s, const Window *w)
{
    return w->per_tap ? line_block(s->map.depth_u) : s->map.macro_tile[1];
}

/* At most so many rows are read by a block of n consecutive outputs. whole: its first output is a multiple
 * of n. */
static int64_t rows_of_block(const LineNumbers *l, int64_t n, int64_t images, bool whole)
{
    const int64_t image = l->outs_w * l->outs_h;
    const int64_t lines = whole && l->outs_w % n == 0   ? 1
                          : whole && n % l->outs_w == 0 ? n / l->outs_w
                                                        : (n - 2 + l->outs_w) / l->outs_w + 1;
    const int64_t crossed = whole && image % n == 0 ? 0 : int_ceil_div(lines - 1, l->outs_h);
    const int64_t step = l->step_h > l->reach ? l->step_h : l->reach;
    const int64_t rows = (lines - 1 - crossed) * l->step_h + crossed * step + l->reach;
    return rows < images * l->rows ? rows : images * l->rows;
}

/* Sets the numbers along W. False: rows have gaps, or are no whole runs. */
static bool along_w(const IndexSizes *x, const Window *w, const WindowShape *s, LineNumbers *l)
{
    const int64_t channels = x->size[w->channel], taps = x->size[w->tap[0]];
    const int64_t bytes = channels * LINE_BYTES, line = taps * channels;
    if (s->pitch != channels || (taps > 1 && s->dilation != 1)) return false;
    l->outs_w = x->size[w->out[0]];
    const int64_t last = s->lower + (l->outs_w - 1) * s->step + taps - 1; /* the last pixel that is read */
    l->row_bytes = int_round_up(s->size * bytes, RUN_BYTES);
    /* the rest of the last run must not be read as padding, and belong to the row */
    if (l->row_bytes != s->size * bytes && (last >= s->size || l->row_bytes > l->from_h * LINE_BYTES))
        return false;
    l->left = int_round_up(-s->lower * bytes, RUN_BYTES);
    l->start = l->left + s->lower * bytes;
    l->step = s->step * bytes;
    l->pieces = int_ceil_div(line, LINE_PIECE);
    l->tail = line - (l->pieces - 1) * LINE_PIECE;
    /* a piece is read with the word behind it */
    const int64_t end = l->start + (l->outs_w - 1) * l->step + l->pieces * RUN_BYTES + 4;
    l->pitch = int_round_up(end > l->left + l->row_bytes ? end : l->left + l->row_bytes, RUN_BYTES);
    return true;
}

static void along_h(const IndexSizes *x, const Window *w, const WindowShape *s, LineNumbers *l)
{
    l->taps = x->size[w->tap[1]], l->outs_h = x->size[w->out[1]];
    l->step_h = s->step, l->apart = l->taps > 1 ? s->dilation : 1;
    l->reach = (l->taps - 1) * l->apart + 1;
    l->rows = (l->outs_h - 1) * l->step_h + l->reach;
    l->top = -s->lower, l->height = s->size;
}

static bool numbers_fit(const LibSolution *s, const Window *w, const LineNumbers *l, int64_t images)
{
    if ((double)images * (double)l->rows > INT32_MAX ||
        (double)images * (double)(l->outs_w * l->outs_h) > INT32_MAX)
        return false;
    const int64_t n = block_of(s, w);
    return rows_of_block(l, n, images, !w->image_in_batch && !w->per_tap) * l->pitch <=
               line_rows_bytes((int32_t)n) &&
           l->pieces * l->taps * LINE_PIECE < INT32_MAX / 64 && l->from_image <= UINT32_MAX &&
           l->from_h <= UINT32_MAX;
}

bool window_lines(const LibSolution *s, const IndexSizes *x, WindowCopy *out)
{
    const Window *w = &out->window;
    WindowShape shape[WINDOW_SPATIAL];
    LineNumbers *l = &out->lines;
    const unsigned t = (unsigned)w->pixels;
    if (w->group >= 0 || w->mirrored[0] || w->mirrored[1]) return false;
    if (window_shape(x, w, shape)) {
        err_clear();
        return false;
    }
    const int64_t images = w->image < 0 ? 1 : x->size[w->image];
    l->from_h = shape[1].pitch, l->from_image = w->image < 0 ? 0 : index_stride(x, t, w->image);
    if (!along_w(x, w, &shape[0], l)) return false;
    along_h(x, w, &shape[1], l);
    l->pixels = images * l->outs_w * l->outs_h;
    const int64_t rows = l->height > 1 || images > 1 ? l->from_h * LINE_BYTES : 0;
    if (rows % RUN_BYTES || (images > 1 && l->from_image * LINE_BYTES % RUN_BYTES)) return false;
    if (!numbers_fit(s, w, l, images)) return false;
    IndexSizes *to = &out->dims;
    to->size[w->channel] = l->taps * l->pieces * LINE_PIECE;
    to->size[w->tap[0]] = to->size[w->tap[1]] = 1;
    for (int32_t i = 0; i < to->indices.n_pads[t]; i++) to->pad_start[t][i] = to->pad_end[t][i] = 0;
    out->has_lines = true;
    out->filter.pixel = (uint32_t)(l->pieces * LINE_PIECE), out->filter.fold = (uint32_t)x->size[w->tap[0]];
    out->place.pixel = l->pieces * LINE_PIECE, out->place.fold = x->size[w->tap[0]];
    return true;
}

void lines_of_filter(const IndexSizes *x, const Window *w, PackFilter *f)
{
    const uint64_t from_y = f->from_y;
    f->from_y = f->from_x, f->from_x = from_y;
    f->filter_y = (uint32_t)x->size[w->tap[0]];
}

void put_lines(const Helper *h, Args *a)
{
    LineNumbers l = *h->lines;
    const int64_t *const number = (const int64_t *)&l;
    if (!launch_reads_ab(h->p)) l.height = 0;
    for (int i = 0; i < LINE_ARGS; i++) put_size(a, number[i]);
}
