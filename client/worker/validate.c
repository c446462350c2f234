/* Validation by element: which elements, their reference, the error formula. The product check is in
 * freivalds.c. */
#include "client/worker/validate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/worker/bounds.h"
#include "client/worker/freivalds.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

/* Below these every element is compared: at most 0.1 s of reference on two cores, 64 MiB of it. */
static const double SMALL_WORK = 0x1p28;
static const int64_t SMALL_ELEMENTS = 1 << 22;
enum { SOME_BLOCKS = 8, SOME_BYTES = 48 << 20, BRIEF_ELEMENTS = 1 << 24 };

struct Validator {
    Gemm g;
    ValidateOptions o;
    bool all, complex;
    int64_t stride, n;         /* elements compared: 0, stride, 2 stride, ... of the logical order */
    double *re, *im;           /* their reference, rounded to the type of D */
    Freivalds *product;        /* NULL when all are compared */
    Bounds *bounds;            /* made when the error formula first finds something wrong */
    double *full_re, *full_im; /* all of D, made when validator_store is asked for more than the sample */
};

int64_t validate_stride(int64_t n_allocated, int64_t n_validate)
{
    int64_t p = n_allocated / n_validate;
    if (p < 2) return 2;
    for (;; p++) {
        bool prime = p < 4 || p % 2;
        for (int64_t d = 3; prime && d <= p / d; d += 2) prime = p % d != 0;
        if (prime) return p;
    }
}

double validate_error(DataType t, double a, double b)
{
    if (a == b || (isnan(a) && isnan(b))) return 0;
    if (type_info(t)->integral || !isfinite(a) || !isfinite(b)) return INFINITY;
    return fabs(a - b) / (fabs(a) + fabs(b) + 1);
}

enum { ROUNDED = 1 << 14 }; /* elements of a task */

static void round_task(void *ctx, int64_t task)
{
    Validator *v = ctx;
    const int64_t from = task * ROUNDED, to = from + ROUNDED < v->n ? from + ROUNDED : v->n;
    for (int64_t i = from; i < to; i++) {
        v->re[i] = number_round(v->g.out, v->re[i]);
        if (v->complex) v->im[i] = number_round(v->g.out, v->im[i]);
    }
}

static void round_all(Validator *v)
{
    parallel_for((v->n + ROUNDED - 1) / ROUNDED, v->o.n_threads, round_task, v);
}

static void logical_position(const Gemm *g, int64_t index, int64_t *i, int64_t *j, int64_t *b)
{
    *i = index % g->m;
    *j = index / g->m % g->n;
    *b = index / g->m / g->n;
}

static void sample_task(void *ctx, int64_t task)
{
    Validator *v = ctx;
    int64_t i, j, b;
    logical_position(&v->g, task * v->stride, &i, &j, &b);
    Value x = reference_element(&v->g, i, j, b);
    v->re[task] = x.re;
    if (v->complex) v->im[task] = x.im;
}

static Err prepare(Validator *v)
{
    const Gemm *g = &v->g;
    v->re = malloc((size_t)v->n * sizeof *v->re + 1);
    v->im = v->complex ? malloc((size_t)v->n * sizeof *v->im + 1) : NULL;
    if (!v->re || (v->complex && !v->im))
        FAIL(ERR_FAILED, "out of memory for the reference of %lld elements", (long long)v->n);
    if (v->all)
        TRY(reference_all(g, v->o.n_threads, v->re, v->im));
    else
        parallel_for(v->n, v->o.n_threads, sample_task, v);
    round_all(v);
    if (v->all || g->fused) return 0;
    const int64_t most = !v->o.brief ? 0 : v->o.brief_max ? v->o.brief_max : BRIEF_ELEMENTS;
    return freivalds_new(g, v->o.n_threads, v->o.input_bits, most, &v->product);
}

bool validator_is_small(const Gemm *g)
{
    int64_t elements = g->m * g->n * g->batch;
    return (double)elements * (double)g->k <= SMALL_WORK && elements <= SMALL_ELEMENTS;
}

