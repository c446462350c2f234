/* Matrix instructions and local memory layouts of AMD kernels: the table's shapes, bank conflicts counted. */
#include <string.h>

#include "test/support.h"

#include "kernel/amdgcn/amdgcn.h"
#include "kernel/kernel.h"
#include "kernel/plan.h"
#include "space/derive.h"

static void test_conflicts(void **state)
{
    (void)state;
    LdsAccess a = {.n_lanes = 64, .bytes = 4};
    for (int i = 0; i < 64; i++) a.at[i] = i * 4;
    assert_int_equal(lds_conflicts(&a), 0);
    for (int i = 0; i < 64; i++) a.at[i] = i * 8; /* two lanes of a cycle in each even bank */
    assert_int_equal(lds_conflicts(&a), 2);
    for (int i = 0; i < 64; i++) a.at[i] = i * 128; /* one bank */
    assert_int_equal(lds_conflicts(&a), 62);
    for (int i = 0; i < 64; i++) a.at[i] = 128; /* one word: broadcast */
    assert_int_equal(lds_conflicts(&a), 0);
    a.bytes = 16;
    for (int i = 0; i < 64; i++) a.at[i] = i * 64; /* 8 lanes of a cycle in 2 groups of banks */
    assert_int_equal(lds_conflicts(&a), 8 * 3);
    for (int i = 0; i < 64; i++) a.at[i] = i * 80;
    assert_int_equal(lds_conflicts(&a), 0);
}

/* ThreadSeparateGlobalRead: the lanes that load the first line of 8 vectors, as the reference documents. */
static void test_separate(void **state)
{
    (void)state;
    static const struct {
        int groups, line[8];
    } rows[] = {{1, {0, 1, 2, 3, 4, 5, 6, 7}},
                {2, {0, 1, 2, 3, 32, 33, 34, 35}},
                {4, {0, 1, 16, 17, 32, 33, 48, 49}}};
    const GpuPlan p = {.wave = 64, .n_threads = 128};
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const GpuOperand x = {.groups = rows[r].groups, .lvc = 8};
        int lane[128] = {0};
        GpuIndex index;
        gpu_index_init(&index);
        const Expr *e = gpu_load_thread(&index.pool, &p, &x);
        for (int64_t tid = 0; tid < 128; tid++) {
            int64_t at;
            assert_true(expr_eval(e, &tid, &at));
            assert_true(at / 64 == tid / 64 && at < 128);
            lane[at] += 1 + (int)tid;
        }
        for (int at = 0; at < 8; at++) assert_int_equal(lane[at], 1 + rows[r].line[at]);
        for (int at = 0; at < 128; at++) assert_true(lane[at] > 0);
    }
}

static void test_stochastic(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d;
    Verdict v;
    GpuPlan p;
    assert_ok(problem_type_gemm(&pt, false, false, TYPE_F8, TYPE_F8, TYPE_S));
    pt.StochasticRounding = true;
    assert_int_equal(gpu_plan_types(&p, &pt, target_find(STR("gfx942"))), ERR_INPUT);
    assert_ok(deriver_init(&d, &pt, target_find(STR("gfx942")), &(DeriveLimits){.writer = true}));
    Solution s = d.defaults;
    assert_false(solution_derive(&d, &s, &v));
    assert_int_equal(v.rule, RULE_AMD_STOCHASTIC);
}

/* 8-bit floats: where there are kernels, their instruction's operand types, what is refused. */
static void f8_kernel(const char *arch, DataType in, DataType out, bool swap, IntList mi, Verdict *v,
                      Buf *text)
{
    ProblemType pt;
    Deriver d;
    assert_ok(problem_type_gemm(&pt, false, false, in, out, TYPE_S));
    assert_ok(deriver_init(&d, &pt, target_find(str_from(arch)), &(DeriveLimits){.writer = true}));
    Solution s = d.defaults;
    s.KernelLanguage = LANG_ASSEMBLY;
    s.MatrixInstruction = mi, s.StoreVectorWidth = mi.v[0] == 16 ? 1 : -1;
    s.WorkGroup = (IntList){3, {32, 4, 1}}, s.ThreadTile = intlist2(2, 32); /* of the four-number form */
    s.WavefrontSize = d.target->wave_size;
    s.DepthU = 32, s.GlobalReadVectorWidth = 8, s.VectorWidth = 1, s.SourceSwap = swap;
    buf_reset(text);
    if (!solution_derive(&d, &s, v)) {
        verdict_text(v, text);
        return;
    }
    GpuPlan p;
    assert_ok(gpu_plan(&p, &s, d.target));
    p.dialect->prelude(&p, text);
    p.compute->emit(&p, text);
}

