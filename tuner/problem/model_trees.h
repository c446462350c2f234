/* Boosted trees that correct the performance model's times: log(expected / predicted) of a kernel on a size,
 * as a sum over symmetric binary trees, which compare features of both. problem/model_train.h trains them, a
 * library file has them, and a choice asks them of the few kernels that are about as fast as the best one. */
#ifndef PROBLEM_MODEL_TREES_H
#define PROBLEM_MODEL_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model.h"

/* Rows have the features of a size, then those of a kernel, then those of a launch, which depend on both.
 * More features of a launch do not help (test/README.md), and each costs a choice time. */
enum {
    MODEL_LAUNCH_GROUPS, /* work-groups */
    MODEL_LAUNCH_WAVES,
    MODEL_LAUNCH_LAST_FILL,
    MODEL_LAUNCH_SECONDS,
    MODEL_LAUNCH_WASTE,
    MODEL_LAUNCH_BOUND, /* part of the time that the hardware needs */
    MODEL_LAUNCH_FEATURES
};
enum {
    MODEL_SIZE_FEATURES = 7,
    MODEL_KERNEL_FEATURES = 22,
    MODEL_FEATURES = MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES + MODEL_LAUNCH_FEATURES
};
enum { MODEL_TREES_MAX = 1024, MODEL_TREES_DEPTH = 5 };

/* All trees have the same depth. At each level a row's feature is below `at` or it is not, which is the next
 * bit of the number of the row's value, 0 or 1; the first level has the highest bit. */
typedef struct {
    int n, depth;
    uint8_t *feature; /* [tree][depth] */
    float *at;        /* [tree][depth] */
    float *value;     /* [tree][2^depth] */
} ModelTrees;

/* Memory for n trees, in the arena. ERR_INPUT: n or depth is out of bounds. */
Err model_trees_new(Arena *a, int n, int depth, ModelTrees **out);
/* Features of a size, of a kernel, and of the kernel's launch on the size, whose time the model predicts as
 * t. model_features makes the whole row. */
void model_size_features(const ModelSize *z, float x[MODEL_SIZE_FEATURES]);
void model_kernel_features(const ModelKernel *k, float x[MODEL_KERNEL_FEATURES]);
void model_launch_features(const ModelTime *t, float x[MODEL_LAUNCH_FEATURES]);
void model_features(const ModelKernel *k, const ModelSize *z, const ModelTime *t, float x[MODEL_FEATURES]);
/* What a tree says of a row of features, and what all of them do: the sum. */
float model_tree_value(const ModelTrees *t, size_t tree, const float *x);
float model_trees_value(const ModelTrees *t, const float *x);

#endif