Err validator_new(const Gemm *g, const ValidateOptions *o, Validator **out)
{
    *out = NULL;
    Validator *v = calloc(1, sizeof *v);
    if (!v) FAIL(ERR_FAILED, "out of memory for a validator (%zu bytes)", sizeof *v);
    v->g = *g;
    v->o = *o;
    v->complex = gemm_is_complex(g);
    int64_t elements = g->m * g->n * g->batch;
    v->all = o->n_validate < 0 || o->n_validate >= elements || (!o->never_all && validator_is_small(g));
    v->stride = v->all || o->n_validate == 0 ? 1 : validate_stride(o->n_allocated, o->n_validate);
    v->n = o->n_validate == 0 ? 0 : (elements + v->stride - 1) / v->stride;
    Err e = o->n_validate == 0 ? 0 : prepare(v);
    if (e) {
        validator_free(v);
        return e;
    }
    *out = v;
    return 0;
}

void validator_free(Validator *v)
{
    if (!v) return;
    freivalds_free(v->product);
    bounds_free(v->bounds);
    free(v->full_re);
    free(v->full_im);
    free(v->re);
    free(v->im);
    free(v);
}

typedef struct {
    Validator *v;
    Check *out;
    int64_t printed;
    double tolerance;
    Err failed;
} Compare;

static void describe(const Gemm *g, Check *out, int64_t i, int64_t j, int64_t b, Value got, Value want)
{
    int digits = type_info(g->out)->integral ? 10 : 9;
    if (type_info(g->out)->complex)
        snprintf(out->text, sizeof out->text, "D(%lld,%lld,%lld) is (%.9g,%.9g), should be (%.9g,%.9g)",
                 (long long)i, (long long)j, (long long)b, got.re, got.im, want.re, want.im);
    else
        snprintf(out->text, sizeof out->text, "D(%lld,%lld,%lld) is %.*g, should be %.*g", (long long)i,
                 (long long)j, (long long)b, digits, got.re, digits, want.re);
}

/* Whether the difference is within the bound of rounding errors, although the error formula rejects it. */
static bool within_bounds(Compare *c, int64_t i, int64_t j, int64_t b, Value got, Value want)
{
    Validator *v = c->v;
    if (!v->bounds && !c->failed) c->failed = bounds_new(&v->g, v->o.n_threads, v->o.input_bits, &v->bounds);
    return v->bounds && fabs(got.re - want.re) <= bounds_of(v->bounds, i, j, b, got.re, want.re) &&
           fabs(got.im - want.im) <= bounds_of(v->bounds, i, j, b, got.im, want.im);
}

static bool compare_value(Compare *c, int64_t i, int64_t j, int64_t b, Value got, Value want)
{
    const Gemm *g = &c->v->g;
    double err = validate_error(g->out, got.re, want.re);
    if (type_info(g->out)->complex) err = fmax(err, validate_error(g->out, got.im, want.im));
    bool good = err == 0 || err < c->tolerance || within_bounds(c, i, j, b, got, want);
    c->out->n_checked++;
    c->out->diff += fabs(got.re - want.re) + fabs(got.im - want.im);
    c->out->want += fabs(want.re) + fabs(want.im);
    if (err > c->out->max_err) c->out->max_err = err;
    if (!good && c->out->n_wrong++ == 0) describe(g, c->out, i, j, b, got, want);
    const ValidateOptions *o = &c->v->o;
    if ((!good || o->print_valids) && (o->print_max < 0 || c->printed < o->print_max)) {
        Check line;
        describe(g, &line, i, j, b, got, want);
        fprintf(stderr, "%s: %s\n", line.text, good ? "right" : "wrong");
        c->printed++;
    }
    return good;
}

enum { STEP = 256, TASK = 4096 }; /* TASK: about the number of elements of a task */

/* Figures of columns of D that the error formula accepts: the largest error, and sums (see Check). */
typedef struct {
    double err, diff, want;
} Figures;

typedef struct {
    const Validator *v;
    const Matrix *d;
    Figures *figures; /* of each task */
    int64_t n, width; /* columns, all batch matrices together, and those of a task */
} Columns;