static bool has(Buf *text, const char *part) { return strstr(buf_cstr(text), part) != NULL; }

static void test_f8(void **state)
{
    (void)state;
    static const char *const others[] = {"gfx90a", "gfx908", "gfx1100", "gfx1030", "sm_80"};
    const IntList mfma = {9, {32, 32, 16, 1, 1, 2, 2, 2, 2}}, wmma = {9, {16, 16, 16, 1, 1, 2, 2, 2, 2}};
    Verdict v;
    Buf text;
    buf_init(&text);
    f8_kernel("gfx942", TYPE_F8B8, TYPE_B8, false, mfma, &v, &text);
    assert_true(has(&text, "_32x32x16_fp8_bf8(a, b, c"));
    f8_kernel("gfx942", TYPE_F8B8, TYPE_B8, true, mfma, &v, &text);
    assert_true(has(&text, "_32x32x16_bf8_fp8(b, a, c"));
    f8_kernel("gfx942", TYPE_B8F8, TYPE_S, true, mfma, &v, &text);
    assert_true(has(&text, "_32x32x16_fp8_bf8(b, a, c"));
    assert_true(has(&text, "a = 0x43700000u")); /* 240 */
    f8_kernel("gfx1200", TYPE_F8B8, TYPE_S, false, wmma, &v, &text);
    assert_true(has(&text, "wmma_f32_16x16x16_fp8_bf8_w32_gfx12(a, b, c"));
    f8_kernel("gfx1201", TYPE_F8B8, TYPE_B8, true, (IntList){4, {16, 16, 16, 1}}, &v, &text);
    assert_true(has(&text, "wmma_f32_16x16x16_bf8_fp8_w32_gfx12(b, a, c"));
    assert_true(has(&text, "a = 0x43e00000u")); /* 448 */
    f8_kernel("gfx1100", TYPE_F8, TYPE_F8, false, wmma, &v, &text);
    assert_int_equal(v.rule, RULE_AMD_TYPE);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        GpuPlan p;
        ProblemType pt;
        assert_ok(problem_type_gemm(&pt, false, false, TYPE_F8, TYPE_S, TYPE_S));
        assert_int_equal(gpu_plan_types(&p, &pt, target_find(str_from(others[i]))), ERR_INPUT);
        assert_non_null(strstr(err_message(), "have no 8-bit floats, data types 'F8', 'S'"));
    }
    buf_fini(&text);
}

typedef struct {
    const char *arch;
    DataType in, out, compute;
    bool trans_a, trans_b;
    int depth, width;
    IntList mi;
} Shape;

/* The chosen layout of a plan with this number of stages has no bank conflicts. */
static void check_layout(const Shape *x, int stages)
{
    ProblemType pt;
    Deriver d;
    Verdict v;
    GpuPlan p;
    assert_ok(problem_type_gemm(&pt, x->trans_a, x->trans_b, x->in, x->out, x->compute));
    assert_ok(deriver_init(&d, &pt, target_find(str_from(x->arch)), NULL));
    Solution s = d.defaults;
    s.KernelLanguage = LANG_ASSEMBLY;
    s.MatrixInstruction = x->mi;
    s.DepthU = x->depth;
    s.GlobalReadVectorWidth = x->width;
    s.ScheduleIterAlg = 3;
    if (x->in == TYPE_D) s.StoreVectorWidth = 1;
    s.TransposeLDS = 1;
    s.LDSBuffer1 = stages == 1;
    if (!solution_derive(&d, &s, &v)) {
        Buf why;
        buf_init(&why);
        verdict_text(&v, &why);
        fail_msg("%s", buf_cstr(&why));
    }
    assert_ok(gpu_plan(&p, &s, d.target));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(lds_count(&p, i, amdgcn_matrix_reads), 0);
        assert_int_equal(lds_count(&p, i, amdgcn_buffer_writes), 0);
        assert_int_equal(amdgcn_conflicts(&p, i, false) + amdgcn_conflicts(&p, i, true), 0);
    }
}

