/* Ridge regression over choices. See surrogate.h. */
#include "measure/surrogate.h"

#include <math.h>
#include <string.h>

/* RIDGE: noise variance over prior variance of a choice's weight, both about 0.1 squared; RIDGE_PAIR: the
 * same for pairs of choices; RIDGE_SIZE: for the constant of a size, which only part of its classes of
 * kernels share. SD_UNSEEN: standard deviation due to a choice that was never measured; SD_PAIR: due to a
 * pair of choices, which falls with the number of measurements that have it. */
static const double RIDGE = 1, RIDGE_PAIR = 4, RIDGE_SIZE = 0.5, SD_UNSEEN = 0.1, SD_PAIR = 0.01;

Err surrogate_init(Surrogate *s, Arena *a, size_t n_dims, const size_t *n_choices, size_t n_sizes,
                   const double *x)
{
    *s = (Surrogate){.n_dims = n_dims, .n_sizes = n_sizes, .x = x};
    s->first = ARENA_ARRAY(a, n_dims, size_t);
    TRY_ALLOC(s->first);
    size_t total = 0;
    for (size_t d = 0; d < n_dims; d++) {
        s->first[d] = n_sizes + total;
        total += n_choices[d];
    }
    if (n_sizes + 2 * total <= SURROGATE_FEATURES) s->slope = total;
    s->n_features = n_sizes + total + s->slope;
    if (s->n_features + SURROGATE_PAIRS <= SURROGATE_FEATURES && n_dims <= SURROGATE_PAIR_DIMS) {
        s->pairs = s->n_features;
        s->n_features += SURROGATE_PAIRS;
    }
    if (s->n_features > SURROGATE_FEATURES) s->n_features = 0; /* too many values to learn from few samples */
    const size_t n = s->n_features;
    s->ata = ARENA_ARRAY(a, n * n, double);
    s->atb = ARENA_ARRAY(a, n, double);
    s->w = ARENA_ARRAY(a, n, double);
    s->seen = ARENA_ARRAY(a, n, size_t);
    if (!s->ata || !s->atb || !s->w || !s->seen) FAIL(ERR_FAILED, "out of memory for %zu features", n);
    return 0;
}

void surrogate_reset(Surrogate *s)
{
    const size_t n = s->n_features;
    memset(s->ata, 0, n * n * sizeof *s->ata);
    memset(s->atb, 0, n * sizeof *s->atb);
    memset(s->w, 0, n * sizeof *s->w);
    memset(s->seen, 0, n * sizeof *s->seen);
    s->n = 0;
}

static size_t pair_bucket(size_t a, size_t b)
{
    const uint64_t mixed = (a * 0x9e3779b97f4a7c15u + b + 1) * 0xbf58476d1ce4e5b9u;
    return (size_t)(mixed >> 32) % SURROGATE_PAIRS;
}

/* Features that are not 0. */
static size_t features(const Surrogate *s, const uint32_t *choice, size_t size, size_t *at, double *value)
{
    size_t n = 0;
    at[n] = size;
    value[n++] = 1;
    for (size_t d = 0; d < s->n_dims; d++) {
        at[n] = s->first[d] + choice[d];
        value[n++] = 1;
        if (!s->slope) continue;
        at[n] = s->first[d] + choice[d] + s->slope;
        value[n++] = s->x[size];
    }
    for (size_t d = 0; s->pairs && d < s->n_dims; d++)
        for (size_t k = 0; k < d; k++) {
            at[n] = s->pairs + pair_bucket(s->first[d] + choice[d], s->first[k] + choice[k]);
            value[n++] = 1;
        }
    return n;
}

enum { DIMS_MAX = 160, NONZERO_MAX = 1 + 2 * DIMS_MAX + SURROGATE_PAIR_DIMS * SURROGATE_PAIR_DIMS / 2 };

void surrogate_add(Surrogate *s, const uint32_t *choice, size_t size, double log_ratio)
{
    size_t at[NONZERO_MAX];
    double value[NONZERO_MAX];
    if (!s->n_features || s->n_dims > DIMS_MAX) return;
    const size_t k = features(s, choice, size, at, value);
    for (size_t i = 0; i < k; i++) {
        s->seen[at[i]]++;
        s->atb[at[i]] += value[i] * log_ratio;
        for (size_t j = 0; j < k; j++) s->ata[at[i] * s->n_features + at[j]] += value[i] * value[j];
    }
    s->n++;
}

/* Solves (ata + ridge) w = atb by Cholesky decomposition in place. */
static void solve(Surrogate *s)
{
    const size_t n = s->n_features;
    double *a = s->ata, *w = s->w;
    for (size_t i = 0; i < n; i++)
        a[i * n + i] += i < s->n_sizes ? RIDGE_SIZE : s->pairs && i >= s->pairs ? RIDGE_PAIR : RIDGE;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / a[j * n + j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double sum = s->atb[i];
        for (size_t k = 0; k < i; k++) sum -= a[i * n + k] * w[k];
        w[i] = sum / a[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        double sum = w[i];
        for (size_t k = i + 1; k < n; k++) sum -= a[k * n + i] * w[k];
        w[i] = sum / a[i * n + i];
    }
}

void surrogate_fit(Surrogate *s)
{
    if (s->n && s->n_features) solve(s);
}

void surrogate_look(const Surrogate *s, const uint32_t *choice, SurrogateKernel *k)
{
    *k = (SurrogateKernel){0};
    if (!s->n || !s->n_features || s->n_dims > DIMS_MAX) return;
    double variance = 0;
    for (size_t d = 0; d < s->n_dims; d++) {
        const size_t at = s->first[d] + choice[d];
        k->constant += s->w[at];
        if (s->slope) k->slope += s->w[at + s->slope];
        if (!s->seen[at]) variance += SD_UNSEEN * SD_UNSEEN;
        for (size_t e = 0; s->pairs && e < d; e++) {
            const size_t pair = s->pairs + pair_bucket(at, s->first[e] + choice[e]);
            k->constant += s->w[pair];
            variance += SD_PAIR * SD_PAIR / (1 + (double)s->seen[pair]);
        }
    }
    k->sd = sqrt(variance);
}

double surrogate_predict(const Surrogate *s, const SurrogateKernel *k, size_t size)
{
    return s->n && s->n_features ? s->w[size] + k->constant + k->slope * s->x[size] : 0;
}

/* E[max(0, -x)] of a normal x, which approximates the expected saving where x is a logarithm. */
double expected_gain(double mean, double sd)
{
    const double z = -mean / sd;
    const double density = 0.3989422804014327 * exp(-0.5 * z * z),
                 below = 0.5 * erfc(-z * 0.7071067811865476);
    return fmax(0, sd * density - mean * below);
}
