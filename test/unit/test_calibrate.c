/* Calibration of the performance model against made-up devices whose rates are known, the store's round trip,
 * and cross-validation of choices. */
#include "test/support.h"

#include <math.h>

#include "measure/model.h"
#include "measure/model_quality.h"
#include "measure/model_rows.h"
#include "measure/model_store.h"
#include "test/model_kernel.h"

enum { N_KERNELS = 12, N_SIZES = 30 };

static ModelKernel kernel_of(int i)
{
    static const int side[][2] = {{32, 32}, {64, 64}, {128, 64}, {128, 128}, {256, 128}, {64, 256}};
    const int *t = side[i % 6];
    return (ModelKernel){MODEL_KERNEL_RING,
                         .tile_m = t[0],
                         .tile_n = t[1],
                         .threads = 128,
                         .groups = 2,
                         .split = i < 6 ? 1 : 4,
                         .split_kind = i < 6 ? MODEL_SPLIT_NONE : MODEL_SPLIT_WORKSPACE,
                         .local_bytes = (float)(6 * (t[0] + t[1]))};
}

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* A multiple of 8, so that lines of 16-bit elements begin at multiples of 16 bytes. */
static double aligned(double x) { return 8 * round(x / 8); }

static ModelSize made_size(uint64_t *state)
{
    double m = exp2(4 + 9 * uniform(state)), n = exp2(4 + 9 * uniform(state)),
           k = exp2(5 + 8 * uniform(state));
    return (ModelSize){aligned(m),      aligned(n),      aligned(k), 1, MODEL_ALIGN_MAX,
                       MODEL_ALIGN_MAX, MODEL_ALIGN_MAX, false,      0, 0};
}

/* A device that differs from its data sheet, whose times scatter by 3%. */
static void made_matrix(Arena *a, ModelMatrix *m, ModelDevice *d, ModelRates *truth)
{
    uint64_t state = 15;
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, d);
    *truth = model_rates(MODEL_MATRIX);
    truth->math *= 0.7;
    truth->dram *= 0.8;
    truth->launch_s *= 3;
    truth->load_clocks *= 2;
    truth->split_s *= 4;
    *m = (ModelMatrix){.n_kernels = N_KERNELS, .n_sizes = N_SIZES};
    m->kernel = ARENA_ARRAY(a, N_KERNELS, ModelKernel);
    m->known = ARENA_ARRAY(a, N_KERNELS, bool);
    m->size = ARENA_ARRAY(a, N_SIZES, ModelSize);
    m->seconds = ARENA_ARRAY(a, N_KERNELS * N_SIZES, double);
    assert_true(m->kernel && m->known && m->size && m->seconds);
    for (int k = 0; k < N_KERNELS; k++) m->kernel[k] = kernel_of(k), m->known[k] = true;
    for (size_t z = 0; z < N_SIZES; z++) {
        m->size[z] = made_size(&state);
        for (size_t k = 0; k < N_KERNELS; k++)
            m->seconds[z * N_KERNELS + k] = model_time(&m->kernel[k], d, truth, &m->size[z], NULL) *
                                            exp(0.03 * (uniform(&state) + uniform(&state) - 1));
    }
}

static void finds_the_rates(void **state)
{
    (void)state;
    Arena a;
    ModelMatrix m;
    ModelDevice d;
    ModelRates truth, r[MODEL_CLASSES], before[MODEL_CLASSES];
    ModelFit fit[MODEL_CLASSES];
    arena_init(&a, 0);
    made_matrix(&a, &m, &d, &truth);
    model_rates_typical(r);
    model_rates_typical(before);
    assert_ok(model_fit_matrix(&m, NULL, &d, r, fit));
    const ModelFit *f = &fit[MODEL_MATRIX];
    assert_int_equal(f->n, N_KERNELS * N_SIZES);
    if (f->before < 0.15 || f->after > 0.03)
        fail_msg("median error %.3f before and %.3f after the fit", f->before, f->after);
    assert_true(fabs(log(r[MODEL_MATRIX].launch_s / truth.launch_s)) < 0.2);
    /* classes without samples, and rates that the samples do not show, stay */
    assert_memory_equal(&r[MODEL_HOST], &before[MODEL_HOST], sizeof *r);
    assert_true(fabs(log(r[MODEL_MATRIX].cluster_clocks + 1)) < 1e-9);
    /* the same samples give the same rates */
    ModelRates again[MODEL_CLASSES];
    model_rates_typical(again);
    assert_ok(model_fit_matrix(&m, NULL, &d, again, NULL));
    assert_memory_equal(r, again, sizeof r);
    arena_fini(&a);
}

