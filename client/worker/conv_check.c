/* Checks of convolutions against the reference. See conv_reference.h.
 *
 * The sums: forward, sum_k x_k D[n, k, p] is the convolution of the input with the one filter sum_k x_k F[k];
 * likewise for the other directions, so that all of D is checked at the cost of one row of it. The tolerance
 * of a sum of rounded elements with random signs: by Hoeffding's inequality it exceeds LIMIT times the root
 * of the sum of squared bounds with a probability below 1e-12. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "client/worker/conv_slab.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

static const double LIMIT = 7.6; /* sqrt(2 ln(2 / 1e-12)) */
static const double SMALL_FLOPS =
    3e8; /* a convolution of which every element is compared: some tenths of a second */
enum { SAMPLES = 256, SUSPECTS_MAX = 64 };

typedef struct {
    const ConvData *d;
    ConvSlab g;           /* of one row */
    int64_t rows;         /* that are summed: M of the matrix product */
    int64_t n_sum;        /* numbers of one row of the operand that is summed */
    double *sum, *square; /* per group (weights: per image and group): its sums, and sums of squares */
    uint64_t seed;
    double unit, sum_unit; /* relative errors: of a stored element, of its sum */
    Check *out;
    atomic_bool failed;
    atomic_flag lock;
    int64_t n_suspects;
    int64_t suspect[SUSPECTS_MAX][2]; /* task, position in the row */
} Checker;

static double sign_of(const Checker *v, int64_t row)
{
    return random_at(v->seed + (uint64_t)row, 0) & 1 ? 1 : -1;
}

/* ---- elements ---- */

/* Whether the rounding of its sum explains an element's error. */
static bool is_rounding(const Checker *v, const int64_t at[CONV_DIMS], double have, double want)
{
    double scale;
    if (v->unit == 0 || !isfinite(have)) return false;
    conv_reference_element(v->d, at, &scale);
    return fabs(have - want) <= LIMIT * (v->unit * fabs(want) + v->sum_unit * scale);
}

static void compare(Checker *v, const int64_t at[CONV_DIMS], double want)
{
    const ConvDesc *c = v->d->c;
    const ConvTensor t = conv_result(c);
    const DataType type = (DataType)c->type[t];
    int64_t size[CONV_DIMS], stride[CONV_DIMS], offset = 0;
    double have;
    Check *k = v->out;
    conv_tensor(c, t, size, stride);
    for (int i = 0; i < CONV_DIMS; i++) offset += at[i] * stride[i];
    numbers_load(type, v->d->data[t], offset, 1, 1, &have, NULL);
    want = number_round(type, want);
    const double error = validate_error(type, have, want), tolerance = number_tolerance(type);
    k->n_checked++;
    k->diff += fabs(have - want);
    k->want += fabs(want);
    if (error > k->max_err) k->max_err = error;
    if (error == 0 || error < tolerance || is_rounding(v, at, have, want)) return;
    if (k->n_wrong++ == 0)
        snprintf(k->text, sizeof k->text,
                 "element (%lld, %lld, %lld, %lld, %lld) of the %s is %g, expected %g", (long long)at[0],
                 (long long)at[1], (long long)at[2], (long long)at[3], (long long)at[4], conv_tensor_name(t),
                 have, want);
}

static void position(const ConvDesc *c, int64_t index, int64_t at[CONV_DIMS])
{
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    conv_tensor(c, conv_result(c), size, stride);
    for (int i = CONV_DIMS; i-- > 0;) {
        at[i] = index % size[i];
        index /= size[i];
    }
}

static Err compare_all(Checker *v)
{
    const ConvDesc *c = v->d->c;
    const int64_t n = conv_elements(c, conv_result(c));
    double *want = calloc((size_t)n, sizeof *want);
    if (!want) FAIL(ERR_FAILED, "out of memory for the reference (%lld numbers)", (long long)n);
    Err e = conv_reference(v->d, want);
    for (int64_t i = 0; i < n && !e; i++) {
        int64_t at[CONV_DIMS];
        position(c, i, at);
        compare(v, at, want[i]);
    }
    free(want);
    v->out->covered = true;
    return e;
}

/* ---- sums ---- */

/* to[0 .. n) = sum of the rows' numbers with their signs, and square[i] the sum of their squares. */
static void sum_rows(const Checker *v, int64_t row0, int64_t n, const double *from, double *to,
                     double *square)
{
    for (int64_t r = 0; r < v->rows; r++) {
        const double sign = sign_of(v, row0 + r);
        for (int64_t i = 0; i < n; i++) {
            const double x = from[r * n + i];
            to[i] += sign * x;
            square[i] += x * x;
        }
    }
}

static void suspect(Checker *v, int64_t slab, int64_t i)
{
    while (atomic_flag_test_and_set(&v->lock)) continue;
    const int64_t n = v->n_suspects++;
    if (n < SUSPECTS_MAX) v->suspect[n][0] = slab, v->suspect[n][1] = i;
    atomic_flag_clear(&v->lock);
}

static double *numbers(int64_t n) { return calloc((size_t)n, sizeof(double)); }

