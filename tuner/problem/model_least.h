/* What the times of kernels cannot be below by the performance model (model.h), of all kernels of a library
 * at once: a choice among hundreds of kernels needs the whole model for a few of them only. */
#ifndef PROBLEM_MODEL_LEAST_H
#define PROBLEM_MODEL_LEAST_H

#include <stddef.h>

#include "base/arena.h"
#include "problem/model.h"

typedef struct ModelLeast ModelLeast;

/* For n kernels, in the arena. */
Err model_least_new(Arena *a, size_t n, ModelLeast **out);
void model_least_set(ModelLeast *l, size_t kernel, const ModelKernel *k, const ModelDevice *d,
                     const ModelRates *r);
/* Seconds of n kernels on a size, up to the rounding of single precision; out has vec4_padded(n) elements. */
void model_least_seconds(const ModelLeast *l, size_t n, const ModelSize *z, float *out);

#endif
