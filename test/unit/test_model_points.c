/* Which sizes a selector has as points: with trees at most MODEL_POINTS_KEPT, those with the most times, the
 * same ones in whatever order they come. */
#include "problem/model_points.h"
#include "test/support.h"

enum { N_MANY = 3 * MODEL_POINTS_KEPT };

typedef struct {
    ModelSize size[N_MANY];
    uint32_t n_times[N_MANY];
} Sizes;

/* All different. Of seven sizes one has no times, the others have 1 to 6. */
static void sizes_make(Sizes *x)
{
    for (size_t i = 0; i < N_MANY; i++) {
        x->size[i] = (ModelSize){.m = (double)(i % 16 + 1),
                                 .n = (double)(i / 16 % 16 + 1),
                                 .k = (double)(i / 256 + 1),
                                 .batch = 1,
                                 .align_a = 16,
                                 .align_b = 16,
                                 .align_d = 16};
        x->n_times[i] = (uint32_t)(i * 5 % 7);
    }
}

static size_t count(const bool *kept, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += kept[i];
    return sum;
}

/* No size that is kept has fewer times than one that is not. */
static void most_times_first(void **state)
{
    (void)state;
    static Sizes x;
    Arena a;
    bool *kept;
    uint32_t least = UINT32_MAX, most = 0;
    arena_init(&a, 0);
    sizes_make(&x);
    assert_ok(model_points_keep(&a, N_MANY, x.size, x.n_times, model_points_most(100, N_MANY, true), &kept));
    assert_int_equal(count(kept, N_MANY), MODEL_POINTS_KEPT);
    for (size_t i = 0; i < N_MANY; i++) {
        if (kept[i] && x.n_times[i] < least) least = x.n_times[i];
        if (!kept[i] && x.n_times[i] > most) most = x.n_times[i];
    }
    assert_true(least > 0 && least >= most);
    /* what is kept of those with as many times is not the first ones */
    size_t n_first = 0, n_equal = 0;
    for (size_t i = 0; i < N_MANY && n_equal == n_first; i++)
        if (x.n_times[i] == least) n_equal++, n_first += kept[i];
    assert_true(least == most && n_first < n_equal);
    arena_fini(&a);
}

/* Sizes of which none has more times than another, too. */
static void the_same_in_another_order(void **state)
{
    (void)state;
    static Sizes x, other;
    enum { FACTOR = 1025 }; /* without a common divisor with N_MANY, so that each place gets one size */
    for (int equal = 0; equal < 2; equal++) {
        Arena a;
        bool *kept, *again, *third;
        arena_init(&a, 0);
        sizes_make(&x);
        for (size_t i = 0; i < N_MANY && equal; i++) x.n_times[i] = 3;
        for (size_t i = 0; i < N_MANY; i++) {
            const size_t from = (i * FACTOR + 7) % N_MANY;
            other.size[i] = x.size[from], other.n_times[i] = x.n_times[from];
        }
        assert_ok(
            model_points_keep(&a, N_MANY, x.size, x.n_times, model_points_most(100, N_MANY, true), &kept));
        assert_ok(
            model_points_keep(&a, N_MANY, x.size, x.n_times, model_points_most(100, N_MANY, true), &third));
        assert_ok(model_points_keep(&a, N_MANY, other.size, other.n_times,
                                    model_points_most(100, N_MANY, true), &again));
        assert_int_equal(count(again, N_MANY), MODEL_POINTS_KEPT);
        assert_memory_equal(kept, third, N_MANY * sizeof *kept);
        for (size_t i = 0; i < N_MANY; i++) assert_int_equal(again[i], kept[(i * FACTOR + 7) % N_MANY]);
        arena_fini(&a);
    }
}

static void all_without_trees(void **state)
{
    (void)state;
    static Sizes x;
    Arena a;
    bool *kept;
    arena_init(&a, 0);
    sizes_make(&x);
    assert_ok(model_points_keep(&a, N_MANY, x.size, x.n_times, model_points_most(100, N_MANY, false), &kept));
    for (size_t i = 0; i < N_MANY; i++) assert_int_equal(kept[i], x.n_times[i] > 0);
    arena_fini(&a);
}

/* As many as there are, or fewer, are all kept, but never those without times. */
static void few(void **state)
{
    (void)state;
    static Sizes x;
    static const size_t n[] = {0, 1, 2, 100, MODEL_POINTS_KEPT};
    Arena a;
    arena_init(&a, 0);
    sizes_make(&x);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (int has_trees = 0; has_trees < 2; has_trees++) {
            bool *kept;
            assert_ok(model_points_keep(&a, n[i], x.size, x.n_times, model_points_most(100, n[i], has_trees),
                                        &kept));
            for (size_t z = 0; z < n[i]; z++) assert_int_equal(kept[z], x.n_times[z] > 0);
        }
    /* places are left over, as only every seventh size has times */
    for (size_t z = 0; z < N_MANY; z++) x.n_times[z] = z % 7 == 3;
    for (int has_trees = 0; has_trees < 2; has_trees++) {
        bool *kept;
        assert_ok(model_points_keep(&a, N_MANY, x.size, x.n_times, model_points_most(100, N_MANY, has_trees),
                                    &kept));
        for (size_t z = 0; z < N_MANY; z++) assert_int_equal(kept[z], z % 7 == 3);
    }
    arena_fini(&a);
}

/* A selector has room for as many times. */
static void many_kernels(void **state)
{
    (void)state;
    for (size_t k = 0; k <= MODEL_KERNELS_MAX; k += 128) {
        const size_t most = model_points_most(k, N_MANY, true);
        assert_true(most > 0 && most <= MODEL_POINTS_KEPT && model_selector_fits(k, most));
        assert_true(most == MODEL_POINTS_KEPT || !model_selector_fits(k, most + 1));
        assert_int_equal(model_points_most(k, N_MANY, false), N_MANY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_times_first), cmocka_unit_test(the_same_in_another_order),
        cmocka_unit_test(all_without_trees), cmocka_unit_test(few), cmocka_unit_test(many_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
