/* Derivation and rules: worked examples, the data table of what Tensile derives, texts and counts of reasons.
 */
#include "space/derive.h"
#include "test/support.h"

static Deriver gemm_deriver(ProblemType *pt, const char *arch, DataType type, bool trans_a, bool trans_b)
{
    Deriver d;
    assert_ok(problem_type_gemm(pt, trans_a, trans_b, type, type, type));
    assert_ok(deriver_init(&d, pt, target_find(str_from(arch)), NULL));
    return d;
}

static void assert_valid(const Deriver *d, Solution *s)
{
    Verdict v;
    Buf b;
    buf_init(&b);
    if (!solution_derive(d, s, &v)) {
        verdict_text(&v, &b);
        fail_msg("rejected: %s: %s", rule_name(v.rule), buf_cstr(&b));
    }
    buf_fini(&b);
}

static void assert_rejected(const Deriver *d, Solution *s, RuleId rule, const char *text)
{
    Verdict v;
    Buf b;
    buf_init(&b);
    assert_false(solution_derive(d, s, &v));
    verdict_text(&v, &b);
    assert_string_equal(rule_name(v.rule), rule_name(rule));
    assert_str(buf_view(&b), text);
    buf_fini(&b);
}

/* MT64x64x16 NN f32 in assembly. */
static void test_lds_example(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, false, false);
    Solution s;
    solution_init(&s, &pt);
    s.KernelLanguage = LANG_ASSEMBLY;
    s.DepthU = 16;
    assert_valid(&d, &s);
    assert_int_equal(s.MacroTile0, 64);
    assert_int_equal(s.NumThreads, 256);
    assert_int_equal(s.VectorWidth, 4);
    assert_int_equal(s.LdsNumElementsAlignedA, 1024);
    assert_int_equal(s.LdsPadB, 4);
    assert_int_equal(s.LdsNumElementsAlignedB, 1088);
    assert_int_equal(s.LdsOffsetA_Blk, 4096);
    assert_int_equal(s.LdsOffsetB_Blk, 5120);
    assert_int_equal(s.LdsNumElements, 6208);
    assert_int_equal(s.LoopIters, 16);
    assert_int_equal(s.StaggerStrideShift, 2);
    assert_int_equal(*intmap_get(&s.AssertStrideAEqual, 0), 1);
    assert_int_equal(s.ISA.v[2], 6);
    assert_true(solution_has(&s, PARAM_NumLoadsA) && !solution_has(&s, PARAM_MIBlock));
}

/* [32,32,1,2, 1, 4,1, 2,2]: macro tile 256x128. */
static void test_matrix_instruction_example(void **state)
{
    (void)state;
    static const int32_t mi[9] = {32, 32, 1, 2, 1, 4, 1, 2, 2};
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx90a", TYPE_S, false, true);
    Solution s;
    solution_init(&s, &pt);
    s.KernelLanguage = LANG_ASSEMBLY;
    s.DepthU = 16;
    s.ScheduleIterAlg = 3;
    s.MatrixInstruction.n = 9;
    memcpy(s.MatrixInstruction.v, mi, sizeof mi);
    assert_valid(&d, &s);
    assert_int_equal(s.MatrixInstruction.n, 4);
    assert_int_equal(s.MacroTile0, 256);
    assert_int_equal(s.MacroTile1, 128);
    assert_int_equal(s.ThreadTile.v[1], 32);
    assert_int_equal(s.MIWaveGroup.v[1], 4);
    assert_int_equal(s.MIWaveTile.v[0], 4);
    assert_int_equal(s.MatrixInstBM, 2);
    assert_true(solution_has(&s, PARAM_MIBlock));
}

/* Deriving what was derived changes nothing: logic files hold derived states. */
static void test_idempotent(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, true, false);
    Solution s, again;
    solution_init(&s, &pt);
    s.KernelLanguage = LANG_ASSEMBLY;
    s.DepthU = 16;
    assert_valid(&d, &s);
    again = s;
    assert_valid(&d, &again);
    for (int i = 0; i < PARAM_COUNT; i++)
        if (!param_equal(param_at((ParamId)i), &s, &again))
            fail_msg("%s differs", param_at((ParamId)i)->name);
}

