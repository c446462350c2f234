/* Libraries with a performance model: sizes that were measured keep their row, others get the kernel with the
 * least predicted time among those that can run them, rows that were predicted are predicted again, and a
 * damaged model is one error. */
#include "test/lib_text.h"

#include <inttypes.h>
#include <math.h>

#include "problem/model_select.h"

/* Kernel 0 has small tiles, 1 and 2 large ones; 2 is the faster one where M is a multiple of 4. Its flag
 * counts for trees alone. */
static ModelEntry entry_of(int index)
{
    return (ModelEntry){.kernel = {.class = MODEL_VECTOR,
                                   .tile_m = index ? 128 : 32,
                                   .tile_n = index ? 128 : 32,
                                   .depth = 16,
                                   .threads = 256,
                                   .groups = 2,
                                   .stages = 2,
                                   .split = 1,
                                   .cluster_m = 1,
                                   .cluster_n = 1,
                                   .bytes_ab = 4,
                                   .bytes_d = 4,
                                   .bytes_sum = 4,
                                   .load_a = 4,
                                   .load_b = 4,
                                   .store = 4,
                                   .steps = 16,
                                   .flags = index == 2 ? MODEL_LAGS : 0,
                                   .rate = index ? 128 : 64,
                                   .peak = 128,
                                   .local_bytes = index ? 1024 : 512},
                        .device = {60, 1.7e9, 128, 4e6, 3e12, 1e12, 1},
                        .rates = model_rates(MODEL_VECTOR)};
}

static void add_kernels(Buf *b, int n, double version)
{
    buf_puts(b, "  performanceModel:\n    kernels:\n");
    for (int i = 0; i < n; i++) {
        double v[MODEL_ENTRY_NUMBERS];
        ModelEntry e = entry_of(i);
        model_entry_write(&e, v);
        v[0] = version;
        buf_printf(b, "    - [%d", i);
        for (int k = 0; k < MODEL_ENTRY_NUMBERS; k++) buf_printf(b, ", %.17g", v[k]);
        buf_puts(b, "]\n");
    }
}

/* residuals of the sizes 64 and 4096, in thousandths. */
static void make(Buf *b, const char *residuals, double version)
{
    buf_init(b);
    buf_puts(b, "solutions:\n");
    add_solution(b, 0, "{type: TruePred}");
    add_solution(b, 1, "{type: TruePred}");
    add_solution(b, 2, "{type: Free0SizeMultiple, index: 0, value: 4}");
    buf_puts(
        b, "library:\n  type: Matching\n  properties: [{type: FreeSizeA, index: 0}, {type: FreeSizeB, index:"
           " 0}, {type: BoundSize, index: 0}]\n  distance: Euclidean\n  table:\n"
           "  - {key: [64, 64, 64], index: 1, speed: 1.0}\n"
           "  - {key: [4096, 4096, 4096], index: 0, speed: 5.0}\n"
           "  - {key: [512, 512, 512], index: 0, speed: 5.0}\n");
    if (!residuals) return;
    add_kernels(b, 3, version);
    buf_puts(b, "    sizes:\n    - [64, 64, 1, 64, 16, 16, 16]\n    - [4096, 4096, 1, 4096, 16, 16, 16]\n");
    buf_printf(b, "    residuals: %s\n", residuals);
}

static const char known[] = "[[0, 0, 0], [0, 0, -100]]";

/* What the trees compare with: M of the size is feature 0, the rows of a kernel's tile are 8, and whether a
 * warp group lags (MODEL_LAGS) is 26. */
#define TREES(bounds, features, first, values)                                                               \
    "\n    boostedTrees: {bounds: [" bounds "], features: [" features "], first: [" first                    \
    "], values: [" values "]}"
#define LEFT(rows) "\n    left: [" rows "]"
/* What follows the three nodes and four leaves of a tree: nodes 3 to 30, whose bounds nothing reaches, and
 * leaves with the value of the last one. */
#define TIMES_7(x) x ", " x ", " x ", " x ", " x ", " x ", " x
#define TIMES_28(x) TIMES_7(x) ", " TIMES_7(x) ", " TIMES_7(x) ", " TIMES_7(x)
#define NEVER ", " TIMES_28("6.0e+29")
#define NOTHING ", " TIMES_28("0")
#define OWN                                                                                                  \
    ", 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, "    \
    "29, 30"
#define TREE(bounds, features, first, values, last)                                                          \
    TREES(bounds NEVER, features NOTHING, first OWN, values ", " TIMES_28(last))
/* One tree: from M = 256 on, kernels of 128 rows take e^0.1 times as long as the model says, others
 * e^-0.1. Node 0 is the root. */
