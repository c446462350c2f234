/* What the performance model learns from measured times beside its rates: trees (problem/model_train.h). */
#ifndef MEASURE_MODEL_TEACH_H
#define MEASURE_MODEL_TEACH_H

#include "measure/model_store.h"
#include "problem/model_train.h"

typedef struct {
    ModelTrees *trees; /* NULL: there were too few sizes or times */
} ModelTaught;

/* The numbers of the kernels that are known, in the arena, the others zeros. */
Err model_entries(Arena *a, const ModelMatrix *m, const ModelDevice *d, const ModelRates r[MODEL_CLASSES],
                  ModelEntry **out);
/* Trees of a matrix's times, in the arena. out: sizes that are left out; may be NULL. */
Err model_teach(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                const ModelRates r[MODEL_CLASSES], ModelTaught *t);

#endif
