/* Merging logic: Tensile's rules by hand, properties of best and newer on random parts of a real file,
 * refusals, and directories: what is not merged is copied, and nothing changes when something fails. */
#include "test/support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "logic/merge.h"

#define HEAD                                                                                                 \
    "- {MinimumRequiredVersion: 4.44.0}\n- vega20\n- gfx906\n- [Device 66a0]\n"                              \
    "- {Batched: true, DataType: 0, OperationType: GEMM, TransposeA: false, TransposeB: false, "             \
    "UseBeta: true}\n"

static Str file_of(Arena *a, const char *solutions, const char *rows)
{
    return arena_printf(a, HEAD "- - %s\n- [2, 3, 0, 1]\n- %s\n- null\n- null\n- DeviceEfficiency\n",
                        solutions, rows);
}

static Str emit(Arena *a, const Logic *l)
{
    Buf b;
    buf_init(&b);
    assert_ok(logic_emit(l, &b));
    Str s = arena_dup(a, buf_view(&b));
    buf_fini(&b);
    return s;
}

static Logic parsed(Arena *a, Str text)
{
    Logic l;
    assert_ok(logic_parse(a, "f.yaml", text, NULL, &l));
    return l;
}

/* As merge_dirs does it: the original as it is when nothing changes. */
static Str merged(Arena *a, Str x, Str y, const MergeOptions *o, MergeReport *r)
{
    Buf text;
    Logic out, lx = parsed(a, x), ly = parsed(a, y);
    buf_init(&text);
    assert_ok(logic_merge(a, &lx, &ly, o, &out, r, &text));
    buf_fini(&text);
    return r->changed ? emit(a, &out) : x;
}

/* "64,4,1,128=2:120.5 ..." with the solution's DepthU. */
static const char *table(Arena *a, Str text)
{
    Logic l = parsed(a, text);
    Buf b;
    buf_init(&b);
    for (size_t i = 0; i < l.n_rows; i++) {
        buf_puts(&b, i ? " " : "");
        for (int32_t j = 0; j < l.row[i].n; j++)
            buf_printf(&b, j ? ",%lld" : "%lld", (long long)l.row[i].size[j]);
        buf_printf(&b, "=%d:%g", l.solution[l.row[i].solution].s.DepthU, l.row[i].speed);
    }
    const char *s = arena_dup(a, buf_view(&b)).s;
    buf_fini(&b);
    return s;
}

#define SOL(depth, more) "{DepthU: " depth more "}"
#define TWO SOL("8", "") "\n  - " SOL("16", "")

static void check(const char *so, const char *ro, const char *si, const char *ri, const MergeOptions *o,
                  const char *want)
{
    Arena a;
    MergeReport r;
    arena_init(&a, 0);
    const char *got = table(&a, merged(&a, file_of(&a, so, ro), file_of(&a, si, ri), o, &r));
    if (strcmp(got, want) != 0) fail_msg("got  %s\n     want %s", got, want);
    arena_fini(&a);
}

static const MergeOptions forced = {.policy = MERGE_TENSILE, .force = FORCE_ALWAYS};
static const MergeOptions winner = {.policy = MERGE_TENSILE, .force = FORCE_NEVER};
static const MergeOptions best = {.policy = MERGE_BEST};
static const MergeOptions newer = {.policy = MERGE_NEWER};

#define ROW(size, sol, speed) "- - [" size "]\n    - [" sol ", " speed "]\n  "

