/* Launch: windows whose operands PackOperands copies (problem/pack.h): the contraction of the copies, and the
 * kernel that makes them. */
#include "base/integer.h"
#include "client/runtime/launch_priv.h"

enum { RUN_BYTES = 16 }; /* strides of tensor maps are multiples of it */

static int64_t *stride_at(IndexSizes *x, unsigned t, int32_t index)
{
    return &x->stride[t][index_list_find(&x->indices.tensor[t], index)];
}

static uint64_t stride_of(const IndexSizes *x, unsigned t, int32_t index)
{
    const int32_t dim = index_list_find(&x->indices.tensor[t], index);
    return dim < 0 ? 0 : (uint64_t)x->stride[t][dim];
}

/* ---- lines of pixels ---- */

/* What a number of rows in a pixel leads to. */
typedef struct {
    int64_t fold, taps;  /* rows of a pixel; taps along H of the new filter */
    int64_t pixel, line; /* elements */
    int64_t step;        /* rows of the padded tensor from a row of the copy to the next */
    int64_t width, rows; /* of the copy */
} Lines;

static Lines lines_of(const IndexSizes *x, const Window *w, const WindowShape s[WINDOW_SPATIAL], int bytes,
                      int64_t fold)
{
    const int64_t outs_w = x->size[w->out[0]], outs_h = x->size[w->out[1]];
    const int64_t taps_w = x->size[w->tap[0]], taps_h = x->size[w->tap[1]];
    /* the pixels of an output and the next begin at multiples of RUN_BYTES, those of a piece of the copy; per
     * tap, whose zero pads count single pixels, all pixels do */
    const int64_t run = RUN_BYTES / bytes, piece = PACK_PIECE_BYTES / bytes;
    const int64_t by_step = w->per_tap ? run : run / int_gcd(run, s[0].step),
                  unit = by_step > piece ? by_step : piece;
    Lines l = {.fold = fold, .taps = int_ceil_div(taps_h, fold)};
    l.pixel = int_round_up(fold * x->size[w->channel], unit);
    l.line = taps_w * l.pixel;
    l.width = (outs_w - 1) * s[0].step + taps_w;
    const int64_t by_out = outs_h > 1 ? s[1].step : 0, by_tap = l.taps > 1 ? s[1].dilation * fold : 0;
    l.step = int_gcd(by_out, by_tap);
    if (l.step < 1) l.step = 1;
    l.rows = ((outs_h - 1) * by_out + (l.taps - 1) * by_tap) / l.step + 1;
    return l;
}

/* Elements that a position of the pixels has in all stages: chunks of K, or per tap tiles of both operands.
 */
static double staged(const LibSolution *s, const IndexSizes *x, const Window *w, const Lines *l)
{
    const int32_t *tile = s->map.macro_tile;
    if (!w->per_tap) return (double)(l->taps * int_round_up(l->line, s->map.depth_u));
    return (double)l->taps * (double)int_ceil_div(l->line, tile[0]) *
           (double)int_ceil_div(x->size[w->row], tile[1]) * (double)(tile[0] + tile[1]);
}

/* The rows of a pixel for which the copy, which is written to memory and read, and the stages, which come
 * from the L2 cache, take the least time. On an H200 wgmma kernels got 11.4 TB/s from the cache
 * (test/bench/results/h200/conv_f16.csv, 640 channels), memory has 4.8: 5 times the time for an element. */
static Lines best_lines(const LibSolution *s, const IndexSizes *x, const Window *w,
                        const WindowShape shape[WINDOW_SPATIAL], int bytes)
{
    enum { MOST_ROWS = 16, COPIED = 5 };
    const double images = w->image < 0 ? 1 : (double)x->size[w->image];
    const double pixels = images * (double)x->size[w->out[0]] * (double)x->size[w->out[1]];
    Lines best = {0};
    double least = 0;
    for (int64_t fold = 1; fold <= x->size[w->tap[1]] && fold <= MOST_ROWS; fold++) {
        if (x->size[w->tap[1]] % fold) continue; /* else the last tap reads a row that belongs to no tap */
        const Lines l = lines_of(x, w, shape, bytes, fold);
        const double k = staged(s, x, w, &l);
        const double copied = images * (double)l.rows * (double)l.width * (double)l.pixel;
        const double time = COPIED * copied + pixels * k;
        if (fold == 1 || time < least) best = l, least = time;
    }
    return best;
}

