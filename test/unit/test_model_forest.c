/* Boosted trees in the form that a choice evaluates: the same sums as those of the trees one by one. */
#include <math.h>
#include <string.h>

#include "problem/model_forest.h"
#include "test/support.h"

enum { N_KERNELS = 9, N_SIZES = 60, N_BOUNDS = 30 };

static uint64_t state = 11;

static int draw(int lo, int hi)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (int)((state >> 33) % (uint64_t)(hi - lo + 1));
}

/* Small numbers, so that features are often equal to bounds. */
static ModelKernel kernel_draw(void)
{
    return (ModelKernel){.class = draw(0, 3),
                         .tile_m = draw(1, 16),
                         .tile_n = draw(1, 16),
                         .depth = draw(1, 4),
                         .threads = draw(1, 16),
                         .groups = draw(1, 4),
                         .stages = draw(1, 6),
                         .split = draw(1, 16),
                         .split_kind = draw(0, 5),
                         .persistent = draw(0, 2),
                         .mapping = draw(-8, 16),
                         .cluster_m = draw(1, 2),
                         .cluster_n = draw(1, 2),
                         .load_a = draw(1, 16),
                         .load_b = draw(1, 16),
                         .store = draw(1, 16),
                         .pack_a = draw(0, 2),
                         .pack_b = draw(0, 2),
                         .flags = draw(0, 31)};
}

static ModelSize size_draw(void)
{
    return (ModelSize){draw(1, 40),     draw(1, 40),     draw(1, 40), draw(1, 4), 1 << draw(0, 7),
                       1 << draw(0, 7), 1 << draw(0, 7), draw(0, 1),  0,          0};
}

static ModelTime time_draw(void)
{
    ModelTime t = {.seconds = draw(1, 20),
                   .bound_seconds = draw(1, 20),
                   .tiles = draw(1, 40),
                   .waves = draw(1, 10),
                   .last_fill = draw(1, 4) / 4.0,
                   .edge_waste = draw(0, 4) / 4.0};
    for (int i = 0; i < MODEL_N_TERMS; i++) t.term[i] = draw(0, 60) ? draw(0, 20) : (double)NAN;
    return t;
}

/* offered: of the features that training offers alone. */
static uint8_t feature_draw(bool offered)
{
    int feature = draw(0, MODEL_FEATURES - 1);
    while (offered && !model_trees_offers((size_t)feature)) feature = draw(0, MODEL_FEATURES - 1);
    return (uint8_t)feature;
}

static ModelTrees *trees_draw(Arena *a, int n, int depth, bool offered)
{
    ModelTrees *t;
    assert_ok(model_trees_new(a, n, depth, &t));
    const size_t nodes = model_trees_nodes(t);
    for (size_t i = 0; i < (size_t)n * nodes; i++) {
        t->feature[i] = feature_draw(offered);
        t->at[i] = (float)draw(-N_BOUNDS / 4, N_BOUNDS) / (float)(1 << draw(0, 1));
    }
    for (size_t i = 0; i < (size_t)n * (nodes + 1); i++) t->value[i] = (float)draw(-1000, 1000) / 7777;
    return t;
}

/* Kernels `first` and others at once. */
static void compare_launches(const ModelForest *f, const ModelTrees *t, const ModelKernel *kernel,
                             const ModelForestSize *z, size_t first)
{
    ModelTime time[MODEL_FOREST_LAUNCHES];
    const ModelTime *of[MODEL_FOREST_LAUNCHES];
    size_t k[MODEL_FOREST_LAUNCHES];
    float value[MODEL_FOREST_LAUNCHES];
    const int n = draw(1, MODEL_FOREST_LAUNCHES);
    for (int i = 0; i < n; i++)
        k[i] = (first + (size_t)i) % N_KERNELS, time[i] = time_draw(), of[i] = &time[i];
    model_forest_first(f, z, n, k, of, value);
    for (int i = 0; i < n; i++) {
        float x[MODEL_FEATURES];
        model_features(&kernel[k[i]], &z->size, 20 + (double)k[i], of[i], x);
        const float tree = model_trees_value(t, x), all = model_forest_value(f, k[i], z, of[i]);
        float part, others;
        model_forest_both(f, k[i], z, of[i], &part, &others);
        ModelTrees head = *t;
        head.n = t->n < MODEL_FOREST_FIRST ? t->n : MODEL_FOREST_FIRST;
        if (tree != all)
            fail_msg("%d trees of %d comparisons, kernel %zu: %.9g, as a forest %.9g", t->n, t->depth, k[i],
                     (double)tree, (double)all);
        assert_true(value[i] == model_trees_value(&head, x));
        assert_true(part == value[i]);
        assert_float_equal(part + others, all, 1e-4);
    }
}

static void compare(Arena *a, int n, int depth, bool offered)
{
    const ModelTrees *t = trees_draw(a, n, depth, offered);
    ModelKernel kernel[N_KERNELS];
    ModelForest *f;
    assert_ok(model_forest_new(a, t, N_KERNELS, &f));
    assert_true(!offered || !model_forest_has_terms(f));
    for (size_t k = 0; k < N_KERNELS; k++) {
        kernel[k] = kernel_draw();
        model_forest_set(f, k, &kernel[k], 20 + (double)k);
    }
    for (int i = 0; i < N_SIZES; i++) {
        const ModelSize z = size_draw();
        ModelForestSize of;
        model_forest_size(f, &z, MODEL_FOREST_ALL, &of);
        for (size_t k = 0; k < N_KERNELS; k++) compare_launches(f, t, kernel, &of, (k + 1) % N_KERNELS);
    }
}

static void test_values(void **unused)
{
    (void)unused;
    static const int n[] = {0, 1, 7, 63, 64, 65, 120, MODEL_TREES_MAX};
    Arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (int depth = 1; depth <= MODEL_TREES_DEPTH; depth++)
            compare(&a, n[i], depth, false), compare(&a, n[i], depth, true);
    arena_fini(&a);
}

static void test_bounds(void **unused)
{
    (void)unused;
    Arena a;
    ModelForest *f;
    arena_init(&a, 0);
    ModelTrees *t = trees_draw(&a, MODEL_FOREST_BOUNDS + 1, 1, false);
    for (int i = 0; i < t->n; i++) t->feature[i] = 3, t->at[i] = (float)(i % MODEL_FOREST_BOUNDS);
    assert_ok(model_forest_new(&a, t, 1, &f));
    t->at[MODEL_FOREST_BOUNDS] = 0.5F;
    assert_int_equal(model_forest_new(&a, t, 1, &f), ERR_INPUT);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
