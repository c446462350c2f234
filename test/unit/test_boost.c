/* Boosted trees, and the corrections of the performance model that are fitted by them. */
#include <math.h>
#include <string.h>

#include "problem/boost.h"
#include "measure/model.h"
#include "measure/model_teach.h"
#include "measure/model_quality.h"
#include "problem/target.h"
#include "test/model_kernel.h"
#include "test/support.h"

static uint64_t state = 5;

static double draw(double lo, double hi)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return lo + (hi - lo) * (double)(state >> 11) * 0x1p-53;
}

/* ---- trees ---- */

enum { N = 3000, N_FEATURES = 4, N_GROUPS = 100 };
static const BoostOptions OPTIONS = {
    .n_trees = 150, .leaves = 16, .step = 0.1F, .leaf_least = 5, .shrink = 1, .share = 0.7F};

/* A step, a product, and a feature that says nothing. */
static float truth(const float *x) { return (x[0] > 0.3F ? 1.0F : 0.0F) + x[1] * x[2]; }

typedef struct {
    float x[N * N_FEATURES], y[N], weight[N];
    uint32_t group[N];
    BoostRows rows;
} Made;

static void made(Made *m, float level)
{
    float of_group[N_GROUPS];
    for (int g = 0; g < N_GROUPS; g++) of_group[g] = level * (float)draw(-1, 1);
    for (int i = 0; i < N; i++) {
        for (int f = 0; f < N_FEATURES; f++) m->x[i * N_FEATURES + f] = (float)draw(-1, 1);
        m->group[i] = (uint32_t)draw(0, N_GROUPS);
        m->weight[i] = (float)draw(0.2, 1);
        m->y[i] = truth(&m->x[i * N_FEATURES]) + of_group[m->group[i]] + (float)draw(-0.05, 0.05);
    }
    m->rows = (BoostRows){.n = N,
                          .n_features = N_FEATURES,
                          .n_groups = N_GROUPS,
                          .x = m->x,
                          .y = m->y,
                          .weight = m->weight,
                          .group = m->group};
}

/* The mean square of what the trees leave of new rows, without its mean. */
static double error_of(const ModelTrees *b)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < N; i++) {
        float x[N_FEATURES];
        for (int f = 0; f < N_FEATURES; f++) x[f] = (float)draw(-1, 1);
        const double e = (double)(truth(x) - model_trees_value(b, x));
        sum += e, squares += e * e;
    }
    return squares / N - sum / N * sum / N;
}

static void trees_learn(void **unused)
{
    (void)unused;
    static Made m;
    Arena a;
    ModelTrees *b, *again;
    arena_init(&a, 0);
    made(&m, 0);
    assert_ok(boost_train(&a, &m.rows, &OPTIONS, &b));
    assert_ok(boost_train(&a, &m.rows, &OPTIONS, &again));
    const double error = error_of(b); /* the variance of truth is 0.34 */
    if (!(error < 0.02)) fail_msg("the trees leave %g", error);
    for (int i = 0; i < N; i++)
        assert_true(model_trees_value(b, &m.x[i * N_FEATURES]) ==
                    model_trees_value(again, &m.x[i * N_FEATURES]));
    arena_fini(&a);
}

/* What a group has in common is not learned, however large it is. */
static void groups_do_not_count(void **unused)
{
    (void)unused;
    static Made m;
    Arena a;
    ModelTrees *b;
    arena_init(&a, 0);
    made(&m, 20);
    assert_ok(boost_train(&a, &m.rows, &OPTIONS, &b));
    const double error = error_of(b);
    if (!(error < 0.03)) fail_msg("the trees leave %g", error);
    arena_fini(&a);
}

static void few_rows(void **unused)
{
    (void)unused;
    static Made m;
    Arena a;
    ModelTrees *b;
    arena_init(&a, 0);
    made(&m, 0);
    m.rows.n = 0;
    assert_ok(boost_train(&a, &m.rows, &OPTIONS, &b));
    assert_true(model_trees_value(b, m.x) == 0);
    m.rows.n = 1;
    assert_ok(boost_train(&a, &m.rows, &OPTIONS, &b));
    assert_true(model_trees_value(b, m.x) == 0); /* it is all of its group */
    for (int i = 0; i < N * N_FEATURES; i++) m.x[i] = 1;
    m.rows.n = N;
    assert_ok(boost_train(&a, &m.rows, &OPTIONS, &b));
    assert_true(isfinite(model_trees_value(b, m.x)));
    arena_fini(&a);
}

