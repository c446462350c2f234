/* Logic files: every form reads and writes back to the same data and the same bytes; bad input is reported
 * with its line. */
#include "test/support.h"

#include "fmt/write.h"
#include "logic/derive.h"
#include "logic/logic.h"

static const char *const files[] = {
    "aldebaran_Cijk_Alik_Bjlk_BBS_BH",
    "aldebaran_Cijk_Alik_Bjlk_DB",
    "aquavanjaram942_Cijk_Alik_Bljk_HSS_BH",
    "arcturus_Cijk_Alik_Bjlk_SB",
    "equality_aldebaran_Cijk_Ailk_Bljk_HHS_BH",
    "hip_Cijk_Ailk_Bljk_I8II_BH",
    "r9nano_Cijk_Ailk_Bjlk_SB",
    "vega10_Cijk_Ailk_Bljk_HB",
    "vega20_Cijk_Ailk_Bjlk_ZB",
    "vega20_Cijk_Alik_Bjlk_4xi8II_BH",
};
enum { N_FILES = sizeof files / sizeof *files };

static Str text_of(Arena *a, const char *name)
{
    return test_data(a, arena_printf(a, "tensile/logic/%s.yaml", name).s);
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

/* write(read(x)) has the data of x, and, but for one file with aliases, its bytes; write(read(write(x))) ==
 * write(x) */
static void test_round_trip(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FILES; i++) {
        Arena a;
        Logic l, again;
        Node *theirs, *ours;
        arena_init(&a, 0);
        Str text = text_of(&a, files[i]);
        assert_ok(logic_parse(&a, files[i], text, NULL, &l));
        Str written = emit(&a, &l);
        assert_ok(yaml_parse(&a, "theirs", text, NULL, &theirs));
        assert_ok(yaml_parse(&a, "ours", written, NULL, &ours));
        if (!node_equal(theirs, ours)) fail_msg("%s: other data after writing", files[i]);
        bool aliases = !strncmp(files[i], "vega10", 6);
        if (!aliases && !str_eq(text, written)) fail_msg("%s: other bytes after writing", files[i]);
        assert_ok(logic_parse(&a, "again", written, NULL, &again));
        if (!str_eq(written, emit(&a, &again))) fail_msg("%s: not stable", files[i]);
        l.dict = true;
        Str dict = emit(&a, &l);
        assert_ok(logic_parse(&a, "dict", dict, NULL, &again));
        assert_true(again.dict);
        assert_int_equal(again.n_rows, l.n_rows);
        assert_int_equal(again.n_solutions, l.n_solutions);
        if (!str_eq(dict, emit(&a, &again))) fail_msg("%s: map form is not stable", files[i]);
        arena_fini(&a);
    }
}

/* The line scanner and the YAML reader give the same, but for line numbers of nodes. */
static void test_scan(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_FILES; i++) {
        Arena a, b;
        Logic fast, slow;
        LogicReadOptions o = {.no_scan = true};
        arena_init(&a, 0);
        arena_init(&b, 0);
        Str text = text_of(&a, files[i]);
        assert_ok(logic_parse(&a, "fast", text, NULL, &fast));
        assert_ok(logic_parse(&b, "slow", text, &o, &slow));
        assert_true(str_eq(emit(&a, &fast), emit(&b, &slow)));
        assert_int_equal(fast.n_kept, slow.n_kept);
        assert_int_equal(fast.n_duplicates, slow.n_duplicates);
        for (size_t j = 0; j < fast.n_rows; j++) assert_int_equal(fast.row[j].line, slow.row[j].line);
        for (size_t j = 0; j < fast.n_solutions; j++) {
            assert_int_equal(fast.solution[j].line, slow.solution[j].line);
            assert_true(logic_solution_equal(&fast.solution[j], &slow.solution[j]));
        }
        bool aliases = !strncmp(files[i], "vega10", 6);
        if (!aliases && a.used_bytes > 4 * text.n)
            fail_msg("%s: %zu bytes for %zu", files[i], a.used_bytes, text.n);
        arena_fini(&a);
        arena_fini(&b);
    }
}

