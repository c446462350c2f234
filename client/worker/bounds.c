/* Bounds of rounding. See bounds.h. */
#include "client/worker/bounds.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "client/worker/number.h"
#include "client/worker/parallel.h"

static const double SURE = 7; /* L of freivalds.c */
enum { STEP = 512 };

struct Bounds {
    Gemm g;
    bool usable;
    int input_bits;
    atomic_bool finite, fractions;
    double *row, *col; /* m x batch of A, n x batch of B */
};

/* Norm of a line of n elements that starts at (r, c) and goes down the columns of m. */
static double line_norm(Bounds *b, const Matrix *m, int64_t r, int64_t c, int64_t batch, int64_t n)
{
    double re[STEP], im[STEP], sum = 0;
    bool fractions = false;
    for (int64_t l = 0; l < n; l += STEP) {
        int64_t some = n - l < STEP ? n - l : STEP;
        matrix_column(m, r + l, c, batch, some, re, im);
        for (int64_t i = 0; i < some; i++) {
            sum += re[i] * re[i] + im[i] * im[i];
            fractions |= re[i] != nearbyint(re[i]) || im[i] != nearbyint(im[i]);
        }
    }
    if (!isfinite(sum)) atomic_store(&b->finite, false);
    if (fractions) atomic_store(&b->fractions, true);
    return sqrt(sum);
}

static void row_task(void *ctx, int64_t task)
{
    Bounds *b = ctx;
    Matrix t = matrix_transposed(&b->g.a);
    b->row[task] = line_norm(b, &t, 0, task % b->g.m, task / b->g.m, b->g.k);
}

static void column_task(void *ctx, int64_t task)
{
    Bounds *b = ctx;
    b->col[task] = line_norm(b, &b->g.b, 0, task % b->g.n, task / b->g.n, b->g.k);
}

Err bounds_new(const Gemm *g, int n_threads, int input_bits, Bounds **out)
{
    Bounds *b = *out = calloc(1, sizeof *b);
    if (!b) FAIL(ERR_FAILED, "out of memory for bounds (%zu bytes)", sizeof *b);
    b->g = *g;
    b->input_bits = input_bits;
    atomic_init(&b->finite, true);
    atomic_init(&b->fractions, false);
    b->row = malloc((size_t)(g->m * g->batch) * sizeof *b->row);
    b->col = malloc((size_t)(g->n * g->batch) * sizeof *b->col);
    if (!b->row || !b->col) {
        bounds_free(b);
        *out = NULL;
        FAIL(ERR_FAILED, "out of memory for %lld bounds", (long long)((g->m + g->n) * g->batch));
    }
    if (g->alpha[0] != 0 || g->alpha[1] != 0) {
        parallel_for(g->m * g->batch, n_threads, row_task, b);
        parallel_for(g->n * g->batch, n_threads, column_task, b);
        b->usable = atomic_load(&b->finite) && atomic_load(&b->fractions);
    }
    return 0;
}

void bounds_free(Bounds *b)
{
    if (!b) return;
    free(b->row);
    free(b->col);
    free(b);
}

double bounds_of(const Bounds *b, int64_t i, int64_t j, int64_t batch, double got, double want)
{
    const Gemm *g = &b->g;
    if (!b->usable) return 0;
    double u = number_unit(g->compute) + 0x1p-53, step = SURE * sqrt((double)g->k + 2) * u;
    if (b->input_bits) step += SURE * ldexp(1, -b->input_bits);
    double product = hypot(g->alpha[0], g->alpha[1]) * b->row[i + g->m * batch] * b->col[j + g->n * batch];
    return step * product + 4 * (number_unit(g->out) + u) * (fabs(got) + fabs(want));
}
