/* Conversions of logic: units by the table of peaks, short sizes, predicates of sizes, solutions without use.
 */
#include "test/support.h"

#include "logic/convert.h"

static Logic read_real(Arena *a, const char *name)
{
    Logic l;
    assert_ok(logic_read(a, test_data_path(a, arena_printf(a, "tensile/logic/%s.yaml", name).s), NULL, &l));
    return l;
}

static void test_units(void **state)
{
    (void)state;
    Arena a;
    ConvertReport r;
    arena_init(&a, 0);
    Logic l = read_real(&a, "aldebaran_Cijk_Alik_Bjlk_DB");
    ConvertOptions o = {.to = UNIT_GFLOPS, .sclk_mhz = 1700};
    double *before = ARENA_ARRAY(&a, l.n_rows, double);
    for (size_t i = 0; i < l.n_rows; i++) before[i] = l.row[i].speed;
    assert_ok(logic_convert(&a, &l, &o, &r));
    assert_true(r.peak_gflops == 1.7 * 256 * 104); /* matrix, double, 104 CUs */
    assert_true(l.row[l.n_rows - 1].speed == before[l.n_rows - 1] / 100 * r.peak_gflops);
    o.to = UNIT_EFFICIENCY; /* back: the file has three decimals */
    assert_ok(logic_convert(&a, &l, &o, &r));
    for (size_t i = 0; i < l.n_rows; i++) assert_true(l.row[i].speed == before[i]);
    o.peak = PEAK_VECTOR;
    o.n_cu = 10;
    assert_ok(logic_convert(&a, &l, &o, &r));
    assert_true(r.peak_gflops == 1.7 * 128 * 10);
    o.per_cu = true;
    o.flops_per_cycle = 64;
    assert_ok(logic_convert(&a, &l, &o, &r));
    assert_true(r.peak_gflops == 1.7 * 64);
    /* 0.0005 and its neighbours: the nearest of three decimals, as Python rounds */
    o = (ConvertOptions){.to = UNIT_EFFICIENCY, .sclk_mhz = 1000, .flops_per_cycle = 100, .n_cu = 1};
    l.row[0].speed = 2.0005;
    l.row[1].speed = 12.3456;
    assert_ok(logic_convert(&a, &l, &o, &r));
    assert_true(l.row[0].speed == 2.0 || l.row[0].speed == 2.001);
    assert_true(l.row[1].speed == 12.346);
    arena_fini(&a);
}

/* Peaks of other files: by schedule, of complex and packed types, of a file that names no part. */
static void test_peaks(void **state)
{
    (void)state;
    static const struct {
        const char *file, *arch;
        double peak;
    } want[] = {
        {"vega20_Cijk_Ailk_Bjlk_ZB", NULL, 64 * 64 / 4}, /* a quarter of the rate of double */
        {"vega20_Cijk_Alik_Bjlk_4xi8II_BH", NULL, 512 * 64},
        {"arcturus_Cijk_Alik_Bjlk_SB", NULL, 256 * 120},
        {"aldebaran_Cijk_Alik_Bjlk_BBS_BH", NULL, 1024 * 104},
        {"aquavanjaram942_Cijk_Alik_Bljk_HSS_BH", NULL, 2048 * 304},
        {"r9nano_Cijk_Ailk_Bjlk_SB", NULL, 128 * 64},
        {"r9nano_Cijk_Ailk_Bjlk_SB", "gfx1100", 256 * 96},
        {"hip_Cijk_Ailk_Bljk_I8II_BH", NULL, 0}, /* fallback: the device of its tuning is unknown */
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        Arena a;
        ConvertReport r;
        ConvertOptions o = {.to = UNIT_GFLOPS, .sclk_mhz = 1000};
        if (want[i].arch) o.arch = str_from(want[i].arch);
        arena_init(&a, 0);
        Logic l = read_real(&a, want[i].file);
        Err e = logic_convert(&a, &l, &o, &r);
        if (e != (want[i].peak > 0 ? ERR_OK : ERR_INPUT)) fail_msg("%s: %s", want[i].file, err_message());
        if (!e && r.peak_gflops != want[i].peak) fail_msg("%s: %g", want[i].file, r.peak_gflops);
        if (e) assert_non_null(strstr(err_message(), "expected --arch"));
        arena_fini(&a);
    }
}