static void test_reasons(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, false, false);
    Solution base, s;
    solution_init(&base, &pt);
    base.KernelLanguage = LANG_ASSEMBLY;
    base.DepthU = 16;
    s = base, s.VectorWidth = 3;
    assert_rejected(&d, &s, RULE_VW_THREAD_TILE, "ThreadTile 4x4 is not a multiple of VectorWidth 3");
    s = base, s.DepthU = 512, s.StaggerU = 0;
    assert_rejected(&d, &s, RULE_LDS_BIG, "524288 bytes of local memory exceed the limit of 65536");
    s = base, s.DepthU = 6;
    assert_rejected(&d, &s, RULE_NO_DEPTH_U, "no DepthU up to 6 lets the threads share the loads evenly");
    s = base, s.NumLoadsCoalescedB = 7;
    assert_rejected(&d, &s, RULE_NLC_TOO_MANY, "NumLoadsCoalescedB 7 is more than the 1 loads");
    s = base, s.MatrixInstruction = (IntList){4, {32, 32, 1, 2}}, s.ThreadTile = intlist2(4, 32);
    assert_rejected(&d, &s, RULE_MI_ARCH,
                    "this architecture (Source kernels: any) has no matrix instructions");
    s = base, s.MacroTile = intlist2(32, 64), solution_mark(&s, PARAM_MacroTile);
    assert_rejected(&d, &s, RULE_TILE_MISMATCH, "macro tile 64x64 is not the MacroTile 32x64 asked for");
    s = base, s.StreamK = 1;
    assert_rejected(&d, &s, RULE_STREAM_K_NO_MI, "StreamK needs a matrix instruction");
    s = base, s.ThreadTile = intlist2(4, 4), s.WorkGroup = intlist3(8, 4, 1);
    assert_rejected(&d, &s, RULE_THREADS_NOT_WAVES, "32 threads are not a multiple of WavefrontSize 64");
}

/* Numbers that no user may give, but a logic file might. */
static void test_bounds(void **state)
{
    (void)state;
    static const ParamId zero[] = {
        PARAM_WavefrontSize, PARAM_InnerUnroll,  PARAM_DepthU,           PARAM_DepthULdsDivisor,
        PARAM_GlobalSplitU,  PARAM_MaxOccupancy, PARAM_StoreVectorWidth, PARAM_AssertFree0ElementMultiple};
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, false, false);
    Solution s;
    Verdict v;
    for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) {
        solution_init(&s, &pt);
        s.DepthU = 16;
        *(int32_t *)solution_field(&s, param_at(zero[i])) = 0;
        assert_false(solution_derive(&d, &s, &v));
        assert_int_equal(v.rule, RULE_VALUE_RANGE);
        assert_int_equal(v.arg[0], zero[i]);
    }
    solution_init(&s, &pt);
    s.DepthU = 16, s.WorkGroup = intlist3(INT32_MAX, 16, 1);
    assert_false(solution_derive(&d, &s, &v));
    assert_int_equal(v.rule, RULE_VALUE_RANGE);
}

static void test_no_reject(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, false, false);
    Solution s;
    solution_init(&s, &pt);
    s.DepthU = 8;
    s.PrefetchLocalRead = 3; /* slow, and nothing worse */
    s.NoReject = 1;
    assert_valid(&d, &s);
    s.NoReject = 0;
    assert_rejected(&d, &s, RULE_PLR_SLOW, "PrefetchLocalRead 3 is slow with LoopIters 8");
}

static void test_limits(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, false, false);
    DeriveLimits limits = {.max_lds_bytes = 16384};
    Solution s;
    assert_ok(deriver_init(&d, &pt, target_find(STR("gfx906")), &limits));
    solution_init(&s, &pt);
    s.DepthU = 32;
    assert_rejected(&d, &s, RULE_LDS_BIG, "32768 bytes of local memory exceed the limit of 16384");
    limits.max_depth_u = 1 << 20;
    assert_int_equal(deriver_init(&d, &pt, target_find(STR("gfx906")), &limits), ERR_INPUT);
}

static void test_host_rows(void **state)
{
    (void)state;
    ProblemType pt;
    Solution s;
    Deriver d = gemm_deriver(&pt, "gfx906", TYPE_S, false, false);
    solution_init(&s, &pt);
    s.DepthU = 16, s.HostRepeatM = 4, solution_mark(&s, PARAM_HostRepeatM);
    assert_valid(&d, &s);
    assert_int_equal(s.HostRepeatM, 1);
    assert_false(solution_has(&s, PARAM_HostRepeatM));
    d = gemm_deriver(&pt, "x86-64-v3", TYPE_S, false, false);
    solution_init(&s, &pt);
    s.DepthU = 64, s.ThreadTile = intlist2(16, 6), s.HostRepeatM = 2, s.LdsPadA = 3;
    assert_valid(&d, &s);
    assert_int_equal(s.MacroTile0, 512);
    assert_int_equal(s.LdsPadA, -1); /* means nothing there */
    assert_true(solution_has(&s, PARAM_HostRepeatM));
}