static const char by_rows[] = TREE("256, 64, 6.0e+29", "0, 8, 0", "0, 1, 2", "0, -0.1, 0.1, 0.1", "0.1");
/* The same of kernels that lag, which only kernel 2 does; below 256, the other way round. Node 1 is the
 * root. */
static const char by_lag[] = TREE("1, 256, 1", "26, 0, 26", "0, 0, 2", "0.1, -0.1, -0.1, 0.1", "0.1");
/* Two trees with one comparison: the second one takes back what the first one says, and more of it. */
static const char by_two[] =
    TREES("1, 6.0e+29, 6.0e+29" NEVER ", 0.5, 6.0e+29, 6.0e+29" NEVER,
          "26, 0, 0" NOTHING ", 26, 0, 0" NOTHING, "0, 1, 2" OWN ", 0, 1, 2" OWN,
          "-0.2, 0.2, 0.2, 0.2, " TIMES_28("0.2") ", 0.4, -0.4, -0.4, -0.4, " TIMES_28("-0.4"));

static void chooses(void **state)
{
    (void)state;
    Buf b;
    Library *lib;
    make(&b, known, MODEL_VERSION);
    assert_ok(library_parse("lib.yaml", buf_view(&b), NULL, &gfx906, &lib));
    /* measured: the row, whatever the model says */
    Selection s = choose(lib, 64, 64, 64);
    assert_true(s.why == WHY_EXACT && s.solution->index == 1);
    s = choose(lib, 4096, 4096, 4096);
    assert_true(s.why == WHY_EXACT && s.solution->index == 0);
    /* not measured: large tiles with the residual of 4096, unless M forbids the faster kernel */
    s = choose(lib, 4000, 4096, 4096);
    assert_true(s.why == WHY_MODEL && s.solution->index == 2);
    double flops = 2.0 * 4000 * 4096 * 4096;
    assert_true(s.speed > 1000 && s.speed < 15000 && flops > 0); /* GFlops: the part has 13,056 */
    s = choose(lib, 4001, 4096, 4096);
    assert_true(s.why == WHY_MODEL && s.solution->index == 1);
    s = choose(lib, 32, 30, 4096);
    assert_true(s.why == WHY_MODEL && s.solution->index == 0);
    /* a row of a size that was not measured is a prediction: the model knows better */
    s = choose(lib, 512, 512, 512);
    assert_true(s.why == WHY_MODEL);
    library_free(lib);
    buf_fini(&b);
}

static void without_a_model(void **state)
{
    (void)state;
    Buf b;
    Library *lib;
    make(&b, NULL, MODEL_VERSION);
    assert_ok(library_parse("lib.yaml", buf_view(&b), NULL, &gfx906, &lib));
    Selection s = choose(lib, 4000, 4096, 4096);
    assert_true(s.why == WHY_NEAREST && s.solution->index == 0);
    assert_int_equal(choose(lib, 512, 512, 512).why, WHY_EXACT);
    library_free(lib);
    buf_fini(&b);
}