static void test_tensile(void **state)
{
    (void)state;
    const char *one = ROW("1, 1, 1, 1", "0", "5.0"), *slow = ROW("1, 1, 1, 1", "1", "4.0");
    check(TWO, one, TWO, slow, &forced, "1,1,1,1=16:4");
    check(TWO, one, TWO, slow, &winner, "1,1,1,1=8:5");
    /* twice in the original: replaced and compared at the last place */
    check(TWO, ROW("1, 1, 1, 1", "0", "5.0") ROW("1, 1, 1, 1", "0", "3.0"), TWO, slow, &winner,
          "1,1,1,1=8:5 1,1,1,1=16:4");
    /* twice in the increment: each compared with the original; the last that wins stays */
    check(TWO, one, TWO, ROW("1, 1, 1, 1", "1", "9.0") ROW("1, 1, 1, 1", "0", "6.0"), &winner, "1,1,1,1=8:6");
    /* twice in the increment alone: added twice */
    check(TWO, one, TWO, ROW("2, 1, 1, 1", "1", "9.0") ROW("2, 1, 1, 1", "0", "6.0"), &winner,
          "1,1,1,1=8:5 2,1,1,1=16:9 2,1,1,1=8:6");
    /* long sizes: the first is shortened, others go, and all go when the short one is there */
    check(TWO, ROW("1, 1, 1, 1, 2, 2, 2, 2", "0", "5.0") ROW("1, 1, 1, 1, 3, 3, 3, 3", "1", "9.0"), TWO, "[]",
          &winner, "1,1,1,1=8:5");
    check(TWO, ROW("1, 1, 1, 1, 2, 2, 2, 2", "0", "5.0") ROW("1, 1, 1, 1", "1", "1.0"), TWO, "[]", &winner,
          "1,1,1,1=16:1");
    MergeOptions o = winner;
    o.keep_long = true;
    check(TWO, ROW("1, 1, 1, 1, 2, 2, 2, 2", "0", "5.0"), TWO, ROW("1, 1, 1, 1", "1", "9.0"), &o,
          "1,1,1,1,2,2,2,2=8:5 1,1,1,1=16:9");
}

#define TAGGED SOL("8", ", AssertAlphaValue: 1") "\n  - " SOL("16", "")

static void test_tags(void **state)
{
    (void)state;
    MergeOptions o = winner;
    const char *general = ROW("1, 1, 1, 1", "1", "5.0");
    o.tags = true;
    check(TWO, general, TAGGED, ROW("1, 1, 1, 1", "0", "6.0"), &o, "1,1,1,1=16:5 1,1,1,1=8:6");
    check(TWO, general, TAGGED, ROW("1, 1, 1, 1", "0", "4.0"), &o, "1,1,1,1=16:5");
    /* the script takes false for 0, which is not Any: both stay */
    check(TWO, general, SOL("8", ", AssertAlphaValue: false"), ROW("1, 1, 1, 1", "0", "6.0"), &o,
          "1,1,1,1=16:5 1,1,1,1=8:6");
    o.policy = MERGE_BEST;
    check(TWO, general, SOL("8", ", AssertAlphaValue: false"), ROW("1, 1, 1, 1", "0", "6.0"), &o,
          "1,1,1,1=8:6");
    /* best never lets a solution for fewer problems stand for all */
    check(TWO, general, TAGGED, ROW("1, 1, 1, 1", "0", "6.0"), &best, "1,1,1,1=16:5 1,1,1,1=8:6");
    check(TWO, general, TAGGED, ROW("1, 1, 1, 1", "0", "4.0"), &best, "1,1,1,1=16:5");
    check(TWO, general, SOL("8", ", AssertBetaValue: -1, AssertCEqualsD: true"),
          ROW("1, 1, 1, 1", "0", "4.0"), &best, "1,1,1,1=16:5");
    /* matrix instructions are a kind of their own when asked */
    check(TWO, general, SOL("8", ", EnableMatrixInstruction: true"), ROW("1, 1, 1, 1", "0", "6.0"), &best,
          "1,1,1,1=8:6");
    check(TWO, general, SOL("8", ", EnableMatrixInstruction: true"), ROW("1, 1, 1, 1", "0", "6.0"), &o,
          "1,1,1,1=16:5 1,1,1,1=8:6");
}

static void test_best(void **state)
{
    (void)state;
#define ONE ROW("1, 1, 1, 1", "0", "5.0")
    const char *one = ONE;
    check(TWO, one, TWO, ROW("1, 1, 1, 1", "1", "4.0"), &best, "1,1,1,1=8:5");
    check(TWO, one, TWO, ROW("1, 1, 1, 1", "1", "5.0"), &best, "1,1,1,1=8:5");
    check(TWO, one, TWO, ROW("1, 1, 1, 1", "1", "4.0"), &newer, "1,1,1,1=16:4");
    check(TWO, ONE ROW("1, 1, 1, 1", "1", "7.0"), TWO, "[]", &best, "1,1,1,1=16:7");
    check(TWO, one, TWO, ROW("2, 1, 1, 1, 2, 2, 2, 2", "1", "9.0") ROW("2, 1, 1, 1", "0", "11.0"), &best,
          "1,1,1,1=8:5 2,1,1,1=8:11");
}

