/* Boosted trees that correct the performance model. See model_trees.h. */
#include "problem/model_trees.h"

#include <string.h>

Err model_trees_new(Arena *a, int n, ModelTrees **out)
{
    if (n < 0 || n > MODEL_TREES_MAX) FAIL(ERR_INPUT, "%d trees, at most %d", n, MODEL_TREES_MAX);
    ModelTrees *t = *out = ARENA_NEW(a, ModelTrees);
    TRY_ALLOC(t);
    t->n = n;
    const size_t nodes = (size_t)n * MODEL_TREES_NODES;
    TRY_ALLOC(t->feature = ARENA_ARRAY(a, nodes + 1, uint8_t));
    TRY_ALLOC(t->first = ARENA_ARRAY(a, nodes + 1, uint8_t));
    TRY_ALLOC(t->at = ARENA_ARRAY(a, nodes + 1, float));
    TRY_ALLOC(t->value = ARENA_ARRAY(a, (size_t)n * MODEL_TREES_LEAVES + 1, float));
    for (size_t i = 0; i < nodes; i++)
        t->first[i] = (uint8_t)(i % MODEL_TREES_NODES), t->at[i] = MODEL_TREES_NEVER;
    return ERR_OK;
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

void model_features(const ModelKernel *k, const ModelSize *z, const ModelTime *t, float x[MODEL_FEATURES])
{
    model_size_features(z, x);
    model_kernel_features(k, x + MODEL_SIZE_FEATURES);
    model_launch_features(t, x + MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES);
}

float model_tree_value(const ModelTrees *t, size_t tree, const float *x)
{
    const size_t nodes = tree * MODEL_TREES_NODES;
    uint32_t removed = 0; /* a bit for each leaf */
    int leaf = 0;
    for (int i = 0; i < MODEL_TREES_NODES; i++)
        if (!(x[t->feature[nodes + (size_t)i]] < t->at[nodes + (size_t)i]))
            removed |= (UINT32_C(2) << i) - (UINT32_C(1) << t->first[nodes + (size_t)i]);
    while (removed >> leaf & 1) leaf++; /* no node removes the last leaf */
    return t->value[tree * MODEL_TREES_LEAVES + (size_t)leaf];
}

float model_trees_value(const ModelTrees *t, const float *x)
{
    float sum = 0;
    for (int i = 0; i < t->n; i++) sum += model_tree_value(t, (size_t)i, x);
    return sum;
}