/* What compiled kernels cannot honour is refused where kernels are made, and only there. */
static void test_writer(void **state)
{
    (void)state;
    Deriver d;
    ProblemType pt;
    Verdict v;
    Buf why;
    buf_init(&why);
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_S, TYPE_S, TYPE_S));
    for (int writer = 0; writer < 2; writer++) {
        assert_ok(deriver_init(&d, &pt, target_find(STR("gfx906")), &(DeriveLimits){.writer = writer}));
        Solution s = d.defaults;
        s.DepthU = 16;
        s.ReplacementKernel = 1;
        assert_int_equal(solution_derive(&d, &s, &v), !writer);
    }
    verdict_text(&v, &why);
    assert_str(buf_view(&why), "compiled kernels cannot have ReplacementKernel 1: it needs an assembler");
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_H, TYPE_H, TYPE_H));
    assert_ok(deriver_init(&d, &pt, target_find(STR("gfx900")), &(DeriveLimits){.writer = true}));
    Solution s = d.defaults;
    s.KernelLanguage = LANG_ASSEMBLY;
    s.DepthU = 16, s.GlobalSplitU = 2, s.AssertFree0ElementMultiple = 2;
    assert_true(solution_derive(&d, &s, &v)); /* parts are added to D in place, by compare and swap */
    s = d.defaults;
    s.KernelLanguage = LANG_ASSEMBLY, s.DepthU = 16, s.AssertFree0ElementMultiple = 2;
    s.CustomKernelName = STR("by_hand");
    assert_false(solution_derive(&d, &s, &v));
    assert_int_equal(v.rule, RULE_CUSTOM_KERNEL);
    s.CustomKernelName = STR_NULL, s.ReplacementKernel = 1;
    assert_false(solution_derive(&d, &s, &v));
    assert_int_equal(v.rule, RULE_AMD_VALUE);
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_F8, TYPE_S, TYPE_S));
    assert_ok(deriver_init(&d, &pt, target_find(STR("gfx90a")), &(DeriveLimits){.writer = true}));
    s = d.defaults;
    s.DepthU = 16, s.GlobalReadVectorWidth = 4, s.VectorWidth = 4;
    assert_false(solution_derive(&d, &s, &v));
    assert_int_equal(v.rule, RULE_AMD_TYPE);
    buf_fini(&why);
}

