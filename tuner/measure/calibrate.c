/* Levenberg and Marquardt's method on the logarithms of a class's rates. See calibrate.h. */
#include "measure/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/stats.h"

enum { N = MODEL_N_RATES, STEPS_MAX = 60 };

/* NOISE: standard deviation of log(predicted / measured) at perfect rates. PRIOR, PRIOR_PART: standard
 * deviations of the logarithms of rates around the typical ones, of clocks and of parts of a bandwidth.
 * BOUND: the largest change of a logarithm, for samples that no rates explain. STEP: of the numeric
 * derivative. */
static const double NOISE = 0.12, PRIOR = 0.8, PRIOR_PART = 0.12, BOUND = 2.5, STEP = 0.01;

typedef struct {
    const ModelSample *const *sample;
    size_t n;
    const ModelDevice *d;
    const ModelRates *typical;
    double *residual; /* of n samples */
    double *slope;    /* n * N */
} Fit;

static ModelRates rates_at(const Fit *f, const double *x)
{
    ModelRates r;
    double v[N];
    memcpy(v, f->typical, sizeof v);
    for (int i = 0; i < N; i++) v[i] *= exp(x[i]);
    memcpy(&r, v, sizeof v);
    return r;
}

double model_weight(double seconds, double best_s) { return seconds > 0 ? best_s / seconds : 0; }

static double log_error(const Fit *f, const ModelRates *r, size_t i)
{
    const ModelSample *s = f->sample[i];
    return log(model_time(&s->kernel, f->d, r, &s->size, NULL) / s->seconds);
}

/* Weight of a sample at that error by Huber's function, which limits the influence of single kernels. */
static double weight_at(const ModelSample *s, double error)
{
    double far = fabs(error) / (3 * NOISE);
    return s->weight * (far > 1 ? 1 / far : 1) / (NOISE * NOISE);
}

/* Parts of bandwidths are known better than clocks. */
static double prior_of(int rate)
{
    static const int parts[] = {offsetof(ModelRates, math), offsetof(ModelRates, local),
                                offsetof(ModelRates, l2), offsetof(ModelRates, dram)};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (rate == parts[i] / (int)sizeof(double)) return PRIOR_PART;
    return PRIOR;
}

static double cost_at(const Fit *f, const double *x)
{
    ModelRates r = rates_at(f, x);
    double cost = 0;
    for (size_t i = 0; i < f->n; i++) {
        double e = f->residual[i] = log_error(f, &r, i), far = fabs(e) / (3 * NOISE);
        double e2 = far > 1 ? 9 * NOISE * NOISE * (2 * far - 1) : e * e; /* Huber's loss */
        cost += f->sample[i]->weight * e2 / (NOISE * NOISE);
    }
    for (int i = 0; i < N; i++) cost += x[i] * x[i] / (prior_of(i) * prior_of(i));
    return cost;
}

/* Solves a * x = b for a symmetric positive definite matrix in place. False: the matrix is not definite. */
static bool solve(double a[N][N], double b[N])
{
    for (int i = 0; i < N; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j];
            for (int k = 0; k < j; k++) sum -= a[i][k] * a[j][k];
            if (i == j && sum <= 0) return false;
            a[i][j] = i == j ? sqrt(sum) : sum / a[j][j];
        }
    }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < i; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = N - 1; i >= 0; i--) {
        for (int k = i + 1; k < N; k++) b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
    return true;
}

/* The normal equations at x; residual holds the errors there. */
static void normal(const Fit *f, const double *x, double a[N][N], double b[N])
{
    memset(a, 0, sizeof(double) * N * N);
    memset(b, 0, sizeof(double) * N);
    for (int p = 0; p < N; p++) {
        double y[N];
        memcpy(y, x, sizeof y);
        y[p] += STEP;
        ModelRates r = rates_at(f, y);
        for (size_t i = 0; i < f->n; i++)
            f->slope[i * N + (size_t)p] = (log_error(f, &r, i) - f->residual[i]) / STEP;
    }
    for (size_t i = 0; i < f->n; i++) {
        double w = weight_at(f->sample[i], f->residual[i]);
        const double *s = &f->slope[i * N];
        for (int p = 0; p < N; p++) {
            b[p] -= w * s[p] * f->residual[i];
            for (int q = 0; q <= p; q++) a[p][q] += w * s[p] * s[q];
        }
    }
    for (int p = 0; p < N; p++) {
        a[p][p] += 1 / (prior_of(p) * prior_of(p));
        b[p] -= x[p] / (prior_of(p) * prior_of(p));
    }
}

static void fit_class(const Fit *f, double *x)
{
    double damping = 1e-2, cost = cost_at(f, x);
    for (int step = 0; step < STEPS_MAX && damping < 1e6; step++) {
        double a[N][N], b[N], y[N];
        normal(f, x, a, b);
        for (int p = 0; p < N; p++) a[p][p] *= 1 + damping;
        bool ok = solve(a, b);
        for (int p = 0; ok && p < N; p++) y[p] = fmax(-BOUND, fmin(BOUND, x[p] + b[p]));
        double next = ok ? cost_at(f, y) : (double)INFINITY;
        if (next < cost) {
            bool done = cost - next < 1e-5 * cost;
            memcpy(x, y, sizeof y);
            cost = next;
            damping *= 0.3;
            if (done) break;
        } else {
            damping *= 5;
            cost_at(f, x); /* the errors at x again */
        }
    }
    cost_at(f, x);
}

static double median_error(const Fit *f, double *scratch)
{
    for (size_t i = 0; i < f->n; i++) scratch[i] = fabs(f->residual[i]);
    stats_sort(scratch, f->n);
    return f->n ? scratch[f->n / 2] : 0;
}

Err model_calibrate(const ModelSample *s, size_t n, const ModelDevice *d, ModelRates r[MODEL_CLASSES],
                    ModelFit fit[MODEL_CLASSES])
{
    const ModelSample **sample = malloc((n + 1) * sizeof *sample);
    double *numbers = malloc((n + 1) * (N + 2) * sizeof *numbers);
    if (!sample || !numbers) {
        free(sample);
        free(numbers);
        FAIL(ERR_FAILED, "out of memory for %zu samples of the performance model", n);
    }
    for (int c = 0; c < MODEL_CLASSES; c++) {
        ModelRates typical = r[c];
        Fit f = {sample, 0, d, &typical, numbers, numbers + n + 1};
        double x[N] = {0}, *scratch = numbers + (n + 1) * (N + 1);
        for (size_t i = 0; i < n; i++)
            if (s[i].kernel.class == c && s[i].seconds > 0 && s[i].weight > 0) sample[f.n++] = &s[i];
        ModelFit out = {.n = f.n};
        if (f.n >= MODEL_SAMPLES_MIN) {
            cost_at(&f, x);
            out.before = median_error(&f, scratch);
            fit_class(&f, x);
            out.after = median_error(&f, scratch);
            r[c] = rates_at(&f, x);
        }
        if (fit) fit[c] = out;
    }
    free(sample);
    free(numbers);
    return ERR_OK;
}
