/* The times of many kernels at once with which libtuner passes over kernels: they are the model's, or bounds
 * of them, for kernels of all classes, splits and clusters, and the choice is a kernel with about the least
 * predicted time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model.h"
#include "problem/model_choice.h"
#include "problem/model_lanes.h"
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

static void selector_make(Arena *a, size_t n_kernels, ModelSelector *s)
{
    ModelDevice gpu, host;
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &gpu);
    model_of_part(target_find(STR("x86-64-v4")), STR_NULL, 8, &host);
    assert_ok(model_selector_new(a, n_kernels, N_POINTS, s));
    for (size_t k = 0; k < n_kernels; k++) {
        const ModelKernel kernel = kernel_draw();
        s->entry[k] = (ModelEntry){.kernel = kernel,
                                   .device = kernel.class == MODEL_HOST ? host : gpu,
                                   .rates = model_rates((ModelClass)kernel.class)};
        assert_true(model_kernel_ok(&kernel));
    }
    for (size_t p = 0; p < N_POINTS; p++) s->size[p] = size_draw();
    for (size_t i = 0; i < n_kernels * N_POINTS; i++)
        s->residual[i] = draw(0, 2) ? (float)draw(-400, 400) / 1000 : NAN;
    model_selector_finish(s);
}

static float us_of(const ModelSelector *s, const ModelLanesTimes *times, size_t k)
{
    return times[s->choice->place[k] / FLOATS].us[s->choice->place[k] % FLOATS];
}

static void test_times(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    ModelLanesTimes times[8];
    size_t n_times = 0, n_far = 0, n_bounds = 0;
    double bounds = 0;
    arena_init(&a, 0);
    selector_make(&a, N_KERNELS, &s);
    assert_true(s.choice->n_parts <= 8);
    for (int i = 0; i < N_SIZES; i++) {
        ModelSize z = size_draw();
        if (i % 3 == 0) z.once_a = draw(1, 100) / 100.0, z.once_b = draw(1, 100) / 100.0;
        model_lanes_times(s.lanes, s.choice->part, s.choice->n_parts, &z, times);
        for (size_t k = 0; k < N_KERNELS; k++) {
            const ModelEntry *e = &s.entry[k];
            const double time = model_time(&e->kernel, &e->device, &e->rates, &z, NULL),
                         part = (double)us_of(&s, times, k) * 1e-6 / time;
            if (!model_can_read(&e->kernel, z.align_a, z.align_b)) {
                assert_true(part == (double)INFINITY);
            } else if (model_lanes_is_time(&e->kernel)) {
                n_times++, n_far += fabs(part - 1) > 0.02;
                if (!(fabs(part - 1) < 0.4))
                    fail_msg("kernel %zu of class %d, size %g %g %g %g: %g of the time %g", k,
                             e->kernel.class, z.m, z.n, z.k, z.batch, part, time);
            } else {
                n_bounds++, bounds += part;
                if (!(part * 0.999 <= 1))
                    fail_msg("kernel %zu of class %d, size %g %g %g %g: %g of the time %g", k,
                             e->kernel.class, z.m, z.n, z.k, z.batch, part, time);
            }
        }
    }
    print_message("%zu of %zu times differ by more than 2 %%; %zu bounds are %.3f of the time on average\n",
                  n_far, n_times, n_bounds, bounds / (double)n_bounds);
    assert_true(n_times > 1000 && n_bounds > 1000 && n_far * 50 < n_times);
    assert_true(bounds / (double)n_bounds > 0.4); /* they are of use */
    arena_fini(&a);
}

