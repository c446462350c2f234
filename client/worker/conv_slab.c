/* Loops of convolutions. See conv_slab.h. */
#include "client/worker/conv_slab.h"

#include "client/worker/number.h"

void conv_slab_init(const ConvDesc *c, ConvSlab *g)
{
    const ConvSize *s = &c->size;
    *g = (ConvSlab){.s = s, .c = s->c / s->groups, .k = s->k / s->groups, .n_in = 1, .n_out = 1, .n_taps = 1};
    for (int d = 0; d < CONV_SPATIAL; d++) {
        g->out[d] = conv_out(s, d);
        g->n_in *= s->in[d];
        g->n_out *= g->out[d];
        g->n_taps *= s->filter[d];
    }
}

void conv_slab_load(const ConvData *d, ConvTensor t, int64_t first, int64_t n, int64_t second,
                    int64_t n_second, double *to)
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    const DataType type = (DataType)d->c->type[t];
    conv_tensor(d->c, t, size, stride);
    for (int64_t i = first; i < first + n; i++)
        for (int64_t j = second; j < second + n_second; j++)
            for (int64_t z = 0; z < size[2]; z++)
                for (int64_t y = 0; y < size[3]; y++, to += size[4])
                    numbers_load(type, d->data[t],
                                 i * stride[0] + j * stride[1] + z * stride[2] + y * stride[3], stride[4],
                                 size[4], to, NULL);
}

/* The positions p of an axis for which p * stride + tap * dilation - pad is inside the input. */
typedef struct {
    int64_t from, to, at; /* at: the input's position for p = from */
} Span;

static Span span_of(const ConvSlab *g, int d, int64_t tap)
{
    const ConvSize *s = g->s;
    const int64_t shift = tap * s->dilation[d] - s->pad[d];
    Span v = {.from = shift < 0 ? (-shift + s->stride[d] - 1) / s->stride[d] : 0};
    v.to = s->in[d] - 1 - shift < 0 ? 0 : (s->in[d] - 1 - shift) / s->stride[d] + 1;
    if (v.to > g->out[d]) v.to = g->out[d];
    v.at = v.from * s->stride[d] + shift;
    return v;
}

/* Calls row for each row of positions that tap t of a filter reaches: offsets of the first one in a channel
 * of the input and of the output, and how many. */
typedef void RowFn(void *ctx, int64_t in, int64_t out, int64_t n);

static void each_row(const ConvSlab *g, int64_t t, RowFn *row, void *ctx)
{
    const ConvSize *s = g->s;
    const Span w = span_of(g, 0, t % s->filter[0]), h = span_of(g, 1, t / s->filter[0] % s->filter[1]),
               d = span_of(g, 2, t / s->filter[0] / s->filter[1]);
    if (w.from >= w.to) return;
    for (int64_t z = d.from; z < d.to; z++)
        for (int64_t y = h.from; y < h.to; y++) {
            const int64_t in_z = d.at + (z - d.from) * s->stride[2],
                          in_y = h.at + (y - h.from) * s->stride[1];
            row(ctx, (in_z * s->in[1] + in_y) * s->in[0] + w.at, (z * g->out[1] + y) * g->out[0] + w.from,
                w.to - w.from);
        }
}

typedef struct {
    double *input, *output;
    double factor;
    int64_t step; /* of the input, along W */
} Row;

static void row_forward(void *ctx, int64_t in, int64_t out, int64_t n)
{
    const Row *r = ctx;
    for (int64_t i = 0; i < n; i++) r->output[out + i] += r->factor * r->input[in + i * r->step];
}
static void row_data(void *ctx, int64_t in, int64_t out, int64_t n)
{
    const Row *r = ctx;
    for (int64_t i = 0; i < n; i++) r->input[in + i * r->step] += r->factor * r->output[out + i];
}
static void row_weights(void *ctx, int64_t in, int64_t out, int64_t n)
{
    Row *r = ctx;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += r->output[out + i] * r->input[in + i * r->step];
    r->factor += sum;
}

/* All (k, c, tap): row has the tap's number as factor, and the channels. The tensors that are only read are
 * not written by `fn`. */
static void all_taps(const ConvSlab *g, const double *input, const double *filter, double *sums,
                     const double *output, RowFn *fn)
{
    for (int64_t k = 0; k < g->k; k++)
        for (int64_t c = 0; c < g->c; c++)
            for (int64_t t = 0; t < g->n_taps; t++) {
                const int64_t at = (k * g->c + c) * g->n_taps + t;
                Row r = {.input = (double *)(uintptr_t)(input + c * g->n_in),
                         .output = (double *)(uintptr_t)(output + k * g->n_out),
                         .factor = sums ? 0 : filter[at],
                         .step = g->s->stride[0]};
                each_row(g, t, fn, &r);
                if (sums) sums[at] += r.factor;
            }
}

void conv_slab_forward(const ConvSlab *g, const double *input, const double *filter, double *output)
{
    all_taps(g, input, filter, NULL, output, row_forward);
}
void conv_slab_data(const ConvSlab *g, double *input, const double *filter, const double *output)
{
    all_taps(g, input, filter, NULL, output, row_data);
}
void conv_slab_weights(const ConvSlab *g, const double *input, double *filter, const double *output)
{
    all_taps(g, input, NULL, filter, output, row_weights);
}