static void test_solutions(void **state)
{
    (void)state;
    Arena a;
    MergeReport r;
    arena_init(&a, 0);
    /* StaggerU 0 makes the other stagger parameters equal; names and indices do not count */
    Str x = file_of(&a, SOL("8", ", StaggerU: 0, StaggerUStride: 256, SolutionNameMin: a"),
                    ROW("1, 1, 1, 1", "0", "5.0"));
    Str y =
        file_of(&a, SOL("16", "") "\n  - " SOL("8", ", StaggerU: 0, StaggerUStride: 128, SolutionNameMin: b"),
                ROW("2, 1, 1, 1", "1", "6.0"));
    const MergeOptions *all[] = {&winner, &best};
    for (int i = 0; i < 2; i++) {
        Logic l = parsed(&a, merged(&a, x, y, all[i], &r));
        assert_int_equal(l.n_solutions, 1);
        assert_int_equal(l.solution[0].s.StaggerUStride, 0);
        assert_int_equal(l.solution[0].s.SolutionIndex, 0);
        assert_true(solution_has(&l.solution[0].s, PARAM_SolutionIndex));
        if (i == 0)
            assert_str(l.solution[0].s.SolutionNameMin, "a");
        else
            assert_true(str_starts(l.solution[0].s.SolutionNameMin, "Cijk_Ailk_Bljk_SB"));
    }
    assert_int_equal(r.n_solutions_added, 0);
    assert_int_equal(r.n_added, 1);
    arena_fini(&a);
}

/* ---- properties ---- */

static uint32_t next(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u, *seed >> 8; }

/* Another way to write what is equal: names, numbers, truth values, nested problem types. */
static void write_otherwise(Arena *a, Logic *l, uint32_t *seed)
{
    static const char type[] =
        "- {Batched: true, DataType: 1, HighPrecisionAccumulate: 0, OperationType: GEMM, "
        "TransposeA: true, TransposeB: true, UseBeta: true}\n";
    Node *root;
    assert_ok(yaml_parse(a, "type", STR(type), NULL, &root));
    for (size_t i = 0; i < l->n_solutions; i++) {
        LogicSolution *s = &l->solution[i];
        s->s.SolutionNameMin = arena_printf(a, "name_%u_%zu", next(seed), i);
        if (next(seed) % 2) s->flipped[0] = s->flipped[1] = ~UINT64_C(0);
        if (next(seed) % 2) s->problem_type = &root->item[0];
        if (next(seed) % 3 == 0) s->problem_type = NULL;
    }
}

/* Some rows of a file, with other speeds, some of them for other solutions. */
static Str random_part(Arena *a, Str whole, uint32_t *seed)
{
    Logic l = parsed(a, whole);
    size_t n = 0;
    for (size_t i = 0; i < l.n_rows; i++) {
        LogicRow row = l.row[i];
        if (next(seed) % 3 == 0) continue;
        row.speed = (double)(next(seed) % 5 + 1) * 100;
        if (next(seed) % 2) row.solution = (int32_t)(next(seed) % l.n_solutions);
        l.row[n++] = row;
    }
    l.n_rows = n;
    for (size_t i = 0; i < l.n_solutions; i++) {
        int32_t alpha = (int32_t)(i % 4 == 1) - (i % 4 == 2);
        l.solution[i].s.AssertAlphaValue = alpha;
        l.solution[i].s.AssertCEqualsD = i % 5 == 0;
        solution_mark(&l.solution[i].s, PARAM_AssertAlphaValue);
        solution_mark(&l.solution[i].s, PARAM_AssertCEqualsD);
    }
    write_otherwise(a, &l, seed);
    return emit(a, &l);
}

static void equal_texts(Str x, Str y, const char *what, int round)
{
    if (!str_eq(x, y)) fail_msg("%s: %zu and %zu bytes differ in round %d", what, x.n, y.n, round);
}

static void test_properties(void **state)
{
    (void)state;
    uint32_t seed = 1;
    for (int round = 0; round < 12; round++) {
        Arena arena, *a = &arena;
        MergeReport r;
        arena_init(a, 0);
        MergeOptions o = {.policy = MERGE_BEST, .tags = round % 2, .keep_long = round % 3 == 0};
        Str whole = test_data(a, "tensile/logic/aldebaran_Cijk_Alik_Bjlk_DB.yaml");
        Str x = random_part(a, whole, &seed), y = random_part(a, whole, &seed),
            z = random_part(a, whole, &seed);
        Str xy = merged(a, x, y, &o, &r);
        assert_true(r.n_replaced > 0 && r.n_kept > 0);
        equal_texts(merged(a, xy, z, &o, &r), merged(a, x, merged(a, y, z, &o, &r), &o, &r), "associative",
                    round);
        equal_texts(merged(a, xy, y, &o, &r), xy, "again", round);
        assert_false(r.changed);
        equal_texts(merged(a, xy, x, &o, &r), xy, "original again", round);
        equal_texts(merged(a, whole, whole, &o, &r), whole, "with itself", round);
        o.policy = MERGE_NEWER;
        Str n = merged(a, x, y, &o, &r);
        equal_texts(merged(a, n, y, &o, &r), n, "newer again", round);
        arena_fini(a);
    }
}