static void test_layouts(void **state)
{
    (void)state;
    const Shape hhs_nn = {
        "gfx90a", TYPE_H, TYPE_H, TYPE_S, false, false, 32, 8, {9, {32, 32, 8, 1, 1, 2, 4, 2, 2}}};
    const Shape hhs_tn = {
        "gfx942", TYPE_H, TYPE_H, TYPE_S, true, false, 32, 8, {9, {16, 16, 16, 1, 1, 8, 4, 2, 2}}};
    const Shape d_tn = {
        "gfx90a", TYPE_D, TYPE_D, TYPE_D, true, false, 16, 2, {9, {16, 16, 4, 1, 1, 2, 8, 4, 1}}};
    const Shape s_nn = {
        "gfx90a", TYPE_S, TYPE_S, TYPE_S, false, false, 16, 4, {9, {32, 32, 2, 1, 1, 2, 2, 2, 2}}};
    check_layout(&hhs_nn, 1);
    check_layout(&hhs_nn, 2); /* A takes what B leaves over */
    check_layout(&hhs_tn, 1);
    check_layout(&hhs_tn, 2);
    check_layout(&d_tn, 1);
    check_layout(&d_tn, 2); /* 64 KiB: no room for pads, pieces are exchanged */
    check_layout(&s_nn, 1);
}

/* VALU kernels: B of NN comes transposed; pads between blocks of lines, in no more room than LdsPad's. */
static void test_valu_layout(void **state)
{
    (void)state;
    static const char *const archs[] = {"gfx900", "gfx906", "gfx90a", "gfx1030"};
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++) {
        ProblemType pt;
        Deriver d;
        Verdict v;
        GpuPlan p;
        assert_ok(problem_type_gemm(&pt, false, false, TYPE_S, TYPE_S, TYPE_S));
        assert_ok(deriver_init(&d, &pt, target_find(str_from(archs[i])), NULL));
        Solution s = d.defaults;
        s.KernelLanguage = LANG_ASSEMBLY;
        s.ThreadTile = (IntList){2, {8, 8}};
        s.DepthU = 16;
        s.VectorWidth = s.GlobalReadVectorWidth = 4;
        assert_true(solution_derive(&d, &s, &v));
        assert_int_equal(s.LdsPadB, 4);
        assert_ok(gpu_plan(&p, &s, d.target));
        for (int o = 0; o < 2; o++)
            assert_int_equal(amdgcn_conflicts(&p, o, false) + amdgcn_conflicts(&p, o, true), 0);
        assert_int_equal(p.op[1].layout.block, 4 * 128);
        assert_true(p.op[1].lds_bytes <= 16 * (128 + 4) * 4);
    }
}

