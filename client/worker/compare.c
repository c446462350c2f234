/* Comparison of whole results. See compare.h. */
#include "client/worker/compare.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "client/worker/bounds.h"
#include "client/worker/number.h"
#include "client/worker/parallel.h"

enum { STEP = 256 };

typedef struct {
    const Gemm *g;
    const Matrix *d, *reference;
    const Bounds *bounds;
    double tolerance;
    Check *out;
    pthread_mutex_t lock;
} Comparing;

static void wrong(Comparing *c, int64_t i, int64_t j, int64_t b, double got, double want)
{
    pthread_mutex_lock(&c->lock);
    if (c->out->n_wrong++ == 0)
        snprintf(c->out->text, sizeof c->out->text, "D(%lld,%lld,%lld) is %.9g, the peer has %.9g",
                 (long long)i, (long long)j, (long long)b, got, want);
    pthread_mutex_unlock(&c->lock);
}

static bool good(const Comparing *c, int64_t i, int64_t j, int64_t b, double got, double want, double *err)
{
    double e = validate_error(c->g->out, got, want);
    if (e > *err) *err = e;
    if (e == 0 || e < c->tolerance) return true;
    return fabs(got - want) <= 2 * bounds_of(c->bounds, i, j, b, got, want);
}

static void column_task(void *ctx, int64_t task)
{
    Comparing *c = ctx;
    int64_t j = task % c->g->n, b = task / c->g->n;
    double re[STEP], im[STEP], want_re[STEP], want_im[STEP], err = 0;
    for (int64_t i0 = 0; i0 < c->g->m; i0 += STEP) {
        int64_t n = c->g->m - i0 < STEP ? c->g->m - i0 : STEP;
        matrix_column(c->d, i0, j, b, n, re, im);
        matrix_column(c->reference, i0, j, b, n, want_re, want_im);
        for (int64_t i = 0; i < n; i++) {
            if (!good(c, i0 + i, j, b, re[i], want_re[i], &err)) wrong(c, i0 + i, j, b, re[i], want_re[i]);
            if (!good(c, i0 + i, j, b, im[i], want_im[i], &err)) wrong(c, i0 + i, j, b, im[i], want_im[i]);
        }
    }
    pthread_mutex_lock(&c->lock);
    if (err > c->out->max_err) c->out->max_err = err;
    c->out->n_checked += c->g->m;
    pthread_mutex_unlock(&c->lock);
}

Err compare_results(const Gemm *g, const Matrix *d, const Matrix *reference, int n_threads, int input_bits,
                    Check *out)
{
    Bounds *bounds;
    *out = (Check){.covered = true};
    TRY(bounds_new(g, n_threads, input_bits, &bounds));
    Comparing c = {g, d, reference, bounds, number_tolerance(g->out), out, PTHREAD_MUTEX_INITIALIZER};
    parallel_for(g->n * g->batch, n_threads, column_task, &c);
    out->passed = out->n_wrong == 0;
    bounds_free(bounds);
    return 0;
}
