/* Boosted trees that correct the performance model's times: log(expected / predicted) of a kernel on a size,
 * as a sum over binary trees, which compare features of both. problem/model_train.h trains them, a library
 * file has them, and a choice asks them of the few kernels that are about as fast as the best one. */
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
enum { MODEL_TREES_MAX = 512, MODEL_TREES_LEAVES = 32, MODEL_TREES_NODES = MODEL_TREES_LEAVES - 1 };
/* No feature reaches this bound. It is below 1e30, which bounds the numbers in library files. */
#define MODEL_TREES_NEVER 0x1p99F

/* Nodes and leaves of a tree are numbered from left to right: node i lies between the leaves i and i + 1. Its
 * left subtree has the leaves first[i] to i, where first[i] is at most i. The value of a row of features is
 * that of the first leaf which no node removes: node i removes the leaves first[i] to i from rows whose
 * feature is not below at[i]. Nodes that a smaller tree does not need have feature 0, first[i] = i, the bound
 * MODEL_TREES_NEVER, and behind them the value of the last leaf that the tree has, so that they do not
 * matter whatever the features are. */
typedef struct {
    int n;
    uint8_t *feature; /* [tree][MODEL_TREES_NODES] */
    uint8_t *first;   /* [tree][MODEL_TREES_NODES] */
    float *at;        /* [tree][MODEL_TREES_NODES] */
    float *value;     /* [tree][MODEL_TREES_LEAVES] */
} ModelTrees;

/* n trees of one leaf with the value 0, in the arena. ERR_INPUT: n is out of bounds. */
Err model_trees_new(Arena *a, int n, ModelTrees **out);
/* Features of a size, of a kernel, and of the kernel's launch on the size, whose time the model predicts as
 * t. Features are only compared, so that no logarithms are needed. model_features makes the whole row. */
static inline void model_size_features(const ModelSize *z, float x[MODEL_SIZE_FEATURES])
{
    x[0] = (float)z->m, x[1] = (float)z->n, x[2] = (float)z->k, x[3] = (float)z->batch;
    x[4] = (float)z->align_a, x[5] = (float)z->align_b, x[6] = (float)z->align_d;
}
void model_kernel_features(const ModelKernel *k, float x[MODEL_KERNEL_FEATURES]);
static inline void model_launch_features(const ModelTime *t, float x[MODEL_LAUNCH_FEATURES])
{
    x[MODEL_LAUNCH_GROUPS] = (float)t->tiles;
    x[MODEL_LAUNCH_WAVES] = (float)t->waves;
    x[MODEL_LAUNCH_LAST_FILL] = (float)t->last_fill;
    x[MODEL_LAUNCH_SECONDS] = (float)t->seconds;
    x[MODEL_LAUNCH_WASTE] = (float)t->edge_waste;
    x[MODEL_LAUNCH_BOUND] = (float)(t->bound_seconds * (1 / t->seconds));
}
void model_features(const ModelKernel *k, const ModelSize *z, const ModelTime *t, float x[MODEL_FEATURES]);
/* What a tree says of a row of features, and what all of them do: the sum. */
float model_tree_value(const ModelTrees *t, size_t tree, const float *x);
float model_trees_value(const ModelTrees *t, const float *x);

#endif