static void test_content(void **state)
{
    (void)state;
    Arena a;
    Logic l;
    arena_init(&a, 0);
    assert_ok(logic_read(&a, test_data_path(&a, "tensile/logic/hip_Cijk_Ailk_Bljk_I8II_BH.yaml"), NULL, &l));
    assert_str(l.schedule, "hip");
    assert_str(l.arch, "fallback");
    assert_str(l.version, "4.27.0");
    assert_int_equal(l.n_solutions, 11);
    assert_int_equal(l.n_rows, 217);
    assert_int_equal(l.pt->DataType, TYPE_I8);
    const LogicRow *last = &l.row[216];
    assert_int_equal(last->solution, 10);
    assert_int_equal(last->n, 4);
    assert_true(last->speed == 0.0006849314797782209);
    const LogicSolution *s = &l.solution[0];
    assert_int_equal(s->s.DepthU, 8);
    assert_int_equal(s->s.PrefetchGlobalRead, 1); /* written as true */
    assert_int_equal(s->s.AssertStrideAEqual.n, 1);
    assert_true(solution_has(&s->s, PARAM_SolutionNameMin));
    assert_null(l.range);
    arena_fini(&a);
}

/* The smallest file; the parts that a test changes come in. */
static Str small(Arena *a, const char *version, const char *rows, const char *tail)
{
    return arena_printf(
        a,
        "- {MinimumRequiredVersion: %s}\n- vega20\n- {Architecture: gfx908, CUCount: 120}\n"
        "- [Device 66a0]\n"
        "- {Batched: true, DataType: 0, OperationType: GEMM, TransposeA: false, TransposeB: false, "
        "UseBeta: true}\n"
        "- - {DepthU: 16, KernelLanguage: Source, NewThing: [1, 2], ThreadTile: [4, 4]}\n"
        "- [2, 3, 0, 1]\n- %s\n- null\n%s",
        version, rows, tail);
}

static void refused(Str text, const char *message)
{
    Arena a;
    Logic l;
    LogicReadOptions o = {.refuse_duplicates = true};
    arena_init(&a, 0);
    assert_int_equal(logic_parse(&a, "f.yaml", text, &o, &l), ERR_INPUT);
    if (strncmp(err_message(), "f.yaml:", 7) != 0 || !strstr(err_message(), message))
        fail_msg("message '%s' lacks '%s'", err_message(), message);
    arena_fini(&a);
}

