/* References of whole convolutions and of single elements. See conv_reference.h. */
#include "client/worker/conv_reference.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "client/worker/conv_slab.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

typedef struct {
    const ConvData *d;
    ConvSlab g;
    double *out;
    atomic_bool failed;
} Work;

static double *numbers(int64_t n) { return calloc((size_t)n, sizeof(double)); }

/* One image and group: loads what the result depends on and computes that part of it. */
static void image_task(void *ctx, int64_t task)
{
    Work *w = ctx;
    const ConvDesc *c = w->d->c;
    const ConvSlab *g = &w->g;
    const int64_t n = task / c->size.groups, group = task % c->size.groups;
    const bool forward = c->op == OP_CONV_FORWARD;
    const ConvTensor from = conv_right(c);
    const int64_t channels = forward ? g->c : g->k;
    double *image = numbers(channels * (forward ? g->n_in : g->n_out)),
           *filter = numbers(g->k * g->c * g->n_taps);
    if (image && filter) {
        conv_slab_load(w->d, from, n, 1, group * channels, channels, image);
        conv_slab_load(w->d, CONV_FILTER, group * g->k, g->k, 0, g->c, filter);
        if (forward)
            conv_slab_forward(g, image, filter, w->out + (n * c->size.k + group * g->k) * g->n_out);
        else
            conv_slab_data(g, w->out + (n * c->size.c + group * g->c) * g->n_in, filter, image);
    } else {
        atomic_store(&w->failed, true);
    }
    free(image);
    free(filter);
}

/* The filters of one group of output channels, over all images. */
static void weights_task(void *ctx, int64_t task)
{
    Work *w = ctx;
    const ConvDesc *c = w->d->c;
    ConvSlab one = w->g;
    const int64_t k = task, group = k / w->g.k;
    one.k = 1;
    double *input = numbers(one.c * one.n_in), *output = numbers(one.n_out);
    for (int64_t n = 0; n < c->size.n && input && output; n++) {
        conv_slab_load(w->d, CONV_INPUT, n, 1, group * one.c, one.c, input);
        conv_slab_load(w->d, CONV_OUTPUT, n, 1, k, 1, output);
        conv_slab_weights(&one, input, w->out + k * one.c * one.n_taps, output);
    }
    if (!input || !output) atomic_store(&w->failed, true);
    free(input);
    free(output);
}

Err conv_reference(const ConvData *d, double *out)
{
    Work w = {.d = d, .out = out};
    const ConvSize *s = &d->c->size;
    conv_slab_init(d->c, &w.g);
    memset(out, 0, (size_t)conv_elements(d->c, conv_result(d->c)) * sizeof *out);
    atomic_init(&w.failed, false);
    if (d->c->op == OP_CONV_BACKWARD_WEIGHTS)
        parallel_for(s->k, d->n_threads, weights_task, &w);
    else
        parallel_for(s->n * s->groups, d->n_threads, image_task, &w);
    if (atomic_load(&w.failed)) FAIL(ERR_FAILED, "out of memory for the reference of a convolution");
    return ERR_OK;
}

/* ---- one element ---- */

typedef struct {
    const ConvData *d;
    int64_t stride[CONV_TENSORS][CONV_DIMS];
    long double sum, squares;
} Element;

static void add(Element *e, double a, double b)
{
    const long double product = (long double)a * b;
    e->sum += product;
    e->squares += product * product;
}

static double value(const Element *e, ConvTensor t, int64_t i, int64_t j, const int64_t at[CONV_SPATIAL])
{
    const int64_t *s = e->stride[t];
    double re;
    numbers_load((DataType)e->d->c->type[t], e->d->data[t],
                 i * s[0] + j * s[1] + at[2] * s[2] + at[1] * s[3] + at[0] * s[4], 1, 1, &re, NULL);
    return re;
}

/* Counts `at` up below `size`; false after the last. */
static bool next(int64_t at[CONV_SPATIAL], const int64_t size[CONV_SPATIAL])
{
    for (int d = 0; d < CONV_SPATIAL; d++) {
        if (++at[d] < size[d]) return true;
        at[d] = 0;
    }
    return false;
}

static void element_forward(Element *e, const int64_t at[CONV_DIMS])
{
    const ConvSize *s = &e->d->c->size;
    const int64_t cg = s->c / s->groups, first = at[1] / (s->k / s->groups) * cg;
    int64_t tap[CONV_SPATIAL] = {0}, in[CONV_SPATIAL];
    do {
        bool inside = true;
        for (int d = 0; d < CONV_SPATIAL; d++) {
            in[d] = at[CONV_DIMS - 1 - d] * s->stride[d] + tap[d] * s->dilation[d] - s->pad[d];
            inside &= in[d] >= 0 && in[d] < s->in[d];
        }
        for (int64_t c = 0; c < cg && inside; c++)
            add(e, value(e, CONV_INPUT, at[0], first + c, in), value(e, CONV_FILTER, at[1], c, tap));
    } while (next(tap, s->filter));
}

static void element_data(Element *e, const int64_t at[CONV_DIMS])
{
    const ConvSize *s = &e->d->c->size;
    const int64_t cg = s->c / s->groups, kg = s->k / s->groups, first = at[1] / cg * kg;
    int64_t tap[CONV_SPATIAL] = {0}, out[CONV_SPATIAL];
    do {
        bool inside = true;
        for (int d = 0; d < CONV_SPATIAL; d++) {
            const int64_t from = at[CONV_DIMS - 1 - d] + s->pad[d] - tap[d] * s->dilation[d];
            out[d] = from / s->stride[d];
            inside &= from >= 0 && from % s->stride[d] == 0 && out[d] < conv_out(s, d);
        }
        for (int64_t k = 0; k < kg && inside; k++)
            add(e, value(e, CONV_OUTPUT, at[0], first + k, out),
                value(e, CONV_FILTER, first + k, at[1] % cg, tap));
    } while (next(tap, s->filter));
}

static void element_weights(Element *e, const int64_t at[CONV_DIMS])
{
    const ConvSize *s = &e->d->c->size;
    const int64_t c = at[0] / (s->k / s->groups) * (s->c / s->groups) + at[1];
    const int64_t size[CONV_SPATIAL] = {conv_out(s, 0), conv_out(s, 1), conv_out(s, 2)};
    int64_t out[CONV_SPATIAL] = {0}, in[CONV_SPATIAL];
    do {
        bool inside = true;
        for (int d = 0; d < CONV_SPATIAL; d++) {
            in[d] = out[d] * s->stride[d] + at[CONV_DIMS - 1 - d] * s->dilation[d] - s->pad[d];
            inside &= in[d] >= 0 && in[d] < s->in[d];
        }
        for (int64_t n = 0; n < s->n && inside; n++)
            add(e, value(e, CONV_INPUT, n, c, in), value(e, CONV_OUTPUT, n, at[0], out));
    } while (next(out, size));
}

double conv_reference_element(const ConvData *d, const int64_t at[CONV_DIMS], double *scale)
{
    Element e = {.d = d};
    int64_t size[CONV_DIMS];
    for (int t = 0; t < CONV_TENSORS; t++) conv_tensor(d->c, (ConvTensor)t, size, e.stride[t]);
    switch (d->c->op) {
    case OP_CONV_FORWARD:
        element_forward(&e, at);
        break;
    case OP_CONV_BACKWARD_DATA:
        element_data(&e, at);
        break;
    default:
        element_weights(&e, at);
    }
    if (scale) *scale = (double)sqrtl(e.squares);
    return (double)e.sum;
}
