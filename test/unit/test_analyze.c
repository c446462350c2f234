/* Analyze on hand-made benchmark data: winners, failed cells, merging of size-groups, ranges, ties. */
#include "test/support.h"

#include "logic/analyze.h"
#include "logic/bench_data.h"
#include "space/derive.h"

typedef struct {
    Arena a;
    char *dir;
    ProblemType pt;
    Solution s[4]; /* DepthU 8, 16, 24, 32 */
} Fixture;

static void solution_make(Fixture *f, int i)
{
    Deriver d;
    Solution *s = &f->s[i];
    solution_init(s, &f->pt);
    s->DepthU = 8 * (i + 1);
    s->ThreadTile = intlist2(4, 4);
    s->WorkGroup = intlist3(16, 16, 1);
    s->VectorWidth = 1;
    assert_ok(deriver_init(&d, &f->pt, target_find(STR("gfx906")), NULL));
    Verdict v;
    if (!solution_derive(&d, s, &v)) fail_msg("solution %d: %s", i, rule_name(v.rule));
}

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    arena_init(&f->a, 0);
    f->dir = test_dir();
    assert_ok(problem_type_gemm(&f->pt, false, false, TYPE_S, TYPE_S, TYPE_S));
    for (int i = 0; i < 4; i++) solution_make(f, i);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    assert_ok(dir_remove(f->dir));
    free(f->dir);
    arena_fini(&f->a);
    free(f);
    return 0;
}

/* A size-group: sizes as text of ProblemSizes, solutions by number, rows of the csv after the header. */
static void group(Fixture *f, int number, const char *sizes, const char *solutions, const char *unit,
                  const char *rows)
{
    Node *node;
    ProblemSizes ps;
    const Solution *list[8];
    size_t n = strlen(solutions);
    assert_ok(yaml_parse(&f->a, "sizes", str_from(sizes), NULL, &node));
    assert_ok(problem_sizes_from_node(&f->a, "sizes", node, &f->pt, NULL, &ps));
    for (size_t i = 0; i < n; i++) list[i] = &f->s[solutions[i] - '0'];
    Str yaml = arena_printf(&f->a, "%s/Cijk_Ailk_Bljk_SB_%02d.yaml", f->dir, number);
    assert_ok(bench_solutions_write(yaml.s, &ps, list, n));
    Buf b;
    buf_init(&b);
    buf_printf(
        &b, "%s,SizeI,SizeJ,SizeK,SizeL,LDD,LDC,LDA,LDB,WinnerFreq,TotalFlops,WinnerPower,WinnerTemperature",
        unit);
    for (size_t i = 0; i < n; i++) buf_printf(&b, ",S%c", solutions[i]);
    buf_printf(&b, "\n%s", rows);
    Str csv = arena_printf(&f->a, "%s/Cijk_Ailk_Bljk_SB_%02d.csv", f->dir, number);
    assert_ok(file_write(csv.s, buf_view(&b)));
    buf_fini(&b);
}

static void options(const Fixture *f, AnalyzeOptions *o)
{
    analyze_options_init(o);
    o->data_dir = o->logic_dir = f->dir;
    o->schedule = "vega20";
    o->arch = "gfx906";
}

static void analyze(Fixture *f, const AnalyzeOptions *o, AnalyzeReport *r, Logic *l)
{
    assert_ok(analyze_run(o, r));
    assert_ok(logic_read(&f->a, arena_printf(&f->a, "%s/vega20_Cijk_Ailk_Bljk_SB.yaml", f->dir).s, NULL, l));
}

static void row_is(const Logic *l, size_t i, int64_t m, int depth_u, double speed)
{
    assert_int_equal(l->row[i].n, 8);
    assert_int_equal(l->row[i].size[0], m);
    assert_int_equal(l->solution[l->row[i].solution].s.DepthU, depth_u);
    if (l->row[i].speed != speed) fail_msg("row %zu: speed %g, expected %g", i, l->row[i].speed, speed);
}

#define SIZE(m) "0," #m ",64,1,128," #m "," #m "," #m ",128,1,2,3,4,"