static void describe_pixels(const IndexSizes *x, const Window *w, const WindowShape s[WINDOW_SPATIAL],
                            const Lines *l, int bytes, PackPixels *out)
{
    const int64_t row = int_round_up(l->width * l->pixel, RUN_BYTES / bytes);
    const int64_t images = w->image < 0 ? 1 : x->size[w->image];
    *out = (PackPixels){.from_w = (uint64_t)s[0].pitch,
                        .from_h = (uint64_t)s[1].pitch,
                        .from_image = stride_of(x, (unsigned)w->pixels, w->image),
                        .to_row = (uint64_t)row,
                        .to_image = (uint64_t)(row * l->rows),
                        .left = (int32_t)-s[0].lower,
                        .top = (int32_t)-s[1].lower,
                        .width = (int32_t)s[0].size,
                        .height = (int32_t)s[1].size,
                        .channels = (uint32_t)x->size[w->channel],
                        .fold = (uint32_t)l->fold,
                        .step = (uint32_t)l->step,
                        .apart = (uint32_t)s[1].dilation,
                        .pieces = (uint32_t)(l->width * l->pixel * bytes / PACK_PIECE_BYTES),
                        .pieces_of_pixel = (uint32_t)(l->pixel * bytes / PACK_PIECE_BYTES),
                        .rows = (uint32_t)l->rows,
                        .blocks = (uint32_t)(l->rows * images)};
}

/* The pixels of the copies: their sizes and strides. */
static void set_pixels(IndexSizes *x, const Window *w, const WindowShape s[WINDOW_SPATIAL], const Lines *l,
                       const PackPixels *p)
{
    const unsigned t = (unsigned)w->pixels;
    x->size[w->channel] = l->line, x->size[w->tap[0]] = 1, x->size[w->tap[1]] = l->taps;
    *stride_at(x, t, w->tap[0]) = l->pixel;
    *stride_at(x, t, w->out[0]) = s[0].step * l->pixel;
    *stride_at(x, t, w->out[1]) = (s[1].step > l->step ? s[1].step / l->step : 1) * (int64_t)p->to_row;
    *stride_at(x, t, w->tap[1]) = (l->taps > 1 ? s[1].dilation * l->fold / l->step : 1) * (int64_t)p->to_row;
    if (w->image >= 0) *stride_at(x, t, w->image) = (int64_t)p->to_image;
    for (int32_t i = 0; i < x->indices.n_pads[t]; i++) x->pad_start[t][i] = x->pad_end[t][i] = 0;
}

/* All positions and offsets fit the numbers of the kernel. */
static bool lines_fit(const IndexSizes *x, const Window *w, const Lines *l, int bytes)
{
    const double images = w->image < 0 ? 1 : (double)x->size[w->image];
    const double row = (double)l->width * (double)l->pixel * bytes;
    return row < INT32_MAX && (double)l->rows * images < INT32_MAX && row * (double)l->rows * images < 1e15 &&
           x->size[w->channel] < INT32_MAX / 64;
}

static bool copy_lines(const LibSolution *s, const IndexSizes *x, int bytes, WindowCopy *out)
{
    const Window *w = &out->window;
    WindowShape shape[WINDOW_SPATIAL];
    if (w->group >= 0 || w->mirrored[0] || w->mirrored[1]) return false;
    if (window_shape(x, w, shape)) {
        err_clear();
        return false;
    }
    if (x->size[w->tap[0]] > 1 && shape[0].dilation != 1) return false;
    const Lines l = best_lines(s, x, w, shape, bytes);
    if (!lines_fit(x, w, &l, bytes)) return false;
    describe_pixels(x, w, shape, &l, bytes, &out->pixels);
    set_pixels(&out->dims, w, shape, &l, &out->pixels);
    out->filter.pixel = (uint32_t)l.pixel, out->filter.fold = (uint32_t)l.fold;
    out->place.pixel = l.pixel, out->place.fold = l.fold;
    out->bytes[0] =
        (uint64_t)int_round_up((int64_t)(out->pixels.to_row * out->pixels.blocks) * bytes, PACK_START_BYTES);
    return true;
}

