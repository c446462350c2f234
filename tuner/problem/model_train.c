/* Trees of the performance model. See model_train.h. */
#include "problem/model_train.h"

#include <math.h>

#include "problem/boost.h"

/* The options of the trees were chosen on recorded times of an H200 (test/README.md). */
static const BoostOptions TREES = {
    .n_trees = 192, .leaves = 32, .step = 0.18F, .leaf_least = 8, .shrink = 5, .share = 0.7F};

double model_time_features(const ModelEntry *e, const ModelSize *z, float x[MODEL_FEATURES])
{
    ModelTime t;
    model_time(&e->kernel, &e->device, &e->rates, z, &t);
    model_features(&e->kernel, z, &t, x);
    return t.seconds;
}

static double best_of(const ModelTimes *m, size_t z)
{
    double best = INFINITY;
    for (size_t k = 0; k < m->n_kernels; k++) {
        const double t = m->seconds[z * m->n_kernels + k];
        if (t > 0 && m->known[k]) best = fmin(best, t);
    }
    return best;
}

static Err rows_make(Arena *a, const ModelTimes *m, BoostRows *r)
{
    const size_t most = m->n_kernels * m->n_sizes;
    size_t n = 0;
    for (size_t i = 0; i < most; i++) n += m->seconds[i] > 0;
    float *x = ARENA_ARRAY(a, n * MODEL_FEATURES + 1, float), *y = ARENA_ARRAY(a, n + 1, float),
          *weight = ARENA_ARRAY(a, n + 1, float);
    uint32_t *group = ARENA_ARRAY(a, n + 1, uint32_t);
    TRY_ALLOC(x);
    TRY_ALLOC(y);
    TRY_ALLOC(weight);
    TRY_ALLOC(group);
    *r = (BoostRows){0, MODEL_FEATURES, 0, x, y, weight, group};
    for (size_t z = 0; z < m->n_sizes; z++) {
        const double best = best_of(m, z);
        const size_t before = r->n;
        for (size_t k = 0; k < m->n_kernels && !(m->out && m->out[z]); k++) {
            const double t = m->seconds[z * m->n_kernels + k];
            if (!(t > 0) || !m->known[k]) continue;
            y[r->n] =
                (float)log(t / model_time_features(&m->entry[k], &m->size[z], &x[r->n * MODEL_FEATURES]));
            weight[r->n] = model_train_weight(best, t);
            group[r->n++] = (uint32_t)r->n_groups;
        }
        r->n_groups += r->n > before;
    }
    return ERR_OK;
}

/* A tree compares one feature of launches, and any of sizes and of kernels: it is evaluated in less time than
 * one with several (model_forest.h), and all trees together expect no worse. */
static uint64_t features_of(int launch)
{
    const int first = MODEL_SIZE_FEATURES + MODEL_KERNEL_FEATURES;
    return (UINT64_C(1) << first) - 1 + (UINT64_C(1) << (first + launch));
}

static Err train(Arena *scratch, Arena *a, const ModelTimes *m, ModelTrees **out)
{
    BoostRows rows;
    TRY(rows_make(scratch, m, &rows));
    if (rows.n < MODEL_TRAIN_TIMES || rows.n_groups < MODEL_TRAIN_SIZES) return ERR_OK;
    uint64_t allowed[MODEL_LAUNCH_FEATURES];
    for (int i = 0; i < MODEL_LAUNCH_FEATURES; i++) allowed[i] = features_of(i);
    BoostOptions o = TREES;
    o.allowed = allowed, o.n_allowed = MODEL_LAUNCH_FEATURES;
    return boost_train(a, &rows, &o, out);
}

Err model_train(Arena *a, const ModelTimes *m, ModelTrees **trees)
{
    Arena scratch;
    *trees = NULL;
    arena_init(&scratch, 0);
    const Err e = train(&scratch, a, m, trees);
    arena_fini(&scratch);
    return e;
}
