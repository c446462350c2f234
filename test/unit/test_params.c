/* The table of parameters: order, look-up, legal values, reading, printing. */
#include "fmt/node.h"
#include "problem/problem.h"
#include "space/solution.h"
#include "test/support.h"

static const Param *find(const char *name)
{
    const Param *p = param_find(str_from(name));
    if (!p) fail_msg("no parameter '%s'", name);
    return p;
}

/* Reads YAML text as the value of name. */
static Err read_value(Arena *a, const char *name, const char *yaml, Solution *s)
{
    Node *n;
    assert_ok(yaml_parse(a, "t.yaml", str_from(yaml), NULL, &n));
    return param_parse_value(find(name), n, s);
}

static Err check(const char *name, const char *yaml)
{
    Arena a;
    Solution s;
    arena_init(&a, 0);
    solution_init(&s, NULL);
    Err e = read_value(&a, name, yaml, &s);
    if (!e) e = param_legal(find(name), &s);
    arena_fini(&a);
    return e;
}

static void test_order(void **state)
{
    (void)state;
    int n_fork = 0;
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at((ParamId)i);
        assert_int_equal(p->id, i);
        n_fork += p->group == GROUP_FORK;
        for (int k = 0; k < i; k++) assert_string_not_equal(p->name, param_at((ParamId)k)->name);
    }
    assert_int_equal(n_fork, 154); /* the default table of Tensile 4.44.0 */
    assert_true(PARAM_GlobalSplitU < PARAM_WorkGroup && PARAM_WorkGroup < PARAM_ThreadTile);
    assert_true(PARAM_ThreadTile < PARAM_LDSBuffer1 && PARAM_LDSBuffer1 < PARAM_DepthU);
    assert_true(PARAM_VectorWidthB < PARAM_VectorStore &&
                PARAM_GlobalLoadVectorWidthB < PARAM_GlobalReadVectorWidth);
}

static void test_find(void **state)
{
    (void)state;
    assert_int_equal(find("1LDSBuffer")->id, PARAM_LDSBuffer1);
    assert_int_equal(find("_staggerStrideShift")->group, GROUP_STATE);
    assert_null(param_find(STR("depthU")));
    assert_string_equal(param_nearest(STR("DepthV"))->name, "DepthU");
    assert_string_equal(param_nearest(STR("WorkGroupMaping"))->name, "WorkGroupMapping");
    assert_null(param_nearest(STR("Xyzzy_____________")));
    assert_string_equal(param_alias_find(STR("LdsBlockSizePerPad"))->new_names[1], "LdsBlockSizePerPadB");
    assert_null(param_alias_find(STR("MIUseAccVgpr"))->new_names[0]);
    assert_null(param_alias_find(STR("DepthU")));
}

static void test_aliases_lead_somewhere(void **state)
{
    (void)state;
    static const char *const old[] = {"LdsBlockSizePerPad", "DirectToLds", "LdsPad", "SuppresssNoLoadLoop"};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        for (int k = 0; k < 2; k++) {
            const char *name = param_alias_find(str_from(old[i]))->new_names[k];
            if (name) assert_int_equal(find(name)->group, GROUP_FORK);
        }
}

static void test_defaults(void **state)
{
    (void)state;
    Solution s;
    solution_init(&s, NULL);
    assert_int_equal(s.ThreadTile.v[1], 4);
    assert_int_equal(s.WorkGroup.v[2], 1);
    assert_int_equal(s.DepthU, -1);
    assert_int_equal(s.LocalWritePerMfma, -100);
    assert_int_equal(s.KernelLanguage, LANG_SOURCE);
    assert_int_equal(s.ForceStoreSC1, SC1_AUTO);
    assert_true(solution_has(&s, PARAM_LoopDoWhile) && solution_has(&s, PARAM_MinKForGSU));
    assert_false(solution_has(&s, PARAM_MacroTile) || solution_has(&s, PARAM_HostPackA));
}