static void refused(const ConvertOptions *o, const char *file, const char *message)
{
    Arena a;
    ConvertReport r;
    arena_init(&a, 0);
    Logic l = read_real(&a, file);
    assert_int_equal(logic_convert(&a, &l, o, &r), ERR_INPUT);
    if (!strstr(err_message(), message)) fail_msg("message '%s' lacks '%s'", err_message(), message);
    arena_fini(&a);
}

static void test_refused(void **state)
{
    (void)state;
    ConvertOptions o = {.to = UNIT_EFFICIENCY};
    refused(&o, "aldebaran_Cijk_Alik_Bjlk_DB", "no clock");
    o.sclk_mhz = 1000;
    refused(&o, "hip_Cijk_Ailk_Bljk_I8II_BH", "no vector rate of type I8 on 'fallback'");
    o.flops_per_cycle = 64;
    refused(&o, "hip_Cijk_Ailk_Bljk_I8II_BH", "expected --cus");
    o = (ConvertOptions){.remove_unused = true};
    refused(&o, "r9nano_Cijk_Ailk_Bjlk_SB", "range logic");
}

static void test_predicates(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool holds;
    } cases[] = {
        {"m==64", true},      {"m=64", true},           {"m!=64", false},       {"n<128", false},
        {"n<=128", true},     {"k>31", true},           {"k>=33", false},       {"k%16==0", true},
        {"k % 5 == 2", true}, {"m>1, n>1, b==1", true}, {"m>1,n>1,b>1", false}, {"", true},
        {"lda>0", false},
    };
    const int64_t size[] = {64, 128, 1, 32};
    LogicRow row = {.size = size, .n = 4};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SizePredicate p = {.n = 0};
        if (*cases[i].text) assert_ok(size_predicate_parse(str_from(cases[i].text), &p));
        if (size_predicate_holds(&p, &row) != cases[i].holds) fail_msg("%s", cases[i].text);
    }
    static const char *const bad[] = {"x>1", "m", "m>", "m>x", "m%0==0", ">1", "m%4", "m=>1", "m>1,,n>1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        SizePredicate p = {.n = 0};
        if (size_predicate_parse(str_from(bad[i]), &p) != ERR_INPUT) fail_msg("'%s' is taken", bad[i]);
    }
}

static void test_sizes(void **state)
{
    (void)state;
    Arena a;
    ConvertReport r;
    arena_init(&a, 0);
    Logic l = read_real(&a, "vega20_Cijk_Ailk_Bjlk_ZB");
    size_t before = l.n_rows, solutions = l.n_solutions; /* every size is there twice */
    double best = 0;
    for (size_t i = 0; i < before; i++) {
        int64_t *size = ARENA_ARRAY(&a, 8, int64_t);
        memcpy(size, l.row[i].size, 4 * sizeof *size);
        size[7] = (int64_t)i;
        if (i % 2) l.row[i].size = size, l.row[i].n = 8;
        if (!memcmp(l.row[i].size, l.row[0].size, 4 * sizeof(int64_t)) && l.row[i].speed > best)
            best = l.row[i].speed;
    }
    ConvertOptions o = {.trim = true, .remove_unused = true};
    assert_ok(logic_convert(&a, &l, &o, &r));
    assert_int_equal(l.n_rows + r.n_doubles, before);
    assert_true(r.n_doubles > 0 && l.row[0].n == 4 && l.row[0].speed == best);
    assert_int_equal(l.n_solutions + r.n_unused, solutions);
    for (size_t i = 0; i < l.n_solutions; i++) assert_int_equal(l.solution[i].s.SolutionIndex, (int32_t)i);
    /* what is left of it: sizes that fulfil one condition and not the other */
    size_t want = 0, n = l.n_rows;
    for (size_t i = 0; i < n; i++) want += l.row[i].size[0] >= 256 && l.row[i].size[3] != 64;
    assert_true(want > 0 && want < n);
    o = (ConvertOptions){.remove_unused = true};
    assert_ok(size_predicate_parse(STR("m>=256"), &o.keep));
    assert_ok(size_predicate_parse(STR("k==64"), &o.remove));
    assert_ok(logic_convert(&a, &l, &o, &r));
    assert_int_equal(l.n_rows, want);
    assert_int_equal(r.n_filtered, n - want);
    for (size_t i = 0; i < l.n_rows; i++) assert_in_range(l.row[i].solution, 0, l.n_solutions - 1);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_units), cmocka_unit_test(test_peaks),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_predicates),
                                       cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