/* BufferStore: D through raw buffers with NonTemporalD's cache policy, but not sums in atomic operations. */
static void test_stores(void **state)
{
    (void)state;
    const struct {
        bool buffer;
        int gsu, hint;
        bool multiple;
        const char *has, *has_not;
    } rows[] = {{true, 1, 0, false, "s.ldd + down * 4), 0, 0);", "@put"},
                {true, 1, 3, false, "s.ldd + down * 4), 0, 3);", "@put"},
                {true, 3, 0, true, "@raw_store", "@raw_load"},
                {true, 3, 0, false, "@atomic_add", "@raw_store"},
                {false, 1, 0, false, "@put_vector", "@raw_store"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ProblemType pt;
        Deriver d;
        Verdict v;
        Program program;
        Arena arena;
        Buf text;
        assert_ok(problem_type_gemm(&pt, false, false, TYPE_S, TYPE_S, TYPE_S));
        assert_ok(deriver_init(&d, &pt, target_find(STR("gfx906")), NULL));
        Solution s = d.defaults;
        s.BufferStore = rows[i].buffer;
        s.NonTemporalD = rows[i].hint;
        s.GlobalSplitU = rows[i].gsu;
        s.GlobalSplitUAlgorithm = rows[i].multiple ? GSUA_MULTIPLE : GSUA_SINGLE;
        s.KernelLanguage = LANG_ASSEMBLY;
        s.ThreadTile = intlist2(8, 8);
        s.VectorWidth = 4;
        assert_true(solution_derive(&d, &s, &v));
        arena_init(&arena, 0);
        assert_ok(program_build(&program, &s, d.target, &arena));
        for (size_t j = 0; pass_at(j); j++) assert_ok(pass_at(j)->run(&program));
        buf_init(&text);
        gpu_store(program.gpu, &text);
        assert_non_null(strstr(buf_cstr(&text), rows[i].has));
        assert_null(strstr(buf_cstr(&text), rows[i].has_not));
        buf_fini(&text);
        arena_fini(&arena);
    }
}

/* DirectToLds and PrefetchAcrossPersistent: single precision, both operands across K. */
typedef struct {
    bool a, b;
    int prefetch, persistent, across;
} ToLocal;

static void to_local_kernel(const ToLocal *w, GpuPlan *p, Buf *text)
{
    ProblemType pt;
    Deriver d;
    Verdict v;
    assert_ok(problem_type_gemm(&pt, false, true, TYPE_S, TYPE_S, TYPE_S));
    assert_ok(deriver_init(&d, &pt, target_find(STR("gfx90a")), &(DeriveLimits){.writer = true}));
    Solution s = d.defaults;
    s.KernelLanguage = LANG_ASSEMBLY;
    s.MatrixInstruction = (IntList){9, {32, 32, 2, 1, 1, 2, 2, 2, 2}};
    s.DepthU = 16, s.GlobalReadVectorWidth = 1, s.PrefetchLocalRead = 0, s.LDSBuffer1 = 0;
    s.DirectToLdsA = w->a, s.DirectToLdsB = w->b, s.PrefetchGlobalRead = w->prefetch;
    s.PersistentKernel = w->persistent, s.PrefetchAcrossPersistent = w->across;
    buf_reset(text);
    if (!solution_derive(&d, &s, &v)) {
        verdict_text(&v, text);
        fail_msg("%s", buf_cstr(text));
    }
    assert_ok(gpu_plan(p, &s, d.target));
    assert_ok(kernel_emit(&s, d.target, STR("k"), text));
}

static void test_to_local(void **state)
{
    (void)state;
    GpuPlan p;
    Buf text;
    buf_init(&text);
    /* 128 x 16 elements of each operand are 8 loads of 256 threads; waits leave the newest chunk */
    to_local_kernel(&(ToLocal){true, true, 2, 0, 0}, &p, &text);
    assert_true(p.n_stages == 3 && p.lds_bytes == 3 * 2 * 128 * 16 * 4);
    assert_true(has(&text, "g_LOADS_TO_LOCAL = 16;") && has(&text, "g_copy_wait(1);"));
    assert_true(has(&text, "g_copy_wait(0);") && has(&text, "g_load_to_local<4, 0, 7168>("));
    to_local_kernel(&(ToLocal){true, true, 1, 0, 0}, &p, &text);
    assert_true(p.n_stages == 2 && !has(&text, "g_copy_wait(1);") && has(&text, "g_copy_wait(0);"));
    /* the other operand goes through registers: the compiler's loads are not counted */
    to_local_kernel(&(ToLocal){true, false, 1, 0, 0}, &p, &text);
    assert_true(has(&text, "g_LOADS_TO_LOCAL = 8;") && has(&text, "g_copy_load_from<g_CopyB, 0>("));
    assert_false(has(&text, "g_copy_wait(1);"));
    /* two chunks ahead: what waits in registers is stored in front of the next loads */
    to_local_kernel(&(ToLocal){true, false, 2, 0, 0}, &p, &text);
    assert_true(p.n_stages == 3 && p.n_sets == 1);
    const char *turn = strstr(buf_cstr(&text), "g_copy_wait(1);");
    assert_non_null(turn);
    const char *store = strstr(turn, "g_copy_store(copy, 0, "), *load = strstr(turn, "g_copy_load(copy, 0, ");
    assert_true(store && load && store < load && load < strstr(turn, "g_stage(acc, "));
    /* a layout in which lanes of a wave are apart */
    assert_ok(p.copy->check(&p));
    p.op[0].layout.block = 32, p.op[0].layout.pad = 4;
    assert_int_equal(p.copy->check(&p), ERR_INPUT);
    assert_non_null(strstr(err_message(), "DirectToLds of A: load 0 of thread"));
    buf_fini(&text);
}

static void test_across_persistent(void **state)
{
    (void)state;
    GpuPlan p;
    Buf text;
    buf_init(&text);
    for (int direct = 0; direct < 2; direct++) {
        to_local_kernel(&(ToLocal){direct, direct, 1, 1, 1}, &p, &text);
        const char *kernel = strstr(buf_cstr(&text), "while (has_tile | stores)");
        assert_non_null(kernel);
        const char *load = strstr(kernel, "g_copy_load(copy"),
                   *finish = strstr(kernel, "g_finish(last, o, acc");
        const char *sums = strstr(kernel, "g_acc_zero(acc)");
        assert_true(load && finish && sums && load < finish && finish < sums);
        assert_true((strstr(sums, "g_barrier();\n        has_tile = ") != NULL) == (direct != 0));
    }
    to_local_kernel(&(ToLocal){false, false, 1, 1, 0}, &p, &text);
    assert_false(has(&text, "has_tile | stores"));
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_to_local),    cmocka_unit_test(test_across_persistent),
        cmocka_unit_test(test_conflicts),   cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_stores),      cmocka_unit_test(test_f8),
        cmocka_unit_test(test_stochastic),  cmocka_unit_test(test_separate),
        cmocka_unit_test(test_valu_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
