/* Decision trees over sizes: made problems where a tree is right and a distance is not, and the other way
 * round; bounds of trees; equal input gives equal trees. */
#include <math.h>
#include <string.h>

#include "measure/model.h"
#include "measure/model_quality.h"
#include "test/support.h"
#include "test/model_kernel.h"

enum { N_KERNELS = 4 };

static double uniform(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void matrix_new(Arena *a, size_t n_sizes, ModelMatrix *m)
{
    *m = (ModelMatrix){.n_kernels = N_KERNELS, .n_sizes = n_sizes};
    m->kernel = ARENA_ARRAY(a, N_KERNELS, ModelKernel);
    m->known = ARENA_ARRAY(a, N_KERNELS, bool);
    m->size = ARENA_ARRAY(a, n_sizes, ModelSize);
    m->seconds = ARENA_ARRAY(a, N_KERNELS * n_sizes, double);
    assert_true(m->kernel && m->known && m->size && m->seconds);
    for (int k = 0; k < N_KERNELS; k++) {
        m->known[k] = true;
        m->kernel[k] = (ModelKernel){MODEL_KERNEL_RING,
                                     .tile_m = k & 1 ? 128 : 64,
                                     .tile_n = k & 2 ? 128 : 64,
                                     .threads = 128,
                                     .groups = 2,
                                     .split = 1,
                                     .local_bytes = 768};
    }
}

static void device_of(ModelDevice *d) { model_of_part(target_find(STR("sm_90a")), STR("H200"), 0, d); }

/* The winner takes a third of the others' time. */
static void size_set(ModelMatrix *m, size_t z, double x, double y, double depth, size_t winner)
{
    m->size[z] = (ModelSize){round(x), round(y), round(depth), 1, 16, 16, 16, false, 0, 0};
    double flops = 2 * m->size[z].m * m->size[z].n * m->size[z].k;
    for (size_t k = 0; k < m->n_kernels; k++)
        m->seconds[z * m->n_kernels + k] = (1e-5 + flops * 1e-14) * (k == winner ? 1 : 3);
}

static size_t by_depth(double k) { return round(k) <= 300 ? 0 : round(k) <= 3000 ? 3 : 1; }

/* The winner depends on K alone, at places that no distance over M, N and K knows. */
static void made_by_depth(Arena *a, ModelMatrix *m)
{
    uint64_t state = 11;
    matrix_new(a, 120, m);
    for (size_t z = 0; z < m->n_sizes; z++) {
        double x = exp2(5 + 8 * uniform(&state)), y = exp2(5 + 8 * uniform(&state)),
               k = exp2(6 + 8 * uniform(&state));
        size_set(m, z, x, y, k, by_depth(k));
    }
}

/* A board of 8 x 8 fields over M and N whose colours take turns, with sizes close together in each field: the
 * nearest size knows the field, and no single question says anything about the colour. */
static void made_as_board(Arena *a, ModelMatrix *m)
{
    enum { SIDE = 8, EACH = 6 };
    uint64_t state = 5;
    size_t z = 0;
    matrix_new(a, SIDE * SIDE * EACH, m);
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            for (int e = 0; e < EACH; e++)
                size_set(m, z++, exp2(5 + i + 0.2 * uniform(&state)), exp2(5 + j + 0.2 * uniform(&state)),
                         1024, (size_t)((i + j) & 1));
}

static void judge(Arena *a, const ModelMatrix *m, ModelQuality q[SELECT_METHODS])
{
    ModelDevice d;
    device_of(&d);
    assert_ok(model_cross_validate(a, NULL, m, &d, (ModelFolds){5, 0}, q));
    assert_int_equal(q[SELECT_TREE].n, m->n_sizes);
}

static void train(Arena *a, const ModelMatrix *m, const bool *usable, ModelTree *t)
{
    ModelDevice d;
    ModelRates r[MODEL_CLASSES];
    ModelSelector s;
    device_of(&d);
    model_rates_typical(r);
    assert_ok(model_fit_matrix(m, NULL, &d, r, NULL));
    assert_ok(model_selector_of(a, m, NULL, &d, r, NULL, &s));
    assert_ok(model_tree_train(m, NULL, usable, &s, &d, t));
}

static int depth_of(const ModelTree *t, int32_t at)
{
    if (at < 0) return 0;
    assert_true(at < t->n_nodes);
    const ModelTreeNode *n = &t->node[at];
    assert_true(n->feature >= 0 && n->feature < t->n_features && isfinite(n->threshold));
    assert_true((n->lte < 0 || n->lte > at) && (n->gt < 0 || n->gt > at));
    int l = depth_of(t, n->lte), g = depth_of(t, n->gt);
    return 1 + (l > g ? l : g);
}

static void a_tree_is_right(void **state)
{
    (void)state;
    Arena a;
    ModelMatrix m;
    ModelQuality q[SELECT_METHODS];
    ModelTree t, again;
    arena_init(&a, 0);
    made_by_depth(&a, &m);
    judge(&a, &m, q);
    for (int w = SELECT_TABLE; w < SELECT_TABLE + TABLE_DISTANCES; w++) {
        if (q[SELECT_TREE].mean > q[w].mean / 3)
            fail_msg("tree %.3f, %s %.3f", q[SELECT_TREE].mean, select_method_name((SelectMethod)w),
                     q[w].mean);
        assert_true(model_quality_is_less(&q[SELECT_TREE], &q[w]));
        assert_false(model_quality_is_less(&q[w], &q[SELECT_TREE]));
    }
    train(&a, &m, NULL, &t);
    assert_true(t.n_nodes > 0 && t.n_nodes < MODEL_TREE_LEAVES && t.n_features <= MODEL_TREE_FEATURES);
    assert_true(depth_of(&t, t.root) <= MODEL_TREE_DEPTH);
    uint64_t rnd = 99;
    int right = 0;
    for (int i = 0; i < 1000; i++) {
        double k = exp2(6 + 8 * uniform(&rnd));
        ModelSize z = {round(exp2(5 + 8 * uniform(&rnd))),
                       round(exp2(5 + 8 * uniform(&rnd))),
                       round(k),
                       1,
                       16,
                       16,
                       16,
                       false,
                       0,
                       0};
        right += model_tree_choose(&t, &z) == by_depth(k);
    }
    if (right < 950) fail_msg("%d of 1000 sizes", right);
    memset(&again, 0xff, sizeof again);
    train(&a, &m, NULL, &again);
    assert_memory_equal(&t, &again, sizeof t);
    arena_fini(&a);
}

static void a_distance_is_right(void **state)
{
    (void)state;
    Arena a;
    ModelMatrix m;
    ModelQuality q[SELECT_METHODS];
    ModelTree t;
    arena_init(&a, 0);
    made_as_board(&a, &m);
    judge(&a, &m, q);
    if (q[SELECT_TABLE + DISTANCE_RATIO].mean > q[SELECT_TREE].mean / 2)
        fail_msg("Ratio %.3f, tree %.3f", q[SELECT_TABLE + DISTANCE_RATIO].mean, q[SELECT_TREE].mean);
    assert_false(model_quality_is_less(&q[SELECT_TREE], &q[SELECT_TABLE + DISTANCE_RATIO]));
    train(&a, &m, NULL, &t);
    assert_true(t.n_nodes < MODEL_TREE_LEAVES && depth_of(&t, t.root) <= MODEL_TREE_DEPTH);
    arena_fini(&a);
}

/* Kernels that the library does not have are not chosen; without any there is no choice. */
static void usable_kernels(void **state)
{
    (void)state;
    Arena a;
    ModelMatrix m;
    ModelTree t;
    bool usable[N_KERNELS] = {true, true, true, false};
    arena_init(&a, 0);
    made_by_depth(&a, &m);
    train(&a, &m, usable, &t);
    for (size_t z = 0; z < m.n_sizes; z++) assert_true(model_tree_choose(&t, &m.size[z]) < 3);
    memset(usable, 0, sizeof usable);
    usable[1] = true;
    train(&a, &m, usable, &t);
    assert_int_equal(t.n_nodes, 0);
    assert_int_equal(model_tree_choose(&t, &m.size[0]), 1);
    usable[1] = false;
    train(&a, &m, usable, &t);
    assert_true(model_tree_choose(&t, &m.size[0]) == SIZE_MAX);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_right),
        cmocka_unit_test(a_distance_is_right),
        cmocka_unit_test(usable_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