static const char *const good[][2] = {
    {"DepthU", "16"},
    {"DepthU", "-16"},
    {"DepthU", "1024"},
    {"PrefetchLocalRead", "128"},
    {"LdsBlockSizePerPadA", "4096"},
    {"LdsBlockSizePerPadA", "0"},
    {"GlobalReadPerMfma", "31.99"},
    {"GlobalReadPerMfma", "0.01"},
    {"LocalWritePerMfma", "-1"},
    {"ExtraLatencyForLR", "-80"},
    {"WorkGroup", "[1, 32, 1]"},
    {"WorkGroup", "[2, 2, 256]"},
    {"ThreadTile", "[16, 252]"},
    {"MatrixInstruction", "[]"},
    {"MatrixInstruction", "[-1]"},
    {"MatrixInstruction", "[32, 32, 1, 2]"},
    {"MatrixInstruction", "[4, 4, 4, 16, 16, 64, 1, 4, 2]"},
    {"EdgeType", "None"},
    {"ForceStoreSC1", "true"},
    {"AssertSizeGreaterThan", "{3: 100}"},
    {"MacroTile", "[768, 1]"},
    {"AssertAlphaValue", "false"},
    {"StaggerUStride", "2048"},
    {"GlobalSplitU", "4096"},
    {"PersistentKernel", "-1"},
};
static const char *const bad[][2] = {
    {"DepthU", "1"},
    {"DepthU", "0"},
    {"DepthU", "1025"},
    {"DepthU", "-17"},
    {"LdsBlockSizePerPadA", "96"},
    {"LdsBlockSizePerPadA", "32"},
    {"GlobalReadPerMfma", "32"},
    {"GlobalReadPerMfma", "0"},
    {"ExtraLatencyForLR", "-15"},
    {"ExtraMiLatencyLeft", "3"},
    {"WorkGroup", "[1, 16, 1]"},
    {"WorkGroup", "[2, 4, 12]"},
    {"WorkGroup", "[32, 64, 1]"},
    {"WorkGroup", "[16, 16]"},
    {"ThreadTile", "[17, 4]"},
    {"ThreadTile", "[0, 4]"},
    {"ThreadTile", "[256, 4]"},
    {"MatrixInstruction", "[32, 32, 1, 1]"},
    {"MatrixInstruction", "[4, 4, 4, 16, 32, 1, 1, 1, 1]"},
    {"MatrixInstruction", "[32, 32, 1, 2, 1, 65, 1, 1, 1]"},
    {"MacroTile", "[3, 4]"},
    {"EdgeType", "Wrap"},
    {"GlobalReadCoalesceVectorA", "false"},
    {"MACInstruction", "MAC"},
    {"MemoryModifierFormat", "''"},
    {"AssertAlphaValue", "2"},
    {"KernelLanguage", "source"},
    {"AssertMinApproxSize", "-1"},
    {"StaggerU", "3"},
    {"DepthU", "many"},
    {"DepthU", "[16]"},
    {"DepthU", "9999999999"},
    {"ThreadTile", "4"},
    {"AssertSizeEqual", "[1]"},
    {"AssertSizeEqual", "{300: 1}"},
    {"GlobalReadPerMfma", "0.001"},
    {"LoopTail", "2"},
    {"ThreadTile", "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"},
    {"WorkGroup", "[a, b, c]"},
};
static void test_legal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (check(good[i][0], good[i][1])) fail_msg("%s: %s: %s", good[i][0], good[i][1], err_message());
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!check(bad[i][0], bad[i][1])) fail_msg("%s: %s was accepted", bad[i][0], bad[i][1]);
    check("DepthU", "1");
    assert_string_equal(err_message(), "'DepthU' cannot be '1'; legal: -16..-1 2..1024");
    check("MACInstruction", "MUL");
    assert_string_equal(err_message(), "'MACInstruction' cannot be 'MUL'; legal: FMA MAD");
}

static void test_defaults_are_legal(void **state)
{
    (void)state;
    Solution s;
    solution_init(&s, NULL);
    for (int i = 0; i < PARAM_COUNT && param_at((ParamId)i)->group == GROUP_FORK; i++) {
        bool placeholder = i == PARAM_AssertMinApproxSize || i == PARAM_MemoryModifierFormat;
        if (param_legal(param_at((ParamId)i), &s) && !placeholder) fail_msg("%s", err_message());
    }
}