static void test_winners(void **state)
{
    Fixture *f = *state;
    AnalyzeOptions o;
    AnalyzeReport r;
    Logic l;
    group(f, 0,
          "[{Exact: [64,64,1,128]},{Exact: [65,64,1,128]},{Exact: [66,64,1,128]},{Exact: [67,64,1,128]}]",
          "012", "GFlops",
          SIZE(64) "10.5,-1,9\n"        /* 0 */
          SIZE(65) "-1,-1,nan\n"        /* no winner: the size is lost */
          SIZE(66) "nan,7,-1\n"         /* 1 */
          SIZE(67) "8,8,8\n"            /* equal: the first */
          SIZE(64) "10.5,11.25,nan\n"); /* a later row is faster: 1 */
    options(f, &o);
    o.ties = TIES_FIRST;
    analyze(f, &o, &r, &l);
    assert_int_equal(r.n_lost, 1);
    assert_int_equal(l.n_rows, 3);
    row_is(&l, 0, 64, 16, 11.25);
    row_is(&l, 1, 66, 16, 7);
    row_is(&l, 2, 67, 8, 8);
    assert_int_equal(l.n_solutions, 2); /* the third wins nothing */
    assert_int_equal(l.solution[1].s.SolutionIndex, 1);
    assert_int_equal(l.index_order[0], 2);
    assert_int_equal(l.index_order[1], 3);
    assert_int_equal(l.n_index_order, 4);
    assert_str(logic_metric(&l), "DeviceEfficiency");
    assert_str(l.device[0], "fallback");
    assert_non_null(strstr(l.solution[0].s.SolutionNameMin.s, "Cijk_Ailk_Bljk_SB_MT64x64x8_"));
}

static void test_two_groups(void **state)
{
    Fixture *f = *state;
    AnalyzeOptions o;
    AnalyzeReport r;
    Logic l;
    group(f, 0, "[{Exact: [64,64,1,128]}]", "01", "GFlopsPerCU", SIZE(64) "5,6\n");
    group(f, 1, "[{Exact: [64,64,1,128]},{Exact: [70,64,1,128]}]", "210", "GFlopsPerCU",
          SIZE(64) "4,6,6.5\n" SIZE(70) "9,1,2\n");
    options(f, &o);
    analyze(f, &o, &r, &l);
    assert_str(logic_metric(&l), "CUEfficiency");
    assert_int_equal(l.n_solutions, 2); /* 0 and 2, in the order of first appearance */
    row_is(&l, 0, 64, 8, 6.5);
    row_is(&l, 1, 70, 24, 9);
    assert_int_equal(l.row[1].solution, 1);
}

static void test_ranges(void **state)
{
    Fixture *f = *state;
    AnalyzeOptions o;
    AnalyzeReport r;
    Logic l;
    const char *rows = SIZE(64) "5,6,1\n" SIZE(128) "7,6.99,1\n" SIZE(192) "3,6,1\n";
    group(f, 0, "[{Range: [[64,64,0,192],[64],[1],[128]]}]", "012", "GFlops", rows);
    options(f, &o);
    analyze(f, &o, &r, &l);
    assert_int_equal(l.n_rows, 3);
    row_is(&l, 1, 128, 8, 7);
    o.expand_ranges = false; /* no rows of their own; their winners stay with algorithm 1 */
    analyze(f, &o, &r, &l);
    assert_int_equal(l.n_rows, 0);
    assert_int_equal(l.n_solutions, 2);
    o.solution_selection_alg = 0; /* what saves less than the minimum goes */
    o.solution_importance_min = 0.01;
    analyze(f, &o, &r, &l);
    assert_int_equal(l.n_solutions, 1);
}

/* 0 wins one size clearly, 1 wins two; on the fourth 0 is ahead by less than its interval. */
static bool samples(void *ctx, Str data, size_t row, size_t solution, AnalyzeInterval *out)
{
    (void)ctx;
    assert_str(data, "Cijk_Ailk_Bljk_SB_00");
    if (row != 3 || solution != 0) return false;
    *out = (AnalyzeInterval){.median = 10, .low = 9.8, .high = 10.2};
    return true;
}