/* ---- the filter alone: blocks of outputs ---- */

/* What a block of n outputs along a spatial dimension leads to. Lengths in units of `unit` pixels. */
typedef struct {
    int64_t n, outs, taps;
    int64_t unit, step, apart; /* from an output, from a tap to the next */
} Outputs;

static Outputs outputs_of(const IndexSizes *x, const Window *w, const WindowShape *s, int d, int64_t n)
{
    const int64_t outs = x->size[w->out[d]], taps = x->size[w->tap[d]];
    Outputs o = {.n = n, .outs = int_ceil_div(outs, n), .unit = int_gcd(s->step, taps > 1 ? s->dilation : 0)};
    o.step = s->step / o.unit, o.apart = taps > 1 ? s->dilation / o.unit : 1;
    o.taps = (n - 1) * o.step + (taps - 1) * o.apart + 1;
    return o;
}

/* May blocks of n outputs be read? Positions beyond the last output are beside the tensor, if pads say where
 * that ends. */
static bool may_block(const IndexSizes *x, const Window *w, const WindowShape *s, int d, int64_t n)
{
    enum { STEP = 8 }; /* that the copy engine takes at most */
    bool padded = x->size[w->out[d]] % n == 0;
    for (int32_t i = 0; i < x->indices.n_pads[w->pixels]; i++)
        padded |= x->indices.pad[w->pixels][i].free == w->out[d];
    return n == 1 || (n <= x->size[w->out[d]] && n * s->step <= STEP && padded);
}

/* Chunks of pixels that all blocks read. */
static double chunks_of(const Outputs o[WINDOW_SPATIAL])
{
    return (double)o[0].outs * (double)o[0].taps * (double)o[1].outs * (double)o[1].taps;
}

/* The blocks whose rows a tile has, and that read the fewest pixels. */
static void best_blocks(const LibSolution *s, const IndexSizes *x, const Window *w,
                        const WindowShape shape[WINDOW_SPATIAL], Outputs best[WINDOW_SPATIAL])
{
    const int64_t rows = x->size[w->row], most = s->map.macro_tile[0];
    for (int d = 0; d < WINDOW_SPATIAL; d++) best[d] = outputs_of(x, w, &shape[d], d, 1);
    for (int64_t h = 1; h * rows <= most && may_block(x, w, &shape[1], 1, h); h++)
        for (int64_t n = 1; n * h * rows <= most && may_block(x, w, &shape[0], 0, n); n++) {
            const Outputs o[] = {outputs_of(x, w, &shape[0], 0, n), outputs_of(x, w, &shape[1], 1, h)};
            if (chunks_of(o) < chunks_of(best)) memcpy(best, o, sizeof o);
        }
}

/* Blocks along one dimension: sizes and distances of the pixels. Their pads stay where they are. */
static void set_outputs(IndexSizes *x, const Window *w, const WindowShape *s, int d, const Outputs *o)
{
    const unsigned t = (unsigned)w->pixels;
    int32_t pad = 0;
    while (pad < x->indices.n_pads[t] && x->indices.pad[t][pad].free != w->out[d]) pad++;
    const int64_t edge = pad < x->indices.n_pads[t] ? index_pad_edge(x, (int)t, pad) : 0;
    x->size[w->out[d]] = o->outs, x->size[w->tap[d]] = o->taps;
    *stride_at(x, t, w->out[d]) = o->n * s->step * s->pitch;
    *stride_at(x, t, w->tap[d]) = o->unit * s->pitch;
    if (pad == x->indices.n_pads[t]) return;
    x->pad_end[t][pad] = 0;
    x->pad_end[t][pad] = index_pad_edge(x, (int)t, pad) - edge;
}

