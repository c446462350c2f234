/* Boosted trees that correct the performance model's times: log(expected / predicted) of a kernel on a size,
 * as a sum over binary trees whose nodes compare features of both. problem/model_train.h trains them, a
 * library file has them, and a choice asks them of the few kernels that are about as fast as the best one. */
#ifndef PROBLEM_MODEL_TREES_H
#define PROBLEM_MODEL_TREES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model.h"

/* Rows have the features of a size, then those of a kernel, then those of a launch, which depend on both. The
 * last ones of a launch are the terms of the model's time, as parts of it. New trees compare only those that
 * model_trees_offers; trees of older libraries may compare any. */
enum {
    MODEL_LAUNCH_GROUPS, /* work-groups */
    MODEL_LAUNCH_WAVES,
    MODEL_LAUNCH_LAST_FILL,
    MODEL_LAUNCH_SECONDS,
    MODEL_LAUNCH_CHUNKS, /* of K */
    MODEL_LAUNCH_EDGE_M, /* of the tile at the edge: the part that D has */
    MODEL_LAUNCH_EDGE_N,
    MODEL_LAUNCH_TILES_M,
    MODEL_LAUNCH_TILES_N,
    MODEL_LAUNCH_BUSY, /* part of the compute units */
    MODEL_LAUNCH_WASTE,
    MODEL_LAUNCH_BOUND, /* part of the time that the hardware needs */
    MODEL_LAUNCH_TERMS
};
enum {
    MODEL_SIZE_FEATURES = 7,
    MODEL_KERNEL_FEATURES = 22,
    MODEL_LAUNCH_FEATURES = MODEL_LAUNCH_TERMS + MODEL_N_TERMS,
    MODEL_FEATURES = MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES + MODEL_LAUNCH_FEATURES
};
enum { MODEL_TREES_MAX = 1024, MODEL_TREES_DEPTH = 5 };

/* All trees have the same depth. From node i a row of features goes on to node 2 i + 1 where its feature is
 * below `at`, else to 2 i + 2; behind the nodes are the values. */
typedef struct {
    int n, depth;
    uint8_t *feature; /* [tree][2^depth - 1] */
    float *at;        /* [tree][2^depth - 1] */
    float *value;     /* [tree][2^depth] */
} ModelTrees;

static inline size_t model_trees_nodes(const ModelTrees *t) { return ((size_t)1 << t->depth) - 1; }

/* Memory for n trees, in the arena. ERR_INPUT: n or depth is out of bounds. */
Err model_trees_new(Arena *a, int n, int depth, ModelTrees **out);
bool model_trees_offers(size_t feature);
/* Features of a size, of a kernel, and of the kernel's launch on the size, whose time the model predicts as
 * t; n_cu: of the device; without `all`, those that training does not offer stay as they are. model_features
 * makes the whole row. */
void model_size_features(const ModelSize *z, float x[MODEL_SIZE_FEATURES]);
void model_kernel_features(const ModelKernel *k, float x[MODEL_KERNEL_FEATURES]);
void model_launch_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                           bool all, float x[MODEL_LAUNCH_FEATURES]);
void model_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                    float x[MODEL_FEATURES]);
/* The sum of all trees for a row of features: MODEL_TREES_SUMS sums, each of every MODEL_TREES_SUMS-th tree,
 * added up by model_trees_sum. */
enum { MODEL_TREES_SUMS = 8 };
float model_trees_value(const ModelTrees *t, const float x[MODEL_FEATURES]);
static inline float model_trees_sum(const float x[MODEL_TREES_SUMS])
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

#endif