static void test_ties(void **state)
{
    Fixture *f = *state;
    AnalyzeOptions o;
    AnalyzeReport r;
    Logic l;
    group(f, 0,
          "[{Exact: [64,64,1,128]},{Exact: [65,64,1,128]},{Exact: [66,64,1,128]},{Exact: [67,64,1,128]}]",
          "012", "GFlops", SIZE(64) "9,8,1\n" SIZE(65) "5,6,1\n" SIZE(66) "5,6,1\n" SIZE(67) "10,9.9,9.7\n");
    options(f, &o);
    analyze(f, &o, &r, &l);
    row_is(&l, 3, 67, 8, 10);
    assert_int_equal(r.n_ties, 0);
    o.samples = samples;
    analyze(f, &o, &r, &l);
    row_is(&l, 3, 67, 16, 9.9);
    assert_int_equal(r.n_ties, 1);
    assert_int_equal(r.n_tie_moves, 1);
    o.ties = TIES_FIRST;
    analyze(f, &o, &r, &l);
    row_is(&l, 3, 67, 8, 10);
}

/* M <= 100: the second kept solution; else by N the first or the second. */
static Err tree_given(void *ctx, Arena *a, const AnalyzeColumn *kept, size_t n_kept, const AnalyzeTree **out)
{
    static const AnalyzeFeature feature[] = {
        {.type = "FreeSizeA"},
        {.type = "WavesPerSIMD", .tiles = true, .mt0 = 0.5f, .mt1 = 0.25f, .cus = 1, .ws = 1}};
    static const AnalyzeTreeNode node[] = {{0, 100.5f, ~1, 1}, {1, 0.1f, ~0, ~1}};
    static const AnalyzeTree tree = {feature, 2, node, 2};
    (void)a;
    assert_ptr_equal(ctx, &tree_given);
    assert_int_equal(n_kept, 3);
    assert_str(kept[0].data, "Cijk_Ailk_Bljk_SB_00");
    *out = &tree;
    return ERR_OK;
}

/* number of a key in a map */
static int64_t number(const Node *map, const char *key)
{
    int64_t v;
    assert_non_null(node_get(map, key));
    assert_ok(node_int(node_get(map, key), "test", key, INT64_MIN, INT64_MAX, &v));
    return v;
}

static void node_is(const Node *n, int feature, int lte, int gt)
{
    assert_int_equal(number(n, "featureIdx"), feature);
    assert_int_equal(number(n, "nextIdxLTE"), lte);
    assert_int_equal(number(n, "nextIdxGT"), gt);
}

/* A tree becomes one for each solution that it names, in a file of its own, with exact rows beside it. The
 * third solution wins a size, so it is in the exact rows, but in no tree. */
static void test_trees(void **state)
{
    Fixture *f = *state;
    AnalyzeOptions o;
    AnalyzeReport r;
    Logic l, equality, trees;
    group(f, 0, "[{Exact: [64,64,1,128]},{Exact: [128,64,1,128]},{Exact: [192,64,1,128]}]", "012", "GFlops",
          SIZE(64) "5,6,1\n" SIZE(128) "7,6.99,1\n" SIZE(192) "3,6,8\n");
    options(f, &o);
    o.model = (AnalyzeModel){.tree = tree_given, .ctx = (void *)(uintptr_t)&tree_given};
    analyze(f, &o, &r, &l);
    assert_int_equal(r.n_files, 1);
    assert_int_equal(l.n_rows, 3);
    assert_ok(logic_read(&f->a, arena_printf(&f->a, "%s/vega20_Cijk_Ailk_Bljk_SB_equality.yaml", f->dir).s,
                         NULL, &equality));
    assert_str(logic_distance(&equality), "Equality");
    assert_int_equal(equality.n_rows, 3);
    for (size_t i = 0; i < 3; i++)
        row_is(&equality, i, l.row[i].size[0], l.solution[l.row[i].solution].s.DepthU, l.row[i].speed);
    assert_ok(logic_read(&f->a, arena_printf(&f->a, "%s/vega20_Cijk_Ailk_Bljk_SB_dtree.yaml", f->dir).s, NULL,
                         &trees));
    assert_int_equal(trees.n_solutions, 2);
    assert_int_equal(trees.solution[0].s.DepthU, 8);
    assert_int_equal(trees.solution[1].s.DepthU, 16);
    const Node *forest = node_at(trees.trees, 0), *list = node_get(forest, "trees");
    assert_int_equal(trees.trees->n, 1);
    assert_null(node_get(forest, "fallback"));
    assert_int_equal(node_get(forest, "region")->n,
                     1); /* exact rows come before SizeInRange, not before And */
    assert_str(node_get(node_at(node_get(forest, "region"), 0), "type")->text, "SizeInRange");
    assert_int_equal(list->n, 2);
    assert_int_equal(number(node_at(list, 1), "solution"), 1);
    const Node *first = node_get(node_at(list, 0), "tree"), *second = node_get(node_at(list, 1), "tree");
    assert_int_equal(first->n, 2);
    node_is(node_at(first, 0), 0, -1, 1);
    node_is(node_at(first, 1), 1, -2, -1);
    node_is(node_at(second, 0), 0, -2, 1);
    node_is(node_at(second, 1), 1, -1, -2);
}

