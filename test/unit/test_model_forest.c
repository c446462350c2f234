/* Boosted trees in the form that a choice evaluates: about the same sums as those of the trees
 * one by one. */
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
    if (!draw(0, 60)) t.last_fill = (double)NAN;
    return t;
}

/* Splits the leaf `leaf` of a tree of n leaves (model_trees.h). */
static void leaf_split(uint8_t *first, int n, int leaf)
{
    memmove(&first[leaf + 1], &first[leaf], (size_t)(n - 1 - leaf));
    for (int i = leaf + 1; i < n; i++) first[i] = (uint8_t)(first[i] + (first[i] > leaf));
    first[leaf] = (uint8_t)leaf;
}

/* Trees of that many leaves and random shapes; with 0 leaves, nodes remove whatever leaves they may. Values
 * of later trees are smaller, as those of trained ones. */
static ModelTrees *trees_draw(Arena *a, int n, int leaves)
{
    ModelTrees *t;
    assert_ok(model_trees_new(a, n, &t));
    for (int i = 0; i < n; i++) {
        const int nodes = leaves ? leaves - 1 : MODEL_TREES_NODES;
        uint8_t *feature = &t->feature[i * MODEL_TREES_NODES], *first = &t->first[i * MODEL_TREES_NODES];
        float *at = &t->at[i * MODEL_TREES_NODES], *value = &t->value[i * MODEL_TREES_LEAVES];
        for (int k = 1; k < leaves; k++) leaf_split(first, k, draw(0, k - 1));
        for (int k = 0; k < nodes; k++) {
            if (!leaves) first[k] = (uint8_t)draw(0, k);
            feature[k] = (uint8_t)draw(0, MODEL_FEATURES - 1);
            at[k] = (float)draw(-N_BOUNDS / 4, N_BOUNDS) / (float)(1 << draw(0, 1));
        }
        for (int k = 0; k < MODEL_TREES_LEAVES; k++)
            value[k] = k <= nodes ? (float)draw(-1000, 1000) / 7777 / (1 + (float)i / 16) : value[nodes];
    }
    return t;
}

/* Kernels `first` and others at once. Returns the mean square of what they differ by, as values are
 * rounded. */
static double compare_launches(const ModelForest *f, const ModelForest *portable, const ModelTrees *t,
                               const ModelKernel *kernel, const ModelSize *size, const ModelForestSize *z,
                               size_t first)
{
    ModelTime time[MODEL_FOREST_LAUNCHES];
    ModelForestLaunch launch[MODEL_FOREST_LAUNCHES];
    size_t k[MODEL_FOREST_LAUNCHES];
    float value[MODEL_FOREST_LAUNCHES + 1];
    double squares = 0;
    const int n = draw(1, MODEL_FOREST_LAUNCHES);
    for (int i = 0; i < n; i++) {
        k[i] = (first + (size_t)i) % N_KERNELS, time[i] = time_draw();
        model_forest_launch(&time[i], &launch[i]);
    }
    value[n] = 77;
    model_forest_values(f, z, n, k, launch, value);
    assert_true(value[n] == 77);
    for (int i = 0; i < n; i++) {
        float x[MODEL_FEATURES], alone;
        model_features(&kernel[k[i]], size, &time[i], x);
        const double error = (double)(model_trees_value(t, x) - value[i]);
        if (!(fabs(error) <= 0.02))
            fail_msg("%d trees, kernel %zu: %.9g, differs by %g", t->n, k[i], (double)value[i], error);
        squares += error * error / n;
        model_forest_values(f, z, 1, &k[i], &launch[i], &alone);
        assert_true(alone == value[i]);
        model_forest_values(portable, z, 1, &k[i], &launch[i], &alone);
        assert_float_equal(alone, value[i], 1e-6);
    }
    return squares;
}

static void compare(Arena *a, int n, int leaves)
{
    const ModelTrees *t = trees_draw(a, n, leaves);
    ModelKernel kernel[N_KERNELS];
    ModelForest *f, *portable;
    double squares = 0;
    assert_ok(model_forest_new(a, t, N_KERNELS, &f));
    assert_ok(model_forest_new(a, t, N_KERNELS, &portable));
    model_forest_portable(portable);
    for (size_t k = 0; k < N_KERNELS; k++) {
        kernel[k] = kernel_draw();
        model_forest_set(f, k, &kernel[k]);
        model_forest_set(portable, k, &kernel[k]);
    }
    for (int i = 0; i < N_SIZES; i++) {
        const ModelSize z = size_draw();
        ModelForestSize of;
        model_forest_size(f, &z, &of);
        for (size_t k = 0; k < N_KERNELS; k++)
            squares += compare_launches(f, portable, t, kernel, &z, &of, (k + 1) % N_KERNELS);
    }
    const double rms = sqrt(squares / (N_SIZES * N_KERNELS));
    if (!(rms < 0.004)) fail_msg("%d trees of %d leaves: values differ by %g", n, leaves, rms);
}

