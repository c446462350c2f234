/* Lower bounds of the performance model's times (model.h) for all kernels of a library at once, so that a
 * choice among hundreds of kernels evaluates the whole model for only a few of them. */
#ifndef PROBLEM_MODEL_LEAST_H
#define PROBLEM_MODEL_LEAST_H

#include <stddef.h>

#include "base/arena.h"
#include "problem/model.h"

typedef struct ModelLeast ModelLeast;

/* Allocates bounds for n kernels in the arena; set each with model_least_set. ERR_FAILED: out of memory. */
Err model_least_new(Arena *a, size_t n, ModelLeast **out);
void model_least_set(ModelLeast *l, size_t kernel, const ModelKernel *k, const ModelDevice *d,
                     const ModelRates *r);
/* Lower bounds in seconds for the first n kernels on a size, up to the rounding of single precision; out has
 * vec4_padded(n) elements. */
void model_least_seconds(const ModelLeast *l, size_t n, const ModelSize *z, float *out);

#endif
