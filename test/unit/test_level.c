/* Times of one race at the winner's clocks: of a race with a last stage, and of one with a single stage. */
#include <math.h>

#include "measure/level.h"
#include "test/support.h"

enum { RUNNERS = 3, SAMPLES = 4 };

typedef struct {
    LevelSample sample[RUNNERS][SAMPLES];
    LevelRunner r[RUNNERS];
} Race;

/* A sample of a runner that takes ns in a round of that pace. */
static void add(Race *x, int runner, int64_t round, double ns, double pace)
{
    LevelRunner *r = &x->r[runner];
    x->sample[runner][r->n++] = (LevelSample){ns * pace, round};
    r->sample = x->sample[runner];
}

/* First samples are 20 % slower than those of the following rounds, in which the slowest runner is not. */
static Race one_stage(void)
{
    static const double ns[RUNNERS] = {105, 100, 150};
    Race x = {0};
    for (int i = 0; i < RUNNERS; i++) add(&x, i, 1, ns[i], 1.2);
    for (int round = 2; round < 4; round++)
        for (int i = 0; i < 2; i++) add(&x, i, round, ns[i], 1);
    for (int i = 0; i < RUNNERS; i++) x.r[i].ns = i < 2 ? ns[i] : ns[i] * 1.2;
    return x;
}

/* Kernels are longer than those that are launched as graphs, whose rounds have gaps instead of paces. */
static void scale(Race *x, double by)
{
    for (int i = 0; i < RUNNERS; i++) {
        x->r[i].ns *= by;
        for (int s = 0; s < SAMPLES; s++) x->sample[i][s].ns *= by;
    }
}

static void test_one_stage(void **s)
{
    (void)s;
    Race x = one_stage();
    scale(&x, 1000);
    for (int i = 0; i < RUNNERS; i++) x.r[i].sample = x.sample[i];
    assert_int_equal(level_runners(x.r, RUNNERS), 0);
    assert_true(fabs(x.r[1].level - 1) <= 1e-9);
    assert_true(fabs(x.r[0].level * x.r[0].ns - 105e3) <= 500);
    assert_true(fabs(x.r[2].level * x.r[2].ns - 150e3) <= 1500);
}

/* A slow runner with more samples than the others, because one was repeated, is not the winner. */
static void test_repeated(void **s)
{
    (void)s;
    Race x = one_stage();
    add(&x, 2, 2, 150, 1.3), add(&x, 2, 3, 150, 1), add(&x, 2, 4, 150, 1);
    scale(&x, 1000);
    x.r[2].ns = 150e3;
    for (int i = 0; i < RUNNERS; i++) x.r[i].sample = x.sample[i];
    assert_int_equal(level_runners(x.r, RUNNERS), 0);
    assert_true(fabs(x.r[1].level - 1) <= 1e-9);
    assert_true(fabs(x.r[2].level * x.r[2].ns - 150e3) <= 1500);
}

/* Where there is a last stage, the fastest of its runners is the winner, even beside shorter first
 * samples. */
static void test_last_stage(void **s)
{
    (void)s;
    Race x = one_stage();
    scale(&x, 1000);
    x.r[0].final = true;
    for (int i = 0; i < RUNNERS; i++) x.r[i].sample = x.sample[i];
    assert_int_equal(level_runners(x.r, RUNNERS), 0);
    assert_true(fabs(x.r[0].level - 1) <= 1e-9);
    assert_true(x.r[1].level * x.r[1].ns >= x.r[0].ns);
}

/* First samples alone are compared with nothing. */
static void test_first_samples(void **s)
{
    (void)s;
    Race x = {0};
    for (int i = 0; i < RUNNERS; i++) {
        add(&x, i, 1, 100e3 + 1e3 * i, 1);
        x.r[i].ns = 100e3 + 1e3 * i;
    }
    assert_int_equal(level_runners(x.r, RUNNERS), 0);
    for (int i = 0; i < RUNNERS; i++) assert_true(fabs(x.r[i].level - 1) <= 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_stage), cmocka_unit_test(test_repeated),
                                       cmocka_unit_test(test_last_stage),
                                       cmocka_unit_test(test_first_samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
