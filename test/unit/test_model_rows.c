/* Predicted rows of tables: sizes that share two dimensions with measured ones, and what the table's choice
 * loses there by prediction. */
#include <math.h>
#include <string.h>

#include "measure/model.h"
#include "measure/model_rows.h"
#include "test/model_kernel.h"
#include "test/support.h"

enum { N_KERNELS = 4, N_SIZES = 6 };

/* M, N, K, batch. The last one is batched; the one before it is left out. */
static const int64_t sizes[N_SIZES][4] = {{640, 512, 1024, 1},  {4096, 96, 2048, 1}, {1000, 2000, 96, 1},
                                          {4096, 4096, 640, 1}, {320, 320, 320, 1},  {128, 128, 128, 24}};
enum { LEFT_OUT = 4, IS_BATCHED = 5 };

typedef struct {
    Arena a;
    ProblemType pt;
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES];
    ModelMatrix m;
    bool out[N_SIZES];
} Setup;

static ModelSize size_of(const Setup *s, const int64_t v[4])
{
    const int64_t extents[] = {v[0], v[1], v[3], v[2]};
    ProblemSize at;
    assert_ok(problem_size_from_ints(&s->pt, extents, 4, &at));
    return model_size(&s->pt, &at, false);
}

/* Times are the model's. */
static void setup(Setup *s)
{
    memset(s, 0, sizeof *s);
    arena_init(&s->a, 0);
    assert_ok(problem_type_gemm(&s->pt, false, false, TYPE_H, TYPE_H, TYPE_S));
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &s->device);
    model_rates_typical(s->rates);
    s->m = (ModelMatrix){.n_kernels = N_KERNELS,
                         .n_sizes = N_SIZES,
                         .kernel = ARENA_ARRAY(&s->a, N_KERNELS, ModelKernel),
                         .known = ARENA_ARRAY(&s->a, N_KERNELS, bool),
                         .size = ARENA_ARRAY(&s->a, N_SIZES, ModelSize),
                         .seconds = ARENA_ARRAY(&s->a, N_KERNELS * N_SIZES, double)};
    assert_true(s->m.kernel && s->m.known && s->m.size && s->m.seconds);
    for (int k = 0; k < N_KERNELS; k++) {
        s->m.known[k] = true;
        s->m.kernel[k] =
            (ModelKernel){MODEL_KERNEL_RING, .tile_m = k & 1 ? 128 : 32, .tile_n = k & 2 ? 128 : 32,
                          .threads = 128,    .groups = k ? 2 : 6,        .split = 1,
                          .local_bytes = 768};
    }
    for (size_t z = 0; z < N_SIZES; z++) {
        s->m.size[z] = size_of(s, sizes[z]);
        for (size_t k = 0; k < N_KERNELS; k++)
            s->m.seconds[z * N_KERNELS + k] =
                model_time(&s->m.kernel[k], &s->device, &s->rates[MODEL_MATRIX], &s->m.size[z], NULL);
    }
    s->out[LEFT_OUT] = true;
}

/* The measured size of whose line a size is; N_SIZES: of none. */
static int line_of(const ModelSize *z)
{
    for (int i = 0; i < LEFT_OUT; i++) {
        const double v[] = {z->m, z->n, z->k};
        int same = 0, near = 0;
        for (int d = 0; d < 3; d++) {
            const double octaves = fabs(log2(v[d] / (double)sizes[i][d]));
            same += v[d] == (double)sizes[i][d];
            near += octaves <= LINE_OCTAVES + 0.3;
        }
        if (same == 2 && near == 3) return i;
    }
    return N_SIZES;
}

static void test_lines(void **state)
{
    (void)state;
    Setup s;
    RangeSize *line;
    size_t n, of[N_SIZES + 1] = {0}, odd = 0;
    setup(&s);
    assert_ok(model_lines_make(&s.a, &s.pt, &s.m, s.out, &line, &n));
    for (size_t i = 0; i < n; i++) {
        const ModelSize *z = &line[i].size;
        of[line_of(z)]++;
        assert_true(z->batch == 1 && z->m >= 1 && z->n >= 1 && z->k >= 1);
        assert_true(z->m * z->n * z->k <= 1.02 * 4096 * 4096 * 640);
        odd += z->align_a < 16 || z->align_b < 16 || z->align_d < 16;
    }
    for (int i = 0; i < LEFT_OUT; i++) assert_true(of[i] >= 10);
    assert_int_equal(of[N_SIZES], 0);
    assert_true(odd > 10 && odd < n - 10);
    arena_fini(&s.a);
}

/* On sizes of the lines the table's kernel takes little more than the model's choice, and less on average
 * than that of a table without predicted rows. */