/* ---- corrections ---- */

enum { N_KERNELS = 24, N_SIZES = 240 };

static ModelKernel kernel_draw(int i)
{
    static const int32_t tiles[] = {64, 128, 256};
    return (ModelKernel){.class = MODEL_ENGINE,
                         .tile_m = tiles[i % 3],
                         .tile_n = tiles[i / 3 % 3],
                         .depth = 64,
                         .threads = 256,
                         .groups = 1,
                         .stages = 3 + i % 4,
                         .split = 1 << i % 3,
                         .split_kind = i % 3 ? MODEL_SPLIT_WORKSPACE : MODEL_SPLIT_NONE,
                         .mapping = 8,
                         .cluster_m = 1,
                         .cluster_n = 1,
                         MODEL_KERNEL_16_BIT,
                         .free_a = 1,
                         .steps = 4,
                         .rate = 8192,
                         .peak = 8192,
                         .local_bytes = 512};
}

/* What the made device has that the model does not know: kernels with a split lose on large sizes, and tiles
 * of 64 rows on long ones. */
static double unknown(const ModelKernel *k, const ModelSize *z)
{
    return exp((k->split > 1 ? 0.25 : -0.1) * (log2(z->m * z->n) - 20) +
               (k->tile_m == 64 ? 0.2 : 0) * (log2(z->k) - 10));
}

static void matrix_make(Arena *a, const ModelDevice *d, size_t n_sizes, ModelMatrix *m)
{
    *m = (ModelMatrix){.n_kernels = N_KERNELS, .n_sizes = n_sizes};
    m->kernel = ARENA_ARRAY(a, N_KERNELS, ModelKernel);
    m->known = ARENA_ARRAY(a, N_KERNELS, bool);
    m->size = ARENA_ARRAY(a, n_sizes, ModelSize);
    m->seconds = ARENA_ARRAY(a, n_sizes * N_KERNELS, double);
    for (int k = 0; k < N_KERNELS; k++) m->kernel[k] = kernel_draw(k), m->known[k] = true;
    for (size_t z = 0; z < n_sizes; z++) {
        const double v[] = {64 * floor(exp2(draw(0, 7))), 64 * floor(exp2(draw(0, 7))),
                            64 * floor(exp2(draw(0, 7)))};
        m->size[z] =
            (ModelSize){v[0], v[1], v[2], 1, MODEL_ALIGN_MAX, MODEL_ALIGN_MAX, MODEL_ALIGN_MAX, false, 0, 0};
        for (int k = 0; k < N_KERNELS; k++) {
            const ModelRates r = model_rates(MODEL_ENGINE);
            const double t = model_time(&m->kernel[k], d, &r, &m->size[z], NULL);
            if (draw(0, 1) < 0.5)
                m->seconds[z * N_KERNELS + (size_t)k] = t * unknown(&m->kernel[k], &m->size[z]);
        }
    }
}

static bool is_allowed(void *ctx, size_t k) { return ((const double *)ctx)[k] > 0; }

/* The mean loss of choices on the sizes that are out. */
static double loss_of(const ModelMatrix *m, const bool *out, const ModelSelector *s)
{
    double sum = 0, n = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        double *t = &m->seconds[z * N_KERNELS], seconds, best = (double)INFINITY;
        const size_t k = model_choose(s, &m->size[z], is_allowed, t, &seconds);
        for (int i = 0; i < N_KERNELS; i++)
            if (t[i] > 0) best = fmin(best, t[i]);
        if (out[z] && k != SIZE_MAX) sum += t[k] / best - 1, n++;
    }
    return sum / n;
}

