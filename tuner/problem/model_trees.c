/* Boosted trees that correct the performance model. See model_trees.h. */
#include "problem/model_trees.h"

#include <string.h>

Err model_trees_new(Arena *a, int n, int depth, ModelTrees **out)
{
    if (n < 0 || n > MODEL_TREES_MAX || depth < 1 || depth > MODEL_TREES_DEPTH)
        FAIL(ERR_INPUT, "%d trees with %d levels each, at most %d and 1 to %d", n, depth, MODEL_TREES_MAX,
             MODEL_TREES_DEPTH);
    ModelTrees *t = *out = ARENA_NEW(a, ModelTrees);
    TRY_ALLOC(t);
    t->n = n, t->depth = depth;
    const size_t levels = (size_t)n * (size_t)depth;
    TRY_ALLOC(t->feature = ARENA_ARRAY(a, levels + 1, uint8_t));
    TRY_ALLOC(t->at = ARENA_ARRAY(a, levels + 1, float));
    TRY_ALLOC(t->value = ARENA_ARRAY(a, ((size_t)n << depth) + 1, float));
    return ERR_OK;
}

/* Features are only compared, so that no logarithms are needed. */
void model_size_features(const ModelSize *z, float x[MODEL_SIZE_FEATURES])
{
    const float of[MODEL_SIZE_FEATURES] = {(float)z->m,      (float)z->n,       (float)z->k,
                                           (float)z->batch,  (float)z->align_a, (float)z->align_b,
                                           (float)z->align_d};
    memcpy(x, of, sizeof of);
}

static float flag(const ModelKernel *k, int32_t of) { return k->flags & of ? 1 : 0; }

void model_kernel_features(const ModelKernel *k, float x[MODEL_KERNEL_FEATURES])
{
    const float of[MODEL_KERNEL_FEATURES] = {
        (float)k->class,      (float)k->tile_m,     (float)k->tile_n,         (float)k->depth,
        (float)k->threads,    (float)k->groups,     (float)k->stages,         (float)k->split,
        (float)k->split_kind, (float)k->persistent, (float)k->mapping,        (float)k->cluster_m,
        (float)k->cluster_n,  (float)k->load_a,     (float)k->load_b,         (float)k->store,
        (float)k->pack_a,     (float)k->pack_b,     flag(k, MODEL_DEPENDENT), flag(k, MODEL_LAGS),
        flag(k, MODEL_SWAPS), flag(k, MODEL_RESETS)};
    memcpy(x, of, sizeof of);
}

void model_launch_features(const ModelTime *t, float x[MODEL_LAUNCH_FEATURES])
{
    x[MODEL_LAUNCH_GROUPS] = (float)t->tiles;
    x[MODEL_LAUNCH_WAVES] = (float)t->waves;
    x[MODEL_LAUNCH_LAST_FILL] = (float)t->last_fill;
    x[MODEL_LAUNCH_SECONDS] = (float)t->seconds;
    x[MODEL_LAUNCH_WASTE] = (float)t->edge_waste;
    x[MODEL_LAUNCH_BOUND] = (float)(t->bound_seconds * (1 / t->seconds));
}

void model_features(const ModelKernel *k, const ModelSize *z, const ModelTime *t, float x[MODEL_FEATURES])
{
    model_size_features(z, x);
    model_kernel_features(k, x + MODEL_SIZE_FEATURES);
    model_launch_features(t, x + MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES);
}

float model_tree_value(const ModelTrees *t, size_t tree, const float *x)
{
    const size_t depth = (size_t)t->depth;
    const uint8_t *feature = &t->feature[tree * depth];
    const float *at = &t->at[tree * depth];
    size_t number = 0;
    for (size_t i = 0; i < depth; i++) number = 2 * number + !(x[feature[i]] < at[i]);
    return t->value[(tree << depth) + number];
}

float model_trees_value(const ModelTrees *t, const float *x)
{
    float sum = 0;
    for (int i = 0; i < t->n; i++) sum += model_tree_value(t, (size_t)i, x);
    return sum;
}
