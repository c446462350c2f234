/* Statistics of repeated timings: summaries that outliers do not move, intervals, comparisons, when to stop.
 *
 * Nothing here assumes a distribution. Every sample is kept and counted; outliers are reported, never removed
 * (the median and its interval are what they cannot move). Pure functions, no I/O, no allocation but the
 * scratch named. Sources: Hettmansperger & Sheather 1986 (interpolated order-statistic interval), Hodges &
 * Lehmann 1963 (shift estimate, and its interval by inverting the Mann-Whitney test).
 */
#ifndef MEASURE_STATS_H
#define MEASURE_STATS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t n;
    double median;
    double lo, hi; /* interval of the median */
    double level;  /* confidence of lo..hi: as requested, or less when n is too small (below 6 for 0.95) */
    double min, max, mean, q1, q3;
    double mad;        /* median absolute deviation * 1.4826: a robust standard deviation */
    size_t n_outliers; /* farther than 5 mad from the median; counted only */
} Summary;

/* Sorts x and summarises it. n == 0 gives NAN everywhere and level 0. level: 0.5 to 0.999. */
void stats_summary(double *x, size_t n, double level, Summary *out);
/* The q-quantile, q from 0 to 1, linear between order statistics (type 7 of Hyndman & Fan 1996). */
double stats_quantile(const double *sorted, size_t n, double q);
void stats_sort(double *x, size_t n);
/* Width of the interval over the median; INFINITY when there is no interval. */
double stats_relative_width(const Summary *s);

typedef enum { STATS_TIE, STATS_FASTER, STATS_SLOWER, STATS_UNKNOWN } StatsVerdict;

typedef struct {
    StatsVerdict verdict; /* of a against b; FASTER: a takes less time */
    double ratio;         /* time a / time b: estimate and interval */
    double lo, hi;
    double level; /* confidence of the interval */
} Comparison;

/* Two independent sets of times (all > 0; sorted in place). TIE: the interval of the ratio contains 1, or
 * lies within 1 - margin to 1 + margin. UNKNOWN: too few samples for the level (at least 3 of each; 4 of each
 * for 0.95). Sets of more than 400 samples are thinned evenly by rank. ERR_FAILED: out of memory. */
Err stats_compare(double *a, size_t na, double *b, size_t nb, double level, double margin, Comparison *out);
/* a[i] and b[i] were measured side by side, so that drift cancels: interval of the median of a[i] / b[i]. */
Err stats_compare_paired(const double *a, const double *b, size_t n, double level, double margin,
                         Comparison *out);
/* "faster", "slower", "tie", "unknown". */
const char *stats_verdict_name(StatsVerdict v);

/* P(X <= k) for X binomial(n, 1/2). */
double stats_binomial_half(size_t n, size_t k);

#endif