/* Kernels whose results are placed element by element. */
static void copy_outputs(const LibSolution *s, const IndexSizes *x, WindowCopy *out)
{
    const Window *w = &out->window;
    WindowShape shape[WINDOW_SPATIAL];
    Outputs o[WINDOW_SPATIAL];
    if (!window_is_placed(w, true) || !stores_elements(s)) return;
    if (window_shape(x, w, shape)) {
        err_clear();
        return;
    }
    best_blocks(s, x, w, shape, o);
    if (o[0].n * o[1].n == 1) return;
    out->place.rows = x->size[w->row];
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        out->place.block[d] = o[d].n, out->place.outs[d] = x->size[w->out[d]];
        if (o[d].n == 1) continue;
        set_outputs(&out->dims, w, &shape[d], d, &o[d]);
        out->filter.taps[d] = (PackTaps){.block = (uint32_t)o[d].n,
                                         .step = (uint32_t)o[d].step,
                                         .apart = (uint32_t)o[d].apart,
                                         .mirrored = w->mirrored[d],
                                         .taps = (uint32_t)x->size[w->tap[d]]};
    }
    out->dims.size[w->row] *= o[0].n * o[1].n;
}

/* ---- the filter alone: blocks of groups ---- */

/* The least number of groups whose channels fill a chunk, and whose rows and channels are multiples of what
 * the copy engine takes; 1: it would not help. */
static int64_t merged_groups(const LibSolution *s, const IndexSizes *x, const Window *w, int bytes)
{
    const int64_t groups = x->size[w->group], channels = x->size[w->channel], rows = x->size[w->row];
    const int64_t run = RUN_BYTES / bytes;
    int64_t best = 1;
    for (int64_t n = 1; n <= groups && n * channels <= 4 * s->map.depth_u; n++) {
        if (groups % n || n * channels % run || n * rows % run) continue;
        best = n;
        if (n * channels >= s->map.depth_u) break;
    }
    return best;
}

/* Without groups the contraction stays the same, or has blocks of outputs. */
static bool copy_blocks(const LibSolution *s, const IndexSizes *x, int bytes, WindowCopy *out)
{
    const Window *w = &out->window;
    out->filter.pixel = (uint32_t)x->size[w->channel], out->filter.fold = 1;
    if (w->group < 0) {
        copy_outputs(s, x, out);
        return true;
    }
    const unsigned pixels = (unsigned)w->pixels;
    const int64_t merged = merged_groups(s, x, w, bytes), rows = x->size[w->row];
    if (merged < 2 || stride_of(x, pixels, w->group) != (uint64_t)x->size[w->channel] ||
        stride_of(x, 2, w->group) != (uint64_t)rows || stride_of(x, 3, w->group) != (uint64_t)rows)
        return false;
    IndexSizes *to = &out->dims;
    to->size[w->channel] *= merged, to->size[w->row] *= merged, to->size[w->group] /= merged;
    *stride_at(to, pixels, w->group) *= merged;
    for (unsigned t = 2; t < 4; t++) *stride_at(to, t, w->group) *= merged;
    out->filter.pixel = (uint32_t)to->size[w->channel], out->filter.merged = (uint32_t)merged;
    return true;
}

/* ---- per tap ---- */

/* Groups become one, of which a tile's rows and columns are several: those of the same group are stored. */
static bool merge_taps(const LibSolution *s, const IndexSizes *x, WindowCopy *out)
{
    const Window *w = &out->window;
    const unsigned pixels = (unsigned)w->pixels;
    const int64_t groups = x->size[w->group], channels = x->size[w->channel], rows = x->size[w->row];
    const int64_t in_m = s->map.macro_tile[0] / channels, in_n = s->map.macro_tile[1] / rows;
    int64_t merged = in_m < in_n ? in_m : in_n;
    if (merged > groups) merged = groups;
    while (merged > 1 && groups % merged) merged--;
    if (merged < 2) return false;
    IndexSizes *to = &out->dims;
    for (unsigned t = 0; t < INDICES_TENSORS; t++) {
        const uint64_t follows = t == pixels ? (uint64_t)channels
                                 : t < 2     ? (uint64_t)rows
                                             : (uint64_t)rows * stride_of(x, t, w->row);
        if (stride_of(x, t, w->group) != follows) return false;
        *stride_at(to, t, w->group) *= merged;
    }
    to->size[w->channel] *= merged, to->size[w->row] *= merged, to->size[w->group] /= merged;
    out->place.pixel = merged * channels, out->place.fold = 1;
    return true;
}

