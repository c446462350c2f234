/* Times that the rounds of a search measured. A round compares some kernels on each of its sizes, under a
 * setting of its own in the store. Clocks change between rounds, and between these and the final
 * measurements; times are converted by kernels that were measured in both. */
#ifndef MEASURE_ROUNDS_H
#define MEASURE_ROUNDS_H

#include "measure/model_store.h"

/* Numbers of settings that are no rounds of a search, which count from 1: results of rounds and final ones
 * together, after final measurements that were cut short; kernels of the library on further sizes. */
enum { ROUND_ALL = -1, ROUND_FILL = -2 };

/* Kernels of a round on one of its sizes. */
typedef struct {
    int64_t setting, problem;
    const int64_t *kernel;
    const bool *wanted; /* of each kernel: the round compares it; NULL: all */
    size_t n;
} RoundSize;

/* The kernels' results at the winner's clocks; those that are not wanted are not found. */
Err round_results(Store *s, Arena *a, const RoundSize *x, Result **out);
/* The kernels' times in ns; 0: no result, INFINITY: it failed. again: the kernel that an earlier round
 * measured in `before` ns, to whose clocks all times are converted; SIZE_MAX: none. */
void round_times(const Result *r, size_t n, size_t again, double before, double *ns);
/* own: the matrix of a plan; ns: times of the rounds for its first sizes and kernels, [size * n_kernels +
 * kernel], 0: none. Pairs without a final time get that of the rounds, at the clocks of the final ones. */
void rounds_add(ModelMatrix *own, const double *ns, size_t n_sizes, size_t n_kernels);

/* Times of all rounds that a store has of a plan's problem type, on the plan's device and with its compiler,
 * as a search takes them: what a later round measured once more shows drift, and its first time counts. */
typedef struct {
    SizeRow *size; /* the plan's, then the others */
    size_t n_sizes;
    int64_t *kernel; /* that the rounds measured, in rising order; the peer's are none */
    size_t n_kernels;
    double *ns; /* [size * n_kernels + kernel]; 0: not measured, or it failed */
} RoundTimes;
Err rounds_load(Store *s, Arena *a, const PlanView *p, RoundTimes *out);
/* The position of a kernel in RoundTimes.kernel; SIZE_MAX: no round measured it. */
size_t rounds_kernel(const RoundTimes *t, int64_t kernel);

#endif
