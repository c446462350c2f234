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

/* Values of later trees are smaller, as those of trained ones. */
static ModelTrees *trees_draw(Arena *a, int n, int depth)
{
    ModelTrees *t;
    assert_ok(model_trees_new(a, n, depth, &t));
    for (size_t i = 0; i < (size_t)n * (size_t)depth; i++) {
        t->feature[i] = (uint8_t)draw(0, MODEL_FEATURES - 1);
        t->at[i] = (float)draw(-N_BOUNDS / 4, N_BOUNDS) / (float)(1 << draw(0, 1));
    }
    for (size_t i = 0; i < (size_t)n << depth; i++)
        t->value[i] = (float)draw(-1000, 1000) / 7777 / (1 + (float)(i >> depth) / 16);
    return t;
}

/* Kernels `first` and others at once. Returns the mean square of what they differ by, as values are
 * rounded. */
static double compare_launches(const ModelForest *f, const ModelForest *portable, const ModelTrees *t,
                               const ModelKernel *kernel, const ModelSize *size, const ModelForestSize *z,
                               size_t first)
{
    ModelTime time[MODEL_FOREST_LAUNCHES];
    const ModelTime *of[MODEL_FOREST_LAUNCHES];
    size_t k[MODEL_FOREST_LAUNCHES];
    float value[MODEL_FOREST_LAUNCHES + 1];
    double squares = 0;
    const int n = draw(1, MODEL_FOREST_LAUNCHES);
    for (int i = 0; i < n; i++)
        k[i] = (first + (size_t)i) % N_KERNELS, time[i] = time_draw(), of[i] = &time[i];
    value[n] = 77;
    model_forest_values(f, z, n, k, of, value);
    assert_true(value[n] == 77);
    for (int i = 0; i < n; i++) {
        float x[MODEL_FEATURES], alone;
        model_features(&kernel[k[i]], size, of[i], x);
        const double error = (double)(model_trees_value(t, x) - value[i]);
        if (!(fabs(error) <= 0.02))
            fail_msg("%d trees of %d levels, kernel %zu: %.9g, differs by %g", t->n, t->depth, k[i],
                     (double)value[i], error);
        squares += error * error / n;
        model_forest_values(f, z, 1, &k[i], &of[i], &alone);
        assert_true(alone == value[i]);
        model_forest_values(portable, z, 1, &k[i], &of[i], &alone);
        assert_float_equal(alone, value[i], 1e-6);
    }
    return squares;
}

static void compare(Arena *a, int n, int depth)
{
    const ModelTrees *t = trees_draw(a, n, depth);
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
    if (!(rms < 0.004)) fail_msg("%d trees of %d levels: values differ by %g", n, depth, rms);
}

static void test_values(void **unused)
{
    (void)unused;
    static const int n[] = {0, 1, 7, 31, 32, 33, 120, 240, MODEL_TREES_MAX};
    Arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (int depth = 1; depth <= MODEL_TREES_DEPTH; depth++) compare(&a, n[i], depth);
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
        const ModelTime *const times[] = {&time};
        const size_t k = 0;
        float value;
        for (int v = 0; v < t->n << t->depth; v++) t->value[v] = most[i];
        assert_ok(model_forest_new(&a, t, 1, &f));
        model_forest_set(f, 0, &kernel);
        model_forest_size(f, &z, &of);
        model_forest_values(f, &of, 1, &k, times, &value);
        assert_true(most[i] < 1e-30F ? value == 0 : fabsf(value / (5 * most[i]) - 1) < 1e-5F);
    }
    arena_fini(&a);
}

static void test_bounds(void **unused)
{
    (void)unused;
    Arena a;
    ModelForest *f;
    arena_init(&a, 0);
    ModelTrees *t = trees_draw(&a, MODEL_FOREST_BOUNDS + 1, 1);
    for (int i = 0; i < t->n; i++) t->feature[i] = 3, t->at[i] = (float)(i % MODEL_FOREST_BOUNDS);
    assert_ok(model_forest_new(&a, t, 1, &f));
    t->at[MODEL_FOREST_BOUNDS] = 0.5F;
    assert_int_equal(model_forest_new(&a, t, 1, &f), ERR_INPUT);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values), cmocka_unit_test(test_extremes),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
