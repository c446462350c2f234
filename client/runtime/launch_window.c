/* Launch: tensor maps of contractions whose B has windows of pixels (problem/window.h), and the numbers that
 * their kernels take in front of the maps: step, position of the first output, dilation along W, then H. */
#include "client/runtime/launch_priv.h"
#include "base/integer.h"
#include "problem/window.h"

/* The indices as the kernel has them. */
static bool roles(const LibSolution *s, const Contraction *p, Window *w)
{
    Indices x = p->dims->indices;
    indices_pack(&x, s->map.pack_batch_dims);
    return !window_of(&x, w) && indices_rows_of_b(&p->dims->indices) == (w->pixels == 0);
}

static int64_t stride_of(const IndexSizes *x, unsigned t, int32_t index)
{
    const int32_t dim = index_list_find(&x->indices.tensor[t], index);
    return dim < 0 ? 0 : x->stride[t][dim];
}

/* A stride that a map may have; of one element any does. */
static bool stride_fits(int64_t stride, int64_t n, DataType type)
{
    enum { STEP = 16 };
    return n == 1 || (stride > 0 && stride * type_bytes(type) % STEP == 0);
}

/* Columns of C and D are one dimension: positions behind one another, images too, but for those of the batch. */
static bool is_matrix(const IndexSizes *x, const Window *w, unsigned t, DataType type)
{
    const int64_t ld = stride_of(x, t, w->out[0]);
    int64_t next = ld * x->size[w->out[0]];
    if (ld < x->size[w->row] || !stride_fits(ld, 2, type)) return false;
    for (int d = 1; d < WINDOW_SPATIAL; d++) {
        if (x->size[w->out[d]] > 1 && stride_of(x, t, w->out[d]) != next) return false;
        next *= x->size[w->out[d]];
    }
    if (w->image < 0) return true;
    const int64_t images = stride_of(x, t, w->image);
    return w->image_in_batch ? stride_fits(images, x->size[w->image], type)
                             : x->size[w->image] == 1 || images == next;
}

/* All elements of K, each tap with whole chunks of channels, are counted with 32 bits. */
static bool sums_fit(const LibSolution *s, const IndexSizes *x, const Window *w)
{
    uint64_t n = (uint64_t)int_ceil_div(x->size[w->channel], s->map.depth_u) * (uint64_t)s->map.depth_u;
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (__builtin_mul_overflow(n, (uint64_t)x->size[w->tap[d]], &n)) return false;
    return n <= INT32_MAX;
}

static bool filter_fits(const IndexSizes *x, const Window *w, DataType type)
{
    const unsigned f = 1 - (unsigned)w->pixels;
    const int32_t last = w->filter_k_major ? w->row : w->channel;
    if (w->image >= 0 && x->size[w->image] > 1 && stride_of(x, f, w->image)) return false;
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (!stride_fits(stride_of(x, f, w->tap[d]), x->size[w->tap[d]], type)) return false;
    return stride_fits(stride_of(x, f, last), x->size[last], type);
}

bool window_fits(const LibSolution *s, const Contraction *p)
{
    enum { RUN = 16 }; /* a store writes 16 bytes at once, even across the edge of D */
    const IndexSizes *x = p->dims;
    Window w;
    WindowShape shape[WINDOW_SPATIAL];
    if (!roles(s, p, &w) || (p->unaligned & 15)) return false;
    const DataType in = tensor_type(p, (unsigned)w.pixels), filter = tensor_type(p, 1 - (unsigned)w.pixels);
    if (window_shape(x, &w, shape)) {
        err_clear();
        return false;
    }
    for (int d = 0; d < WINDOW_SPATIAL; d++)
        if (!stride_fits(shape[d].pitch, shape[d].size, in)) return false;
    if (w.image >= 0 && !stride_fits(stride_of(x, (unsigned)w.pixels, w.image), x->size[w.image], in))
        return false;
    if (!filter_fits(x, &w, filter) || !sums_fit(s, x, &w)) return false;
    for (unsigned t = 2; t < 4; t++)
        if (!is_matrix(x, &w, t, tensor_type(p, t)) || x->size[w.row] * type_bytes(tensor_type(p, t)) % RUN)
            return false;
    return true;
}

/* A stride in bytes; of a dimension of one element the pitch of all that is in front. */
static uint64_t bytes_of(int64_t stride, int64_t n, DataType type, uint64_t in_front)
{
    enum { STEP = 16 };
    if (n > 1) return (uint64_t)stride * (uint64_t)type_bytes(type);
    return (in_front + STEP - 1) / STEP * STEP;
}

/* Sets a dimension behind those that are set, its size and its stride in elements. */
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
    push(m, x->size[w->channel], 1);
    for (int d = 0; d < WINDOW_SPATIAL; d++) {
        push(m, shape[d].size, shape[d].pitch);
        m->lower[d] = (int32_t)shape[d].lower, m->upper[d] = (int32_t)shape[d].upper;
        m->step[d] = (uint32_t)shape[d].step;
    }
    push(m, w->image < 0 ? 1 : x->size[w->image], w->image < 0 ? 0 : stride_of(x, (unsigned)w->pixels, w->image));
}

static void describe_filter(const IndexSizes *x, const Window *w, TensorMap *m)
{
    const unsigned f = 1 - (unsigned)w->pixels;
    const int32_t first = w->filter_k_major ? w->channel : w->row, last = w->filter_k_major ? w->row : w->channel;
    push(m, x->size[first], 1);
    for (int d = 0; d < WINDOW_SPATIAL; d++) push(m, x->size[w->tap[d]], stride_of(x, f, w->tap[d]));
    push(m, x->size[last], stride_of(x, f, last));
}

static void describe_results(const IndexSizes *x, const Window *w, unsigned t, TensorMap *m)
{
    int64_t columns = 1;
    for (int d = 0; d < WINDOW_SPATIAL; d++) columns *= x->size[w->out[d]];
    if (w->image >= 0 && !w->image_in_batch) columns *= x->size[w->image];
    push(m, x->size[w->row], 1);
    push(m, columns, stride_of(x, t, w->out[0]));
    push(m, w->image_in_batch ? x->size[w->image] : 1, w->image_in_batch ? stride_of(x, t, w->image) : 0);
}

/* The roles and numbers of a problem that window_fits; ERR_INPUT for others. */
static Err window(const Helper *h, Window *w, WindowShape shape[WINDOW_SPATIAL])
{
    if (!roles(h->s, h->p, w)) FAIL(ERR_INPUT, "kernel %s: the contraction has no windows", h->s->name);
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
    *out = (TensorMap){.address = (uint64_t)(uintptr_t)base[t] + (uint64_t)offset[t] * (uint64_t)type_bytes(type),
                       .type = (int)type};
    /* nothing is read but elements behind the channels */
    if (t < 2 && !launch_reads_ab(h->p)) out->address = (uint64_t)(uintptr_t)in->d & ~UINT64_C(15);
    if (t == (unsigned)w.pixels)
        describe_pixels(h->p->dims, &w, shape, out);
    else if (t < 2)
        describe_filter(h->p->dims, &w, out);
    else
        describe_results(h->p->dims, &w, t, out);
    return ERR_OK;
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
    return ERR_OK;
}
