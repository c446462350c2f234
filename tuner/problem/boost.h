/* Training of gradient-boosted regression trees: a sum of small trees, each of which is fitted to what the
 * trees before it leave (J. Friedman, "Greedy function approximation: a gradient boosting machine", 2001).
 * A tree grows by splitting the leaf whose best comparison gains most (best-first, as in LightGBM;
 * model_trees.h has the form of the tree). Features are compared with quantiles of their values. Rows belong
 * to groups, and only differences within a group count: the mean of a group is not learned. */
#ifndef PROBLEM_BOOST_H
#define PROBLEM_BOOST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model_trees.h"

/* x: [row][feature], at most MODEL_FEATURES of them. y: what is to be predicted. weight: of each row, above
 * 0. group: of each row, below n_groups. */
typedef struct {
    size_t n, n_features, n_groups;
    const float *x, *y, *weight;
    const uint32_t *group;
} BoostRows;

typedef struct {
    int n_trees, leaves; /* leaves: the most of a tree, 2 to MODEL_TREES_LEAVES */
    float step;          /* the part of a tree's prediction that is added */
    float leaf_least;    /* the least sum of weights of a leaf's rows */
    float shrink;        /* is added to the sum of weights of a leaf, so that small leaves say less */
    float share;         /* of the rows, drawn anew for each tree */
    /* Tree i compares only the features of allowed[i % n_allowed], a bit for each; n_allowed 0: all. */
    const uint64_t *allowed;
    int n_allowed;
} BoostOptions;

/* Trees in the arena; none where there are no rows. Equal arguments give equal trees. ERR_INPUT: n_trees or
 * leaves is out of bounds. */
Err boost_train(Arena *a, const BoostRows *rows, const BoostOptions *o, ModelTrees **out);

#endif