static void choices_improve(void **state)
{
    (void)state;
    Arena a;
    ModelMatrix m;
    ModelDevice d;
    ModelRates truth;
    ModelQuality q[SELECT_METHODS];
    ProblemType pt;
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_H, TYPE_H, TYPE_S));
    arena_init(&a, 0);
    made_matrix(&a, &m, &d, &truth);
    m.seconds[3] = 0; /* a kernel that failed on a size */
    for (size_t k = 2; k < N_KERNELS; k++)
        m.seconds[N_KERNELS + k] = 0; /* two kernels have no rank correlation */
    assert_ok(model_cross_validate(&a, &pt, &m, &d, (ModelFolds){5, 0}, q));
    for (int w = 0; w < SELECT_METHODS; w++) {
        assert_int_equal(q[w].n, N_SIZES);
        assert_true(q[w].share > 0 && q[w].share <= 1 && q[w].mean_lo <= q[w].mean &&
                    q[w].mean <= q[w].mean_hi);
        assert_true(q[w].p50 <= q[w].p90 && q[w].p90 <= q[w].p95 && q[w].p95 <= q[w].worst);
    }
    if (q[SELECT_MODEL_FITTED].share < 0.98 || q[SELECT_MODEL_FITTED].spearman < 0.95)
        fail_msg("fitted: share %.3f, Spearman %.2f", q[SELECT_MODEL_FITTED].share,
                 q[SELECT_MODEL_FITTED].spearman);
    assert_true(q[SELECT_MODEL_RESIDUAL].mean < q[SELECT_TABLE + DISTANCE_RATIO].mean);
    assert_true(q[SELECT_TABLE + DISTANCE_RATIO].mean < q[SELECT_TABLE + DISTANCE_EUCLIDEAN].mean);
    /* rows that a good model predicts make a table better */
    assert_true(q[SELECT_TABLE_ROWS].mean < q[SELECT_TABLE + DISTANCE_RATIO].mean);
    arena_fini(&a);
}

static void store_keeps_it(void **state)
{
    (void)state;
    Store s;
    ModelKernel k = kernel_of(7), back;
    ModelRecord record = {.fit[MODEL_MATRIX] = {5, 0.25, 0.125}}, got;
    bool found;
    int64_t id;
    char *dir = test_dir();
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &record.device);
    model_rates_typical(record.rates);
    assert_ok(store_open(&s, dir, STORE_WRITE));
    assert_ok(store_model_kernel_get(&s, 1, &back, &found));
    assert_false(found);
    assert_ok(store_kernel(&s, STR("0123456789abcdef"), STR("K"), &id));
    assert_ok(store_model_kernel_add(&s, id, &k));
    assert_ok(store_model_kernel_get(&s, id, &back, &found));
    assert_true(found);
    assert_memory_equal(&k, &back, sizeof k);
    assert_ok(store_model_add(&s, STR("H200 HHS"), &record));
    assert_ok(store_model_get(&s, STR("H200 HHS"), &got, &found));
    assert_true(found && got.fit[MODEL_MATRIX].n == 5 && got.device.n_cu == 132);
    assert_true(fabs(got.rates[MODEL_MATRIX].math - record.rates[MODEL_MATRIX].math) < 1e-6);
    assert_ok(store_model_get(&s, STR("another device"), &got, &found));
    assert_false(found);
    /* a kernel whose tile is empty is damage, and is told */
    k.tile_m = 0;
    assert_ok(store_model_kernel_add(&s, id, &k));
    assert_int_equal(store_model_kernel_get(&s, id, &back, &found), ERR_INPUT);
    store_close(&s);
    assert_ok(dir_remove(dir));
    free(dir);
}

static void sizes_of_keys(void **state)
{
    (void)state;
    ModelSize z = model_size_of_key(STR("Cijk_Ailk_Bljk_HB 100,60,3,50,100,100,101,52"), 2, 2);
    assert_true(z.m == 100 && z.n == 60 && z.batch == 3 && z.k == 50);
    assert_true(z.align_d == 8 && z.align_a == 2 && z.align_b == 8);
}

