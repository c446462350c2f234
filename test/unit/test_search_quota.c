/* The limits of a search's rounds, and the time that it is expected to take still. */
#include <math.h>

#include "measure/search_left.h"
#include "measure/search_quota.h"
#include "test/support.h"

/* Rounds of a search that learns take a share of what is left, and at least as long as some
 * sizes ask for; the last one takes what is left. */
static void test_quota(void **state)
{
    (void)state;
    SearchTime t = {.budget_s = 120,
                    .left_s = 100,
                    .kernel_s = 0.1,
                    .pair_s = 0.05,
                    .sizes_s = 20,
                    .scale = 1,
                    .n_rounds = 1,
                    .n_cores = 16,
                    .learns = true,
                    .overlaps = true};
    SearchQuota q = search_quota(&t);
    assert_true(q.seconds == 25 && q.kernels >= 200 && q.per_size > 4);
    t.left_s = 40; /* what all sizes take */
    q = search_quota(&t);
    assert_true(q.seconds == 20);
    t.left_s = 15; /* two such rounds are not left */
    q = search_quota(&t);
    assert_true(q.seconds == 15);
    t.left_s = 0.01;
    assert_int_equal(search_quota(&t).per_size, 0);
    t.n_rounds = 0; /* the first one is measured in any case */
    assert_true(search_quota(&t).seconds >= 20);
    t.budget_s = 0; /* without a budget nothing depends on time */
    assert_true(search_quota(&t).seconds == 0 && search_quota(&t).kernels == SIZE_MAX);
}

/* Where compiling, measuring and choosing follow one another, as on the CPU, a round gets kernels for the
 * time that measuring them does not need, and takes at least as long as choosing the next one. */
static void test_serial(void **state)
{
    (void)state;
    SearchTime t = {.budget_s = 300,
                    .left_s = 200,
                    .kernel_s = 0.2,
                    .pair_s = 0.005,
                    .choose_s = 2,
                    .sizes_s = 0.5,
                    .scale = 0.15,
                    .n_sizes = 60,
                    .n_rounds = 3,
                    .n_cores = 2,
                    .learns = true};
    SearchQuota q = search_quota(&t);
    const double round_s = (200 - 2) * 0.25;
    assert_true(fabs(q.seconds - round_s / 2) < 1e-9 && q.kernels == (size_t)(round_s / 2 / 0.2) + 1);
    t.pair_s = 0.0005; /* measuring a kernel on all sizes takes a seventh of compiling it */
    q = search_quota(&t);
    assert_true(q.kernels > (size_t)(round_s * 0.8 / 0.2) && q.seconds >= t.sizes_s && q.seconds < 9);
    t.left_s = 9; /* a quarter of it is less than choosing the next round takes */
    assert_int_equal(search_quota(&t).kernels, 7);
    t.left_s = 7; /* no time for choosing another round and for that */
    assert_int_equal(search_quota(&t).kernels, 20);
    t.left_s = 2;
    assert_int_equal(search_quota(&t).per_size, 0);
}

/* A gain that halves in each round, from 8 % on, falls below a thousandth after six or seven rounds. */
static void test_left(void **state)
{
    (void)state;
    SearchPace p = {.n_rounds = 3,
                    .first_hope = 0.32,
                    .last_hope = 0.08,
                    .compile_s = 10,
                    .measure_s = 2,
                    .budget_s = (double)INFINITY};
    SearchLeft l = search_left(&p);
    assert_true(l.compile_lo >= 20 && l.compile_lo <= 65 && l.compile_hi >= 65 && l.compile_hi <= 150);
    assert_true(fabs(l.measure_hi - l.compile_hi / 5) < 1e-9);
    p.budget_s = 24; /* enough for two rounds */
    l = search_left(&p);
    assert_true(fabs(l.compile_hi - 20) < 1e-9 && l.compile_lo <= l.compile_hi);
    p.last_hope = 0; /* nothing is promised: at most one more round */
    p.budget_s = (double)INFINITY;
    l = search_left(&p);
    assert_true(l.compile_lo == 0 && fabs(l.compile_hi - 10) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quota), cmocka_unit_test(test_serial),
                                       cmocka_unit_test(test_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
