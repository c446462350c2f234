/* Launch: kernels that keep a tile's pixels in local memory (KeepWindow): which problems have room there, and
 * the numbers that the kernel takes (problem/keep.h). The rows and columns of pixels of a tile are those that
 * its text finds (kernel/nvptx/text/ring_window.cuh). */
#include "base/integer.h"
#include "client/runtime/launch_priv.h"
#include "problem/keep.h"

static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static bool divides(int64_t d, int64_t x) { return x % d == 0; }

typedef struct {
    const LibSolution *s;
    const IndexSizes *x;
    Window w;
    unsigned pixels, filter; /* operands */
    int64_t channels, rows, groups, images;
    int64_t outs[WINDOW_SPATIAL], taps[WINDOW_SPATIAL], step[WINDOW_SPATIAL],
        tap[WINDOW_SPATIAL]; /* along W, H; distances of outputs and of taps in pixels */
} Keep;

static int64_t stride(const Keep *k, unsigned t, int32_t index) { return index_stride(k->x, t, index); }

static bool find(const LibSolution *s, const Contraction *p, Keep *k)
{
    *k = (Keep){.s = s, .x = p->dims, .groups = 1, .images = 1};
    if (!is_window(p) || !window_roles(s, p, &k->w) || k->w.per_tap || k->w.image_in_batch) return false;
    k->pixels = (unsigned)k->w.pixels, k->filter = 1 - k->pixels;
    k->channels = k->x->size[k->w.channel], k->rows = k->x->size[k->w.row];
    if (k->w.group >= 0) k->groups = k->x->size[k->w.group];
    if (k->w.image >= 0) k->images = k->x->size[k->w.image];
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        k->outs[d] = k->x->size[k->w.out[d]], k->taps[d] = k->x->size[k->w.tap[d]];
        if (k->outs[d] < 1 || k->taps[d] < 1 || k->outs[d] > INT32_MAX / 2 || k->taps[d] > INT32_MAX / 2)
            return false;
        const int64_t by_out = k->outs[d] > 1 ? stride(k, k->pixels, k->w.out[d]) : 0,
                      by_tap = k->taps[d] > 1 ? stride(k, k->pixels, k->w.tap[d]) : 0;
        if (by_out < 0 || by_tap < 0 || by_out > INT32_MAX || by_tap > INT32_MAX) return false;
        if ((k->outs[d] - 1) * by_out + (k->taps[d] - 1) * by_tap > INT32_MAX / 2)
            return false; /* positions */
        const int64_t unit = max64(int_gcd(by_out, by_tap), 1);
        k->step[d] = by_out / unit, k->tap[d] = by_tap / unit;
    }
    return true;
}

/* Pieces of 16 bytes of all pixels are aligned. */
static bool pixels_fit(const Keep *k)
{
    const Window *w = &k->w;
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if ((k->outs[d] > 1 && !divides(KEEP_CHUNK, stride(k, k->pixels, w->out[d]))) ||
            (k->taps[d] > 1 && !divides(KEEP_CHUNK, stride(k, k->pixels, w->tap[d]))))
            return false;
    for (int32_t i = 0; i < k->x->indices.n_pads[k->pixels]; i++)
        if (!divides(KEEP_CHUNK, k->x->pad_start[k->pixels][i])) return false;
    return divides(KEEP_CHUNK, k->channels * k->groups) &&
           (k->images == 1 || divides(KEEP_CHUNK, stride(k, k->pixels, w->image)));
}

/* Pieces of the filter are aligned, and offsets of its elements are counted with 31 bits. */
static bool filter_fits(const Keep *k)
{
    const Window *w = &k->w;
    const int64_t piece = k->s->map.keep_piece, line = w->other_k_major ? k->channels : k->rows;
    const int32_t across = w->other_k_major ? w->row : w->channel;
    int64_t last = 0;
    if (k->channels * k->groups > INT32_MAX / 2 || k->rows * k->groups > INT32_MAX / 2) return false;
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        const int64_t tap = stride(k, k->filter, w->tap[d]);
        if (k->taps[d] > 1 && !divides(piece, tap)) return false;
        if (k->taps[d] > 1) last += tap * (k->taps[d] - 1);
    }
    last +=
        stride(k, k->filter, w->row) * (k->rows - 1) + stride(k, k->filter, w->channel) * (k->channels - 1);
    if (k->groups > 1) last += stride(k, k->filter, w->group) * (k->groups - 1);
    return last <= INT32_MAX / 2 && divides(piece, line) && divides(piece, stride(k, k->filter, across)) &&
           (k->groups == 1 || divides(piece, stride(k, k->filter, w->group)));
}