/* A contraction's key has more indices than M, N, batch and K. */
static void sizes_of_contractions(void **state)
{
    (void)state;
    char *dir = test_dir();
    Store s = {.lock_fd = -1};
    ModelSize back, z = {96, 60, 50, 3, 2, 16, 8, false, 1000, 0};
    SizeRow row = {.key = STR("Cijklm_Aijkm_Bmlk_SB 4,24,3,60,50")};
    assert_ok(store_open(&s, dir, STORE_WRITE));
    assert_ok(store_problem(&s, row.key, 1, &row.problem));
    assert_ok(store_model_size_get(&s, &row, 4, 4, &back));
    assert_true(back.m == 4); /* a store without sizes */
    assert_ok(store_model_size_add(&s, row.problem, &z));
    assert_ok(store_model_size_get(&s, &row, 4, 4, &back));
    assert_true(back.m == 96 && back.n == 60 && back.k == 50 && back.batch == 3 && back.once_a == 1000);
    assert_true(back.align_a == 2 && back.align_b == 16 && back.align_d == 8 && back.once_b == 0);
    z.align_a = 0;
    assert_ok(store_model_size_add(&s, row.problem, &z));
    assert_int_equal(store_model_size_get(&s, &row, 4, 4, &back), ERR_INPUT);
    store_close(&s);
    assert_ok(dir_remove(dir));
    free(dir);
}

static double best_of_kept(const ModelMatrix *m, size_t z, const bool *keep)
{
    double best = (double)INFINITY;
    for (size_t k = 0; k < m->n_kernels; k++)
        if ((!keep || keep[k]) && m->seconds[z * m->n_kernels + k] > 0)
            best = fmin(best, m->seconds[z * m->n_kernels + k]);
    return best;
}

/* What the best of the kept kernels loses on the sizes that are out. */
static double loss_of_kept(const ModelMatrix *m, const bool *out, const bool *keep)
{
    double sum = 0, n = 0;
    for (size_t z = 0; z < m->n_sizes; z++)
        if (out[z]) sum += best_of_kept(m, z, keep) / best_of_kept(m, z, NULL) - 1, n++;
    return sum / n;
}

/* A library of the winners of few sizes has no good kernel for others; with those that the model expects to
 * win between them it has. */
static void a_library_for_the_range(void **state)
{
    (void)state;
    Arena a;
    ModelMatrix m;
    ModelDevice d;
    ModelRates truth, r[MODEL_CLASSES];
    ModelSelector s;
    ModelRuns runs;
    ProblemType pt;
    bool out[N_SIZES], keep[N_KERNELS] = {false};
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_H, TYPE_H, TYPE_S));
    arena_init(&a, 0);
    made_matrix(&a, &m, &d, &truth);
    for (size_t z = 0; z < N_SIZES; z++) out[z] = z >= 8;
    ModelTable t = {.pt = &pt, .m = &m, .out = out};
    assert_ok(model_table_make(&a, &t));
    for (size_t z = 0; z < 8; z++) keep[t.row[z]] = true;
    model_rates_typical(r);
    assert_ok(model_fit_matrix(&m, out, &d, r, NULL));
    assert_ok(model_selector_of(&a, &m, out, &d, r, NULL, &s));
    const double winners = loss_of_kept(&m, out, keep);
    assert_ok(model_range_keep(&a, &pt, &m, out, &s, MODEL_RANGE_KERNELS, keep));
    const double range = loss_of_kept(&m, out, keep);
    if (!(range < winners / 2 && range < 0.03))
        fail_msg("loss of winners %.3f, with others %.3f", winners, range);
    /* a kernel is taken to run where it ran on sizes that are aligned no better */
    for (size_t z = 0; z < N_SIZES; z++)
        if (m.size[z].align_a < 16) m.seconds[z * N_KERNELS] = 0;
    assert_ok(model_runs_make(&a, &m, NULL, &runs));
    assert_true(model_runs_on(&runs, 0, &(ModelSize){.align_a = 16, .align_b = 16, .align_d = 16}));
    assert_false(model_runs_on(&runs, 0, &(ModelSize){.align_a = 2, .align_b = 16, .align_d = 16}));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_rates),         cmocka_unit_test(choices_improve),
        cmocka_unit_test(a_library_for_the_range), cmocka_unit_test(store_keeps_it),
        cmocka_unit_test(sizes_of_keys),           cmocka_unit_test(sizes_of_contractions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