/* The features of launches are those of the model, up to what the time is off. */
static void test_launches(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    size_t n = 0, n_off = 0;
    arena_init(&a, 0);
    selector_make(&a, N_KERNELS, &s);
    for (int i = 0; i < N_SIZES; i++) {
        const ModelSize z = size_draw();
        const ModelLaunchSize of = model_launch_size(&z);
        ModelLanesTimes times[8];
        model_lanes_times(s.lanes, s.choice->part, s.choice->n_parts, &z, times);
        for (size_t k = 0; k < N_KERNELS; k++) {
            const ModelEntry *e = &s.entry[k];
            const ModelLanesTimes *x = &times[s.choice->place[k] / FLOATS];
            const size_t lane = s.choice->place[k] % FLOATS;
            const ModelLaunch launch = {x->us[lane], x->groups[lane], x->rounds[lane], x->rest[lane]};
            float row[FLOATS], expected[MODEL_LAUNCH_FEATURES];
            ModelTime t;
            if (!s.choice->is_time[k] || !model_can_read(&e->kernel, z.align_a, z.align_b)) continue;
            model_time(&e->kernel, &e->device, &e->rates, &z, &t);
            model_launch_features(&t, expected);
            floats_store(row, model_launch_row(&s.choice->launch[k], &of, &launch));
            const float time = row[MODEL_LAUNCH_SECONDS] / expected[MODEL_LAUNCH_SECONDS];
            row[MODEL_LAUNCH_BOUND] *= time, row[MODEL_LAUNCH_SECONDS] /= time;
            bool off = false;
            for (int f = 0; f < MODEL_LAUNCH_FEATURES; f++)
                off |= !(fabsf(row[f] - expected[f]) <= 1e-4F * fabsf(expected[f]) + 2e-5F);
            n++, n_off += off;
        }
    }
    print_message("%zu of %zu launches have other features\n", n_off, n);
    assert_true(n > 1000 && n_off * 200 < n);
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
    selector_make(&a, N_KERNELS, &s);
    for (size_t k = 0; k < N_KERNELS; k++) {
        const ModelEntry *e = &s.entry[k];
        usable += s.ready[k].usable;
        for (int i = 0; i < N_SIZES; i++) {
            ModelSize z = size_draw();
            ModelTime t = {0}, brief;
            if (i % 3 == 0) z.once_a = draw(1, 100) / 100.0, z.once_b = draw(1, 100) / 100.0;
            model_time(&e->kernel, &e->device, &e->rates, &z, &t);
            const double seconds = model_time_ready(&s.ready[k], &e->kernel, &e->device, &e->rates, &z, NULL);
            assert_true(t.seconds == seconds);
            model_time_ready(&s.ready[k], &e->kernel, &e->device, &e->rates, &z, &brief);
            assert_true(brief.seconds == seconds && brief.tiles == t.tiles && brief.waves == t.waves &&
                        brief.last_fill == t.last_fill && brief.edge_waste == t.edge_waste &&
                        brief.bound_seconds == t.bound_seconds);
        }
    }
    assert_true(usable > N_KERNELS / 2 && usable < N_KERNELS);
    arena_fini(&a);
}

/* Counts the kernels that the choice asks for, every third of which may not run. */
static bool count(void *ctx, size_t kernel)
{
    ++*(int *)ctx;
    return kernel % 3 != 0;
}

/* How much longer than the best kernel the chosen one takes, by the model. */
static double loss_of(const ModelSelector *s, const ModelSize *z, int *asked)
{
    ModelNear near;
    double seconds, best = (double)INFINITY, chosen = 0;
    const size_t k = model_choose(s, z, asked ? count : NULL, asked, &seconds);
    model_near(s, z, &near);
    for (size_t j = 0; j < s->n_kernels; j++) {
        const ModelEntry *e = &s->entry[j];
        if (!model_can_read(&e->kernel, z->align_a, z->align_b) || !(e->device.n_cu > 0) ||
            (asked && j % 3 == 0))
            continue;
        const double t = model_predict(s, &near, j, z);
        best = fmin(best, t);
        if (j == k) chosen = t;
    }
    assert_true(chosen > 0 && seconds > 0);
    return chosen / best - 1;
}

static void test_choice(void **unused)
{
    (void)unused;
    Arena a;
    ModelSelector s;
    int asked = 0, n_best = 0;
    double loss = 0;
    arena_init(&a, 0);
    for (int n = 0; n < 10; n++) {
        selector_make(&a, N_KERNELS, &s);
        for (int i = 0; i < N_SIZES; i++) {
            const ModelSize z = size_draw();
            const double l = loss_of(&s, &z, &asked);
            loss += l / (10 * N_SIZES), n_best += l < 1e-5;
        }
    }
    print_message("%.2f kernels are asked for on average; %d of %d choices are the best, %.2f %% are lost\n",
                  asked / (10.0 * N_SIZES), n_best, 10 * N_SIZES, 100 * loss);
    assert_true(asked < 10 * N_SIZES * (N_KERNELS / 3));
    assert_true(n_best > 10 * N_SIZES * 6 / 10 && loss < 0.05);
    arena_fini(&a);
}

