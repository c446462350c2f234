/* Launch: tensor maps of contractions that load windows of pixels (problem/window.h), and the numbers that
 * their kernels take in front of the maps: step, position of the first output, dilation along W, then H. */
#include "client/runtime/launch_priv.h"
#include "base/integer.h"
#include "problem/window.h"

bool window_roles(const LibSolution *s, const Contraction *p, Window *w)
{
    Indices x = p->dims->indices;
    indices_pack(&x, s->map.pack_batch_dims);
    const bool rows_of_b = indices_rows_of_b(&p->dims->indices);
    return !window_of(&x, w) && rows_of_b == ((w->pixels == 1) == w->per_tap);
}

/* A stride that a map may have; of one element any does. */
static bool stride_fits(int64_t stride, int64_t n, DataType type)
{
    enum { STEP = 16 };
    return n == 1 || (stride > 0 && stride * type_bytes(type) % STEP == 0);
}

static int64_t groups_of(const IndexSizes *x, const Window *w)
{
    return w->group < 0 ? 1 : x->size[w->group];
}

/* Does the kernel take from the launch where its results belong? */
static bool is_placed(const LibSolution *s, const Window *w)
{
    return window_is_placed(w, stores_elements(s));
}

/* Several indices as one dimension of a tensor: size elements, stride apart. */
typedef struct {
    int64_t size, stride;
} Merged;

/* Adds an index whose stride must continue the merged ones; false where it does not. */
static bool merge(const IndexSizes *x, unsigned t, int32_t index, Merged *m)
{
    const int64_t stride = index_stride(x, t, index), size = x->size[index];
    if (m->size == 1) m->stride = stride;
    if (m->size > 1 && size > 1 && stride != m->size * m->stride) return false;
    return !__builtin_mul_overflow(m->size, size, &m->size);
}

/* The positions, with the images where they are not the batch's, or the taps. */
static bool merged(const IndexSizes *x, const Window *w, unsigned t, bool taps, Merged *m)
{
    *m = (Merged){1, 0};
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (!merge(x, t, taps ? w->tap[d] : w->out[d], m)) return false;
    return taps || w->image < 0 || w->image_in_batch || merge(x, t, w->image, m);
}

/* C or D as matrices: rows contiguous, columns, and the batch. is_matrix: columns have one stride. */
typedef struct {
    int64_t rows;
    Merged columns, batch;
    bool is_matrix;
} Results;

static void results_of(const LibSolution *s, const IndexSizes *x, const Window *w, unsigned t, Results *r)
{
    const int64_t taps = s->map.window_taps > 1 ? s->map.window_taps : 1, side = s->map.macro_tile[0];
    if (w->per_tap) {
        *r = (Results){.rows = x->size[w->channel], .columns = {x->size[w->row], index_stride(x, t, w->row)}};
        r->is_matrix = merged(x, w, t, true, &r->batch);
        r->is_matrix &= w->group < 0;
        r->batch.size = x->size[w->tap[0]] * x->size[w->tap[1]] * groups_of(x, w);
        if (taps == 1) return;
        /* whole tiles, whose rows are those of several taps */
        r->rows = int_ceil_div(r->rows * taps, side) * side, r->batch.size /= taps;
        return;
    }
    *r = (Results){.rows = x->size[w->row], .batch = {1, 0}};
    r->is_matrix = merged(x, w, t, false, &r->columns);
    r->columns.size = x->size[w->out[0]] * x->size[w->out[1]];
    if (w->image_in_batch)
        r->batch = (Merged){x->size[w->image], index_stride(x, t, w->image)};
    else if (w->image >= 0)
        r->columns.size *= x->size[w->image];
    if (w->group >= 0) r->batch = (Merged){x->size[w->group], index_stride(x, t, w->group)};
}

/* Are outputs at multiples of 16 bytes? */
static bool outputs_fit(const IndexSizes *x, const Window *w, unsigned t, DataType type)
{
    const int32_t index[] = {w->out[0], w->out[1], w->image};
    for (size_t i = 0; i < sizeof index / sizeof *index; i++)
        if (index[i] >= 0 && !stride_fits(index_stride(x, t, index[i]), x->size[index[i]], type))
            return false;
    return true;
}

/* Does the copy engine store the results of placed windows as pixels? They are those of all images and of no
 * groups, whose rows would be stored over one another's. */
