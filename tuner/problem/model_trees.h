/* Boosted trees that correct the performance model's times: log(expected / predicted) of a kernel on a size,
 * as a sum over binary trees whose nodes compare features of both. measure/model_correct.h trains them, a
 * library file has them, and a choice asks them of the few kernels that are about as fast as the best one. */
#ifndef PROBLEM_MODEL_TREES_H
#define PROBLEM_MODEL_TREES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model.h"

enum { MODEL_FEATURES = 51, MODEL_TREES_MAX = 1024, MODEL_TREES_DEPTH = 8 };

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
/* What the trees know of a kernel on a size, whose time the model predicts as t. n_cu: of the device. */
void model_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                    float x[MODEL_FEATURES]);
/* The sum of all trees, for one row of features and for n. */
float model_trees_value(const ModelTrees *t, const float x[MODEL_FEATURES]);
void model_trees_values(const ModelTrees *t, size_t n, float (*const x)[MODEL_FEATURES], float *out);

#endif
