/* The residuals of the regression on each size, as a Gaussian process over the traits of kernels.
 *
 * The regression of surrogate.h has no term for a class of kernels on one size: when mma.sync kernels are a
 * fifth faster than wgmma kernels on a skinny size, it does not carry that over to other mma.sync kernels
 * there. Here the error of a kernel on a size is normal with mean 0, and errors are correlated the more, the
 * more similar the kernels and the sizes are:
 *
 *   covariance = alike(size, size')
 *                [class = class'] (CLASS^2 + BUILT^2 exp(-distance(traits, traits') / FAR))
 *              + [same size, but for the order of work-groups the same kernel] (OWN^2 - ORDER^2)
 *              + [same kernel and size] ORDER^2
 *
 * so that one measured kernel of a class lowers the uncertainty of the class on that size, and after eighty
 * kernels the uncertainty is small: one more similar kernel has little expected gain (Rasmussen and Williams,
 * Gaussian Processes for Machine Learning, 2006, algorithm 2.1). The standard deviations were estimated from
 * hgemm kernels on an H200 (semivariances of the fitted model's residuals, test/data/search); on each size
 * all of them are scaled by the spread that the search observes. A size uses up to SIZE_ERRORS_POINTS
 * measurements: three quarters are its own, the fastest of each class alternately, the others are those of
 * similar sizes.
 */
#ifndef MEASURE_SIZE_ERRORS_H
#define MEASURE_SIZE_ERRORS_H

#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"

enum { SIZE_ERRORS_POINTS = 96, TRAITS = 21, SIZE_EXTENTS = 4 };

/* Traits of a kernel: logarithms to base 2 of its properties, whose differences measure how dissimilar two
 * kernels are. */
typedef struct {
    int32_t class; /* ModelClass: kernels of different classes have nothing in common */
    float v[TRAITS];
    uint64_t twins; /* equal for kernels that differ only in the order of work-groups (search_twins) */
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
    float *alike;    /* of each: the similarity of its size to this one, 0 to 1 */
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