static void test_values(void **unused)
{
    (void)unused;
    static const int n[] = {0, 1, 7, 15, 16, 17, 63, 64, 65, 128, 240, MODEL_TREES_MAX},
                     leaves[] = {0, 1, 2, 3, 7, 31, MODEL_TREES_LEAVES};
    Arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (size_t k = 0; k < sizeof leaves / sizeof *leaves; k++) compare(&a, n[i], leaves[k]);
    arena_fini(&a);
}

/* Values that are too small for a unit are 0, and the largest ones are kept. */
static void test_extremes(void **unused)
{
    (void)unused;
    static const float most[] = {0, 1e-45F, 1e-38F, 1e-20F, 1e30F};
    Arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        ModelTrees *t = trees_draw(&a, 5, 3);
        ModelForest *f;
        ModelForestSize of;
        const ModelKernel kernel = kernel_draw();
        const ModelSize z = size_draw();
        const ModelTime time = time_draw();
        ModelForestLaunch launch;
        const size_t k = 0;
        float value;
        for (int v = 0; v < t->n * MODEL_TREES_LEAVES; v++) t->value[v] = most[i];
        assert_ok(model_forest_new(&a, t, 1, &f));
        model_forest_set(f, 0, &kernel);
        model_forest_size(f, &z, &of);
        model_forest_launch(&time, &launch);
        model_forest_values(f, &of, 1, &k, &launch, &value);
        assert_true(most[i] < 1e-30F ? value == 0 : fabsf(value / (5 * most[i]) - 1) < 1e-5F);
    }
    arena_fini(&a);
}

/* A tree by its nodes: the value of a row is that of the leaf where its comparisons lead. */
static void test_walk(void **unused)
{
    (void)unused;
    Arena a;
    arena_init(&a, 0);
    for (int i = 0; i < 200; i++) {
        const int leaves = draw(1, MODEL_TREES_LEAVES);
        const ModelTrees *t = trees_draw(&a, 1, leaves);
        float x[MODEL_FEATURES];
        for (int f = 0; f < MODEL_FEATURES; f++) x[f] = draw(0, 9) ? (float)draw(0, 20) : (float)INFINITY;
        int from = 0, to = leaves - 1; /* the leaves that are possible */
        while (from < to) {
            int root = from; /* the node whose left subtree begins there and reaches furthest */
            for (int k = from; k < to; k++)
                if (t->first[k] == from) root = k;
            if (x[t->feature[root]] < t->at[root])
                to = root;
            else
                from = root + 1;
        }
        assert_true(model_trees_value(t, x) == t->value[from]);
    }
    arena_fini(&a);
}

/* Nodes that a tree does not need change nothing, also where a feature is not a number. */
static void test_unneeded(void **unused)
{
    (void)unused;
    static const double m[] = {1, 1e30, (double)INFINITY, (double)NAN};
    Arena a;
    arena_init(&a, 0);
    const ModelTrees *t = trees_draw(&a, 20, 1);
    const ModelKernel kernel = kernel_draw();
    const ModelTime time = time_draw();
    ModelForestLaunch launch;
    const size_t k = 0;
    ModelForest *f;
    float expected = 0;
    for (int i = 0; i < t->n; i++) expected += t->value[i * MODEL_TREES_LEAVES];
    assert_ok(model_forest_new(&a, t, 1, &f));
    model_forest_set(f, 0, &kernel);
    for (size_t i = 0; i < sizeof m / sizeof *m; i++) {
        const ModelSize z = {.m = m[i], .n = 1, .k = 1};
        ModelForestSize of;
        float value, x[MODEL_FEATURES];
        model_features(&kernel, &z, &time, x);
        assert_float_equal(model_trees_value(t, x), expected, 1e-6);
        model_forest_size(f, &z, &of);
        model_forest_launch(&time, &launch);
        model_forest_values(f, &of, 1, &k, &launch, &value);
        assert_float_equal(value, expected, 0.02);
    }
    arena_fini(&a);
}

static void test_bounds(void **unused)
{
    (void)unused;
    Arena a;
    ModelForest *f;
    arena_init(&a, 0);
    ModelTrees *t = trees_draw(&a, MODEL_FOREST_BOUNDS + 1, 2);
    for (int i = 0; i < t->n; i++)
        t->feature[i * MODEL_TREES_NODES] = 3,
                       t->at[i * MODEL_TREES_NODES] = (float)(i % MODEL_FOREST_BOUNDS);
    assert_ok(model_forest_new(&a, t, 1, &f));
    t->at[MODEL_FOREST_BOUNDS * MODEL_TREES_NODES] = 0.5F;
    assert_int_equal(model_forest_new(&a, t, 1, &f), ERR_INPUT);
    assert_int_equal(model_trees_new(&a, MODEL_TREES_MAX + 1, &t), ERR_INPUT);
    assert_int_equal(model_trees_new(&a, -1, &t), ERR_INPUT);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_extremes),
                                       cmocka_unit_test(test_walk), cmocka_unit_test(test_unneeded),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
