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
    uint32_t kernel, size;
    float error;   /* logarithm of measured over expected time */
    float seconds; /* logarithm of the measured time */
} ErrorPoint;

typedef struct {
    size_t n;
    uint32_t *point;  /* of points */
    uint32_t *kernel; /* of each point: its place in SizeErrors.used */
    float *alike;     /* of each: the similarity of its size to this one, 0 to 1 */
    float *weight;    /* of each: the mean is the sum of weight times covariance */
    float *lower;     /* [column][row] the Cholesky factor of the covariances, below its diagonal */
    float *diagonal;
    double scale; /* of all standard deviations: how far errors spread on this size */
} SizeProcess;

typedef struct {
    size_t n_sizes, n_max;
    const double *place; /* [size][SIZE_EXTENTS] logarithms of its extents */
    VEC(Traits) kernels; /* that have points */
    VEC(ErrorPoint) points;
    SizeProcess *process; /* of each size */
    VEC(uint32_t) used;   /* kernels that have points in a process */
    float *traits;        /* of those, in blocks of a vector: [block][TRAITS][lane] */
    float *numbers;       /* what the processes point to */
    uint32_t *numbers_at;
} SizeErrors;

/* What a kernel has in common with each of those that are used; the same on all sizes. */
typedef struct {
    float *built; /* CLASS^2 + BUILT^2 exp(..), or 0 */
    float *own;   /* OWN^2 - ORDER^2, or 0 */
} ErrorKernel;

/* place must outlive *e. */
Err size_errors_init(SizeErrors *e, size_t n_sizes, const double *place);
void size_errors_fini(SizeErrors *e);
void size_errors_reset(SizeErrors *e);
/* *kernel: its number, for its points. */
Err size_errors_add_kernel(SizeErrors *e, const Traits *t, uint32_t *kernel);
Err size_errors_add(SizeErrors *e, uint32_t kernel, size_t size, double error, double log_seconds);
/* Makes the processes of all sizes from the points. */
Err size_errors_fit(SizeErrors *e);
/* Memory for kernels that are looked at one after another, until the next fit. */
Err error_kernel_init(const SizeErrors *e, ErrorKernel *k);
void error_kernel_fini(ErrorKernel *k);
/* Looks at a kernel. */
void error_kernel_set(const SizeErrors *e, const Traits *t, ErrorKernel *k);
/* The expected error of the kernel on a size, and its standard deviation, which takes ten times as long. */
double size_errors_mean(const SizeErrors *e, const ErrorKernel *k, size_t size);
double size_errors_sd(const SizeErrors *e, const ErrorKernel *k, size_t size);
/* The largest standard deviation that size_errors_sd gives for a size. */
double size_errors_sd_max(const SizeErrors *e, size_t size);

#endif