static void trees_help(void **unused)
{
    (void)unused;
    Arena a;
    ModelMatrix m;
    ModelDevice d;
    ModelRates r[MODEL_CLASSES];
    ModelTaught c, none = {0};
    ModelSelector s;
    bool out[N_SIZES];
    arena_init(&a, 0);
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    model_rates_typical(r);
    matrix_make(&a, &d, N_SIZES, &m);
    for (size_t z = 0; z < N_SIZES; z++) out[z] = z % 3 > 0;
    assert_ok(model_teach(&a, &m, out, &d, r, &c));
    assert_ok(model_selector_of(&a, &m, out, &d, r, &none, &s));
    const double without = loss_of(&m, out, &s);
    assert_ok(model_selector_of(&a, &m, out, &d, r, &c, &s));
    const double with = loss_of(&m, out, &s);
    if (!(with < 0.6 * without)) fail_msg("loss %g with trees, %g without", with, without);
    print_message("loss %.4f with trees, %.4f without\n", with, without);
    arena_fini(&a);
}

/* The number of leaves of a tree, whose other nodes and leaves must be those that a smaller tree has. Its
 * nodes must be those of a tree: what is between the leaves of a node's left subtree is in that. */
static int leaves_of(const ModelTrees *t, size_t tree)
{
    const uint8_t *first = &t->first[tree * MODEL_TREES_NODES],
                  *feature = &t->feature[tree * MODEL_TREES_NODES];
    const float *at = &t->at[tree * MODEL_TREES_NODES], *value = &t->value[tree * MODEL_TREES_LEAVES];
    int n = 1;
    while (n < MODEL_TREES_LEAVES && at[n - 1] < MODEL_TREES_NEVER) n++;
    for (int i = 0; i < MODEL_TREES_NODES; i++) {
        assert_true(first[i] <= i && feature[i] < MODEL_FEATURES);
        if (i >= n - 1) assert_true(first[i] == i && at[i] == MODEL_TREES_NEVER && !feature[i]);
        if (i >= n - 1) assert_true(value[i + 1] == value[n - 1]);
        for (int k = first[i]; k < i; k++) assert_true(first[k] >= first[i]);
    }
    return n;
}

/* A tree has no more leaves than it may, and fewer where no comparison leaves enough rows on both sides. */
static void short_trees(void **unused)
{
    (void)unused;
    static Made m;
    Arena a;
    ModelTrees *t;
    BoostOptions few = OPTIONS;
    arena_init(&a, 0);
    made(&m, 0);
    for (few.leaves = 2; few.leaves <= MODEL_TREES_LEAVES; few.leaves += 5) {
        assert_ok(boost_train(&a, &m.rows, &few, &t));
        assert_int_equal(t->n, OPTIONS.n_trees);
        for (int i = 0; i < t->n; i++) assert_int_equal(leaves_of(t, (size_t)i), few.leaves);
    }
    few.leaves = MODEL_TREES_LEAVES;
    few.leaf_least = 400; /* of 0.7 * 3,000 * 0.6 in all: at most three leaves have that much */
    assert_ok(boost_train(&a, &m.rows, &few, &t));
    for (int i = 0; i < t->n; i++) {
        const int n = leaves_of(t, (size_t)i);
        assert_true(n == 2 || n == 3);
    }
    const double error = error_of(t);
    if (!(error < 0.2)) fail_msg("the trees leave %g", error);
    few.leaves = MODEL_TREES_LEAVES + 1;
    assert_int_equal(boost_train(&a, &m.rows, &few, &t), ERR_INPUT);
    few.leaves = 1;
    assert_int_equal(boost_train(&a, &m.rows, &few, &t), ERR_INPUT);
    few.leaves = 2, few.n_trees = MODEL_TREES_MAX + 1;
    assert_int_equal(boost_train(&a, &m.rows, &few, &t), ERR_INPUT);
    arena_fini(&a);
}

/* Of few sizes nothing is learned. */
static void few_sizes(void **unused)
{
    (void)unused;
    Arena a;
    ModelMatrix m;
    ModelDevice d;
    ModelRates r[MODEL_CLASSES];
    ModelTaught c;
    arena_init(&a, 0);
    model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, &d);
    model_rates_typical(r);
    matrix_make(&a, &d, MODEL_TRAIN_SIZES - 1, &m);
    assert_ok(model_teach(&a, &m, NULL, &d, r, &c));
    assert_null(c.trees);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trees_learn), cmocka_unit_test(groups_do_not_count),
                                       cmocka_unit_test(few_rows),    cmocka_unit_test(short_trees),
                                       cmocka_unit_test(trees_help),  cmocka_unit_test(few_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