static bool pixels_fit(const IndexSizes *x, const Window *w, unsigned t, DataType type)
{
    if (w->per_tap || !window_is_placed(w, false) || w->group >= 0 || w->image_in_batch) return false;
    return outputs_fit(x, w, t, type);
}

/* The copy engine stores them, threads store vectors (WindowTaps), or single elements. */
static bool results_fit(const LibSolution *s, const IndexSizes *x, const Window *w, unsigned t, DataType type)
{
    enum { RUN = 16 }; /* a store writes 16 bytes at once, even across the edge of D */
    Results r;
    results_of(s, x, w, t, &r);
    if (r.columns.size > INT32_MAX || r.batch.size > INT32_MAX) return false;
    if (w->per_tap && !r.is_matrix && !is_placed(s, w)) return false;
    if (s->map.window_taps > 1 && !w->per_tap)
        return r.rows * type_bytes(type) % RUN == 0 && outputs_fit(x, w, t, type);
    if (threads_store(s)) return true;
    if (r.rows * type_bytes(type) % RUN) return false;
    if (!r.is_matrix) return pixels_fit(x, w, t, type);
    return (r.columns.size == 1 || r.columns.stride >= r.rows) &&
           stride_fits(r.columns.stride, r.columns.size, type) &&
           stride_fits(r.batch.stride, r.batch.size, type);
}

/* All elements of K, of sliding windows each tap with whole chunks of channels, are counted with 31 bits. */
static bool sums_fit(const LibSolution *s, const IndexSizes *x, const Window *w)
{
    const int64_t depth = s->map.depth_u;
    int64_t n = w->per_tap ? (w->image < 0 ? 1 : x->size[w->image])
                           : int_ceil_div(x->size[w->channel], depth) * depth;
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (__builtin_mul_overflow(n, x->size[w->per_tap ? w->out[d] : w->tap[d]], &n)) return false;
    return n <= INT32_MAX - depth;
}

/* Channels and rows of all groups follow one another, and are counted with 31 bits. A chunk of channels that
 * goes beyond its group's last one is multiplied by zeros, which infinite ones survive: only kernels that
 * read copies have such chunks, and mend such sums (problem/pack.h). Per tap channels are rows of D, which
 * are not stored beyond the last one. */
static bool groups_fit(const LibSolution *s, const IndexSizes *x, const Window *w)
{
    const unsigned pixels = (unsigned)w->pixels, other = 1 - pixels;
    const int64_t channels = x->size[w->channel], rows = x->size[w->row], groups = groups_of(x, w);
    const int64_t row = w->other_k_major ? index_stride(x, other, w->row) : 1;
    int64_t n;
    if (groups == 1) return true;
    return index_stride(x, pixels, w->group) == channels && index_stride(x, other, w->group) == rows * row &&
           (w->per_tap || s->map.pack_operands || channels % s->map.depth_u == 0) &&
           !__builtin_mul_overflow(channels > rows ? channels : rows, groups, &n) && n <= INT32_MAX;
}

static bool other_fits(const LibSolution *s, const IndexSizes *x, const Window *w, DataType type)
{
    const unsigned other = 1 - (unsigned)w->pixels;
    const int32_t last = w->other_k_major ? w->row : w->channel;
    const int32_t broadcast = w->per_tap ? w->channel : w->image; /* the other operand's stride is 0 */
    Merged m;
    if (broadcast >= 0 && x->size[broadcast] > 1 && index_stride(x, other, broadcast)) return false;
    if (w->per_tap && s->map.window_taps > 1) return outputs_fit(x, w, other, type);
    if (w->per_tap) return merged(x, w, other, false, &m) && stride_fits(m.stride, m.size, type);
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (!stride_fits(index_stride(x, other, w->tap[d]), x->size[w->tap[d]], type)) return false;
    return stride_fits(index_stride(x, other, last), x->size[last], type);
}

