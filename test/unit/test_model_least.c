/* The lower bounds with which libtuner passes over kernels: they are below the model's times for kernels of
 * all classes, splits and clusters, and the choice is the kernel with the least predicted time. */
#include <math.h>
#include <string.h>

#include "measure/model.h"
#include "problem/model_least.h"
#include "problem/model_select.h"
#include "problem/floats.h"
#include "test/support.h"

enum { N_KERNELS = 37, N_SIZES = 300, N_POINTS = 11 };

static uint64_t state = 3;

static int32_t draw(int32_t lo, int32_t hi)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (int32_t)((state >> 33) % (uint64_t)(hi - lo + 1));
}

static ModelKernel kernel_draw(void)
{
    const int32_t class = draw(0, MODEL_CLASSES - 1), split = draw(0, 1) ? 1 : draw(2, 16);
    const bool engine = class == MODEL_ENGINE, host = class == MODEL_HOST;
    ModelKernel k = {.class = class,
                     .tile_m = 8 << draw(0, 5),
                     .tile_n = 8 << draw(0, 5),
                     .depth = 8 << draw(0, 5),
                     .threads = host ? 1 : 32 * draw(1, 12),
                     .groups = host ? 1 : draw(1, 6),
                     .stages = draw(1, 6),
                     .split = split,
                     .split_kind = split > 1 ? draw(1, 4) : MODEL_SPLIT_NONE,
                     .persistent = engine ? draw(0, 2) : 0,
                     .mapping = draw(-8, 16),
                     .cluster_m = engine ? draw(1, 2) : 1,
                     .cluster_n = engine ? draw(1, 4) : 1,
                     .bytes_ab = 2,
                     .bytes_d = 2,
                     .bytes_sum = 4,
                     .load_a = 16,
                     .load_b = 16,
                     .store = 16,
                     .free_a = draw(0, 1),
                     .free_b = draw(0, 1),
                     .steps = draw(0, 16),
                     .unit_m = 8 * draw(1, 8),
                     .unit_n = draw(1, 12),
                     .block_m = 64 * draw(1, 8),
                     .block_n = 64 * draw(1, 8),
                     .pack_a = draw(0, 1),
                     .pack_b = draw(0, 1),
                     .flags = MODEL_READS_C,
                     .rate = (float)draw(64, 8192),
                     .peak = 8192,
                     .local_bytes = (float)draw(16, 2048)};
    if (host || split > 1 || draw(0, 2)) return k;
    k.split_kind = MODEL_SPLIT_STREAM, k.persistent = 1;
    k.stream_k = draw(1, 3);
    k.stream_part = k.stream_k > 1 ? draw(0, 1) * 144 : 0, k.stream_fix = draw(0, 2000);
    return k;
}

static ModelSize size_draw(void)
{
    return (ModelSize){(double)draw(1, 1 << draw(1, 14)),
                       (double)draw(1, 1 << draw(1, 14)),
                       (double)draw(1, 1 << draw(1, 14)),
                       (double)(draw(0, 3) ? 1 : draw(1, 200)),
                       1 << draw(0, 7),
                       1 << draw(0, 7),
                       1 << draw(0, 7),
                       draw(0, 1),
                       0,
                       0};
}

static void selector_make(Arena *a, ModelSelector *s)
{
    ModelDevice gpu, host;
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &gpu);
    model_of_part(target_find(STR("x86-64-v4")), STR_NULL, 8, &host);
    assert_ok(model_selector_new(a, N_KERNELS, N_POINTS, s));
    for (size_t k = 0; k < N_KERNELS; k++) {
        const ModelKernel kernel = kernel_draw();
        s->entry[k] = (ModelEntry){.kernel = kernel,
                                   .device = kernel.class == MODEL_HOST ? host : gpu,
                                   .rates = model_rates((ModelClass)kernel.class)};
        for (int i = 0; i < MODEL_SHAPE; i++) s->entry[k].shape[i] = (float)draw(-300, 300) / 1000;
        assert_true(model_kernel_ok(&kernel));
    }
    for (size_t p = 0; p < N_POINTS; p++) s->size[p] = size_draw();
    for (size_t i = 0; i < N_KERNELS * N_POINTS; i++)
        s->residual[i] = draw(0, 2) ? (float)draw(-400, 400) / 1000 : NAN;
    model_selector_finish(s);
}

