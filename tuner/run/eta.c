/* Estimates the time that is left. See eta.h. */
#include "run/eta.h"

#include <math.h>

/* SPREAD: relative error of the fit, because kernels reach different shares of the peak at different sizes.
 * FAR: the fit is not used beyond FAR times the largest measured size. */
static const double SPREAD = 0.2, FAR = 4;

void eta_expect(Eta *e, double n_pairs, double flops_of_each)
{
    e->left_n += n_pairs;
    e->left_w += n_pairs * flops_of_each;
    e->left_max = fmax(e->left_max, flops_of_each);
}

void eta_measured(Eta *e, double flops, double seconds, bool past)
{
    e->n++;
    e->w += flops;
    e->t += seconds;
    e->ww += flops * flops;
    e->wt += flops * seconds;
    e->tt += seconds * seconds;
    e->w_max = fmax(e->w_max, flops);
    if (past) return;
    e->left_n = fmax(e->left_n - 1, 0);
    e->left_w = e->left_n > 0 ? fmax(e->left_w - flops, 0) : 0;
}

/* Fits a + b * flops by least squares with a, b >= 0; false when all sizes are about equal. */
static bool fit(const Eta *e, double *a, double *b)
{
    double det = e->n * e->ww - e->w * e->w;
    if (!(det > 0.05 * e->n * e->ww)) return false;
    *b = (e->n * e->wt - e->w * e->t) / det;
    if (*b < 0) *b = 0;
    *a = (e->t - *b * e->w) / e->n;
    if (*a < 0) *a = 0, *b = e->t / e->w;
    return true;
}

EtaRange eta_range(const Eta *e, double waited)
{
    double a, b;
    if (e->left_n <= 0) return (EtaRange){0, 0};
    if (e->n < 1 || !(e->w > 0) || !(e->t + waited > 0)) return (EtaRange){0, -1};
    double by_count = e->t * e->left_n / e->n, by_flops = e->t * e->left_w / e->w;
    EtaRange r = {fmin(by_count, by_flops), fmax(by_count, by_flops)};
    if (fit(e, &a, &b) && e->left_max <= FAR * e->w_max) {
        double left = a * e->left_n + b * e->left_w;
        double rest = e->tt - 2 * a * e->t - 2 * b * e->wt + a * a * e->n + 2 * a * b * e->w + b * b * e->ww;
        double noise = 2 * sqrt(fmax(rest, 0) / e->n * e->left_n);
        r.lo = fmax(r.lo, fmin(left * (1 - SPREAD), left - noise));
        r.hi = fmin(r.hi, fmax(left * (1 + SPREAD), left + noise));
    } else {
        r.lo *= 1 - SPREAD;
        r.hi *= 1 + SPREAD;
    }
    /* The time since the last end belongs to the running pair. The upper bound stays above zero when that
     * pair takes longer than estimated. */
    double next = waited / e->left_n;
    r.lo = fmax(r.lo - waited, 0);
    r.hi = fmax(r.hi - waited, fmax(next * (e->left_n - 1), waited * 0.2));
    return r;
}