/* Fp16AltImpl is the problem type's; whether a bf16 instruction has half's shape, the architecture's. */
static void test_writer_fp16_alt(void **state)
{
    (void)state;
    static const struct {
        const char *arch;
        bool writer, matrix, problem, solution;
        RuleId rule;
    } cases[] = {
        {"gfx90a", true, true, true, true, RULE_NONE},
        {"gfx90a", true, true, true, false, RULE_NONE},
        {"gfx90a", true, true, false, true, RULE_AMD_ALT_PROBLEM},
        {"gfx908", true, true, true, true, RULE_AMD_ALT_ARCH},
        {"gfx908", true, false, true, true, RULE_NONE},
        {"gfx90a", false, false, true, true, RULE_FP16_ALT},
        {"x86-64-v3", true, false, true, true, RULE_HOST_FORM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Deriver d;
        ProblemType pt;
        Verdict v;
        const Target *t = target_find(str_from(cases[i].arch));
        assert_ok(problem_type_gemm(&pt, false, false, TYPE_H, TYPE_H, TYPE_S));
        pt.HighPrecisionAccumulate = 1, pt.Fp16AltImpl = cases[i].problem;
        assert_ok(deriver_init(&d, &pt, t, &(DeriveLimits){.writer = cases[i].writer}));
        Solution s = d.defaults;
        s.DepthU = 16, s.GlobalReadVectorWidth = 2, s.VectorWidth = 2;
        s.Fp16AltImpl = cases[i].solution;
        if (cases[i].matrix) {
            static const int32_t mi[] = {32, 32, 8, 1, 1, 1, 1, 2, 2};
            s.KernelLanguage = LANG_ASSEMBLY, s.MatrixInstruction.n = 9, s.VectorWidth = 1;
            memcpy(s.MatrixInstruction.v, mi, sizeof mi);
        }
        (void)solution_derive(&d, &s, &v);
        assert_string_equal(rule_name(v.rule), rule_name(cases[i].rule));
        if (!cases[i].writer || v.rule) continue;
        s.ReplacementKernel = 1, s.NoReject = 1; /* judged all the same */
        assert_false(solution_writable(&d, &s, &v));
        assert_int_equal(v.arg[0], PARAM_ReplacementKernel);
    }
}

static void test_rules_table(void **state)
{
    (void)state;
    RuleCounts c = {{0}};
    Buf b;
    buf_init(&b);
    for (int i = 0; i < RULE_COUNT; i++) {
        for (int k = 0; k < i; k++) assert_string_not_equal(rule_name((RuleId)k), rule_name((RuleId)i));
        assert_true(rule_families((RuleId)i) != 0);
    }
    c.n[RULE_NONE] = 3, c.n[RULE_LDS_BIG] = 7, c.n[RULE_VW_BIG] = 9;
    rule_counts_summary(&c, &b);
    assert_str(buf_view(&b), "3 valid, 9 vw-big, 7 lds-big");
    buf_fini(&b);
}

/* ---- the data table ---------------------------------------------------------------------------------------
 */

static void set_word(Solution *s, const Param *p, char *v)
{
    void *f = solution_field(s, p);
    IntList list = {0, {0}};
    IntMap map = {0, {0}, {0}};
    switch ((ParamKind)p->kind) {
    case KIND_LIST:
        for (; *v; v += *v == ',') list.v[list.n++] = (int32_t)strtol(v, &v, 10);
        *(IntList *)f = list;
        break;
    case KIND_MAP:
        for (; *v; v += *v == ',') {
            map.key[map.n] = (int32_t)strtol(v, &v, 10);
            map.v[map.n++] = (int32_t)strtol(v + 1, &v, 10);
        }
        *(IntMap *)f = map;
        break;
    case KIND_ENUM:
        *(int32_t *)f = param_enum_value(p, str_from(v));
        break;
    case KIND_FLOAT:
        *(int32_t *)f = (int32_t)(strtod(v, NULL) * 100 + 0.5);
        break;
    default:
        *(int32_t *)f = (int32_t)strtol(v, NULL, 10);
    }
    solution_mark(s, (ParamId)p->id);
}

static void set_problem_key(ProblemType *pt, const char *key, const char *value)
{
    const PtKey *k = problem_key_find(str_from(key));
    int32_t *f = (int32_t *)((char *)pt + k->offset);
    DataType type = TYPE_S;
    if (k->kind == PT_TYPE) {
        assert_true(type_find(str_from(value), &type));
        *f = (int32_t)type;
    } else {
        *f = (int32_t)strtol(value, NULL, 10);
    }
}

static void check_state(const Solution *s, char *words, int line)
{
    Buf b;
    char *save = NULL;
    buf_init(&b);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *value = strchr(w, '=');
        *value++ = 0;
        const Param *p = param_find(str_from(w));
        if (!p) fail_msg("line %d: unknown key %s", line, w);
        buf_reset(&b);
        if (p->kind == KIND_BOOL)
            buf_i64(&b, *(const int32_t *)solution_field_const(s, p));
        else
            param_print(p, s, &b);
        char *to = b.s;
        for (const char *from = buf_cstr(&b); *from; from++)
            if (*from != ' ') *to++ = *from;
        *to = 0;
        if (strcmp(b.s, value)) fail_msg("line %d: %s is %s, not %s", line, w, b.s, value);
        if (!solution_has(s, (ParamId)p->id)) fail_msg("line %d: %s is missing", line, w);
    }
    buf_fini(&b);
}

static void check_line(char *text, int line)
{
    ProblemType pt;
    Solution s;
    Deriver d;
    Verdict v;
    char *expected = strstr(text, " | "), *save = NULL;
    *expected = 0;
    expected += 3;
    char *word = strtok_r(text, " ", &save);
    const Target *target = target_find(str_from(word));
    problem_type_init(&pt);
    pt.OperationType = OP_GEMM;
    solution_init(&s, &pt);
    while ((word = strtok_r(NULL, " ", &save))) {
        char *value = strchr(word, '=');
        *value++ = 0;
        if (*word == '@')
            set_problem_key(&pt, word + 1, value);
        else
            set_word(&s, param_find(str_from(word)), value);
    }
    assert_ok(problem_type_derive(&pt));
    assert_ok(deriver_init(&d, &pt, target, NULL));
    bool valid = solution_derive(&d, &s, &v);
    if (valid != (*expected == '1')) fail_msg("line %d: %s", line, rule_name(v.rule));
    if (valid) check_state(&s, expected + 2, line);
}

static void test_as_tensile(void **state)
{
    (void)state;
    Arena a;
    arena_init(&a, 0);
    Str rest = test_data(&a, "solutions/derived.txt"), text;
    int line = 0, n = 0;
    while (str_split(&rest, '\n', &text)) {
        line++;
        if (!text.n || text.s[0] == '#') continue;
        check_line((char *)(uintptr_t)arena_dup(&a, text).s, line);
        n++;
    }
    assert_true(n > 400);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lds_example), cmocka_unit_test(test_matrix_instruction_example),
        cmocka_unit_test(test_idempotent),  cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_bounds),      cmocka_unit_test(test_no_reject),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_host_rows),
        cmocka_unit_test(test_writer),      cmocka_unit_test(test_writer_fp16_alt),
        cmocka_unit_test(test_rules_table), cmocka_unit_test(test_as_tensile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
