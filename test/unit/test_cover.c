/* The cover: fewest kernels under a bounded loss, what they lose, and what each of them is worth. */
#include <math.h>

#include "measure/cover.h"
#include "test/support.h"

enum { SIZES = 4, KERNELS = 5 };
#define NO (double)INFINITY

/* Kernel 0 is never more than 2 % slower on three sizes; 3 is the only one that works on the last. */
static const double ns[SIZES * KERNELS] = {101, 100, 150, 200, NO, /* */
                                           102, 180, 100, 200, NO, /* */
                                           100, 120, 130, 210, NO, /* */
                                           NO,  NO,  NO,  400, NO};

static Cover cover(Arena *a, double max_loss)
{
    Cover c;
    assert_ok(cover_make(a, &(CoverTimes){SIZES, KERNELS, ns}, max_loss, &c));
    return c;
}

static void test_fewest(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    Cover c = cover(&a, 0.02);
    assert_int_equal(c.n_kept, 2);
    assert_true(c.kept[0] && c.kept[3] && !c.kept[1] && !c.kept[2] && !c.kept[4]);
    assert_true(fabs(c.worst - (1 - 100 / 102.0)) < 1e-9);
    assert_true(fabs(c.mean - (1 - pow(100 / 101.0 * 100 / 102.0, 0.25))) < 1e-9);
    assert_int_equal(c.choice[0], 0);
    assert_int_equal(c.choice[3], 3);
    /* a tenth of a percent needs the winner of every size */
    c = cover(&a, 0.001);
    assert_int_equal(c.n_kept, 4);
    assert_true(c.worst == 0 && c.mean == 0);
    arena_fini(&a);
}

static void test_leave_one_out(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    const Cover c = cover(&a, 0.02);
    /* without kernel 0 its sizes fall back to 3: 200, 200 and 210 */
    assert_true(fabs(c.worst_without[0] - (1 - 100 / 210.0)) < 1e-9);
    assert_true(isinf(c.worst_without[3]) && isinf(c.mean_without[3])); /* a size would have none */
    assert_true(c.worst_without[1] == 0);
    arena_fini(&a);
}

/* Greedy takes the kernel of four sizes first, which two others make needless. */
static void test_needless(void **state)
{
    (void)state;
    static const double t[6 * 3] = {1, 1, 9, 1, 1, 9, 9, 1, 1, 9, 1, 1, 1, 9, 9, 9, 9, 1};
    Arena a;
    Cover c;
    arena_init(&a, 0);
    assert_ok(cover_make(&a, &(CoverTimes){6, 3, t}, 0.01, &c));
    assert_int_equal(c.n_kept, 2);
    assert_true(c.kept[0] && !c.kept[1] && c.kept[2]);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fewest), cmocka_unit_test(test_leave_one_out),
                                       cmocka_unit_test(test_needless)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