static void test_print(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"ThreadTile", "[8, 4]", "[8, 4]"},
        {"AssertSizeMultiple", "{0: 4, 3: 8}", "{0: 4, 3: 8}"},
        {"GlobalReadPerMfma", "0.25", "0.25"},
        {"GlobalReadPerMfma", "1.5", "1.5"},
        {"LocalWritePerMfma", "-1", "-1"},
        {"BufferLoad", "no", "false"},
        {"EdgeType", "ShiftPtr", "ShiftPtr"},
        {"_GlobalAccumulation", "null", "None"},
        {"PackedC0IdxChars", "[I, L]", "[I, L]"},
        {"MACInstruction", "MAC", "MAC"},
        {"CustomKernelName", "a_kernel", "a_kernel"},
        {"PrefetchGlobalRead", "true", "1"},
    };
    Buf b;
    buf_init(&b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena a;
        Solution s;
        arena_init(&a, 0);
        solution_init(&s, NULL);
        assert_ok(read_value(&a, cases[i][0], cases[i][1], &s));
        buf_reset(&b);
        param_print(find(cases[i][0]), &s, &b);
        assert_str(buf_view(&b), cases[i][2]);
        arena_fini(&a);
    }
    buf_fini(&b);
}

/* DirectToLds loads half of a double: written as 0.5, stored as 0. */
static void test_part_of_element(void **state)
{
    (void)state;
    Arena a;
    ProblemType pt;
    Solution s;
    Buf b;
    arena_init(&a, 0);
    buf_init(&b);
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_D, TYPE_D, TYPE_D));
    solution_init(&s, &pt);
    assert_ok(read_value(&a, "GlobalLoadVectorWidthA", "0.5", &s));
    assert_int_equal(s.GlobalLoadVectorWidthA, 0);
    param_print(find("GlobalLoadVectorWidthA"), &s, &b);
    assert_str(buf_view(&b), "0.5");
    buf_fini(&b);
    arena_fini(&a);
}

static void test_sorted(void **state)
{
    (void)state;
    ParamId order[PARAM_COUNT];
    params_sorted(order);
    assert_string_equal(param_at(order[0])->name, "1LDSBuffer");
    for (int i = 1; i < PARAM_COUNT; i++)
        assert_true(strcmp(param_at(order[i - 1])->name, param_at(order[i])->name) < 0);
}

static void test_help(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    params_help(f, false);
    fclose(f);
    assert_non_null(strstr(text, "DepthU: K elements per macro-tile step"));
    assert_non_null(strstr(text, "legal: Branch ShiftPtr None"));
    assert_non_null(strstr(text, "    amdgcn: only 0 (stream-k-debug)\n"));
    assert_null(strstr(text, "NumElementsPerThread"));
    free(text);
}

/* Seven cells in every row of the page, one row for every parameter that a user may give. */
static void test_page(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n = 0, n_rows = 0, n_params = 0;
    FILE *f = open_memstream(&text, &n);
    params_help(f, true);
    fclose(f);
    Str rest = str_from(text), line;
    while (str_split(&rest, '\n', &line)) {
        size_t cells = 0;
        if (!str_starts(line, "|")) continue;
        for (size_t i = 1; i < line.n; i++) cells += line.s[i] == '|' && line.s[i - 1] != '\\';
        assert_int_equal(cells, 7);
        n_rows++;
    }
    for (int i = 0; i < PARAM_COUNT; i++)
        n_params += param_at((ParamId)i)->group != GROUP_STATE && param_at((ParamId)i)->group != GROUP_OLD;
    assert_int_equal(n_rows, n_params + 2);
    assert_non_null(strstr(text, "| DebugStreamK | only 0 (stream-k-debug) | "));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),    cmocka_unit_test(test_find),
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_aliases_lead_somewhere),
        cmocka_unit_test(test_legal),    cmocka_unit_test(test_defaults_are_legal),
        cmocka_unit_test(test_print),    cmocka_unit_test(test_part_of_element),
        cmocka_unit_test(test_sorted),   cmocka_unit_test(test_help),
        cmocka_unit_test(test_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