static void test_bound(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    float least[64], correction[64];
    double sum = 0;
    arena_init(&a, 0);
    selector_make(&a, &s);
    assert_true(floats_padded(N_KERNELS) <= 64);
    for (int i = 0; i < N_SIZES; i++) {
        ModelSize z = size_draw();
        if (i % 3 == 0) z.once_a = draw(1, 100) / 100.0, z.once_b = draw(1, 100) / 100.0;
        model_least_us(s.least, N_KERNELS, &z, least, correction);
        for (size_t k = 0; k < N_KERNELS; k++) {
            const ModelEntry *e = &s.entry[k];
            const double time = model_time(&e->kernel, &e->device, &e->rates, &z, NULL);
            if ((double)least[k] * 0.999e-6 > time)
                fail_msg("kernel %zu of class %d, size %g %g %g %g: bound %g, time %g", k, e->kernel.class,
                         z.m, z.n, z.k, z.batch, (double)least[k] * 1e-6, time);
            assert_float_equal(correction[k], model_correction(s.least, k, &z), 1e-6);
            sum += (double)least[k] * 1e-6 / time / (N_KERNELS * N_SIZES);
        }
    }
    print_message("the bound is %.3f of the time on average\n", sum);
    assert_true(sum > 0.6); /* it is of use */
    arena_fini(&a);
}

/* Numbers made ready beforehand give the same times. */
static void test_ready(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    int usable = 0;
    arena_init(&a, 0);
    selector_make(&a, &s);
    for (size_t k = 0; k < N_KERNELS; k++) {
        const ModelEntry *e = &s.entry[k];
        usable += s.ready[k].usable;
        for (int i = 0; i < N_SIZES; i++) {
            ModelSize z = size_draw();
            ModelTime t = {0}, ready = {0}, brief;
            if (i % 3 == 0) z.once_a = draw(1, 100) / 100.0, z.once_b = draw(1, 100) / 100.0;
            model_time(&e->kernel, &e->device, &e->rates, &z, &t);
            const double seconds =
                model_time_ready(&s.ready[k], &e->kernel, &e->device, &e->rates, &z, false, NULL);
            model_time_ready(&s.ready[k], &e->kernel, &e->device, &e->rates, &z, true, &ready);
            assert_true(t.seconds == seconds);
            assert_memory_equal(&t, &ready, sizeof t);
            model_time_ready(&s.ready[k], &e->kernel, &e->device, &e->rates, &z, false, &brief);
            assert_true(brief.seconds == seconds && brief.tiles == t.tiles && brief.waves == t.waves &&
                        brief.last_fill == t.last_fill && brief.edge_waste == t.edge_waste &&
                        brief.bound_seconds == t.bound_seconds);
        }
    }
    assert_true(usable > N_KERNELS / 2 && usable < N_KERNELS);
    arena_fini(&a);
}

/* Counts the kernels that the choice evaluates. */
static bool count(void *ctx, size_t kernel)
{
    (void)kernel;
    ++*(int *)ctx;
    return true;
}

static void test_choice(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    int evaluated = 0;
    arena_init(&a, 0);
    for (int n = 0; n < 10; n++) {
        selector_make(&a, &s);
        for (int i = 0; i < N_SIZES; i++) {
            const ModelSize z = size_draw();
            ModelNear near;
            double seconds, best = (double)INFINITY;
            const size_t k = model_choose(&s, &z, count, &evaluated, &seconds);
            model_near(&s, &z, &near);
            for (size_t j = 0; j < N_KERNELS; j++) best = fmin(best, model_predict(&s, &near, j, &z));
            assert_true(k < N_KERNELS && fabs(seconds / best - 1) < 1e-5);
        }
    }
    print_message("%.2f kernels are evaluated on average\n", evaluated / (10.0 * N_SIZES));
    assert_true(evaluated < 10 * N_SIZES * (N_KERNELS / 3));
    arena_fini(&a);
}

/* Kernels of which nothing is known, as in a selector over some of a run's, do not hide the others. */
static void test_unknown(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector all, s;
    arena_init(&a, 0);
    for (int n = 0; n < 10; n++) {
        selector_make(&a, &all);
        assert_ok(model_selector_new(&a, N_KERNELS, N_POINTS, &s));
        memcpy(s.size, all.size, N_POINTS * sizeof *s.size);
        for (size_t k = 0; k < N_KERNELS; k++) {
            if (draw(0, 2)) continue;
            s.entry[k] = all.entry[k];
            for (size_t p = 0; p < N_POINTS; p++)
                s.residual[p * N_KERNELS + k] = all.residual[p * N_KERNELS + k];
        }
        model_selector_finish(&s);
        for (int i = 0; i < N_SIZES; i++) {
            const ModelSize z = size_draw();
            ModelNear near;
            double seconds, best = (double)INFINITY;
            const size_t k = model_choose(&s, &z, NULL, NULL, &seconds);
            model_near(&s, &z, &near);
            for (size_t j = 0; j < N_KERNELS; j++)
                if (s.entry[j].device.n_cu > 0) best = fmin(best, model_predict(&s, &near, j, &z));
            assert_true(k < N_KERNELS && s.entry[k].device.n_cu > 0);
            assert_true(fabs(seconds / best - 1) < 1e-5);
        }
    }
    arena_fini(&a);
}

