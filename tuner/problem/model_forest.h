/* Boosted trees (model_trees.h) in a form that is evaluated fast for the kernels of a library.
 *
 * A word for each tree says which of its leaves the nodes remove. The comparisons of a feature are done at
 * once: between two of its bounds they all end alike, and for each such interval there is a list with the
 * words of all trees. The words of a row are the disjunction of one list for each feature (C. Lucchese et
 * al., "QuickScorer", 2015). That of a kernel's features is made beforehand, that of a size's features once
 * for all kernels. */
#ifndef PROBLEM_MODEL_FOREST_H
#define PROBLEM_MODEL_FOREST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/floats.h"
#include "problem/model.h"
#include "problem/model_trees.h"

typedef struct ModelForest ModelForest;

/* A forest for n kernels in the arena. ERR_INPUT: a feature has more than MODEL_FOREST_BOUNDS bounds. */
enum { MODEL_FOREST_BOUNDS = 64 };
Err model_forest_new(Arena *a, const ModelTrees *trees, size_t n_kernels, ModelForest **out);
/* From now on, no instructions are used that not all processors of the architecture have. */
void model_forest_portable(ModelForest *f);
/* Sets kernel i. */
void model_forest_set(ModelForest *f, size_t i, const ModelKernel *k);

/* What a size says to all trees: the leaves that its features remove. */
typedef struct {
    _Alignas(64) uint32_t words[MODEL_TREES_MAX];
} ModelForestSize;
void model_forest_size(const ModelForest *f, const ModelSize *z, ModelForestSize *out);
/* What a launch says to all trees: model_launch_features, behind them zeros. */
typedef struct {
    _Alignas(Floats) float x[FLOATS];
} ModelForestLaunch;
/* t: the time that the model predicts. */
void model_forest_launch(const ModelTime *t, ModelForestLaunch *out);
/* What the trees say of up to MODEL_FOREST_LAUNCHES kernels on that size: the same as model_trees_value, but
 * that values are rounded to 1/127 of the largest one of about 16 trees with values alike. */
enum { MODEL_FOREST_LAUNCHES = 4 };
void model_forest_values(const ModelForest *f, const ModelForestSize *z, int n, const size_t *kernel,
                         const ModelForestLaunch *launch, float *value);

#endif