static bool fits(const LibSolution *s, const Contraction *p)
{
    const IndexSizes *x = p->dims;
    Window w;
    WindowShape shape[WINDOW_SPATIAL];
    /* bit t: tensor t; single stores of D, and loads of C, may have any address */
    const unsigned vectors = s->map.window_taps > 1 ? 8 : 0; /* of D */
    const unsigned mapped = ((1u << s->map.n_tensor_maps) - 1) | vectors;
    if (!window_roles(s, p, &w) || (p->unaligned & mapped)) return false;
    const unsigned pixels = (unsigned)w.pixels;
    if (window_shape(x, &w, shape)) {
        err_clear();
        return false;
    }
    const bool has_lines = s->map.pack_operands & PACK_LINES; /* launch_lines.c has tested the pixels */
    for (int d = 0; d < WINDOW_SPATIAL && !has_lines; d++)
        if (!stride_fits(shape[d].pitch, shape[d].size, tensor_type(p, pixels))) return false;
    if (w.image >= 0 && !has_lines &&
        !stride_fits(index_stride(x, pixels, w.image), x->size[w.image], tensor_type(p, pixels)))
        return false;
    if (!other_fits(s, x, &w, tensor_type(p, 1 - pixels)) || !sums_fit(s, x, &w) || !groups_fit(s, x, &w))
        return false;
    return results_fit(s, x, &w, 2, tensor_type(p, 2)) && results_fit(s, x, &w, 3, tensor_type(p, 3));
}

bool window_fits(const LibSolution *s, const Contraction *p)
{
    WindowCopy copy;
    if (!copies_windows(s)) return fits(s, p);
    return window_copy(s, p, &copy) && fits(s, &copy.problem);
}

bool window_sides(const LibSolution *s, const Contraction *p, uint64_t side[3])
{
    Window w;
    Results r;
    if (!s->map.n_tensor_maps || !is_window(p) || !window_roles(s, p, &w)) return false;
    results_of(s, p->dims, &w, 3, &r);
    side[0] = (uint64_t)r.rows, side[1] = (uint64_t)r.columns.size, side[2] = (uint64_t)r.batch.size;
    return true;
}

/* A stride in bytes; of a dimension of one element the pitch of all that is in front. */
static uint64_t bytes_of(int64_t stride, int64_t n, DataType type, uint64_t in_front)
{
    enum { STEP = 16 };
    if (n > 1) return (uint64_t)stride * (uint64_t)type_bytes(type);
    return (in_front + STEP - 1) / STEP * STEP;
}

/* Appends a dimension: its size, and its stride in elements. */
static void push(TensorMap *m, int64_t size, int64_t stride)
{
    const DataType type = (DataType)m->type;
    const int d = m->rank++;
    const uint64_t in_front =
        d < 2 ? m->size[0] * (uint64_t)type_bytes(type) : m->stride[d - 2] * m->size[d - 1];
    m->size[d] = (uint64_t)size;
    if (d > 0) m->stride[d - 1] = bytes_of(stride, size, type, in_front);
}

static void describe_pixels(const IndexSizes *x, const Window *w, const WindowShape *shape, TensorMap *m)
{
    m->pixels = true;
    push(m, x->size[w->channel] * groups_of(x, w), 1);
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        push(m, shape[d].size, shape[d].pitch);
        m->lower[d] = (int32_t)shape[d].lower, m->upper[d] = (int32_t)shape[d].upper;
        m->step[d] = (uint32_t)shape[d].step;
    }
    push(m, w->image < 0 ? 1 : x->size[w->image],
         w->image < 0 ? 0 : index_stride(x, (unsigned)w->pixels, w->image));
}

/* Appends positions of `outs` outputs along W, and images. */
static void push_outputs(const IndexSizes *x, const Window *w, unsigned t, int64_t outs, TensorMap *m)
{
    push(m, outs, index_stride(x, t, w->out[0]));
    push(m, x->size[w->out[1]], index_stride(x, t, w->out[1]));
    push(m, w->image < 0 ? 1 : x->size[w->image], w->image < 0 ? 0 : index_stride(x, t, w->image));
}

/* outs_w: as in Helper: outputs that the kernel counts behind those of a line are beside the tensor. */
static void describe_other(const IndexSizes *x, const Window *w, int64_t outs_w, TensorMap *m)
{
    const unsigned other = 1 - (unsigned)w->pixels;
    const int32_t first = w->other_k_major ? w->channel : w->row,
                  last = w->other_k_major ? w->row : w->channel;
    Merged pixels = {1, 0};
    push(m, x->size[first] * (first == w->row ? groups_of(x, w) : 1), 1);
    if (w->per_tap && outs_w) {
        push_outputs(x, w, other, outs_w, m);
        m->pixels = true, m->step[0] = m->step[1] = 1;
        m->upper[0] = (int32_t)(x->size[w->out[0]] - outs_w);
        return;
    }
    if (w->per_tap) {
        (void)merged(x, w, other, false, &pixels);
        push(m, pixels.size, pixels.stride);
        push(m, 1, 0);
        return;
    }
    for (int d = 0; d < WINDOW_SPATIAL; d++) push(m, x->size[w->tap[d]], index_stride(x, other, w->tap[d]));
    push(m, x->size[last] * (last == w->row ? groups_of(x, w) : 1), index_stride(x, other, last));
}

