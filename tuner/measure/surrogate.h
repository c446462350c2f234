/* Surrogate: predicts how far the measured time of a candidate is from the model's, from what was measured.
 *
 * log(time / model time) = a[size] + sum over dimensions (w[choice] + v[choice] * x[size])
 *                        + sum over pairs of dimensions u[pair of choices],
 * by ridge regression; x is the size's logarithm of work, scaled to -1 .. 1. Pairs of choices share a fixed
 * number of weights by hash. The regression corrects what the model does not know (a parameter that costs
 * 10 % everywhere, or on large sizes only) with few measurements.
 */
#ifndef MEASURE_SURROGATE_H
#define MEASURE_SURROGATE_H

#include "base/arena.h"

enum { SURROGATE_FEATURES = 1536, SURROGATE_PAIRS = 512, SURROGATE_PAIR_DIMS = 24 };

typedef struct {
    size_t n_dims, n_sizes, n_features;
    size_t *first;   /* of each dimension: feature of its first choice */
    size_t pairs;    /* first feature of pairs of choices; 0: there are none */
    size_t slope;    /* features from a choice to its slope; 0: there are none, because they are too many */
    const double *x; /* of each size */
    double *ata, *atb, *w;
    size_t *seen; /* measurements with each feature */
    size_t n;
} Surrogate;

/* n_choices of each dimension; x of each size must outlive the surrogate. Memory comes from a. */
Err surrogate_init(Surrogate *s, Arena *a, size_t n_dims, const size_t *n_choices, size_t n_sizes,
                   const double *x);
/* Forgets all measurements. */
void surrogate_reset(Surrogate *s);
/* log_ratio: log(time / model time). */
void surrogate_add(Surrogate *s, const uint32_t *choice, size_t size, double log_ratio);
/* Fits the weights; without measurements they are 0. */
void surrogate_fit(Surrogate *s);
/* What the regression has for a kernel on all sizes. sd: the standard deviation due to choices that were
 * never measured; that of the residuals is added by size_errors.h. */
typedef struct {
    double constant, slope, sd;
} SurrogateKernel;
void surrogate_look(const Surrogate *s, const uint32_t *choice, SurrogateKernel *k);
/* Expected log(time / model time) of that kernel on a size. */
double surrogate_predict(const Surrogate *s, const SurrogateKernel *k, size_t size);
/* Expected share of the best time that a candidate saves: mean and sd of log(its time / best time). */
double expected_gain(double mean, double sd);

#endif