/* have, have2: of the result, sums and sums of squares; want: of the reference; most: sums of
 * squared products. */
static void judge(Checker *v, int64_t task, int64_t n, const double *have, const double *have2,
                  const double *want, const double *most)
{
    static const double WRAP = 4294967296.0; /* of int32 */
    for (int64_t i = 0; i < n; i++) {
        const double tolerance = LIMIT * (v->unit * sqrt(have2[i]) + v->sum_unit * sqrt(most[i]));
        const double diff = have[i] - want[i];
        if (!(fabs(v->unit > 0 ? diff : fmod(diff, WRAP)) <= tolerance)) suspect(v, task, i);
    }
}

/* Where a task's rows of the result lie, and which signs they have. */
typedef struct {
    ConvTensor tensor;
    int64_t first, n_first, second, n_second, row0, n;
} Rows;

static Rows rows_of(const Checker *v, int64_t task)
{
    const ConvDesc *c = v->d->c;
    const ConvSlab *g = &v->g;
    const int64_t groups = c->size.groups, group = task % groups, row0 = group * v->rows;
    switch (c->op) {
    case OP_CONV_FORWARD:
        return (Rows){CONV_OUTPUT, task / groups, 1, row0, v->rows, row0, g->n_out};
    case OP_CONV_BACKWARD_DATA:
        return (Rows){CONV_INPUT, task / groups, 1, row0, v->rows, row0, g->n_in};
    default:
        return (Rows){CONV_FILTER, row0, v->rows, task / groups, 1, row0, g->n_taps};
    }
}

/* Adds up the rows of the result and judges them. */
static bool judge_rows(Checker *v, int64_t task, const double *want, const double *most)
{
    const Rows r = rows_of(v, task);
    double *have = numbers(r.n), *have2 = numbers(r.n), *rows = numbers(r.n * v->rows);
    const bool ok = have && have2 && rows;
    if (ok) {
        conv_slab_load(v->d, r.tensor, r.first, r.n_first, r.second, r.n_second, rows);
        sum_rows(v, r.row0, r.n, rows, have, have2);
        judge(v, task, r.n, have, have2, want, most);
    }
    free(have), free(have2), free(rows);
    return ok;
}

/* ---- the operand that is summed ---- */

/* The filters of a group, [k][c][tap], with c outermost. */
static void exchange(const double *from, int64_t k, int64_t c, int64_t n, double *to)
{
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = 0; j < c; j++)
            for (int64_t l = 0; l < n; l++) to[(j * k + i) * n + l] = from[(i * c + j) * n + l];
}

static void sum_task(void *ctx, int64_t task)
{
    Checker *v = ctx;
    const ConvSlab *g = &v->g;
    const ConvDesc *c = v->d->c;
    const bool weights = c->op == OP_CONV_BACKWARD_WEIGHTS, data = c->op == OP_CONV_BACKWARD_DATA;
    const int64_t group = task % c->size.groups, row0 = group * v->rows;
    double *rows = numbers(v->rows * v->n_sum), *other = numbers(data ? v->rows * v->n_sum : 1);
    double *sum = v->sum + task * v->n_sum, *square = v->square + task * v->n_sum;
    if (rows && other) {
        if (weights)
            conv_slab_load(v->d, CONV_OUTPUT, task / c->size.groups, 1, row0, v->rows, rows);
        else if (data)
            conv_slab_load(v->d, CONV_FILTER, group * g->k, g->k, 0, v->rows, other);
        else
            conv_slab_load(v->d, CONV_FILTER, row0, v->rows, 0, g->c, rows);
        if (data) exchange(other, g->k, v->rows, g->n_taps, rows);
        sum_rows(v, row0, v->n_sum, rows, sum, square);
    } else {
        atomic_store(&v->failed, true);
    }
    free(rows), free(other);
}

/* ---- the reference of the sums ---- */

static void square_all(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) x[i] *= x[i];
}

/* Forward and data: an image and a group. */
static void image_task(void *ctx, int64_t task)
{
    Checker *v = ctx;
    const ConvSlab *g = &v->g;
    const int64_t groups = v->d->c->size.groups, n = task / groups, group = task % groups;
    const bool forward = v->d->c->op == OP_CONV_FORWARD;
    const int64_t channels = forward ? g->c : g->k, n_image = channels * (forward ? g->n_in : g->n_out),
                  n_want = forward ? g->n_out : g->n_in;
    double *image = numbers(n_image), *want = numbers(n_want), *most = numbers(n_want);
    bool ok = image && want && most;
    for (int pass = 0; pass < 2 && ok; pass++) {
        const double *filter = (pass ? v->square : v->sum) + group * v->n_sum;
        double *to = pass ? most : want;
        if (pass)
            square_all(image, n_image);
        else
            conv_slab_load(v->d, conv_right(v->d->c), n, 1, group * channels, channels, image);
        if (forward)
            conv_slab_forward(g, image, filter, to);
        else
            conv_slab_data(g, to, filter, image);
    }
    if (!ok || !judge_rows(v, task, want, most)) atomic_store(&v->failed, true);
    free(image), free(want), free(most);
}

