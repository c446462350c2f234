/* Kernels with several taps in a stage (WindowTaps): which solutions there are, their local memory, and that
 * a program's text gives the same kernel. What the launch makes of them is in test_pack.c. */
#include "test/support.h"

#include "kernel/kernel.h"
#include "problem/conv.h"
#include "problem/window.h"
#include "space/derive.h"
#include "test/derive_rule.h"

static void describe(OperationKind op, int64_t groups, ProblemType *pt)
{
    ConvDesc c;
    conv_desc_init(&c);
    conv_desc_types(&c, TYPE_H);
    conv_desc_formats(&c, true);
    c.op = (int32_t)op, c.size.groups = groups;
    assert_ok(conv_problem_type(&c, pt));
    pt->UseBeta = false;
}

static Deriver deriver(ProblemType *pt)
{
    Deriver d;
    assert_ok(deriver_init(&d, pt, target_find(STR("sm_90a")), NULL));
    return d;
}

static Solution solution(const ProblemType *pt, int32_t columns, int32_t along_m)
{
    Solution s;
    solution_init(&s, pt);
    s.MatrixInstruction = (IntList){9, {64, columns, 16, 1, 1, along_m, 1, 1, 1}};
    s.StaggerU = 0, s.PersistentKernel = 1, s.PersistentKernelAlongBatch = 1;
    s.PackBatchDims = 1, s.WindowTaps = 3, s.EngineStore = 0;
    return s;
}

/* A stage has three tiles of the filter, and 8 pixels beside those of the tile. */
static void sliding(void **state)
{
    (void)state;
    ProblemType pt;
    for (int op = OP_CONV_FORWARD; op <= OP_CONV_BACKWARD_DATA; op++) {
        describe((OperationKind)op, 1, &pt);
        const Deriver d = deriver(&pt);
        Solution base = solution(&pt, 192, 1), s, again;
        base.ConsumerSchedule = SCHEDULE_PINGPONG;
        s = base;
        assert_true(solution_derive(&d, &s, NULL));
        assert_int_equal(s.LdsNumElements * 2,
                         s.RingStages * (3 * 64 + 192 + 8) * 128 + 2 * 2 * 96 * 128 + 512 + 1024);
        again = s;
        assert_true(solution_derive(&d, &again, NULL));
        assert_memory_equal(&again, &s, sizeof s);
        s = base, s.EngineStore = 1;
        assert_rule(&d, s, RULE_WG_WINDOW_STAGE);
        s = base, s.PackBatchDims = 0;
        assert_rule(&d, s, RULE_WG_WINDOW_STAGE);
        s = base, s.PackOperands = 3;
        assert_rule(&d, s, op == OP_CONV_FORWARD ? RULE_WG_WINDOW_STAGE : RULE_WG_WINDOW_COPY);
        s = base, s.GlobalSplitU = 2, s.GlobalSplitUAlgorithm = GSUA_SINGLE_KERNEL;
        assert_rule(&d, s, RULE_WG_WINDOW_STAGE);
        s = base, s.MatrixInstruction.v[1] = 256;
        assert_rule(&d, s, RULE_WG_SIDE);
        pt.UseBeta = true;
        assert_rule(&d, base, RULE_WG_WINDOW_STAGE);
    }
    describe(OP_CONV_FORWARD, 2, &pt);
    const Deriver d = deriver(&pt);
    Solution s = solution(&pt, 192, 1);
    s.PackBatchDims = 0;
    assert_rule(&d, s, RULE_WG_WINDOW_STAGE);
}

