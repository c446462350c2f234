/* Trains the trees of problem/model_trees.h by measured times. What the model misses depends on much of a
 * kernel and of a size at once: on alignments, on the tile, on how far the last round is filled.
 * Boosted trees over such features learn it from all kernels together, and so know of a kernel what was
 * measured of others. */
#ifndef PROBLEM_MODEL_TRAIN_H
#define PROBLEM_MODEL_TRAIN_H

#include "problem/model_select.h"

/* With fewer sizes or times, there are no trees. */
enum { MODEL_TRAIN_SIZES = 64, MODEL_TRAIN_TIMES = 400 };

typedef struct {
    size_t n_kernels, n_sizes;
    const ModelEntry *entry; /* of each kernel */
    const bool *known;       /* of each kernel: it has an entry */
    const ModelSize *size;
    const double *seconds; /* [size][kernel]; 0: not measured */
    const bool *out;       /* of sizes: they are left out; NULL: none is */
} ModelTimes;

/* How much a time counts beside the best kernel's on its size: the less, the slower the kernel is. */
static inline float model_train_weight(double best, double seconds)
{
    return (float)((best / seconds) * (best / seconds));
}
/* The seconds of a kernel by the model alone, and its features. */
double model_time_features(const ModelEntry *e, const ModelSize *z, float x[MODEL_FEATURES]);
/* *trees lives in the arena; NULL where there are too few sizes or times. Equal times give equal trees. */
Err model_train(Arena *a, const ModelTimes *m, ModelTrees **trees);

#endif
