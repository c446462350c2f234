/* Statistics of repeated timings. See stats.h. */
#include "measure/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXACT_MAX = 20, THIN_MAX = 400 };

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stats_sort(double *x, size_t n)
{
    if (n > 1) qsort(x, n, sizeof *x, compare_doubles);
}

double stats_quantile(const double *sorted, size_t n, double q)
{
    if (n == 0) return NAN;
    double at = q * (double)(n - 1);
    size_t i = (size_t)at;
    if (i + 1 >= n) return sorted[n - 1];
    double f = at - (double)i;
    return sorted[i] + f * (sorted[i + 1] - sorted[i]);
}

double stats_binomial_half(size_t n, size_t k)
{
    if (k >= n) return 1;
    double N = (double)n;
    /* Terms below mean - 9 sigma add less than 1e-18. */
    double first = floor(N / 2 - 4.5 * sqrt(N) - 1);
    size_t i = first > 0 ? (size_t)first : 0;
    double sum = 0;
    for (; i <= k; i++) {
        double I = (double)i;
        sum += exp(lgamma(N + 1) - lgamma(I + 1) - lgamma(N - I + 1) - N * log(2));
    }
    return sum > 1 ? 1 : sum;
}

/* z with P(-z <= Z <= z) = level for a standard normal Z, by bisection. */
static double normal_z(double level)
{
    double lo = 0, hi = 10;
    for (int i = 0; i < 80; i++) {
        double mid = (lo + hi) / 2;
        if (erf(mid / sqrt(2)) < level)
            lo = mid;
        else
            hi = mid;
    }
    return (lo + hi) / 2;
}

/* Confidence of the interval from the d-th smallest to the d-th largest. */
static double depth_level(size_t n, size_t d) { return 1 - 2 * stats_binomial_half(n, d - 1); }

/* Interval of the median of sorted x: order statistics, interpolated between the two depths that enclose the
 * level (Hettmansperger & Sheather), because whole depths overshoot by several percent below n = 30. */
static void median_interval(const double *x, size_t n, double level, Summary *out)
{
    out->lo = x[0];
    out->hi = x[n - 1];
    out->level = n < 2 ? 0 : depth_level(n, 1);
    if (n < 2 || out->level < level) return;
    double z = normal_z(level), guess = (double)n / 2 - (z / 2) * sqrt((double)n);
    size_t d = guess > 2 ? (size_t)guess - 1 : 1;
    while (d > 1 && depth_level(n, d) < level) d--;
    while (2 * (d + 1) <= n && depth_level(n, d + 1) >= level) d++;
    double outer = depth_level(n, d), inner = 2 * (d + 1) <= n + 1 ? depth_level(n, d + 1) : 0;
    double N = (double)n, D = (double)d;
    double I = outer > inner ? (outer - level) / (outer - inner) : 0;
    double w = (N - D) * I / (D + (N - 2 * D) * I);
    size_t in = 2 * (d + 1) <= n + 1 ? d : (n - 1) / 2; /* index of the inner lower order statistic */
    out->lo = (1 - w) * x[d - 1] + w * x[in];
    out->hi = (1 - w) * x[n - d] + w * x[n - 1 - in];
    out->level = level;
}

void stats_summary(double *x, size_t n, double level, Summary *out)
{
    *out = (Summary){.n = n,
                     .median = NAN,
                     .lo = NAN,
                     .hi = NAN,
                     .min = NAN,
                     .max = NAN,
                     .mean = NAN,
                     .q1 = NAN,
                     .q3 = NAN,
                     .mad = NAN};
    if (n == 0) return;
    stats_sort(x, n);
    out->median = n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
    out->min = x[0];
    out->max = x[n - 1];
    out->q1 = stats_quantile(x, n, 0.25);
    out->q3 = stats_quantile(x, n, 0.75);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    out->mean = sum / (double)n;
    median_interval(x, n, level, out);

    /* Median of |x - median| by merging outwards from the middle: the deviations left and right are sorted
     * already. */
    size_t left = 0, right = 0, mid = 0;
    while (mid < n && x[mid] < out->median) mid++;
    double last = 0, before = 0;
    for (size_t taken = 0; taken <= n / 2; taken++) {
        double l = left < mid ? out->median - x[mid - 1 - left] : INFINITY;
        double r = mid + right < n ? x[mid + right] - out->median : INFINITY;
        before = last;
        if (l < r)
            last = l, left++;
        else
            last = r, right++;
    }
    out->mad = 1.4826 * (n % 2 ? last : (before + last) / 2);
    for (size_t i = 0; i < n; i++)
        if (out->mad > 0 && fabs(x[i] - out->median) > 5 * out->mad) out->n_outliers++;
}

double stats_relative_width(const Summary *s)
{
    if (s->n < 2 || s->level <= 0 || !(s->median > 0)) return INFINITY;
    return (s->hi - s->lo) / s->median;
}