static void column_add(const Columns *c, int64_t column, Figures *out)
{
    const Validator *v = c->v;
    int64_t j = column % v->g.n, b = column / v->g.n;
    double re[STEP], im[STEP];
    Figures x = *out;
    for (int64_t i0 = 0; i0 < v->g.m; i0 += STEP) {
        int64_t n = v->g.m - i0 < STEP ? v->g.m - i0 : STEP, at = i0 + v->g.m * column;
        matrix_column(c->d, i0, j, b, n, re, im);
        for (int64_t i = 0; i < n; i++) {
            double want_im = v->complex ? v->im[at + i] : 0;
            x.err = fmax(x.err, validate_error(v->g.out, re[i], v->re[at + i]));
            if (v->complex) x.err = fmax(x.err, validate_error(v->g.out, im[i], want_im));
            x.diff += fabs(re[i] - v->re[at + i]) + (v->complex ? fabs(im[i] - want_im) : 0);
            x.want += fabs(v->re[at + i]) + fabs(want_im);
        }
    }
    *out = x;
}

static void columns_task(void *ctx, int64_t task)
{
    const Columns *c = ctx;
    const int64_t from = task * c->width, to = c->n - from < c->width ? c->n : from + c->width;
    Figures x = {0};
    for (int64_t j = from; j < to; j++) column_add(c, j, &x);
    c->figures[task] = x;
}

/* Checks all elements on several threads; false when one is wrong, then compare_elements reports it. */
static bool all_right(Compare *c, const Matrix *d)
{
    const Validator *v = c->v;
    Columns x = {.v = v, .d = d, .n = v->g.n * v->g.batch, .width = TASK / (v->g.m + 1) + 1};
    const int64_t tasks = (x.n + x.width - 1) / x.width;
    x.figures = malloc((size_t)tasks * sizeof *x.figures);
    bool right = x.figures != NULL;
    if (right) parallel_for(tasks, v->o.n_threads, columns_task, &x);
    Figures all = {0};
    for (int64_t i = 0; i < tasks && right; i++) {
        all.err = fmax(all.err, x.figures[i].err);
        all.diff += x.figures[i].diff;
        all.want += x.figures[i].want;
    }
    free(x.figures);
    if (!right || !(all.err == 0 || all.err < c->tolerance)) return false;
    c->out->n_checked += v->n;
    if (all.err > c->out->max_err) c->out->max_err = all.err;
    c->out->diff += all.diff;
    c->out->want += all.want;
    return true;
}

static void compare_elements(Compare *c, const Matrix *d)
{
    const Validator *v = c->v;
    if (v->all && v->n && !v->o.print_valids && all_right(c, d)) return;
    double re[STEP], im[STEP];
    for (int64_t x = 0; x < v->n;) {
        int64_t i, j, b, n = 1;
        logical_position(&v->g, x * v->stride, &i, &j, &b);
        if (v->all) n = v->g.m - i < STEP ? v->g.m - i : STEP;
        matrix_column(d, i, j, b, n, re, im);
        for (int64_t y = 0; y < n; y++, x++)
            compare_value(c, i + y, j, b, (Value){re[y], im[y]},
                          (Value){v->re[x], v->complex ? v->im[x] : 0});
    }
}

/* Compares the elements of a suspicious sum up to the first wrong one. */
static bool compare_suspect(Compare *c, const Matrix *d, const Suspect *s)
{
    const Gemm *g = &c->v->g;
    for (int64_t j = s->j0; j < s->j1; j++) {
        Value want = reference_element(g, s->i, j, s->b);
        want = (Value){number_round(g->out, want.re), number_round(g->out, want.im)};
        if (!compare_value(c, s->i, j, s->b, matrix_at(d, s->i, j, s->b), want)) return false;
    }
    return true;
}

static Err check_product(Compare *c, const Matrix *d, int64_t n_blocks)
{
    enum { SUSPECTS = 64 };
    Suspect suspect[SUSPECTS];
    Check *out = c->out;
    TRY(freivalds_check(c->v->product, d, n_blocks, suspect, SUSPECTS, &out->n_suspect));
    for (int64_t i = 0; i < out->n_suspect && i < SUSPECTS && out->n_wrong == 0; i++)
        compare_suspect(c, d, &suspect[i]);
    return 0;
}

