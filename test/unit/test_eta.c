/* Unit tests of tuner/run/eta: the time that is left, on simulated runs with known truth. */
#include "test/support.h"

#include <math.h>

#include "run/eta.h"

enum { SIZES = 12, KERNELS = 10 };

typedef struct {
    double overhead, per_flop; /* of a pair: overhead + per_flop * flops */
    double noise;              /* share */
    double race;               /* > 0: a size takes this long, reported at its end */
    int past;                  /* sizes that an earlier run measured */
} World;

static double noise(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return (double)(*seed >> 16 & 0x7fff) / 0x8000 * 2 - 1;
}

static double flops_of(int size) { return 2 * pow(32 * pow(1.6, size), 3); }

static double seconds_of(const World *w, int size, int kernel, unsigned *seed)
{
    if (w->race > 0) return kernel ? 0 : w->race + KERNELS * w->per_flop * flops_of(size);
    return (w->overhead + w->per_flop * flops_of(size)) * (1 + w->noise * noise(seed));
}

/* Share of the moments after a pair, from the second size on, at which the truth lay in the range; *count:
 * the same for pairs per second within a factor of two. */
static double run(const World *w, double *count)
{
    double t[SIZES][KERNELS], left = 0, spent = 0;
    unsigned seed = 4711;
    int good = 0, by_count = 0, n = 0, done = 0;
    Eta e = {0};
    for (int s = 0; s < SIZES; s++)
        for (int k = 0; k < KERNELS; k++) {
            t[s][k] = seconds_of(w, s, k, &seed);
            if (s < w->past) continue;
            left += t[s][k];
            eta_expect(&e, 1, flops_of(s));
        }
    for (int s = 0; s < w->past; s++)
        for (int k = 0; k < KERNELS; k++) eta_measured(&e, flops_of(s), t[s][k], true);
    for (int s = w->past; s < SIZES; s++)
        for (int k = 0; k < KERNELS; k++) {
            if ((s || w->past) && t[s][k] > 0) { /* no estimate is checked while no time passes */
                EtaRange r = eta_range(&e, 0);
                double old = done ? spent / done * ((SIZES - w->past) * KERNELS - done) : 0;
                assert_true(r.hi >= 0 && r.lo <= r.hi);
                n++;
                good += left >= r.lo * 0.999 && left <= r.hi * 1.001;
                by_count += left >= old / 2 && left <= old * 2;
            }
            eta_measured(&e, flops_of(s), t[s][k], false);
            left -= t[s][k];
            spent += t[s][k];
            done++;
        }
    assert_true(eta_range(&e, 0).hi == 0);
    *count = (double)by_count / n;
    return (double)good / n;
}

static void test_ranges_hold(void **state)
{
    (void)state;
    static const World worlds[] = {
        {.overhead = 0.02, .per_flop = 1e-9, .noise = 0.1},
        {.overhead = 0.001, .per_flop = 1e-9, .noise = 0.1},
        {.overhead = 0.05, .per_flop = 0, .noise = 0.2},
        {.overhead = 0.02, .per_flop = 1e-9, .noise = 0.1, .past = 5},
        {.race = 2},
        {.race = 2, .per_flop = 1e-9},
    };
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        double count, good = run(&worlds[i], &count);
        if (good < 0.9)
            fail_msg("world %zu: the truth is in the range at %.0f%% of all moments", i, good * 100);
        if (worlds[i].per_flop > 0 && worlds[i].race == 0) assert_true(count < 0.6); /* why not by count */
    }
}

static void test_edges(void **state)
{
    (void)state;
    Eta e = {0};
    assert_true(eta_range(&e, 5).hi == 0);
    eta_expect(&e, 3, 1e6);
    assert_true(eta_range(&e, 5).hi < 0);
    eta_measured(&e, 1e6, 2, false);
    EtaRange r = eta_range(&e, 0);
    assert_true(r.lo <= 4 && r.hi >= 4);
    r = eta_range(&e, 60); /* the second pair hangs: not 'at once' */
    assert_true(r.hi >= 12);
    Eta resumed = {0};
    eta_expect(&resumed, 10, 1e9);
    eta_measured(&resumed, 1e9, 1.5, true);
    r = eta_range(&resumed, 0); /* known before anything was measured in this run */
    assert_true(r.lo <= 15 && r.hi >= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges_hold), cmocka_unit_test(test_edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