/* P(U <= u) of the Mann-Whitney statistic for all u in 0..na*nb: coefficients of the Gaussian binomial. */
static void mann_whitney_cdf(size_t na, size_t nb, double *p)
{
    size_t top = na * nb;
    memset(p, 0, (top + 1) * sizeof *p);
    p[0] = 1;
    for (size_t i = 1; i <= na; i++) {
        for (size_t u = top; u >= nb + i && u <= top; u--) p[u] -= p[u - nb - i];
        for (size_t u = i; u <= top; u++) p[u] += p[u - i];
    }
    for (size_t u = 1; u <= top; u++) p[u] += p[u - 1];
    double all = p[top];
    for (size_t u = 0; u <= top; u++) p[u] /= all;
}

/* Largest c with P(U <= c - 1) <= (1 - level) / 2; 0: none. The interval is from the c-th smallest to the
 * c-th largest difference and holds *achieved. */
static Err mann_whitney_depth(size_t na, size_t nb, double level, size_t *c, double *achieved)
{
    double tail = (1 - level) / 2;
    *c = 0;
    *achieved = 0;
    if (na > EXACT_MAX || nb > EXACT_MAX) {
        double m = (double)na, n = (double)nb;
        double at = m * n / 2 - normal_z(level) * sqrt(m * n * (m + n + 1) / 12);
        *c = at >= 1 ? (size_t)at : 0;
        if (*c) *achieved = level;
        return 0;
    }
    double p[EXACT_MAX * EXACT_MAX + 1];
    mann_whitney_cdf(na, nb, p);
    while (*c < na * nb / 2 && p[*c] <= tail + 1e-12) *achieved = 1 - 2 * p[(*c)++];
    return 0;
}

static StatsVerdict judge(double lo, double hi, double margin)
{
    double slow = 1 + margin, fast = 1 / (1 + margin);
    if (lo >= fast && hi <= slow && margin > 0) return STATS_TIE;
    if (hi < 1) return STATS_FASTER;
    if (lo > 1) return STATS_SLOWER;
    return STATS_TIE;
}

/* Logarithms of at most THIN_MAX samples, chosen evenly by rank. */
static size_t log_thinned(double *x, size_t n, double out[THIN_MAX])
{
    stats_sort(x, n);
    if (n <= THIN_MAX) {
        for (size_t i = 0; i < n; i++) out[i] = log(x[i]);
        return n;
    }
    for (size_t i = 0; i < THIN_MAX; i++) {
        double q = ((double)i + 0.5) / THIN_MAX;
        out[i] = log(x[(size_t)(q * (double)n)]);
    }
    return THIN_MAX;
}

Err stats_compare(double *a, size_t na, double *b, size_t nb, double level, double margin, Comparison *out)
{
    *out = (Comparison){.verdict = STATS_UNKNOWN, .ratio = NAN, .lo = NAN, .hi = NAN};
    if (na == 0 || nb == 0) return 0;
    double la[THIN_MAX], lb[THIN_MAX];
    na = log_thinned(a, na, la);
    nb = log_thinned(b, nb, lb);
    size_t n = na * nb, c;
    TRY(mann_whitney_depth(na, nb, level, &c, &out->level));
    double *d = malloc(n * sizeof *d);
    if (!d) FAIL(ERR_FAILED, "out of memory for %zu differences", n);
    for (size_t i = 0; i < na; i++)
        for (size_t j = 0; j < nb; j++) d[i * nb + j] = la[i] - lb[j];
    stats_sort(d, n);
    out->ratio = exp(n % 2 ? d[n / 2] : (d[n / 2 - 1] + d[n / 2]) / 2);
    out->lo = exp(d[c ? c - 1 : 0]);
    out->hi = exp(d[c ? n - c : n - 1]);
    if (c && na >= 3 && nb >= 3) out->verdict = judge(out->lo, out->hi, margin);
    free(d);
    return 0;
}

Err stats_compare_paired(const double *a, const double *b, size_t n, double level, double margin,
                         Comparison *out)
{
    *out = (Comparison){.verdict = STATS_UNKNOWN, .ratio = NAN, .lo = NAN, .hi = NAN};
    if (n == 0) return 0;
    double *r = malloc(n * sizeof *r);
    if (!r) FAIL(ERR_FAILED, "out of memory for %zu ratios", n);
    for (size_t i = 0; i < n; i++) r[i] = a[i] / b[i];
    Summary s;
    stats_summary(r, n, level, &s);
    free(r);
    out->ratio = s.median;
    out->lo = s.lo;
    out->hi = s.hi;
    out->level = s.level;
    if (s.level >= level) out->verdict = judge(s.lo, s.hi, margin);
    return 0;
}

const char *stats_verdict_name(StatsVerdict v)
{
    static const char *const name[] = {"tie", "faster", "slower", "unknown"};
    return name[v];
}
