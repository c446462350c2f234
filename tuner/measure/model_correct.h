/* Fits the corrections of the performance model (problem/model_least.h) to measured times.
 *
 * What the model misses depends on much of a kernel and of a size at once: on the terms of its time, on the
 * tile, on how far the last round is filled. Boosted trees over such features learn it from all kernels
 * together, and so know of a kernel what was measured of others. They would take hundreds of microseconds
 * in a choice at run time. Therefore each kernel gets a correction that depends on the shape of the size
 * alone, which is fitted to what the trees say of the kernel on the measured sizes and around them. */
#ifndef MEASURE_MODEL_CORRECT_H
#define MEASURE_MODEL_CORRECT_H

#include "measure/model_store.h"
#include "problem/model_least.h"

/* With fewer sizes or times, corrections stay 0. */
enum { MODEL_CORRECT_SIZES = 64, MODEL_CORRECT_TIMES = 400 };

/* The coefficients of each kernel's correction, in the arena, from the sizes for which out (may be NULL) is
 * false. */
Err model_correct(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                  const ModelRates r[MODEL_CLASSES], ModelShape **shape);

#endif
