/* Kernels that keep a tile's pixels in local memory (KeepWindow): which solutions there are, what the launch
 * is told, and that a program's text gives the same kernel. */
#include "test/support.h"

#include "client/runtime/launch_priv.h"
#include "kernel/kernel.h"
#include "problem/keep.h"
#include "space/derive.h"
#include "test/derive_rule.h"
#include "test/lib_solution.h"
#include "test/lib_window.h"

static void describe(ConvDesc *c, OperationKind op, int64_t groups, ProblemType *pt)
{
    conv_desc_init(c);
    conv_desc_types(c, TYPE_H);
    c->op = (int32_t)op, c->size.groups = groups;
    assert_ok(conv_desc_format(c, CONV_INPUT, STR("NHWC")));
    assert_ok(conv_desc_format(c, CONV_OUTPUT, STR("NHWC")));
    assert_ok(conv_desc_format(c, CONV_FILTER, STR("KYXC")));
    assert_ok(conv_problem_type(c, pt));
}

static Deriver deriver(ProblemType *pt)
{
    Deriver d;
    assert_ok(deriver_init(&d, pt, target_find(STR("sm_90a")), NULL));
    return d;
}

static Solution solution(const ProblemType *pt, bool groups)
{
    Solution s;
    solution_init(&s, pt);
    s.MatrixInstruction = (IntList){9, {16, 8, 16, 1, 1, 1, 8, 4, 1}};
    s.StaggerU = 0, s.NvRing = 1, s.PackBatchDims = !groups;
    s.DepthU = 64, s.PrefetchGlobalRead = 2, s.GlobalReadVectorWidth = 4, s.KeepWindow = 74;
    return s;
}

static void test_rules(void **state)
{
    (void)state;
    ConvDesc c;
    ProblemType pt;
    for (int groups = 1; groups <= 4; groups += 3) {
        describe(&c, OP_CONV_FORWARD, groups, &pt);
        const Deriver d = deriver(&pt);
        const Solution base = solution(&pt, groups > 1);
        Solution s = base;
        assert_true(solution_derive(&d, &s, NULL));
        assert_int_equal(s.LdsNumElements * 2, 74 * 1024);
        assert_int_equal(keep_rows(&s), 16);
        assert_int_equal(keep_piece(&s), 4);
        /* 3 stages of 64 rows, a table of their places, the kernel's numbers */
        assert_int_equal(keep_room(&s), 74 * 1024 - 3 * 64 * 9 * 16 - 64 * 16 - 512);
        s = base, s.KeepWindow = 27;
        assert_rule(&d, s, RULE_NV_KEEP_STAGES);
        s = base, s.GlobalSplitU = 2;
        assert_rule(&d, s, RULE_NV_KEEP_FORM);
        s = base, s.PersistentKernel = 1;
        assert_rule(&d, s, RULE_NV_KEEP_FORM);
        s = base, s.MatrixInstruction = (IntList){9, {64, 64, 16, 1, 1, 1, 1, 1, 1}};
        assert_false(solution_derive(&d, &s, NULL)); /* wgmma */
        s = base, s.DependentLaunch = 1;
        assert_true(solution_derive(&d, &s, NULL));
        s = base, s.KeepWindow = 0, s.DependentLaunch = 1;
        assert_rule(&d, s, RULE_WG_ONLY);
    }
    describe(&c, OP_CONV_BACKWARD_WEIGHTS, 1, &pt);
    Deriver d = deriver(&pt);
    assert_rule(&d, solution(&pt, false), RULE_NV_KEEP);
    describe(&c, OP_CONV_FORWARD, 1, &pt);
    d = deriver(&pt);
    assert_rule(&d, solution(&pt, true), RULE_NV_KEEP); /* images are not columns */
}

/* Steps of a tap and chunks of a pixel, which are the last arguments of the kernel. */
static void test_launch(void **state)
{
    static const struct {
        int64_t channels, groups, per_tap, pieces;
    } cases[] = {
        {64, 1, 4, 8},
        {80, 1, 5, 10},
        /* 16 rows of a warp are 4 groups of 4 channels, 64 of a tile are 16, of which the last warp's first
         * one is the 13th */
        {128, 32, 1, 12 * 4 / 8 + 2},
        {64, 64, 1, 48 / 8 + 2},   /* 16 groups of a channel */
        {96, 2, 3, 48 / 8 + 3 * 2} /* 48 rows do not divide 64: a tile has rows of two groups */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned char one[16] = {0, 0, 0x80, 0x3f};
        const bool groups = cases[i].groups > 1;
        ConvDesc c;
        ProblemType pt;
        describe(&c, OP_CONV_FORWARD, cases[i].groups, &pt);
        const Deriver d = deriver(&pt);
        Solution s = solution(&pt, groups);
        s.GlobalReadVectorWidth = cases[i].channels == cases[i].groups ? 1 : 4;
        assert_true(solution_derive(&d, &s, NULL));
        LibSolution lib;
        lib_solution_of(&s, "K", &lib);
        IndexSizes x;
        Contraction p;
        conv_of(cases[i].channels, 3, 1, cases[i].groups, 10, &x, &p);
        assert_true(keep_fits(&lib, &p));
        const LaunchInputs in = {
            .a = (void *)0x10000, .b = (void *)0x20000, .d = (void *)0x40000, .alpha = one, .beta = one};
        LaunchList list;
        assert_ok(launch_build(&p, &lib, &in, &(LaunchHardware){.n_cu = 132}, &list));
        uint32_t number[KEEP_ARGS];
        memcpy(number, list.call[0].args + list.call[0].n_arg_bytes - sizeof number, sizeof number);
        assert_int_equal(number[0], cases[i].per_tap);
        assert_int_equal(number[1], cases[i].pieces);
    }
}

static void test_text(void **state)
{
    (void)state;
    static const OperationKind ops[] = {OP_CONV_FORWARD, OP_CONV_BACKWARD_DATA};
    for (int i = 0; i < 4; i++) {
        ConvDesc c;
        ProblemType pt;
        Buf text, program, again;
        const bool groups = i / 2;
        describe(&c, ops[i % 2], groups ? 32 : 1, &pt);
        const Deriver d = deriver(&pt);
        Solution s = solution(&pt, groups);
        s.DependentLaunch = i % 2;
        assert_true(solution_derive(&d, &s, NULL));
        buf_init(&text);
        buf_init(&program);
        buf_init(&again);
        assert_ok(kernel_emit(&s, d.target, STR("kernel"), &text));
        assert_ok(kernel_dump(&s, d.target, STR("edges"), &program));
        assert_ok(kernel_emit_text(buf_view(&program), "p", STR("kernel"), &again));
        assert_true(str_eq(buf_view(&text), buf_view(&again)));
        const char *t = buf_cstr(&text);
        assert_true(!strstr(t, "griddepcontrol") == !s.DependentLaunch);
        assert_true(!strstr(t, "_mend(acc, lds)") == !groups);
        assert_true(!strstr(t, "_K_MAJOR = 1;") == (ops[i % 2] == OP_CONV_BACKWARD_DATA));
        buf_fini(&text);
        buf_fini(&program);
        buf_fini(&again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rules), cmocka_unit_test(test_launch),
                                       cmocka_unit_test(test_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