/* ---- refusals ---- */

static void refused(Arena *a, Str x, Str y, const MergeOptions *o, const char *message)
{
    Buf text;
    MergeReport r;
    Logic out, lx = parsed(a, x), ly = parsed(a, y);
    buf_init(&text);
    assert_int_equal(logic_merge(a, &lx, &ly, o, &out, &r, &text), ERR_INPUT);
    if (!strstr(err_message(), message)) fail_msg("message '%s' lacks '%s'", err_message(), message);
    buf_fini(&text);
}

static Str replaced(Arena *a, Str text, const char *from, const char *to)
{
    const char *at = strstr(text.s, from);
    assert_non_null(at);
    return arena_printf(a, "%.*s%s%s", (int)(at - text.s), text.s, to, at + strlen(from));
}

static void test_refused(void **state)
{
    (void)state;
    Arena a;
    MergeReport r;
    arena_init(&a, 0);
    Str percent = file_of(&a, TWO, ROW("1, 1, 1, 1", "0", "75.0"));
    Str gflops = file_of(&a, TWO, ROW("1, 1, 1, 1", "0", "9500.0"));
    Str others = file_of(&a, TWO, ROW("2, 1, 1, 1", "0", "9500.0"));
    Str near = file_of(&a, TWO, ROW("1, 1, 1, 1", "0", "110.0"));
    MergeOptions sure = best;
    sure.same_units = true;
    refused(&a, percent, replaced(&a, percent, "DeviceEfficiency", "CUEfficiency"), &best,
            "metric 'CUEfficiency'");
    refused(&a, percent, gflops, &best, "one looks like %");
    refused(&a, gflops, percent, &best, "one looks like %");
    refused(&a, percent, others, &newer, "one looks like %");
    (void)merged(&a, percent, near, &best, &r);
    assert_int_equal(r.n_replaced, 1);
    (void)merged(&a, percent, gflops, &sure, &r);
    assert_int_equal(r.n_replaced, 1);
    (void)merged(&a, percent, gflops, &winner, &r); /* Tensile compares them */
    assert_int_equal(r.n_replaced, 1);
    refused(&a, percent, replaced(&a, percent, "gfx906", "gfx908"), &best, "architecture 'gfx908'");
    refused(&a, percent, replaced(&a, percent, "gfx906", "{Architecture: gfx906, CUCount: 60}"), &best,
            "CUCount 60");
    refused(&a, percent, replaced(&a, percent, "TransposeA: false", "TransposeA: true"), &best,
            "another problem type");
    refused(&a, percent, replaced(&a, percent, "[2, 3, 0, 1]", "[3, 2, 0, 1]"), &best, "another index order");
    arena_fini(&a);
}

/* ---- directories ---- */

static const char *put(Arena *a, const char *dir, const char *name, Str text)
{
    Str path = path_join(a, dir, name);
    assert_ok(dir_make(arena_dup(a, path_dir(path)).s));
    assert_ok(file_write(path.s, text));
    return path.s;
}

static Str get(Arena *a, const char *dir, const char *name)
{
    Str text;
    assert_ok(file_read(a, path_join(a, dir, name).s, 1 << 20, &text));
    return text;
}

static size_t count(Arena *a, const char *dir)
{
    Str *names;
    size_t n;
    assert_ok(dir_list(a, dir, "", true, &names, &n));
    return n;
}