/* More parts than a word has bits. */
static void test_many(void **unused)
{
    (void)unused;
    enum { MANY = 777, LIBRARIES = 40 /* they differ: one loses 3 %, another 9 % */ };
    Arena a;
    ModelSelector s;
    int asked = 0;
    double loss = 0;
    arena_init(&a, 0);
    for (int n = 0; n < LIBRARIES; n++) {
        selector_make(&a, MANY, &s);
        assert_true(s.choice->n_words > 1);
        for (int i = 0; i < N_SIZES; i++) {
            const ModelSize z = size_draw();
            loss += loss_of(&s, &z, &asked) / (LIBRARIES * N_SIZES);
        }
    }
    print_message("%.2f %% are lost\n", 100 * loss);
    assert_true(loss < 0.08);
    arena_fini(&a);
}

/* Kernels of which nothing is known, as in a selector over some of a run's, are not chosen, and do not hide
 * the others. */
static void test_unknown(void **unused)
{
    (void)unused;
    enum { LIBRARIES = 60 };
    Arena a;
    ModelSelector all, s;
    double loss = 0;
    arena_init(&a, 0);
    for (int n = 0; n < LIBRARIES; n++) {
        selector_make(&a, N_KERNELS, &all);
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
            loss += loss_of(&s, &z, NULL) / (LIBRARIES * N_SIZES);
        }
    }
    print_message("%.2f %% are lost\n", 100 * loss);
    assert_true(loss < 0.08);
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
    selector_make(&a, N_KERNELS, &all);
    assert_ok(model_selector_new(&a, 2, 1, &s));
    s.entry[0] = all.entry[0];
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

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The weight of points at these distances. */
static double weight_of(const float *distance, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)MODEL_NEAR_WEIGHT(distance[i]);
    return sum;
}

/* The nearest points by cells are nearly those of a search through all, also where many points are at the
 * same place. */
static void test_places(void **unused)
{
    (void)unused;
    enum { MOST = 3000 };
    static const size_t numbers[] = {0, 1, 7, 16, 17, 64, 65, 700, MOST, MOST};
    static ModelPoint point[MOST];
    static float all[MOST];
    Arena a;
    arena_init(&a, 0);
    for (size_t c = 0; c < sizeof numbers / sizeof *numbers; c++) {
        const size_t n = numbers[c], most = n < MODEL_NEAR ? n : MODEL_NEAR;
        const bool at_few_places = c + 1 == sizeof numbers / sizeof *numbers;
        ModelPlaces *places;
        double found = 0, nearest = 0;
        assert_ok(model_places_new(&a, n, &places));
        const ModelSize few[] = {size_draw(), size_draw(), size_draw()};
        for (size_t p = 0; p < n; p++) {
            const ModelSize z = at_few_places ? few[draw(0, 2)] : size_draw();
            point[p] = model_point(&z);
            model_places_set(places, p, &point[p]);
        }
        model_places_sort(places);
        for (int i = 0; i < N_SIZES; i++) {
            const ModelSize z = size_draw();
            const ModelPoint x = model_point(&z);
            uint32_t near[MODEL_NEAR];
            float distance[MODEL_NEAR];
            assert_int_equal(model_places_near(places, &x, model_places_cell(places, &x), near, distance),
                             most);
            for (size_t k = 0; k < most; k++) {
                assert_in_range(near[k], 0, n - 1);
                assert_float_equal(distance[k], model_distance(&x, &point[near[k]]),
                                   1e-4F * (1 + distance[k]));
                assert_true(k == 0 || distance[k] >= distance[k - 1]);
                for (size_t j = 0; j < k; j++) assert_int_not_equal(near[j], near[k]);
            }
            for (size_t p = 0; p < n; p++) all[p] = model_distance(&x, &point[p]);
            qsort(all, n, sizeof *all, by_value);
            found += weight_of(distance, most), nearest += weight_of(all, most);
        }
        print_message("%zu points: %.4f of the weight of the nearest ones\n", n, n ? found / nearest : 1);
        assert_true(found >= nearest * (at_few_places ? 0.95 : 0.985));
    }
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times),      cmocka_unit_test(test_ready),
                                       cmocka_unit_test(test_choice),     cmocka_unit_test(test_many),
                                       cmocka_unit_test(test_unmeasured), cmocka_unit_test(test_places),
                                       cmocka_unit_test(test_unknown),    cmocka_unit_test(test_launches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