/* Few channels as lines, whose rows are those of several taps, or groups as blocks, without a copy. */
static bool copy_taps(const LibSolution *s, const IndexSizes *x, int bytes, WindowCopy *out)
{
    const Window *w = &out->window;
    const bool by_kernel = s->map.pack_operands & PACK_LINES;
    if (!(by_kernel      ? window_lines(s, x, out)
          : w->group < 0 ? copy_lines(s, x, bytes, out)
                         : merge_taps(s, x, out)))
        return false;
    out->place.rows = x->size[w->row], out->place.channels = x->size[w->channel];
    out->place.taps = x->size[w->tap[by_kernel ? 0 : 1]];
    return true;
}

/* ---- the filter ---- */

/* The filter of the copies, of which out->dims has the sizes: without gaps, except that its contiguous
 * dimension is padded to a multiple of RUN_BYTES. */
static bool copy_filter(const IndexSizes *x, int bytes, WindowCopy *out)
{
    const Window *w = &out->window;
    const unsigned t = 1 - (unsigned)w->pixels;
    IndexSizes *to = &out->dims;
    const int64_t groups = w->group < 0 ? 1 : to->size[w->group], line = to->size[w->channel];
    const int64_t taps_x = to->size[w->tap[0]], taps_y = to->size[w->tap[1]],
                  rows = to->size[w->row] * groups;
    const int64_t first = int_round_up(w->other_k_major ? line : rows, RUN_BYTES / bytes),
                  last = taps_x * taps_y * first;
    const int64_t channel = w->other_k_major ? 1 : last, row = w->other_k_major ? last : 1;
    if ((double)last * (double)(w->other_k_major ? rows : line) > INT32_MAX) return false;
    out->filter = (PackFilter){.from_channel = stride_of(x, t, w->channel),
                               .from_x = stride_of(x, t, w->tap[0]),
                               .from_y = stride_of(x, t, w->tap[1]),
                               .from_row = stride_of(x, t, w->row),
                               .from_group = w->group < 0 ? 0 : stride_of(x, t, w->group),
                               .to_channel = (uint64_t)channel,
                               .to_x = (uint64_t)first,
                               .to_y = (uint64_t)(taps_x * first),
                               .to_row = (uint64_t)row,
                               .line = (uint32_t)line,
                               .pixel = out->filter.pixel,
                               .channels = (uint32_t)x->size[w->channel],
                               .taps_x = (uint32_t)taps_x,
                               .taps_y = (uint32_t)taps_y,
                               .rows = (uint32_t)x->size[w->row],
                               .merged = out->filter.merged,
                               .fold = out->filter.fold,
                               .filter_y = (uint32_t)x->size[w->tap[1]],
                               .taps = {out->filter.taps[0], out->filter.taps[1]},
                               .elements = (uint32_t)(line * taps_x * taps_y * rows)};
    out->filter.blocks = (uint32_t)ceil_div(out->filter.elements, PACK_GROUP);
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (!out->filter.taps[d].block)
            out->filter.taps[d] = (PackTaps){.block = 1, .taps = (uint32_t)to->size[w->tap[d]]};
    *stride_at(to, t, w->channel) = channel, *stride_at(to, t, w->row) = row;
    *stride_at(to, t, w->tap[0]) = first, *stride_at(to, t, w->tap[1]) = taps_x * first;
    if (w->group >= 0) *stride_at(to, t, w->group) = to->size[w->row] * row;
    out->bytes[1] = (uint64_t)int_round_up(last * (w->other_k_major ? rows : line) * bytes, PACK_START_BYTES);
    return true;
}

/* ---- the whole ---- */

/* Work-groups of the kernel that copies; 0: there is nothing to copy. */
static uint64_t window_copy_blocks(const WindowCopy *c)
{
    return (uint64_t)c->pixels.blocks + c->filter.blocks;
}