static void test_dirs(void **state)
{
    (void)state;
    Arena a;
    Buf text;
    MergeDirsReport r;
    arena_init(&a, 0);
    buf_init(&text);
    char *root = test_dir();
    const char *x = path_join(&a, root, "x").s, *y = path_join(&a, root, "y").s,
               *z = path_join(&a, root, "z").s;
    Str one = file_of(&a, TWO, ROW("1, 1, 1, 1", "0", "5.0")),
        two = file_of(&a, TWO, ROW("2, 1, 1, 1", "1", "6.0"));
    put(&a, x, "both.yaml", one);
    put(&a, y, "both.yaml", two);
    Str same = file_of(&a, SOL("8", ""), ROW("1, 1, 1, 1", "0", "5.0") "# as it is\n");
    put(&a, x, "sub/both.yaml", same);
    put(&a, y, "sub/both.yaml", same);
    put(&a, x, "x.yaml", one);
    put(&a, y, "y.yml", two);
    put(&a, x, "README", STR("x"));
    put(&a, y, "README", STR("y"));
    assert_int_equal(merge_dirs(x, y, z, &best, &r, &text), ERR_PARTIAL); /* README */
    assert_int_equal(r.n_merged, 2);
    assert_int_equal(r.n_copied, 2);
    assert_int_equal(r.n_conflicts, 1);
    assert_string_equal(table(&a, get(&a, z, "both.yaml")), "1,1,1,1=8:5 2,1,1,1=16:6");
    assert_true(str_eq(get(&a, z, "sub/both.yaml"), same));
    assert_true(str_eq(get(&a, z, "x.yaml"), one) && str_eq(get(&a, z, "y.yml"), two));
    assert_str(get(&a, z, "README"), "x");
    assert_int_equal(count(&a, z), 5);
    /* Tensile: the common *.yaml alone */
    const char *t = path_join(&a, root, "t").s;
    assert_ok(merge_dirs(x, y, t, &forced, &r, &text));
    assert_int_equal(count(&a, t), 1);
    assert_int_equal(r.n_merged, 1);
    assert_int_equal(r.n_ignored, 1);
    assert_int_equal(count(&a, root), 8 + 5 + 1); /* no staging left */
    /* into the original, and with the output below an input */
    assert_int_equal(merge_dirs(x, y, x, &best, &r, &text), ERR_PARTIAL);
    assert_true(str_eq(get(&a, x, "both.yaml"), get(&a, z, "both.yaml")));
    assert_true(str_eq(get(&a, x, "y.yml"), two));
    assert_int_equal(merge_dirs(x, y, path_join(&a, x, "out").s, &best, &r, &text), ERR_PARTIAL);
    assert_int_equal(merge_dirs(x, y, path_join(&a, x, "out").s, &best, &r, &text), ERR_PARTIAL);
    assert_int_equal(count(&a, path_join(&a, x, "out").s), 5);
    assert_ok(dir_remove(root));
    free(root);
    buf_fini(&text);
    arena_fini(&a);
}

/* Whatever fails, the output directory is as it was and nothing is left beside it. */
static void test_untouched(void **state)
{
    (void)state;
    Arena a;
    Buf text;
    MergeDirsReport r;
    arena_init(&a, 0);
    buf_init(&text);
    char *root = test_dir();
    const char *x = path_join(&a, root, "x").s, *y = path_join(&a, root, "y").s,
               *z = path_join(&a, root, "z").s;
    Str one = file_of(&a, TWO, ROW("1, 1, 1, 1", "0", "5.0")),
        two = file_of(&a, TWO, ROW("2, 1, 1, 1", "1", "6.0"));
    put(&a, x, "a.yaml", one);
    put(&a, y, "a.yaml", two);
    put(&a, x, "b.yaml", one);
    put(&a, y, "b.yaml", str_sub(two, 0, two.n - 40));
    put(&a, z, "a.yaml", STR("old"));
    assert_int_equal(merge_dirs(x, y, z, &best, &r, &text), ERR_INPUT);
    assert_non_null(strstr(err_message(), "b.yaml"));
    assert_str(get(&a, z, "a.yaml"), "old");
    assert_int_equal(count(&a, root), 5);
    assert_int_equal(merge_dirs(x, y, path_join(&a, root, "new").s, &best, &r, &text), ERR_INPUT);
    assert_int_equal(count(&a, root), 5);
    /* a directory where a file shall be */
    put(&a, y, "b.yaml", two);
    put(&a, z, "b.yaml/file", STR("old"));
    assert_int_equal(merge_dirs(x, y, z, &best, &r, &text), ERR_INPUT);
    assert_str(get(&a, z, "a.yaml"), "old");
    assert_ok(dir_remove(root));
    free(root);
    buf_fini(&text);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensile),    cmocka_unit_test(test_tags),      cmocka_unit_test(test_best),
        cmocka_unit_test(test_solutions),  cmocka_unit_test(test_refused),   cmocka_unit_test(test_dirs),
        cmocka_unit_test(test_properties), cmocka_unit_test(test_untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