/* Weights: an input channel of a group; the task's number is channel * groups + group. */
static void weights_task(void *ctx, int64_t task)
{
    Checker *v = ctx;
    ConvSlab one = v->g;
    const ConvSize *s = &v->d->c->size;
    const int64_t group = task % s->groups, channel = group * one.c + task / s->groups;
    one.c = 1;
    double *image = numbers(one.n_in), *want = numbers(one.n_taps), *most = numbers(one.n_taps);
    const bool ok = image && want && most;
    for (int64_t n = 0; n < s->n && ok; n++) {
        const int64_t at = (n * s->groups + group) * v->n_sum;
        conv_slab_load(v->d, CONV_INPUT, n, 1, channel, 1, image);
        conv_slab_weights(&one, image, want, v->sum + at);
        square_all(image, one.n_in);
        conv_slab_weights(&one, image, most, v->square + at);
    }
    if (!ok || !judge_rows(v, task, want, most)) atomic_store(&v->failed, true);
    free(image), free(want), free(most);
}

static Err sums(Checker *v)
{
    const ConvDesc *c = v->d->c;
    const ConvSize *s = &c->size;
    const bool weights = c->op == OP_CONV_BACKWARD_WEIGHTS;
    const int64_t n_tasks = weights ? s->n * s->groups : s->groups;
    v->sum = numbers(n_tasks * v->n_sum), v->square = numbers(n_tasks * v->n_sum);
    if (v->sum && v->square) {
        parallel_for(n_tasks, v->d->n_threads, sum_task, v);
        parallel_for(weights ? s->c : s->n * s->groups, v->d->n_threads, weights ? weights_task : image_task,
                     v);
    } else {
        atomic_store(&v->failed, true);
    }
    free(v->sum), free(v->square);
    if (atomic_load(&v->failed)) FAIL(ERR_FAILED, "out of memory for the check of a convolution");
    return ERR_OK;
}

/* The elements of a suspicious sum. */
static void compare_suspect(Checker *v, int64_t task, int64_t at_row)
{
    const ConvDesc *c = v->d->c;
    const Rows r = rows_of(v, task);
    int64_t size[CONV_DIMS], stride[CONV_DIMS];
    conv_tensor(c, r.tensor, size, stride);
    for (int64_t i = 0; i < v->rows; i++) {
        int64_t at[CONV_DIMS] = {r.first + (r.n_first > 1 ? i : 0), r.second + (r.n_second > 1 ? i : 0)};
        int64_t rest = at_row;
        for (int d = CONV_DIMS - 1; d >= 2; d--) {
            at[d] = rest % size[d];
            rest /= size[d];
        }
        compare(v, at, conv_reference_element(v->d, at, NULL));
    }
}

static Err compare_some(Checker *v)
{
    const ConvDesc *c = v->d->c;
    const int64_t n = conv_elements(c, conv_result(c));
    TRY(sums(v));
    for (int64_t i = 0; i < SAMPLES; i++) {
        int64_t at[CONV_DIMS];
        position(c, (int64_t)(random_at(v->seed ^ random_at((uint64_t)i, 0), 0) % (uint64_t)n), at);
        compare(v, at, conv_reference_element(v->d, at, NULL));
    }
    v->out->n_suspect = v->n_suspects;
    for (int64_t i = 0; i < v->n_suspects && i < SUSPECTS_MAX && !v->out->n_wrong; i++)
        compare_suspect(v, v->suspect[i][0], v->suspect[i][1]);
    v->out->covered = true;
    return ERR_OK;
}

Err conv_check(const ConvData *d, const ConvCheckOptions *o, Check *out)
{
    const ConvDesc *c = d->c;
    const bool data = c->op == OP_CONV_BACKWARD_DATA, weights = c->op == OP_CONV_BACKWARD_WEIGHTS;
    Checker v = {.d = d, .seed = random_at(o->seed, 0), .out = out, .lock = ATOMIC_FLAG_INIT};
    ConvGemm gemm;
    *out = (Check){0};
    atomic_init(&v.failed, false);
    conv_slab_init(c, &v.g);
    conv_gemm(c, 0, &gemm);
    v.rows = gemm.m;
    v.n_sum = weights ? v.g.n_out : (data ? v.g.k : v.g.c) * v.g.n_taps;
    *(data ? &v.g.c : &v.g.k) = 1;
    const int bits = number_input_bits((DataType)c->type[conv_right(c)], c->xf32, false);
    v.unit = number_unit((DataType)c->type[conv_result(c)]);
    /* each of n additions rounds a partial sum, which is about as large as the root of the squares' sum */
    v.sum_unit = number_unit((DataType)c->compute) * sqrt((double)gemm.k) + (bits ? ldexp(1, 1 - bits) : 0);
    TRY(conv_flops(c) <= SMALL_FLOPS && !o->never_all ? compare_all(&v) : compare_some(&v));
    out->passed = out->n_wrong == 0 && v.n_suspects <= SUSPECTS_MAX;
    if (v.n_suspects > SUSPECTS_MAX && !out->n_wrong)
        snprintf(out->text, sizeof out->text, "%lld sums of elements differ from the reference",
                 (long long)v.n_suspects);
    return ERR_OK;
}
