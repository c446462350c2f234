/* Training of gradient-boosted regression trees: a sum of small trees, each of which is fitted to what the
 * trees before it leave (J. Friedman, "Greedy function approximation: a gradient boosting machine", 2001).
 * All nodes of a tree's level make the same comparison, the one that explains most in all of them (symmetric
 * trees, as in CatBoost; model_trees.h). Features are compared with quantiles of their values. Rows belong to
 * groups, and only differences within a group count: the mean of a group is not learned. */
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
    int n_trees, depth; /* depth: levels of a tree */
    float step;         /* the part of a tree's prediction that is added */
    float leaf_least;   /* the least sum of weights of a leaf's rows */
    float shrink;       /* is added to the sum of weights of a leaf, so that small leaves say less */
    float share;        /* of the rows, drawn anew for each tree */
} BoostOptions;

/* Trees in the arena; none where there are no rows. Equal arguments give equal trees. ERR_INPUT: n_trees or
 * depth is out of the bounds of model_trees_new. */
Err boost_train(Arena *a, const BoostRows *rows, const BoostOptions *o, ModelTrees **out);

#endif