static void test_rows(void **state)
{
    (void)state;
    Setup s;
    ModelSelector selector;
    RangeSize *line;
    size_t n, content = 0, known = 0;
    double sum[2] = {0};
    setup(&s);
    ModelTable with = {.pt = &s.pt, .m = &s.m, .out = s.out}, without = with;
    assert_ok(model_selector_of(&s.a, &s.m, s.out, &s.device, s.rates, NULL, &selector));
    assert_ok(model_table_make(&s.a, &without));
    assert_ok(model_table_make(&s.a, &with));
    assert_ok(model_table_predict(&s.a, &with, false, &selector));
    assert_true(with.n_more > 10 && with.n_more <= MODEL_ROWS_MAX);
    assert_ok(model_lines_make(&s.a, &s.pt, &s.m, s.out, &line, &n));
    for (size_t i = 0; i < n; i++) {
        const ModelSize *z = &line[i].size;
        ModelNear near;
        double seconds;
        const size_t chosen[] = {model_table_nearest(&with, DISTANCE_RATIO, z, NULL),
                                 model_table_nearest(&without, DISTANCE_RATIO, z, NULL)};
        if (chosen[0] == SIZE_MAX) continue; /* no kernel has run on sizes that are aligned like this one */
        known++;
        model_near(&selector, z, &near);
        assert_true(model_choose(&selector, z, NULL, NULL, &seconds) < N_KERNELS);
        for (int t = 0; t < 2; t++) sum[t] += model_predict(&selector, &near, chosen[t], z) / seconds - 1;
        content += model_predict(&selector, &near, chosen[0], z) < 1.08 * seconds;
    }
    assert_true(known > n / 3 && (double)content > 0.97 * (double)known);
    assert_true(sum[0] < 0.5 * sum[1]);
    arena_fini(&s.a);
}

/* Drawn sizes are in the range, half of them aligned, and the same for the same seed. */
static void test_draws(void **state)
{
    (void)state;
    enum { N = 400 };
    Setup s;
    RangeSize *one, *same, *other;
    size_t n, n_same, n_other, n_differ = 0;
    setup(&s);
    assert_ok(model_draws_make(&s.a, &s.pt, &s.m, s.out, &(RangeDraws){N, 3, 7}, &one, &n));
    assert_ok(model_draws_make(&s.a, &s.pt, &s.m, s.out, &(RangeDraws){N, 3, 7}, &same, &n_same));
    assert_ok(model_draws_make(&s.a, &s.pt, &s.m, s.out, &(RangeDraws){N, 3, 8}, &other, &n_other));
    assert_true(n == N && n_same == N && n_other == N);
    for (size_t i = 0; i < N; i++) {
        const ModelSize *z = &one[i].size;
        const bool aligned = fmod(z->m, 32) == 0 && fmod(z->n, 32) == 0 && fmod(z->k, 32) == 0;
        assert_true(z->batch == 3 && (aligned || i % 2 == 1));
        assert_true(z->m * z->n * z->k * z->batch <= 1.02 * 4096 * 4096 * 640);
        assert_true(problem_size_equal(&one[i].at, &same[i].at));
        n_differ += !problem_size_equal(&one[i].at, &other[i].at);
    }
    assert_true(n_differ > N / 2);
    arena_fini(&s.a);
}

/* What the table's kernels take on sizes of the range over the model's choices, on average. */
static double loss_on_draws(const Setup *s, const ModelTable *t, const ModelSelector *selector, Arena *a)
{
    RangeSize *drawn;
    size_t n, known = 0;
    double sum = 0;
    assert_ok(model_draws_make(a, &s->pt, &s->m, s->out, &(RangeDraws){500, 1, 999}, &drawn, &n));
    for (size_t i = 0; i < n; i++) {
        const ModelSize *z = &drawn[i].size;
        ModelNear near;
        double seconds;
        const size_t k = model_table_nearest(t, DISTANCE_RATIO, z, NULL);
        if (k == SIZE_MAX) continue;
        model_near(selector, z, &near);
        assert_true(model_choose(selector, z, NULL, NULL, &seconds) < N_KERNELS);
        sum += model_predict(selector, &near, k, z) / seconds - 1;
        known++;
    }
    assert_true(known > n / 4);
    return sum / (double)known;
}

/* A table that is written has rows of drawn sizes, too, and loses less on others that are drawn. */
static void test_written(void **state)
{
    (void)state;
    Setup s;
    ModelSelector selector;
    setup(&s);
    ModelTable written = {.pt = &s.pt, .m = &s.m, .out = s.out}, judged = written;
    assert_ok(model_selector_of(&s.a, &s.m, s.out, &s.device, s.rates, NULL, &selector));
    assert_ok(model_table_make(&s.a, &written));
    assert_ok(model_table_make(&s.a, &judged));
    assert_ok(model_table_predict(&s.a, &judged, false, &selector));
    assert_ok(model_table_predict(&s.a, &written, true, &selector));
    assert_true(written.n_more > judged.n_more && written.n_more <= MODEL_ROWS_MAX);
    const double less = loss_on_draws(&s, &written, &selector, &s.a),
                 more = loss_on_draws(&s, &judged, &selector, &s.a);
    if (!(less < 0.9 * more)) fail_msg("%.4f with drawn rows, %.4f without", less, more);
    arena_fini(&s.a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_draws), cmocka_unit_test(test_written),
                                       cmocka_unit_test(test_lines), cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