static void fails(Fixture *f, const char *message)
{
    AnalyzeOptions o;
    AnalyzeReport r;
    options(f, &o);
    assert_int_equal(analyze_run(&o, &r), ERR_INPUT);
    if (!strstr(err_message(), message)) fail_msg("message '%s' lacks '%s'", err_message(), message);
}

static void test_bad_data(void **state)
{
    Fixture *f = *state;
    fails(f, "no csv files");
    group(f, 0, "[{Exact: [64,64,1,128]}]", "01", "GFlops", SIZE(99) "1,2\n");
    fails(f, "_00.csv:2: size [99, 64, 1, 128, 99, 99, 99, 128] is not in ");
    group(f, 0, "[{Exact: [64,64,1,128]}]", "01", "GFlops", SIZE(64) "1,\n");
    fails(f, "_00.csv:2: speed ''");
    group(f, 0, "[{Exact: [64,64,1,128]}]", "01", "GFlops", SIZE(64) "1,fast\n");
    fails(f, "speed 'fast'");
    group(f, 0, "[{Exact: [64,64,1,128]}]", "01", "GFlops", "0,64,64\n");
    fails(f, "_00.csv:2: 3 cells, expected at least 11");
    assert_ok(
        file_write(arena_printf(&f->a, "%s/Cijk_Ailk_Bljk_SB_00.csv", f->dir).s, STR("GFlops,SizeI,Si")));
    fails(f, "_00.csv:1: 3 columns, expected at least 11");
    assert_ok(dir_remove(arena_printf(&f->a, "%s/Cijk_Ailk_Bljk_SB_00.yaml", f->dir).s));
    fails(f, "_00.yaml: no such file");
}

/* The yaml reads back to the same sizes and states, and writing again gives the same bytes. */
static void test_solutions_file(void **state)
{
    Fixture *f = *state;
    BenchSolutions b;
    Str one, two;
    const Solution *list[2];
    group(f, 0, "[{Range: [[64,64,0,192],0,[1],[128]]},{Exact: [65,64,1,128]}]", "13", "GFlops", "");
    Str path = arena_printf(&f->a, "%s/Cijk_Ailk_Bljk_SB_00.yaml", f->dir);
    assert_ok(bench_solutions_read(&f->a, path.s, &b));
    assert_int_equal(b.n_solutions, 2);
    assert_int_equal(b.sizes.count, 4);
    assert_true(problem_type_equal(b.pt, &f->pt));
    for (int i = 0; i < 2; i++) {
        const Solution *was = &f->s[2 * i + 1], *is = &b.solution[i].s;
        list[i] = is;
        for (int p = 0; p < PARAM_COUNT; p++) {
            if (solution_has(was, (ParamId)p) != solution_has(is, (ParamId)p))
                fail_msg("%s: present only once", param_at((ParamId)p)->name);
            if (solution_has(was, (ParamId)p) && !param_equal(param_at((ParamId)p), was, is))
                fail_msg("%s: differs", param_at((ParamId)p)->name);
        }
    }
    assert_ok(file_read(&f->a, path.s, 1 << 20, &one));
    assert_ok(bench_solutions_write(path.s, &b.sizes, list, 2));
    assert_ok(file_read(&f->a, path.s, 1 << 20, &two));
    assert_true(str_eq(one, two));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_winners),  TEST(test_two_groups),     TEST(test_ranges), TEST(test_ties),
        TEST(test_bad_data), TEST(test_solutions_file), TEST(test_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