/* Rows of a tile are those of three taps of 64 channels, which a stage has once for 72 pixels. */
static void per_tap(void **state)
{
    (void)state;
    ProblemType pt;
    describe(OP_CONV_BACKWARD_WEIGHTS, 1, &pt);
    const Deriver d = deriver(&pt);
    Solution base = solution(&pt, 64, 3), s;
    s = base;
    assert_true(solution_derive(&d, &s, NULL));
    assert_int_equal(s.MacroTile0, 192);
    assert_int_equal(s.LdsNumElements * 2,
                     s.RingStages * (64 * 72 + 64 * 64) * 2 + 2 * 64 * 32 * 4 + 512 + 1024);
    s = base, s.MatrixInstruction.v[5] = 1, s.MatrixInstruction.v[7] = 3;
    assert_true(solution_derive(&d, &s, NULL));
    s = base, s.EngineStore = 1;
    assert_rule(&d, s, RULE_WG_WINDOW_ROWS);
    s = base, s.MatrixInstruction.v[5] = 2;
    assert_rule(&d, s, RULE_WG_WINDOW_ROWS);
    s = base, s.ClusterN = 2;
    assert_rule(&d, s, RULE_WG_WINDOW_ROWS);
}

/* Others have no such stages. */
static void elsewhere(void **state)
{
    (void)state;
    ProblemType pt;
    describe(OP_CONV_FORWARD, 1, &pt);
    const Deriver d = deriver(&pt);
    Solution s;
    solution_init(&s, &pt);
    s.MatrixInstruction = (IntList){9, {16, 8, 16, 1, 1, 1, 8, 4, 1}};
    s.StaggerU = 0, s.NvRing = 1, s.DepthU = 32, s.WindowTaps = 3;
    assert_rule(&d, s, RULE_WG_ONLY);
}

static void program_text(void **state)
{
    (void)state;
    ProblemType pt;
    for (int op = OP_CONV_FORWARD; op <= OP_CONV_BACKWARD_WEIGHTS; op++) {
        describe((OperationKind)op, 1, &pt);
        const Deriver d = deriver(&pt);
        const bool weights = op == OP_CONV_BACKWARD_WEIGHTS;
        Solution s = solution(&pt, 64, weights ? 3 : 1);
        assert_true(solution_derive(&d, &s, NULL));
        Buf text, program, again;
        buf_init(&text), buf_init(&program), buf_init(&again);
        assert_ok(kernel_emit(&s, d.target, STR("kernel"), &text));
        assert_ok(kernel_dump(&s, d.target, STR("edges"), &program));
        assert_ok(kernel_emit_text(buf_view(&program), "p", STR("kernel"), &again));
        assert_string_equal(buf_cstr(&again), buf_cstr(&text));
        assert_non_null(strstr(buf_cstr(&text), "apart"));
        buf_fini(&text), buf_fini(&program), buf_fini(&again);
    }
}

/* Lines of outputs with what is between them: none is behind the line, and the taps of an output that are in
 * the next line are in front of the tensor. */
static void wide_lines(void **state)
{
    (void)state;
    assert_int_equal(window_wide_outs(56, 2, 56, -1), 57);
    assert_int_equal(window_wide_outs(35, 4, 35, -2), 37);
    assert_int_equal(window_wide_outs(54, 2, 56, 0), 56);
    for (int64_t size = 1; size < 9; size++)
        for (int64_t left = 0; left < 5; left++)
            for (int64_t right = 0; right < 5; right++)
                for (int64_t reach = 0; reach < 5; reach++) {
                    const int64_t outs = size + left + right - reach;
                    if (outs < 1) continue;
                    const int64_t wide = window_wide_outs(outs, reach, size, -left);
                    assert_true(wide >= outs);
                    for (int64_t out = 0; out < outs; out++)
                        for (int64_t tap = 0; tap <= reach; tap++) {
                            const int64_t at = out + tap, in = at % wide - left;
                            const bool is = at - left >= 0 && at - left < size;
                            assert_true(is ? in == at - left : in < 0 || in >= size);
                        }
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sliding), cmocka_unit_test(per_tap),
                                       cmocka_unit_test(elsewhere), cmocka_unit_test(program_text),
                                       cmocka_unit_test(wide_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