static void bad_models(void **state)
{
    (void)state;
    static const struct {
        const char *residuals;
        double version;
        const char *says;
    } bad[] = {
        {known, MODEL_VERSION + 1, "is not of version"},
        {"[[0, 0, 0]]", MODEL_VERSION, "residuals of performanceModel"},
        {"[[0, 0], [0, 0]]", MODEL_VERSION, "residuals of performanceModel"},
        {"[[0, 0, 1000000], [0, 0, 0]]", MODEL_VERSION, "1000000"},
        {"[[0, 0, x], [0, 0, 0]]", MODEL_VERSION, "residual of performanceModel"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Buf b;
        Library *lib = NULL;
        make(&b, bad[i].residuals, bad[i].version);
        Err e = library_parse("lib.yaml", buf_view(&b), NULL, &gfx906, &lib);
        if (e != ERR_INPUT || !strstr(err_message(), bad[i].says))
            fail_msg("case %zu: error %d '%s', expected '%s'", i, e, err_message(), bad[i].says);
        assert_true(str_starts(str_from(err_message()), "lib.yaml:"));
        buf_fini(&b);
    }
}

/* An entry and a residual come back from their numbers; numbers out of bounds do not. */
static void numbers(void **state)
{
    (void)state;
    double v[MODEL_ENTRY_NUMBERS], w[MODEL_RESIDUAL_NUMBERS];
    ModelEntry e = entry_of(1), back;
    model_entry_write(&e, v);
    assert_true(model_entry_read(v, &back));
    assert_memory_equal(&e, &back, sizeof e);
    for (int i = 0; i < MODEL_ENTRY_NUMBERS; i++) {
        double was = v[i];
        v[i] = NAN;
        assert_false(model_entry_read(v, &back));
        v[i] = was;
    }
    ModelResidual r = {{100, 200, 300, 4, 2, 4, 16, false, 0, 0}, 0.25}, again;
    model_residual_write(&r, w);
    assert_true(model_residual_read(w, &again));
    assert_true(again.size.m == 100 && again.size.k == 300 && again.size.batch == 4 && again.error == 0.25);
    w[0] = 0;
    assert_false(model_residual_read(w, &again));
}

/* A library with `known` and what follows it. */
static Err parse_with(const char *more, Library **lib)
{
    Buf b, residuals;
    buf_init(&residuals);
    buf_printf(&residuals, "%s%s", known, more);
    make(&b, buf_cstr(&residuals), MODEL_VERSION);
    const Err e = library_parse("lib.yaml", buf_view(&b), NULL, &gfx906, lib);
    buf_fini(&b);
    buf_fini(&residuals);
    return e;
}

/* The trees change the choice where the model's times are close, and what they leave counts beside them. */
static void by_trees(void **state)
{
    (void)state;
    static const struct {
        const char *trees, *left; /* "": none */
        int64_t m, kernel;
    } cases[] = {
        {"", "", 4000, 2},
        {by_rows, LEFT("[0, 0, 0], [0, 0, -100]"), 4000, 2},
        {by_rows, LEFT("[0, 0, 0], [0, -300, 0]"), 4000, 1},
        {"", "", 200, 2},
        {by_lag, LEFT("[0, 0, 0], [0, 0, -100]"), 4000, 1},
        {by_lag, LEFT("[0, 0, 0], [0, 0, 20]"), 200, 2},
        {by_lag, LEFT("[0, 0, 0], [0, 0, -900]"), 4000, 2},
        {by_two, LEFT("[0, 0, 0], [0, 0, 100]"), 4000, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char more[2048];
        Library *lib;
        snprintf(more, sizeof more, "%s%s", cases[i].trees, cases[i].left);
        assert_ok(parse_with(more, &lib));
        const Selection s = choose(lib, cases[i].m, 4096, 4096);
        assert_true(s.why == WHY_MODEL);
        if (s.solution->index != cases[i].kernel)
            fail_msg("case %zu: kernel %lld, expected %lld", i, (long long)s.solution->index,
                     (long long)cases[i].kernel);
        library_free(lib);
    }
}

/* Older libraries have trees of other forms, which are not read, whatever they say: the library chooses as
 * without them. */
static void older_trees(void **state)
{
    (void)state;
    static const char *const older[] = {
        "\n    trees: {depth: 2, features: [0, 8, 8], bounds: [8, 6, 6], values: [0, 0, -0.1, 0.1]}" LEFT(
            "[0, 0, 0], [0, -300, 0]"),
        "\n    trees: {depth: 1, features: [26], bounds: [1], values: [-9, 9]}" LEFT("[0, 0, 0], [0, 0, 0]"),
        "\n    trees: {depth: 99, features: [x], other: []}",
        "\n    trees: [1, {a: b}, 1e99]" LEFT("x"),
        "\n    trees: text",
        "\n    trees: ",
        "\n    symmetricTrees: {depth: 2, features: [0, 8], bounds: [256, 64], values: [0, 0, -9, 9]}" LEFT(
            "[0, 0, 0], [0, -300, 0]"),
        "\n    symmetricTrees: [1, {a: b}, 1e99]" LEFT("x"),
        "\n    symmetricTrees: ",
    };
    static const int64_t m[] = {32, 200, 4000, 4001};
    Library *without;
    assert_ok(parse_with("", &without));
    for (size_t i = 0; i < sizeof older / sizeof *older; i++) {
        Library *lib;
        assert_ok(parse_with(older[i], &lib));
        for (size_t z = 0; z < sizeof m / sizeof *m; z++) {
            const Selection s = choose(lib, m[z], 4096, 4096), expected = choose(without, m[z], 4096, 4096);
            assert_true(s.why == WHY_MODEL && expected.why == WHY_MODEL);
            assert_int_equal(s.solution->index, expected.solution->index);
            assert_true(s.speed == expected.speed);
        }
        library_free(lib);
    }
    library_free(without);
}

/* Three trees with 65 bounds of feature 1. */
#define TO_65                                                                                                \
    "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, "            \
    "26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, "               \
    "48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65"
#define MANY_BOUNDS                                                                                          \
    TREES(TO_65 NEVER, TIMES_28("1") ", " TIMES_28("1") ", " TIMES_7("1") ", 1, 1" NOTHING,                  \
          "0, 1, 2" OWN ", 0, 1, 2" OWN ", 0, 1, 2" OWN,                                                     \
          "0, 0, 0, 0" NOTHING ", 0, 0, 0, 0" NOTHING ", 0, 0, 0, 0" NOTHING)

static void bad_trees(void **state)
{
    (void)state;
#define NOTHING_LEFT LEFT("[0, 0, 0], [0, 0, 0]")
#define BOUNDS "256, 64, 6.0e+29"
#define FEATURES "0, 8, 0"
#define FIRST "0, 1, 2"
#define VALUES "0, 0, 0, 0"
    static const char *const bad[][2] = {
        {TREE(BOUNDS, FEATURES, FIRST, VALUES, "0"), "need left"},
        {"\n    boostedTrees: {bounds: [], features: [], values: []}" NOTHING_LEFT, "need bounds, features"},
        {"\n    boostedTrees: [2]" NOTHING_LEFT, "boostedTrees of performanceModel: expected a map"},
        {TREE(BOUNDS, "0, 8", FIRST, VALUES, "0") NOTHING_LEFT, "features of boostedTrees"},
        {TREE(BOUNDS, "0, 8, 0, 0", FIRST, VALUES, "0") NOTHING_LEFT, "features of boostedTrees"},
        {TREE(BOUNDS, "0, 200, 0", FIRST, VALUES, "0") NOTHING_LEFT, "200"},
        {TREE(BOUNDS, "0, -1, 0", FIRST, VALUES, "0") NOTHING_LEFT, "-1"},
        {TREE(BOUNDS, FEATURES, "0, 1", VALUES, "0") NOTHING_LEFT, "first of boostedTrees"},
        {TREE(BOUNDS, FEATURES, "0, 2, 2", VALUES, "0") NOTHING_LEFT, "2 of node 1"},
        {TREE(BOUNDS, FEATURES, "0, 1, 31", VALUES, "0") NOTHING_LEFT, "first of boostedTrees"},
        {TREE(BOUNDS, FEATURES, "0, 1, -1", VALUES, "0") NOTHING_LEFT, "first of boostedTrees"},
        {TREE("256, 64", FEATURES, FIRST, VALUES, "0") NOTHING_LEFT, "bounds of boostedTrees"},
        {TREE("256, 64, 1.0e+35", FEATURES, FIRST, VALUES, "0") NOTHING_LEFT, "1e+35"},
        {TREE(BOUNDS, FEATURES, FIRST, "0, 0, 0, -1.0e+35", "0") NOTHING_LEFT, "values of boostedTrees"},
        {TREE(BOUNDS, FEATURES, FIRST, "0, 0, 0", "0") NOTHING_LEFT, "31 values of boostedTrees"},
        {TREE(BOUNDS, FEATURES, FIRST, VALUES, "0") LEFT("[0, 0, 0]"), "left of performanceModel"},
        {TREE(BOUNDS, FEATURES, FIRST, VALUES, "0") LEFT("[0, 0, 0], [0, 0]"), "left of performanceModel"},
        {TREE(BOUNDS, FEATURES, FIRST, VALUES, "0") LEFT("[0, 0, 0], [0, 0, 1000000]"), "1000000"},
        {MANY_BOUNDS NOTHING_LEFT, "trees with more than 64 bounds of a feature"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Library *lib = NULL;
        const Err e = parse_with(bad[i][0], &lib);
        if (e != ERR_INPUT || !strstr(err_message(), bad[i][1]))
            fail_msg("case %zu: error %d '%s', expected '%s'", i, e, err_message(), bad[i][1]);
        assert_true(str_starts(str_from(err_message()), "lib.yaml:"));
    }
}

static void too_many_trees(void **state)
{
    (void)state;
    Buf b;
    Library *lib = NULL;
    buf_init(&b);
    buf_puts(&b, "\n    boostedTrees: {bounds: [], features: [], first: [], values: [0");
    for (int i = 0; i < MODEL_TREES_MAX * MODEL_TREES_LEAVES; i++) buf_puts(&b, ", 0");
    buf_puts(&b, "]}" NOTHING_LEFT);
    assert_int_equal(parse_with(buf_cstr(&b), &lib), ERR_INPUT);
    assert_non_null(strstr(err_message(), "values of boostedTrees"));
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chooses),    cmocka_unit_test(without_a_model),
                                       cmocka_unit_test(bad_models), cmocka_unit_test(numbers),
                                       cmocka_unit_test(by_trees),   cmocka_unit_test(older_trees),
                                       cmocka_unit_test(bad_trees),  cmocka_unit_test(too_many_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