/* Of two kernels that are alike, the one that was measured nearby is chosen: a kernel is expected to lose
 * where nobody measured it. */
static void test_unmeasured(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector all, s;
    ModelNear near;
    double seconds;
    arena_init(&a, 0);
    selector_make(&a, &all);
    assert_ok(model_selector_new(&a, 2, 1, &s));
    s.entry[0] = all.entry[0];
    memset(s.entry[0].shape, 0, sizeof s.entry[0].shape);
    s.entry[1] = s.entry[0];
    s.size[0] = all.size[0];
    s.residual[1] = 0;
    model_selector_finish(&s);
    ModelSize z = s.size[0];
    z.m *= 2;
    assert_int_equal(model_choose(&s, &z, NULL, NULL, &seconds), 1);
    model_near(&s, &z, &near);
    const double ratio = model_predict(&s, &near, 0, &z) / model_predict(&s, &near, 1, &z);
    if (!(ratio > 1.05 && ratio < 1.2))
        fail_msg("the other kernel is expected to take %g times as long", ratio);
    assert_true(model_known(&s, &near, 0) <= 0);
    assert_true(model_known(&s, &near, 1) > 0.5 && model_known(&s, &near, 1) < 1);
    arena_fini(&a);
}

/* A correction is the sum of the shape's members by their coefficients, within its bounds. */
static void test_correction(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    int n_within = 0;
    arena_init(&a, 0);
    selector_make(&a, &s);
    for (int i = 0; i < N_SIZES; i++) {
        const ModelSize z = size_draw();
        for (size_t k = 0; k < N_KERNELS; k++) {
            ModelShape shape;
            double sum = 0;
            const double most = (double)MODEL_CORRECTION_MOST;
            model_shape(s.least, k, &z, shape);
            for (int c = 0; c < MODEL_SHAPE; c++) sum += (double)(shape[c] * s.entry[k].shape[c]);
            n_within += fabs(sum) < most;
            sum = fmin(fmax(sum, -most), most);
            if (fabs(sum - (double)model_correction(s.least, k, &z)) > 1e-4)
                fail_msg("kernel %zu: %g, expected %g", k, (double)model_correction(s.least, k, &z), sum);
            assert_float_equal(shape[1], log2(z.m) / 10, 1e-4);
        }
    }
    assert_true(n_within > N_SIZES * N_KERNELS / 4);
    arena_fini(&a);
}

/* The nearest points by blocks are nearly those of a search through all, also where many points are at the
 * same place and more blocks than the search has room for are near. */
static void test_places(void **unused)
{
    (void)unused;
    enum { MOST = 3000 };
    static const size_t numbers[] = {0, 1, 7, 16, 17, 64, 65, 700, MOST};
    static ModelPoint point[MOST];
    Arena a;
    size_t n_missing = 0, n_found = 0;
    arena_init(&a, 0);
    for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++) {
        const size_t n = numbers[c];
        ModelPlaces *places;
        assert_ok(model_places_new(&a, n, &places));
        ModelSize few[3] = {size_draw(), size_draw(), size_draw()};
        for (size_t p = 0; p < n; p++) {
            const ModelSize z = n == MOST ? few[draw(0, 2)] : size_draw();
            point[p] = model_point(&z);
            model_places_set(places, p, &point[p]);
        }
        model_places_sort(places);
        for (int i = 0; i < N_SIZES; i++) {
            const ModelSize z = size_draw();
            const ModelPoint x = model_point(&z);
            uint32_t near[MODEL_NEAR];
            float distance[MODEL_NEAR], farthest = 0;
            const int found = model_places_near(places, &x, near, distance);
            assert_int_equal(found, n < MODEL_NEAR ? n : MODEL_NEAR);
            for (int k = 0; k < found; k++) {
                assert_float_equal(distance[k], model_distance(&x, &point[near[k]]),
                                   1e-4F * (1 + distance[k]));
                assert_true(k == 0 || distance[k] >= distance[k - 1]);
                for (int j = 0; j < k; j++) assert_int_not_equal(near[j], near[k]);
                farthest = distance[k];
            }
            size_t n_nearer = 0;
            for (size_t p = 0; p < n; p++) n_nearer += model_distance(&x, &point[p]) < farthest * 0.9999F;
            if (n_nearer > MODEL_NEAR - 1) n_missing += n_nearer - (MODEL_NEAR - 1);
            n_found += (size_t)found;
        }
    }
    print_message("%zu of %zu near points are missing\n", n_missing, n_found);
    assert_true(n_missing * 20 < n_found);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound),      cmocka_unit_test(test_ready),
                                       cmocka_unit_test(test_choice),     cmocka_unit_test(test_unmeasured),
                                       cmocka_unit_test(test_correction), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_unknown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
