/* Chooses the candidates of a batch: those with the largest expected gain for the seconds that they cost.
 *
 * The logarithm of a candidate's time on a size is normally distributed. Its error is the sum of a part that
 * candidates of a family share, a part that a kernel has on all sizes, and a part of the pair alone. Joint
 * samples of all errors give the expected gain of a candidate over the best kernel so far and over the pairs
 * that are already in the batch, so that a second candidate of the same kind is worth less. The gain of a
 * kernel is the sum over the sizes on which it is to be measured, by their weights. Pairs in flight are part
 * of the samples from the beginning. The batch repeatedly takes what gains most per second (Krause and
 * Golovin, Submodular Function Maximization, 2014: lazy greedy), until its seconds are used. Then sizes that
 * have too few candidates get their best ones, preferably kernels that the batch already has.
 */
#ifndef MEASURE_SEARCH_GAIN_H
#define MEASURE_SEARCH_GAIN_H

#include "measure/search.h"

typedef struct {
    size_t n, n_sizes;
    const uint64_t *kernel, *family; /* of each candidate: those with equal ones share errors */
    const int32_t *class;            /* of each candidate: ModelClass */
    const bool *compiled;            /* of each candidate: it is compiled, and costs only measuring */
    const float *mean, *sd; /* [candidate][size] of the logarithm of seconds; mean NAN: not to be measured */
    const double *best;   /* of each size: logarithm of the best time, or of a time that is easily reached */
    const double *weight; /* of each size */
    const double *worth;  /* of each candidate: gain below which it is not measured on a size */
    const struct GainPair *flight; /* pairs whose results are to come; their kernels are compiled */
    size_t n_flight;
    const double *size_s, *pair_s; /* of each size: seconds in a batch, and of one pair */
    double round_s;                /* of a batch, whatever it has */
    const bool *has_none;          /* of each size: it has no result */
    const size_t *waited;          /* of each size: batches since it was in one */
    size_t least_of_size;          /* pairs that such a size gets, if it can */
    size_t least_of_class;         /* and of each class that may have its best kernel */
    SearchQuota quota;
    double *promise; /* of each size: the expected gain of its pairs is added to it */
} GainTable;

typedef struct GainPair {
    uint32_t candidate, size;
} GainPair;
typedef VEC(GainPair) GainPairs;

/* Appends the pairs of the batch, in the order in which they were taken. Pairs that are in it are taken
 * first, as many as the quota allows. */
Err gain_choose(const GainTable *t, GainPairs *out);

#endif