static void conclude(const Validator *v, Check *out)
{
    out->passed = out->n_wrong == 0;
    if (out->passed && out->n_suspect)
        snprintf(out->text, sizeof out->text,
                 "rounding is larger than that of the accumulator in %lld sums, within the tolerance",
                 (long long)out->n_suspect);
    else if (out->passed && !out->covered && v->n && !validator_has_ranges(v))
        snprintf(out->text, sizeof out->text,
                 v->g.fused ? "fused operations: sample of %lld elements only"
                            : "inputs are not finite: sample of %lld elements only",
                 (long long)v->n);
}

Err validator_check(Validator *v, const Matrix *d, Check *out)
{
    *out = (Check){.passed = true, .covered = v->all && v->n > 0};
    Compare c = {v, out, 0, number_tolerance(v->g.out), 0};
    compare_elements(&c, d);
    if (validator_has_ranges(v)) {
        out->covered = freivalds_covers(v->product);
        TRY(check_product(&c, d, 0));
    }
    conclude(v, out);
    return c.failed;
}

/* The number of column blocks to check, an eighth of D; fewer for large results, because their bytes are
 * copied over PCIe. Where columns are left out, blocks are narrower, so that an eighth has more of them. */
static int64_t some_blocks(const Validator *v)
{
    enum { PART = 8, LEAST = 2 };
    const Gemm *g = &v->g;
    int64_t all = freivalds_n_blocks(v->product), shares = all, j0, j1, b;
    if (!freivalds_covers(v->product)) {
        freivalds_block(v->product, 0, &j0, &j1, &b);
        shares = g->n * g->batch / (j1 - j0);
    }
    int64_t bytes = g->m * g->n * g->batch * type_bytes(g->out) / shares;
    int64_t n = SOME_BYTES / (bytes + 1);
    if (n > shares / PART) n = shares / PART;
    if (n > all) n = all;
    return n < LEAST ? LEAST : n > SOME_BLOCKS ? SOME_BLOCKS : n;
}

bool validator_has_ranges(const Validator *v) { return v->product && freivalds_usable(v->product); }

bool validator_range(const Validator *v, int64_t i, int64_t *j0, int64_t *j1, int64_t *b)
{
    int64_t all = freivalds_n_blocks(v->product), n = some_blocks(v);
    if (i >= n || i >= all) return false;
    freivalds_block(v->product, freivalds_pick(v->product, i, n), j0, j1, b);
    return true;
}

Err validator_check_some(Validator *v, const Matrix *d, Check *out)
{
    *out = (Check){.passed = true};
    Compare c = {v, out, 0, number_tolerance(v->g.out), 0};
    TRY(check_product(&c, d, some_blocks(v)));
    out->passed = out->n_wrong == 0;
    return c.failed;
}

static Err make_full(Validator *v)
{
    const Gemm *g = &v->g;
    size_t n = (size_t)(g->m * g->n * g->batch);
    v->full_re = malloc(n * sizeof *v->full_re);
    v->full_im = v->complex ? malloc(n * sizeof *v->full_im) : NULL;
    Err e = 0;
    if (!v->full_re || (v->complex && !v->full_im))
        e = err_set(ERR_FAILED, "out of memory for %zu elements", n);
    if (!e) e = reference_all(g, v->o.n_threads, v->full_re, v->full_im);
    if (e) {
        free(v->full_re);
        v->full_re = NULL;
    }
    return e;
}

Err validator_store(Validator *v, const Matrix *d, void *data)
{
    const Gemm *g = &v->g;
    bool have = v->all && v->n > 0;
    if (!have && !v->full_re) TRY(make_full(v));
    const double *re = have ? v->re : v->full_re, *im = have ? v->im : v->full_im;
    for (int64_t x = 0; x < g->m * g->n * g->batch; x++) {
        int64_t i, j, b;
        logical_position(g, x, &i, &j, &b);
        number_store(g->out, data, matrix_index(d, i, j, b), re[x], im ? im[x] : 0);
    }
    return 0;
}
