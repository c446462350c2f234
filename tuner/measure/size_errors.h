/* What a regression leaves on each size: a Gaussian process over how kernels are built.
 *
 * The regression of surrogate.h has no effect of a class of kernels on a size: mma.sync kernels that are a
 * fifth faster than wgmma kernels on a skinny size say so only of themselves there. Here the error of a
 * kernel on a size is normal with mean 0, and errors are the more alike the more kernels and sizes are:
 *
 *   covariance = alike(size, size')
 *                [class = class'] (CLASS^2 + BUILT^2 exp(-distance(traits, traits') / FAR))
 *              + [same size, but for the order of work-groups the same kernel] (OWN^2 - ORDER^2)
 *              + [same kernel and size] ORDER^2
 *
 * so that a class of which one kernel was measured on a size is better known there, and one of which eighty
 * were is known well: yet another similar kernel promises little (Rasmussen and Williams, Gaussian Processes
 * for Machine Learning, 2006, algorithm 2.1). The standard deviations are about those of hgemm kernels on an
 * H200 (semivariances of what the fitted model misses, test/data/search); on each size all of them are
 * scaled by what a search sees there. Each size has up to SIZE_ERRORS_POINTS measurements: three quarters are
 * its own, the fastest of all classes in turn, the others those of sizes nearby.
 */
#ifndef MEASURE_SIZE_ERRORS_H
#define MEASURE_SIZE_ERRORS_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

enum { SIZE_ERRORS_POINTS = 96, TRAITS = 21, SIZE_EXTENTS = 4 };

/* How a kernel is built: numbers whose differences say how unlike two kernels are, in doublings. */
typedef struct {
    int32_t class; /* ModelClass: kernels of different classes have nothing in common */
    float v[TRAITS];
    uint64_t twins; /* of kernels that differ in the order of work-groups alone */
} Traits;

typedef struct {
    Traits traits;
    uint32_t size;
    float error;   /* logarithm of measured over expected time */
    float seconds; /* logarithm of the measured time */
} ErrorPoint;

typedef struct {
    size_t n;
    uint32_t *point; /* of points */
    float *alike;    /* of each: the likeness of its size */
    float *weight;   /* of each: the mean is the sum of weight times covariance */
    float *lower;    /* [n][n] the Cholesky factor of the covariances */
    double scale;    /* of all standard deviations: how far errors spread on this size */
} SizeProcess;

typedef struct {
    size_t n_sizes, n_max;
    const double *place; /* [size][SIZE_EXTENTS] logarithms of its extents */
    VEC(ErrorPoint) points;
    SizeProcess *process; /* of each size */
    float *numbers;       /* what the processes point to */
    uint32_t *numbers_at;
} SizeErrors;

/* place must outlive *e. */
Err size_errors_init(SizeErrors *e, size_t n_sizes, const double *place);
void size_errors_fini(SizeErrors *e);
void size_errors_reset(SizeErrors *e);
Err size_errors_add(SizeErrors *e, const Traits *t, size_t size, double error, double log_seconds);
/* Makes the processes of all sizes from the points. */
Err size_errors_fit(SizeErrors *e);
/* Expected error of a kernel on a size; *sd: its standard deviation. */
double size_errors_predict(const SizeErrors *e, const Traits *t, size_t size, double *sd);
/* The largest standard deviation that size_errors_predict gives for a size. */
double size_errors_sd_max(const SizeErrors *e, size_t size);

#endif