/* The contraction of out->dims. */
static void set_problem(const Contraction *p, WindowCopy *out)
{
    Contraction *q = &out->problem;
    q->dims = &out->dims;
    q->m = index_group_size(q->dims, INDICES_M), q->n = index_group_size(q->dims, INDICES_N);
    q->batch = index_group_size(q->dims, INDICES_BATCH);
    if (launch_reads_ab(p)) q->k = index_group_size(q->dims, INDICES_K);
}

bool window_copy(const LibSolution *s, const Contraction *p, WindowCopy *out)
{
    *out = (WindowCopy){.problem = *p, .dims = *p->dims};
    if (!window_roles(s, p, &out->window)) return false;
    if (s->map.window_taps > 1) {
        if (!window_wide(s, p->dims, out)) return false;
        set_problem(p, out);
        return true;
    }
    const int pixels = out->window.pixels, bytes = type_bytes(tensor_type(p, (unsigned)pixels));
    const bool per_tap = out->window.per_tap, by_kernel = s->map.pack_operands & PACK_LINES;
    const int packed = s->map.pack_operands & (PACK_A | PACK_B);
    const bool lines = packed == (PACK_A | PACK_B);
    if (!lines && packed != 1 << (per_tap ? pixels : 1 - pixels)) return false;
    if (by_kernel && (lines == per_tap || bytes != LINE_BYTES)) return false;
    if (per_tap     ? !copy_taps(s, p->dims, bytes, out)
        : by_kernel ? !window_lines(s, p->dims, out)
                    : !(lines ? copy_lines : copy_blocks)(s, p->dims, bytes, out))
        return false;
    if (!per_tap && !copy_filter(p->dims, bytes, out)) return false;
    if (!per_tap && by_kernel) lines_of_filter(p->dims, &out->window, &out->filter);
    set_problem(p, out);
    /* the copies are aligned; rows of which the kernel makes lines are copied by the engine */
    if (window_copy_blocks(out))
        out->problem.unaligned &= (uint8_t) ~(by_kernel ? packed & ~(1 << pixels) : packed);
    return true;
}

uint64_t window_copy_bytes(const WindowCopy *c)
{
    return c->outs_w ? 0 : c->bytes[0] + c->bytes[1] + PACK_START_BYTES;
}

/* Lets the launch read operand t from a copy. Returns the operand's address. */
static uint64_t redirect(LaunchInputs *in, int t, DataType type, uint64_t to)
{
    const void **base = t ? &in->b : &in->a;
    int64_t *offset = t ? &in->offset_b : &in->offset_a;
    const uint64_t from = (uint64_t)(uintptr_t)*base + (uint64_t)*offset * (uint64_t)type_bytes(type);
    *base = (const void *)(uintptr_t)to, *offset = 0;
    return from;
}

Err window_copy_call(WindowCopy *c, const Helper *h, LaunchInputs *in, LaunchList *out)
{
    const int pixels = c->window.pixels;
    const DataType type = tensor_type(h->p, (unsigned)pixels);
    const uint64_t to = (h->copies + PACK_START_BYTES - 1) / PACK_START_BYTES * PACK_START_BYTES;
    const uint64_t grid[3] = {window_copy_blocks(c), 1, 1};
    Args a;
    if (c->pixels.blocks) c->pixels.to = to, c->pixels.from = redirect(in, pixels, type, to);
    if (c->filter.blocks)
        c->filter.to = to + c->bytes[0], c->filter.from = redirect(in, 1 - pixels, type, c->filter.to);
    if (c->filter.merged) in->bias_batch *= c->filter.merged;
    if (!launch_reads_ab(h->p) || !grid[0]) return ERR_OK;
    TRY(call_add(out, CALL_PACK, pack_window_name(type_bytes(type)), grid, PACK_GROUP, &a));
    put_struct(&a, &c->pixels, sizeof c->pixels);
    put_struct(&a, &c->filter, sizeof c->filter);
    out->call[out->n - 1].dependent = h->s->map.dependent_launch;
    return call_done(out, &a);
}
