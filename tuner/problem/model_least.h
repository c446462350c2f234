/* Lower bounds of the performance model's times (model.h) and corrections of these times for all kernels of
 * a library at once, so that a choice among hundreds of kernels evaluates the whole model for only a few of
 * them.
 *
 * A correction is the logarithm of a factor. It depends on a size by its shape: 1, the logarithms of M, N,
 * K and the batch, the alignment of A and B, products of two of these logarithms, and the numbers of work-
 * groups and of rounds of them with the part of the last round that is busy. A kernel has a coefficient for
 * each (measure/model_correct.h fits them). */
#ifndef PROBLEM_MODEL_LEAST_H
#define PROBLEM_MODEL_LEAST_H

#include <stddef.h>

#include "base/arena.h"
#include "problem/model.h"

typedef struct ModelLeast ModelLeast;
enum { MODEL_SHAPE = 16 };
typedef float ModelShape[MODEL_SHAPE];
/* Corrections lie between -MODEL_CORRECTION_MOST and it. */
#define MODEL_CORRECTION_MOST 0.7F

/* How A and B are aligned: 1 by 16 bytes or more, 1/2 by 4 or 8, else 0. Kernels run other code for each. */
static inline float model_aligned(const ModelSize *z)
{
    return z->align_a >= 16 && z->align_b >= 16 ? 1 : z->align_a >= 4 && z->align_b >= 4 ? 0.5F : 0;
}
/* Allocates bounds for n kernels in the arena; set each with model_least_set. ERR_FAILED: out of memory. */
Err model_least_new(Arena *a, size_t n, ModelLeast **out);
void model_least_set(ModelLeast *l, size_t kernel, const ModelKernel *k, const ModelDevice *d,
                     const ModelRates *r);
/* coefficient: of the kernel's correction; without them it is 0. */
void model_least_correct(ModelLeast *l, size_t kernel, const ModelShape coefficient);
/* The shape of a size for one kernel. */
void model_shape(const ModelLeast *l, size_t kernel, const ModelSize *z, ModelShape shape);
/* Lower bounds in microseconds for the first n kernels on a size, up to the rounding of single precision,
 * without the corrections, and these; both lists have floats_padded(n) elements. */
void model_least_us(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction);
/* The correction of one kernel. */
float model_correction(const ModelLeast *l, size_t kernel, const ModelSize *z);

#endif
