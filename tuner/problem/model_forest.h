/* Boosted trees (model_trees.h) in a form that is evaluated fast for the kernels of a library.
 *
 * The leaves of a tree are the bits of a word, the leftmost one first. A comparison that a row does not pass
 * clears the leaves on its left side; what is left when all comparisons are done begins with the row's leaf
 * (C. Lucchese et al., "QuickScorer", 2015). The comparisons of a feature are done at once: between two
 * of its bounds they all end alike, and for each such interval there is a list with the words of all trees.
 * A row is the conjunction of one list for each feature. That of a kernel's features is made beforehand, that
 * of a size's features once for all kernels. */
#ifndef PROBLEM_MODEL_FOREST_H
#define PROBLEM_MODEL_FOREST_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model.h"
#include "problem/model_trees.h"

typedef struct ModelForest ModelForest;

/* A forest for n kernels in the arena, which keeps `trees`. ERR_INPUT: a feature has more than
 * MODEL_FOREST_BOUNDS bounds. */
enum { MODEL_FOREST_BOUNDS = 64 };
Err model_forest_new(Arena *a, const ModelTrees *trees, size_t n_kernels, ModelForest **out);
/* Whether the trees may compare terms of the model's times, which these must have then. */
bool model_forest_has_terms(const ModelForest *f);
/* Sets kernel i, which must live as long. n_cu: of its device. */
void model_forest_set(ModelForest *f, size_t i, const ModelKernel *k, double n_cu);

/* A choice asks the first trees only, which say most. */
enum { MODEL_FOREST_FIRST = 64 };
typedef enum { MODEL_FOREST_ALL, MODEL_FOREST_FIRST_ONES } ModelForestTrees;

/* What a size leaves of these trees. */
typedef struct {
    ModelSize size;
    _Alignas(64) uint32_t word[MODEL_TREES_MAX];
} ModelForestSize;
void model_forest_size(const ModelForest *f, const ModelSize *z, ModelForestTrees trees,
                       ModelForestSize *out);
/* The same as model_trees_value of kernel i on that size, made with all trees, whose time the model predicts
 * as t; what the first trees say of it, and the others. */
float model_forest_value(const ModelForest *f, size_t i, const ModelForestSize *z, const ModelTime *t);
void model_forest_both(const ModelForest *f, size_t i, const ModelForestSize *z, const ModelTime *t,
                       float *first, float *others);
/* What the first trees say of up to MODEL_FOREST_LAUNCHES kernels. */
enum { MODEL_FOREST_LAUNCHES = 4 };
void model_forest_first(const ModelForest *f, const ModelForestSize *z, int n, const size_t *kernel,
                        const ModelTime *const *t, float *value);

#endif
