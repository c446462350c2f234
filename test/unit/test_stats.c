/* Unit tests of tuner/measure/stats: simulated distributions with known truth. */
#include "test/support.h"

#include <math.h>

#include "base/random.h"
#include "measure/stats.h"

typedef struct {
    uint64_t s;
} Rng;

static double rng_uniform(Rng *r) { return random_unit(random_next(&r->s)); }

static double rng_normal(Rng *r)
{
    double u = rng_uniform(r), v = rng_uniform(r);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Times with median 100: normal, exponential above a floor, two modes, 5% outliers ten times as long. */
enum { D_NORMAL, D_EXPONENTIAL, D_BIMODAL, D_OUTLIERS, D_COUNT };

static double draw(Rng *r, int kind)
{
    switch (kind) {
    case D_NORMAL:
        return 100 + 3 * rng_normal(r);
    case D_EXPONENTIAL:
        return 90 - 10 / log(2) * log(rng_uniform(r)); /* 90 + median 10 */
    case D_BIMODAL:
        return (rng_uniform(r) < 0.5 ? 95 : 105) + rng_normal(r) * 2; /* median 100 */
    default: {
        double u = rng_uniform(r);
        if (u < 0.05) return 1000 + 100 * rng_uniform(r);
        /* The 95% others: their 0.5/0.95 quantile must be 100. Uniform 100 - w*0.5263.. 100 + w*0.4737. */
        return 100 + 20 * (rng_uniform(r) - 0.5 / 0.95);
    }
    }
}

static double coverage(int kind, size_t n, int trials, uint64_t seed)
{
    Rng r = {seed};
    double x[200];
    int hit = 0;
    for (int t = 0; t < trials; t++) {
        for (size_t i = 0; i < n; i++) x[i] = draw(&r, kind);
        Summary s;
        stats_summary(x, n, 0.95, &s);
        hit += s.lo <= 100 && 100 <= s.hi;
    }
    return (double)hit / trials;
}

static void test_median_coverage(void **state)
{
    (void)state;
    static const size_t sizes[] = {6, 8, 11, 20, 50, 101, 200};
    for (int kind = 0; kind < D_COUNT; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            double c = coverage(kind, sizes[i], 20000, 1000 + (uint64_t)kind);
            /* The density at a bimodal median is the interpolation's worst case, and only towards more. */
            if (c < 0.93 || c > 0.975) fail_msg("kind %d n %zu: coverage %.4f", kind, sizes[i], c);
            if (kind != D_BIMODAL && c > 0.97) fail_msg("kind %d n %zu: coverage %.4f", kind, sizes[i], c);
        }
}

static void test_summary_values(void **state)
{
    (void)state;
    double x[] = {5, 1, 3, 2, 4};
    Summary s;
    stats_summary(x, 5, 0.95, &s);
    assert_true(s.median == 3 && s.min == 1 && s.max == 5 && s.mean == 3 && s.q1 == 2 && s.q3 == 4);
    assert_true(fabs(s.mad - 1.4826) < 1e-12);
    assert_true(fabs(s.level - 0.9375) < 1e-12); /* too few for 0.95: the level is lower */
    assert_true(s.lo == 1 && s.hi == 5);
    double y[] = {4, 1, 3, 2};
    stats_summary(y, 4, 0.95, &s);
    assert_true(s.median == 2.5 && fabs(s.mad - 1.4826) < 1e-12);
    double one[] = {7};
    stats_summary(one, 1, 0.95, &s);
    assert_true(s.median == 7 && s.lo == 7 && s.hi == 7 && s.level == 0 && s.mad == 0);
    assert_true(isinf(stats_relative_width(&s)));
    stats_summary(NULL, 0, 0.95, &s);
    assert_true(isnan(s.median) && s.level == 0);
    double same[40];
    for (int i = 0; i < 40; i++) same[i] = 2;
    same[7] = 900;
    stats_summary(same, 40, 0.95, &s);
    assert_true(s.median == 2 && s.lo == 2 && s.hi == 2 && s.mad == 0);
}

static void test_outliers_counted(void **state)
{
    (void)state;
    Rng r = {5};
    double x[100];
    for (int i = 0; i < 100; i++) x[i] = 100 + rng_normal(&r);
    for (int i = 0; i < 100; i += 25) x[i] = 300;
    Summary s;
    stats_summary(x, 100, 0.95, &s);
    assert_int_equal(s.n_outliers, 4);
    assert_true(s.median > 99 && s.median < 101 && s.hi < 101);
}

static void test_binomial(void **state)
{
    (void)state;
    assert_true(fabs(stats_binomial_half(5, 0) - 1.0 / 32) < 1e-12);
    assert_true(fabs(stats_binomial_half(10, 5) - 638.0 / 1024) < 1e-12);
    assert_true(stats_binomial_half(4, 4) == 1);
    assert_true(fabs(stats_binomial_half(1000001, 500000) - 0.5) < 1e-6);
}

static void fill(Rng *r, double *x, size_t n, double scale, int kind)
{
    for (size_t i = 0; i < n; i++) x[i] = scale * draw(r, kind);
}

/* Two equal sets may differ significantly in at most 5% of the trials; the interval has the true ratio in >=
 * 94%. */
static void test_compare_error_rates(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{4, 4}, {5, 9}, {10, 10}, {20, 20}, {30, 25}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Rng r = {77 + i};
        double a[64], b[64];
        int wrong = 0, held = 0, trials = 4000;
        for (int t = 0; t < trials; t++) {
            Comparison c;
            fill(&r, a, sizes[i][0], 1, D_EXPONENTIAL);
            fill(&r, b, sizes[i][1], 1, D_EXPONENTIAL);
            assert_ok(stats_compare(a, sizes[i][0], b, sizes[i][1], 0.95, 0, &c));
            wrong += c.verdict != STATS_TIE;
            fill(&r, a, sizes[i][0], 1.1, D_NORMAL);
            fill(&r, b, sizes[i][1], 1, D_NORMAL);
            assert_ok(stats_compare(a, sizes[i][0], b, sizes[i][1], 0.95, 0, &c));
            held += c.lo <= 1.1 && 1.1 <= c.hi;
        }
        if (wrong > trials * 0.057) fail_msg("sizes %zu: %d of %d ties broken", i, wrong, trials);
        if (held < trials * 0.94) fail_msg("sizes %zu: ratio held in %d of %d", i, held, trials);
    }
}