static void test_bad_input(void **state)
{
    (void)state;
    static const struct {
        const char *version, *rows, *tail, *message;
    } bad[] = {
        {"5.0.0", "[]", "", "f.yaml:1: MinimumRequiredVersion is '5.0.0', expected 4.0.0 to 4.44.0"},
        {"4.99.0", "[]", "", "'4.99.0'"},
        {"four", "[]", "", "'four'"},
        {"4.44.0", "- - [64, 4, 128]\n    - [0, 1.5]", "", "f.yaml:8: size of 3 integers, expected 4 or 8"},
        {"4.44.0", "- - [64, 4, 1, 128]\n    - [1, 1.5]", "", "solution index 1, expected 0 to 0"},
        {"4.44.0", "- - [64, 4, 1, 128]\n    - [-1, 1.5]", "", "solution index -1"},
        {"4.44.0", "- - [64, 4, 1, 128]\n    - [0, -2.0]", "", "speed -2"},
        {"4.44.0", "- - [64, 4, 1, 128]\n    - [0, .nan]", "", "speed"},
        {"4.44.0", "- - [64, 4, 1, 128]\n    - [0, -.inf]", "", "speed -inf"},
        {"4.44.0", "- - [64, -4, 1, 128]\n    - [0, 2.0]", "", "-4 in a size"},
        {"4.44.0", "- - [64, 4, 1, 99999999999999]\n    - [0, 2.0]", "", "99999999999999 in a size"},
        {"4.44.0", "- - [64, 4, 1, x]\n    - [0, 2.0]", "", "f.yaml:8:"},
        {"4.44.0", "- - [64, 4, 1, 128]\n    - [0, 2.0]\n  - - [64, 4, 1, 128]\n    - [0, 3.0]", "",
         "f.yaml:10: size [64, 4, 1, 128] is already in line 8"},
        {"4.44.0", "[]", "- null\n- null\n- null\n- Nearest\n", "distance 'Nearest'"},
        {"4.44.0", "[]", "- 1\n- 2\n- 3\n- 4\n- 5\n- 6\n- 7\n", "f.yaml:"},
    };
    Arena a;
    arena_init(&a, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        refused(small(&a, bad[i].version, bad[i].rows, bad[i].tail), bad[i].message);
    refused(STR(""), "f.yaml");
    refused(STR("42\n"), "expected a list or a map");
    refused(STR("- {MinimumRequiredVersion: 4.44.0}\n- vega20\n"), "cut off");
    refused(STR("{MinimumRequiredVersion: 4.44.0, ScheduleName: x}\n"), "the map has no 'ArchitectureName'");
    arena_fini(&a);
}

/* What rocBLAS's files have: a speed measured in no time, a comma after a value, a map form that says false
 * and has whole problem types. */
static void test_odd_input(void **state)
{
    (void)state;
    Arena a;
    Logic l;
    arena_init(&a, 0);
    Str text = small(&a, "4.44.0", "- - [64, 4, 1, 128]\n    - [0, .inf]", "");
    assert_ok(logic_parse(&a, "f", text, NULL, &l));
    assert_int_equal(l.n_infinite, 1);
    assert_int_equal(l.infinite_line, 8);
    assert_non_null(strstr(emit(&a, &l).s, "[0, .inf]"));
    char *copy = (char *)arena_dup(&a, text).s;
    memcpy(strstr(copy, "TransposeA: false,"), "TransposeA: 'No,',", 18);
    assert_int_equal(logic_parse(&a, "f", (Str){copy, text.n}, NULL, &l), ERR_INPUT);
    text = STR("{ArchitectureName: gfx90a, DeviceNames: [], Fp16AltImpl: false, Library: [], "
               "LibraryType: DecisionTree, MinimumRequiredVersion: 4.44.0, ProblemType: {DataType: 0, "
               "Batched: true, ComplexConjugateA: 'False,'}, ScheduleName: x, Solutions: [{DepthU: 8, "
               "ProblemType: derive}, {DepthU: 16, ProblemType: {DataType: 0, Batched: true}}]}\n");
    assert_ok(logic_parse(&a, "f", text, NULL, &l));
    assert_int_equal(l.pt->ComplexConjugateA, 1);
    Str out = emit(&a, &l);
    assert_non_null(strstr(out.s, "Fp16AltImpl: false\n"));
    assert_non_null(strstr(out.s, "ComplexConjugateA: 'False,'"));
    assert_non_null(strstr(out.s, "ProblemType: derive"));
    assert_non_null(strstr(out.s, "ProblemType: {Batched: true, DataType: 0}"));
    arena_fini(&a);
}

/* Every cut of a file is refused: at a line's end it is a shorter list or a broken row. */
static void test_truncated(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    Str text = small(&a, "4.44.0", "- - [64, 4, 1, 128]\n    - [0, 1.5]", "- null\n- DeviceEfficiency\n");
    size_t complete = text.n - strlen("- null\n- null\n- DeviceEfficiency\n");
    for (size_t n = 0; n < complete; n++) {
        Logic l;
        Str cut = str_sub(text, 0, n);
        if (logic_parse(&a, "cut", cut, NULL, &l) == ERR_OK) fail_msg("cut at %zu of %zu reads", n, text.n);
    }
    arena_fini(&a);
}

static void test_unknown_kept(void **state)
{
    (void)state;
    Arena a;
    Logic l;
    Buf b;
    arena_init(&a, 0);
    buf_init(&b);
    Str text = small(&a, "4.44.0", "- - [64, 4, 1, 128]\n    - [0, 1.5]", "");
    assert_ok(logic_parse(&a, "f", text, NULL, &l));
    assert_int_equal(l.n_kept, 1);
    assert_str(l.solution[0].kept[0].key, "NewThing");
    assert_int_equal(l.cu_count, 120);
    assert_ok(logic_report_kept(&l, &b));
    assert_string_equal(buf_cstr(&b), "'NewThing' (1)");
    Str written = emit(&a, &l);
    const char *at = strstr(written.s, "NewThing: [1, 2]");
    assert_non_null(at);
    assert_true(strstr(written.s, "DepthU: 16") < at && at < strstr(written.s, "ProblemType:"));
    buf_fini(&b);
    arena_fini(&a);
}

static void test_wrong_value(void **state)
{
    (void)state;
    Arena a;
    Logic l;
    arena_init(&a, 0);
    Str text = small(&a, "4.44.0", "[]", "");
    char *copy = (char *)arena_dup(&a, text).s, *at = strstr(copy, "DepthU: 16");
    memcpy(at, "DepthU: xy", 10);
    refused((Str){copy, text.n}, "f.yaml:6: 'DepthU' must be a number");
    memcpy(at, "DepthU: []", 10);
    assert_ok(logic_parse(&a, "f", (Str){copy, text.n}, NULL, &l)); /* another kind of value: kept */
    assert_int_equal(l.n_kept, 2);
    arena_fini(&a);
}

static void test_equal_and_hash(void **state)
{
    (void)state;
    Arena a;
    Logic l;
    arena_init(&a, 0);
    assert_ok(logic_parse(&a, "f", text_of(&a, files[5]), NULL, &l));
    for (size_t i = 0; i < l.n_solutions; i++)
        for (size_t j = 0; j < l.n_solutions; j++) {
            bool equal = logic_solution_equal(&l.solution[i], &l.solution[j]);
            assert_int_equal(equal, i == j);
            assert_int_equal(logic_solution_hash(&l.solution[i]) == logic_solution_hash(&l.solution[j]),
                             i == j);
        }
    LogicSolution copy = l.solution[3];
    copy.s.SolutionIndex = 77;
    copy.s.SolutionNameMin = STR("other");
    assert_true(logic_solution_equal(&copy, &l.solution[3]));
    assert_true(logic_solution_hash(&copy) == logic_solution_hash(&l.solution[3]));
    arena_fini(&a);
}

/* Re-derivation of the files whose solutions today's Tensile accepts gives the derived values that the files
 * hold. */
static void test_derive(void **state)
{
    (void)state;
    static const int same[] = {
        PARAM_MacroTile0, PARAM_MacroTile1,     PARAM_NumThreads, PARAM_LoopIters,
        PARAM_LSCA,       PARAM_LSPB,           PARAM_DepthULds,  PARAM_GlobalAccumulation,
        PARAM_LVCA,       PARAM_LdsNumElements, PARAM_SubGroup0,  PARAM_NumElementsPerThread};
    Arena a;
    Logic l;
    Deriver d;
    Buf why;
    LogicKeys keys;
    arena_init(&a, 0);
    buf_init(&why);
    logic_keys_init(&keys);
    assert_ok(logic_parse(&a, "f", text_of(&a, "aldebaran_Cijk_Alik_Bjlk_DB"), NULL, &l));
    assert_ok(deriver_init(&d, l.pt, target_find(STR("gfx90a")), NULL));
    for (size_t i = 0; i < l.n_solutions; i++) {
        Solution s;
        if (!logic_solution_derive(&keys, &l.solution[i], &d, &s, &why))
            fail_msg("%zu: %s", i, buf_cstr(&why));
        for (size_t j = 0; j < sizeof same / sizeof *same; j++) {
            const Param *p = param_at((ParamId)same[j]);
            if (solution_has(&l.solution[i].s, (ParamId)same[j]) && !param_equal(p, &s, &l.solution[i].s))
                fail_msg("solution %zu: %s differs", i, p->name);
        }
    }
    buf_fini(&why);
    arena_fini(&a);
}

/* Maps come out sorted, whatever the order they were in. */
static void test_sorted(void **state)
{
    (void)state;
    Arena a;
    Buf b;
    Node *n;
    arena_init(&a, 0);
    buf_init(&b);
    assert_ok(yaml_parse(&a, "t", STR("{b: 1, 10: x, a: {z: 1, y: 2}, 9: w}"), NULL, &n));
    Emit *e = emit_yaml(&b);
    logic_node_emit(n, e);
    assert_ok(emit_finish(e));
    emit_free(e);
    assert_string_equal(buf_cstr(&b), "9: w\n10: x\na: {y: 2, z: 1}\nb: 1\n");
    buf_fini(&b);
    arena_fini(&a);
}

static void test_write_whole(void **state)
{
    (void)state;
    Arena a;
    Logic l, again;
    arena_init(&a, 0);
    char *dir = test_dir();
    Str path = path_join(&a, dir, "x.yaml");
    assert_ok(logic_parse(&a, "f", text_of(&a, files[1]), NULL, &l));
    assert_ok(logic_write(&l, path.s));
    assert_ok(logic_read(&a, path.s, NULL, &again));
    assert_int_equal(again.n_rows, l.n_rows);
    assert_int_equal(logic_write(&l, "/nonexistent/dir/x.yaml"), ERR_FAILED);
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_scan),
        cmocka_unit_test(test_content),        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_truncated),      cmocka_unit_test(test_odd_input),
        cmocka_unit_test(test_unknown_kept),   cmocka_unit_test(test_wrong_value),
        cmocka_unit_test(test_equal_and_hash), cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_derive),         cmocka_unit_test(test_write_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