/* Groups follow one another, and the rows of a warp are of one group or of whole ones. */
static bool groups_fit(const Keep *k)
{
    const int64_t rows = k->s->map.keep_rows;
    if (k->groups == 1) return true;
    return stride(k, k->pixels, k->w.group) == k->channels && stride(k, 2, k->w.group) == k->rows &&
           stride(k, 3, k->w.group) == k->rows &&
           (k->rows < rows ? divides(k->rows, rows) : divides(rows, k->rows));
}

/* The rows of outputs of a tile, at most. */
static int64_t rows_of_tile(const Keep *k)
{
    const int64_t n = k->s->map.macro_tile[1], w = k->outs[0];
    int64_t rows = (n + w - 2) / w + 1;
    if (divides(n, w)) rows = 1;
    if (divides(w, n)) rows = n / w;
    return min64(rows, k->outs[1] * k->images);
}

/* Steps are those of the channels of the groups that a warp's rows belong to; the first of them may begin
 * within a piece. A tile's pieces are those of the groups from its first row's to that of its last warp. */
static KeepNumbers numbers_of(const Keep *k)
{
    const int64_t tile = k->s->map.macro_tile[0], warp = k->s->map.keep_rows;
    const bool grouped = k->groups > 1;
    const int64_t of_warp = (grouped && k->rows < warp ? warp / k->rows : 1) * k->channels;
    const int64_t begins = grouped && of_warp % KEEP_CHUNK ? KEEP_CHUNK - 1 : 0;
    const int64_t others = grouped && k->rows % tile ? int_ceil_div(tile - warp, k->rows) : 0;
    KeepNumbers n = {.per_tap = int_ceil_div(of_warp + begins, KEEP_STEP)};
    n.pieces = int_ceil_div(others * k->channels, KEEP_CHUNK) + n.per_tap * (KEEP_STEP / KEEP_CHUNK);
    return n;
}

/* Bytes of local memory for pixels and the table of steps; less than 0: more than 31 bits count. */
static int64_t local_bytes(const Keep *k)
{
    const KeepNumbers n = numbers_of(k);
    const int64_t rows = rows_of_tile(k), crossed = min64(k->images - 1, int_ceil_div(rows - 1, k->outs[1]));
    const int64_t wide = rows == 1 ? min64(k->s->map.macro_tile[1], k->outs[0]) : k->outs[0];
    int64_t reach[WINDOW_SPATIAL], steps, bytes;
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (__builtin_mul_overflow(k->taps[d] - 1, k->tap[d], &reach[d]) || reach[d]++ > INT32_MAX / 4)
            return -1;
    if (wide * k->step[0] > INT32_MAX / 4 || rows * k->step[1] > INT32_MAX / 4) return -1;
    const int64_t cols = (wide - 1) * k->step[0] + reach[0];
    const int64_t lines = (rows - 1) * k->step[1] + reach[1] + crossed * max64(0, reach[1] - k->step[1]);
    if (__builtin_mul_overflow(k->taps[0] * k->taps[1], n.per_tap, &steps) || steps > INT32_MAX / 1024 ||
        __builtin_mul_overflow(lines * cols, (n.pieces | 1) * KEEP_CHUNK_BYTES, &bytes) || bytes > INT32_MAX)
        return -1;
    return (steps + k->s->map.depth_u / KEEP_STEP) * KEEP_CHUNK_BYTES + bytes;
}

bool keep_fits(const LibSolution *s, const Contraction *p)
{
    Keep k;
    if (!find(s, p, &k) || !pixels_fit(&k) || !filter_fits(&k) || !groups_fit(&k)) return false;
    /* whether an operand begins at a multiple of 16 bytes; single elements of the filter need not */
    if (p->unaligned & (1u << k.pixels | (s->map.keep_piece > 1 ? 1u << k.filter : 0))) return false;
    int64_t n = k.outs[0];
    if (__builtin_mul_overflow(n, k.outs[1], &n) || __builtin_mul_overflow(n, k.images, &n) ||
        n > INT32_MAX / 2)
        return false;
    const int64_t bytes = local_bytes(&k);
    return bytes >= 0 && bytes <= s->map.keep_window;
}

Err put_keep(const LibSolution *s, const Contraction *p, Args *a)
{
    Keep k;
    if (!find(s, p, &k)) FAIL(ERR_INPUT, "kernel %s: the contraction has no windows", s->name);
    const KeepNumbers n = numbers_of(&k);
    const int64_t *const number = (const int64_t *)&n;
    for (int i = 0; i < KEEP_ARGS; i++) put_size(a, number[i]);
    return ERR_OK;
}
