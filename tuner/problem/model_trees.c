/* Boosted trees that correct the performance model. See model_trees.h. */
#include "problem/model_trees.h"

#include <math.h>
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

static float log_of(double x) { return (float)log2(x > 1e-12 ? x : 1e-12); }

static double part_of_tile(double size, double tile) { return size / tile - floor(size / tile); }

void model_features(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                    float x[MODEL_FEATURES])
{
    const float of[MODEL_FEATURES - MODEL_N_TERMS] = {log_of(z->m),
                                                      log_of(z->n),
                                                      log_of(z->k),
                                                      log_of(z->batch),
                                                      log_of(z->align_a),
                                                      log_of(z->align_b),
                                                      log_of(z->align_d),
                                                      (float)k->class,
                                                      log_of(k->tile_m),
                                                      log_of(k->tile_n),
                                                      log_of(k->depth),
                                                      log_of(k->threads),
                                                      log_of(k->groups),
                                                      log_of(k->stages),
                                                      log_of(k->split),
                                                      (float)k->split_kind,
                                                      (float)k->persistent,
                                                      (float)k->mapping,
                                                      log_of(k->cluster_m),
                                                      log_of(k->cluster_n),
                                                      log_of(k->load_a),
                                                      log_of(k->load_b),
                                                      log_of(k->store),
                                                      (float)k->pack_a,
                                                      (float)k->pack_b,
                                                      (float)((k->flags & MODEL_DEPENDENT) != 0),
                                                      (float)((k->flags & MODEL_LAGS) != 0),
                                                      (float)((k->flags & MODEL_SWAPS) != 0),
                                                      (float)((k->flags & MODEL_RESETS) != 0),
                                                      log_of(t->tiles),
                                                      (float)t->waves,
                                                      (float)t->last_fill,
                                                      log_of(t->seconds * 1e6),
                                                      log_of(z->k / k->depth),
                                                      (float)part_of_tile(z->m, k->tile_m),
                                                      (float)part_of_tile(z->n, k->tile_n),
                                                      log_of(ceil(z->m / k->tile_m)),
                                                      log_of(ceil(z->n / k->tile_n)),
                                                      (float)fmin(t->tiles / n_cu, 1),
                                                      (float)t->edge_waste,
                                                      log_of(t->bound_seconds / t->seconds)};
    memcpy(x, of, sizeof of);
    for (int i = 0; i < MODEL_N_TERMS; i++)
        x[MODEL_FEATURES - MODEL_N_TERMS + i] = (float)(t->term[i] / t->seconds);
}

/* One tree after the other for all rows: their comparisons do not wait for each other, and a tree's nodes are
 * in the cache. */
void model_trees_values(const ModelTrees *t, size_t n, float (*const x)[MODEL_FEATURES], float *out)
{
    const size_t nodes = model_trees_nodes(t);
    const uint8_t *feature = t->feature;
    const float *at = t->at, *value = t->value;
    for (size_t k = 0; k < n; k++) out[k] = 0;
    for (int i = 0; i < t->n; i++, feature += nodes, at += nodes, value += nodes + 1)
        for (size_t k = 0; k < n; k++) {
            size_t node = 0;
            for (int d = 0; d < t->depth; d++) node = 2 * node + 1 + !(x[k][feature[node]] < at[node]);
            out[k] += value[node - nodes];
        }
}

float model_trees_value(const ModelTrees *t, const float x[MODEL_FEATURES])
{
    float row[1][MODEL_FEATURES], value;
    memcpy(row, x, sizeof row);
    model_trees_values(t, 1, row, &value);
    return value;
}
