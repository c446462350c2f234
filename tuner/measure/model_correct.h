/* Fits the corrections of the performance model (problem/model_least.h) to measured times.
 *
 * The trees of problem/model_train.h would take a hundred microseconds in a choice among all kernels at run
 * time. Therefore each kernel gets a correction too that depends on the shape of the size alone, which is
 * fitted to what the trees say of the kernel on the measured sizes and around them: by it a choice finds the
 * few kernels for which it asks the trees. */
#ifndef MEASURE_MODEL_CORRECT_H
#define MEASURE_MODEL_CORRECT_H

#include "measure/model_store.h"
#include "problem/model_train.h"

typedef struct {
    ModelShape *shape; /* of each kernel: the coefficients of its correction */
    ModelTrees *trees; /* NULL: there were too few sizes or times */
} ModelCorrection;

/* The numbers of the kernels that are known, in the arena, the others zeros. */
Err model_entries(Arena *a, const ModelMatrix *m, const ModelDevice *d, const ModelRates r[MODEL_CLASSES],
                  ModelEntry **out);
/* Trees and the coefficients that follow from them, in the arena. */
Err model_correct(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                  const ModelRates r[MODEL_CLASSES], ModelCorrection *c);

#endif
