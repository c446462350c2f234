/* Gradient-boosted regression trees: a sum of small trees, each of which is fitted to what the trees before
 * it leave (J. Friedman, "Greedy function approximation: a gradient boosting machine", 2001). Features are
 * compared with quantiles of their values. Rows belong to groups, and only differences within a group
 * count: the mean of a group is not learned. */
#ifndef PROBLEM_BOOST_H
#define PROBLEM_BOOST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model_trees.h"

/* x: [row][feature]. y: what is to be predicted. weight: of each row, above 0. group: of each row, below
 * n_groups. */
typedef struct {
    size_t n, n_features, n_groups;
    const float *x, *y, *weight;
    const uint32_t *group;
} BoostRows;

typedef struct {
    int n_trees, depth; /* depth: comparisons from a tree's root to its leaves, at most BOOST_DEPTH_MAX */
    float step;         /* the part of a tree's prediction that is added */
    float leaf_least;   /* the least sum of weights of a leaf's rows */
    float shrink;       /* is added to the sum of weights of a leaf, so that small leaves say less */
    float share;        /* of the rows, drawn anew for each tree */
} BoostOptions;
enum { BOOST_DEPTH_MAX = 8 };

typedef struct Boost Boost;

/* Trees in the arena. Equal arguments give equal trees. */
Err boost_train(Arena *a, const BoostRows *rows, const BoostOptions *o, Boost **out);
/* The sum of all trees for a row of features. */
float boost_value(const Boost *b, const float *x);
/* The trees as they are at run time, in the arena. ERR_INPUT: these have at most MODEL_FEATURES features and
 * MODEL_TREES_MAX trees. */
Err boost_trees(Arena *a, const Boost *b, ModelTrees **out);

#endif