static void describe_results(const Helper *h, const Window *w, unsigned t, TensorMap *m)
{
    const IndexSizes *x = h->p->dims;
    Results r;
    results_of(h->s, x, w, t, &r);
    push(m, r.rows, 1);
    if (!r.is_matrix) {
        m->pixels = true, m->step[0] = m->step[1] = 1;
        push_outputs(x, w, t, x->size[w->out[0]], m);
        return;
    }
    push(m, r.columns.size, r.columns.stride);
    push(m, r.batch.size, r.batch.stride);
}

/* The roles and numbers of a problem that window_fits; ERR_INPUT for others. */
static Err window(const Helper *h, Window *w, WindowShape shape[WINDOW_SPATIAL])
{
    if (!window_roles(h->s, h->p, w))
        FAIL(ERR_INPUT, "kernel %s: the contraction has no windows", h->s->name);
    return window_shape(h->p->dims, w, shape);
}

Err describe_window(const Helper *h, unsigned t, TensorMap *out)
{
    const LaunchInputs *in = h->in;
    const void *const base[] = {in->a, in->b, in->c, in->d};
    const int64_t offset[] = {in->offset_a, in->offset_b, in->offset_c, in->offset_d};
    const DataType type = tensor_type(h->p, t);
    Window w;
    WindowShape shape[WINDOW_SPATIAL];
    TRY(window(h, &w, shape));
    *out = (TensorMap){.address =
                           (uint64_t)(uintptr_t)base[t] + (uint64_t)offset[t] * (uint64_t)type_bytes(type),
                       .type = (int)type};
    /* only elements beyond the channels are read, which the copy engine fills with zeros */
    if (t < 2 && !launch_reads_ab(h->p)) out->address = (uint64_t)(uintptr_t)in->d & ~UINT64_C(15);
    if (t == (unsigned)w.pixels && !h->lines)
        describe_pixels(h->p->dims, &w, shape, out);
    else if (t < 2) /* where the kernel makes lines it does not use the map of the pixels */
        describe_other(h->p->dims, &w, h->outs_w, out);
    else
        describe_results(h, &w, t, out);
    return ERR_OK;
}

/* Where results belong: each channel of each pixel or tap by itself, unless the kernel has another
 * contraction than the problem (launch_copy.c). */
static void put_place(const Helper *h, const Window *w, Args *a)
{
    const IndexSizes *x = h->p->dims;
    const int64_t channels = w->per_tap ? x->size[w->channel] : 0;
    const WindowPlace each = {.rows = x->size[w->row],
                              .block = {1, 1},
                              .outs = {x->size[w->out[0]], x->size[w->out[1]]},
                              .channels = channels,
                              .pixel = channels,
                              .fold = 1,
                              .taps = x->size[w->tap[1]]},
                      *p = h->place ? h->place : &each;
    Results r;
    results_of(h->s, x, w, 3, &r);
    if (!w->per_tap) put_u32(a, !r.is_matrix);
    put_size(a, p->rows);
    if (w->per_tap) {
        const int64_t rest[] = {p->channels, p->pixel, p->fold, p->taps};
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) put_size(a, rest[i]);
        return;
    }
    for (int d = 0; d < WINDOW_SPATIAL; d++) put_size(a, p->block[d]);
    for (int d = 0; d < WINDOW_SPATIAL; d++) put_size(a, p->outs[d]);
}

Err put_window(const Helper *h, Args *a)
{
    Window w;
    WindowShape shape[WINDOW_SPATIAL];
    TRY(window(h, &w, shape));
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        put_u32(a, (uint32_t)(int32_t)shape[d].step);
        put_u32(a, (uint32_t)(int32_t)shape[d].lower);
        put_u32(a, (uint32_t)(int32_t)shape[d].dilation);
    }
    if (is_placed(h->s, &w)) put_place(h, &w, a);
    if (h->outs_w && !w.per_tap) put_size(a, h->outs_w);
    if (h->lines) put_lines(h, a);
    return ERR_OK;
}
