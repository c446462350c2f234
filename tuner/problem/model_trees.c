/* Boosted trees that correct the performance model. See model_trees.h. */
#include "problem/model_trees.h"

#include <string.h>

Err model_trees_new(Arena *a, int n, int depth, ModelTrees **out)
{
    if (n < 0 || n > MODEL_TREES_MAX || depth < 1 || depth > MODEL_TREES_DEPTH)
        FAIL(ERR_INPUT, "%d trees with %d comparisons each, at most %d and 1 to %d", n, depth,
             MODEL_TREES_MAX, MODEL_TREES_DEPTH);
    ModelTrees *t = *out = ARENA_NEW(a, ModelTrees);
    TRY_ALLOC(t);
    t->n = n, t->depth = depth;
    const size_t nodes = (size_t)n * model_trees_nodes(t);
    TRY_ALLOC(t->feature = ARENA_ARRAY(a, nodes + 1, uint8_t));
    TRY_ALLOC(t->at = ARENA_ARRAY(a, nodes + 1, float));
    TRY_ALLOC(t->value = ARENA_ARRAY(a, nodes + (size_t)n + 1, float));
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

/* Of positive numbers far below 2^63. */
static double down(double x) { return (double)(int64_t)x; }
static double up(double x) { return down(x) + (down(x) < x ? 1.0 : 0.0); }

/* Without a feature of a launch there is a list less to read and a number less to compute for each kernel
 * that a choice asks the trees of. These features lose no more than all of them (test/README.md). */
bool model_trees_offers(size_t feature)
{
    static const size_t FIRST = MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES;
    if (feature < FIRST) return true;
    switch (feature - FIRST) {
    case MODEL_LAUNCH_GROUPS:
    case MODEL_LAUNCH_WAVES:
    case MODEL_LAUNCH_LAST_FILL:
    case MODEL_LAUNCH_SECONDS:
    case MODEL_LAUNCH_WASTE:
    case MODEL_LAUNCH_BOUND:
        return true;
    default:
        return false;
    }
}

static void other_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                           float x[MODEL_LAUNCH_FEATURES])
{
    const double tiles_m = z->m / k->tile_m, tiles_n = z->n / k->tile_n, part = 1 / t->seconds;
    x[MODEL_LAUNCH_CHUNKS] = (float)(z->k / k->depth);
    x[MODEL_LAUNCH_EDGE_M] = (float)(tiles_m - down(tiles_m));
    x[MODEL_LAUNCH_EDGE_N] = (float)(tiles_n - down(tiles_n));
    x[MODEL_LAUNCH_TILES_M] = (float)up(tiles_m);
    x[MODEL_LAUNCH_TILES_N] = (float)up(tiles_n);
    x[MODEL_LAUNCH_BUSY] = (float)(t->tiles < n_cu ? t->tiles / n_cu : 1);
    for (int i = 0; i < MODEL_N_TERMS; i++) x[MODEL_LAUNCH_TERMS + i] = (float)(t->term[i] * part);
}

void model_launch_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                           bool all, float x[MODEL_LAUNCH_FEATURES])
{
    x[MODEL_LAUNCH_GROUPS] = (float)t->tiles;
    x[MODEL_LAUNCH_WAVES] = (float)t->waves;
    x[MODEL_LAUNCH_LAST_FILL] = (float)t->last_fill;
    x[MODEL_LAUNCH_SECONDS] = (float)t->seconds;
    x[MODEL_LAUNCH_WASTE] = (float)t->edge_waste;
    x[MODEL_LAUNCH_BOUND] = (float)(t->bound_seconds * (1 / t->seconds));
    if (all) other_features(k, z, n_cu, t, x);
}

void model_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                    float x[MODEL_FEATURES])
{
    model_size_features(z, x);
    model_kernel_features(k, x + MODEL_SIZE_FEATURES);
    model_launch_features(k, z, n_cu, t, true, x + MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES);
}

float model_trees_value(const ModelTrees *t, const float x[MODEL_FEATURES])
{
    const size_t nodes = model_trees_nodes(t);
    const uint8_t *feature = t->feature;
    const float *at = t->at, *value = t->value;
    float sum[MODEL_TREES_SUMS] = {0};
    for (int i = 0; i < t->n; i++, feature += nodes, at += nodes, value += nodes + 1) {
        size_t node = 0;
        for (int d = 0; d < t->depth; d++) node = 2 * node + 1 + !(x[feature[node]] < at[node]);
        sum[i % MODEL_TREES_SUMS] += value[node - nodes];
    }
    return model_trees_sum(sum);
}