static void test_compare_finds_difference(void **state)
{
    (void)state;
    Rng r = {9};
    double a[20], b[20];
    int faster = 0, slower = 0;
    for (int t = 0; t < 500; t++) {
        Comparison c;
        fill(&r, a, 20, 0.95, D_NORMAL); /* 5% faster, 3% noise */
        fill(&r, b, 20, 1, D_NORMAL);
        assert_ok(stats_compare(a, 20, b, 20, 0.95, 0, &c));
        faster += c.verdict == STATS_FASTER;
        slower += c.verdict == STATS_SLOWER;
        assert_ok(stats_compare(b, 20, a, 20, 0.95, 0, &c));
        if (c.verdict == STATS_FASTER) slower++;
    }
    assert_true(faster > 490);
    assert_int_equal(slower, 0);
}

static void test_compare_edges(void **state)
{
    (void)state;
    double a[] = {1, 2, 3}, b[] = {100, 101, 102, 103};
    Comparison c;
    assert_ok(stats_compare(a, 3, b, 3, 0.95, 0, &c));
    assert_int_equal(c.verdict, STATS_UNKNOWN); /* 3 and 3 cannot reach 0.95 */
    assert_ok(stats_compare(a, 3, b, 3, 0.90, 0, &c));
    assert_int_equal(c.verdict, STATS_FASTER);
    assert_true(fabs(c.level - 0.9) < 1e-9);
    assert_ok(stats_compare(a, 0, b, 3, 0.95, 0, &c));
    assert_int_equal(c.verdict, STATS_UNKNOWN);
    double x[500], y[500];
    Rng r = {3};
    fill(&r, x, 500, 1.002, D_NORMAL);
    fill(&r, y, 500, 1.0, D_NORMAL);
    assert_ok(stats_compare(x, 500, y, 500, 0.95, 0.02, &c));
    assert_int_equal(c.verdict, STATS_TIE); /* wholly within the margin */
    assert_string_equal(stats_verdict_name(c.verdict), "tie");
}

/* Drift that both share: the paired comparison sees 1% through a slow change of 30%. */
static void test_compare_paired_drift(void **state)
{
    (void)state;
    Rng r = {21};
    double a[40], b[40];
    for (int i = 0; i < 40; i++) {
        double drift = 1 + 0.3 * i / 40;
        a[i] = 99 * drift * (1 + 0.005 * rng_normal(&r));
        b[i] = 100 * drift * (1 + 0.005 * rng_normal(&r));
    }
    Comparison c;
    assert_ok(stats_compare_paired(a, b, 40, 0.95, 0, &c));
    assert_int_equal(c.verdict, STATS_FASTER);
    assert_true(fabs(c.ratio - 0.99) < 0.005);
    assert_ok(stats_compare_paired(a, b, 5, 0.95, 0, &c));
    assert_int_equal(c.verdict, STATS_UNKNOWN);
    assert_ok(stats_compare(a, 40, b, 40, 0.95, 0, &c));
    assert_int_equal(c.verdict, STATS_TIE); /* unpaired cannot: the reason why pairs exist */
}

static void test_stop_rule(void **state)
{
    (void)state;
    Rng r = {31};
    double x[4000];
    StopRule rule = {.relative_width = 0.01, .level = 0.95, .min_n = 10, .max_n = 4000};
    Summary s;
    int held = 0, precise = 0;
    for (int t = 0; t < 300; t++) {
        size_t n = 0;
        StopReason why = STOP_NOT_YET;
        while (why == STOP_NOT_YET) {
            for (int i = 0; i < 10; i++) x[n++] = draw(&r, D_NORMAL);
            why = stats_stop(&rule, x, n, 0, &s);
        }
        precise += why == STOP_PRECISE;
        held += s.lo <= 100 && 100 <= s.hi;
        assert_true(s.hi - s.lo <= 0.01 * s.median + 1e-9);
    }
    assert_int_equal(precise, 300);
    assert_true(held > 300 * 0.85); /* repeated tests reduce the coverage */
    rule.relative_width = 1e-9;
    rule.max_n = 20;
    assert_int_equal(stats_stop(&rule, x, 20, 0, &s), STOP_MAX_SAMPLES);
    rule.max_n = 0;
    rule.budget_ns = 100;
    assert_int_equal(stats_stop(&rule, x, 20, 99, &s), STOP_NOT_YET);
    assert_int_equal(stats_stop(&rule, x, 20, 100, &s), STOP_BUDGET);
    rule.relative_width = 1;
    assert_int_equal(stats_stop(&rule, x, 5, 0, &s), STOP_NOT_YET); /* below min_n */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_coverage),     cmocka_unit_test(test_summary_values),
        cmocka_unit_test(test_outliers_counted),    cmocka_unit_test(test_binomial),
        cmocka_unit_test(test_compare_error_rates), cmocka_unit_test(test_compare_finds_difference),
        cmocka_unit_test(test_compare_edges),       cmocka_unit_test(test_compare_paired_drift),
        cmocka_unit_test(test_stop_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
