/* Kernels with a ring of stages on nvptx: derivation, reasons to reject, and that every type has a text. */
#include "kernel/kernel.h"
#include "problem/conv_desc.h"
#include "problem/pack.h"
#include "space/derive.h"
#include "test/derive_rule.h"
#include "test/support.h"

static Deriver deriver(ProblemType *pt, const char *arch, DataType in, DataType out, DataType compute,
                       bool ta, bool tb)
{
    Deriver d;
    assert_ok(problem_type_gemm(pt, ta, tb, in, out, compute));
    if (in == TYPE_H || in == TYPE_B || in == TYPE_I8) pt->HighPrecisionAccumulate = true;
    assert_ok(deriver_init(&d, pt, target_find(str_from(arch)), NULL));
    return d;
}

static Solution matrix(const ProblemType *pt, int32_t k, int32_t wt0, int32_t wt1, int32_t depth)
{
    Solution s;
    solution_init(&s, pt);
    s.MatrixInstruction = (IntList){9, {16, 8, k, 1, 1, wt0, wt1, 2, 2}};
    s.DepthU = depth, s.StaggerU = 0, s.PrefetchGlobalRead = 3;
    return s;
}

static Solution threads(const ProblemType *pt, int32_t wg0, int32_t wg1, int32_t tt0, int32_t tt1)
{
    Solution s;
    solution_init(&s, pt);
    s.WorkGroup = intlist3(wg0, wg1, 1);
    s.ThreadTile = intlist2(tt0, tt1);
    s.DepthU = 16, s.StaggerU = 0, s.PrefetchGlobalRead = 2;
    return s;
}

static void test_thread_tiles(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90", TYPE_S, TYPE_S, TYPE_S, false, false);
    Solution s = threads(&pt, 8, 16, 16, 8);
    assert_true(solution_derive(&d, &s, NULL));
    assert_int_equal(s.NvRing, 1);
    assert_int_equal(s.MacroTile0, 128);
    assert_int_equal(s.MacroTile1, 128);
    assert_int_equal(s.NumThreads, 128);
    assert_int_equal(s.NvLanesM, 4);
    assert_int_equal(s.NvBlocks, 2);
    assert_int_equal(s.VectorWidth, 4);
    assert_int_equal(s.GlobalLoadVectorWidthA, 4); /* contiguous rows of the tile */
    assert_int_equal(s.GlobalLoadVectorWidthB, 1); /* turned element by element */
    assert_int_equal(s.LdsNumElements * 4, 3 * (16 * 128 * 4 + 16 * (128 * 4 + 16)));
    Solution other = threads(&pt, 8, 16, 16, 8);
    other.NvRing = 0, other.ThreadTile = intlist2(4, 4);
    assert_false(solution_derive(&d, &other, NULL)); /* two chunks ahead need the ring */
    other.PrefetchGlobalRead = 1;
    assert_true(solution_derive(&d, &other, NULL));
    assert_int_equal(other.NvRing, 0);
}

static void test_wave_tiles(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90", TYPE_H, TYPE_H, TYPE_S, true, false);
    Solution s = matrix(&pt, 16, 4, 8, 32);
    assert_true(solution_derive(&d, &s, NULL));
    assert_int_equal(s.MacroTile0, 128);
    assert_int_equal(s.MacroTile1, 128);
    assert_int_equal(s.NumThreads, 128);
    assert_int_equal(s.LoopIters, 2);
    assert_int_equal(s.MIWaveGroup.v[0], 2);
    assert_int_equal(s.MIWaveTile.v[1], 8);
    assert_int_equal(s.LdsNumElements * 2, 4 * 2 * 128 * 64);
    assert_int_equal(s.WorkGroup.v[0] * s.WorkGroup.v[1], 128); /* what is launched */
}

/* Single 16-bit elements go through registers, in pairs; whole vectors and 32-bit elements do not. */
static void test_held_copies(void **state)
{
    (void)state;
    static const struct {
        DataType type;
        int32_t given, width, loads;
        bool via_registers;
    } cases[] = {{TYPE_H, 1, 1, 16, true},
                 {TYPE_B, 1, 1, 16, true},
                 {TYPE_H, 2, 2, 16, false},
                 {TYPE_H, -1, 8, 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ProblemType pt;
        Deriver d = deriver(&pt, "sm_90", cases[i].type, cases[i].type, TYPE_S, false, false);
        Solution s = matrix(&pt, 16, 4, 8, 32);
        s.GlobalReadVectorWidth = cases[i].given;
        assert_true(solution_derive(&d, &s, NULL));
        assert_int_equal(s.GlobalLoadVectorWidthA, cases[i].width);
        assert_int_equal(s.NumLoadsA, cases[i].loads);
        Buf text;
        buf_init(&text);
        assert_ok(kernel_emit(&s, d.target, STR("k"), &text));
        assert_int_equal(strstr(buf_cstr(&text), "byte_select") != NULL, cases[i].via_registers);
        buf_fini(&text);
    }
}

static void test_reasons(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_80", TYPE_D, TYPE_D, TYPE_D, false, false);
    assert_rule(&d, matrix(&pt, 8, 2, 4, 16), RULE_MI_NOT_ON_ARCH); /* sm_80 has 8x8x4 alone */
    d = deriver(&pt, "sm_90", TYPE_H, TYPE_H, TYPE_S, false, false);
    assert_rule(&d, matrix(&pt, 8, 4, 8, 32), RULE_MI_NOT_FOR_TYPE);
    assert_rule(&d, matrix(&pt, 16, 4, 8, 16), RULE_NV_STEPS);
    assert_rule(&d, matrix(&pt, 16, 4, 7, 32), RULE_MI_THREAD_TILE);
    assert_rule(&d, matrix(&pt, 16, 3, 8, 32), RULE_NV_WAVE_TILE);
    assert_rule(&d, matrix(&pt, 16, 8, 16, 32), RULE_NV_REGISTERS);
    Solution s = matrix(&pt, 16, 4, 8, 128);
    s.PrefetchGlobalRead = 6;
    assert_rule(&d, s, RULE_NV_LOCAL);
    s = matrix(&pt, 16, 4, 8, 32);
    s.SourceSwap = 1;
    assert_rule(&d, s, RULE_NV_VALUE);
    d = deriver(&pt, "sm_90", TYPE_S, TYPE_S, TYPE_S, false, false);
    s = threads(&pt, 8, 16, 16, 8);
    s.NvLanesM = 16;
    assert_rule(&d, s, RULE_NV_LANES);
    s = threads(&pt, 8, 16, 16, 8);
    s.NvRing = 1, s.VectorWidth = 2;
    assert_rule(&d, s, RULE_NV_VW);
    s = threads(&pt, 8, 16, 4, 4);
    s.NvRing = 0, s.PrefetchGlobalRead = 1, s.NvShift = 1;
    assert_rule(&d, s, RULE_NV_NO_RING);
    s.NvShift = 0, s.NvBlocks = 4;
    assert_rule(&d, s, RULE_NV_NO_RING);
    s.NvBlocks = 0, s.NvLanesM = 4;
    assert_rule(&d, s, RULE_NV_NO_RING);
    s.NvLanesM = 0;
    assert_true(solution_derive(&d, &s, NULL));
    s = threads(&pt, 8, 8, 4, 4);
    s.NvRing = 1, s.WorkGroup.v[2] = 16;
    assert_rule(&d, s, RULE_NV_SPLIT);
    s.WorkGroup.v[2] = 3;
    assert_rule(&d, s, RULE_NV_SPLIT);
    s.WorkGroup.v[2] = 1, s.NvShift = 1;
    assert_rule(&d, s, RULE_NV_SHIFT); /* no matrix instruction */
    d = deriver(&pt, "gfx90a", TYPE_S, TYPE_S, TYPE_S, false, false);
    s = threads(&pt, 16, 16, 4, 4);
    s.PrefetchGlobalRead = 3;
    assert_rule(&d, s, RULE_PGR_RING);
    for (int ring = 0; ring < 2; ring++) {
        d = deriver(&pt, ring ? "sm_80" : "sm_86", TYPE_F8, TYPE_S, TYPE_S, false, false);
        assert_rule(&d, ring ? matrix(&pt, 32, 2, 4, 64) : threads(&pt, 8, 8, 4, 4), RULE_NV_F8);
        d = deriver(&pt, "sm_90", TYPE_F8, TYPE_S, TYPE_S, false, false);
        d.stochastic = true;
        assert_rule(&d, ring ? matrix(&pt, 32, 2, 4, 64) : threads(&pt, 8, 8, 4, 4), RULE_NV_STOCHASTIC);
    }
    d = deriver(&pt, "sm_90", TYPE_F8, TYPE_S, TYPE_S, false, false);
    assert_rule(&d, matrix(&pt, 16, 2, 4, 64), RULE_MI_NOT_FOR_TYPE);
}

/* K split inside the work-group: each part has all sums of the tile, and a share of the steps. */
static void test_split(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90", TYPE_H, TYPE_H, TYPE_S, false, false);
    Solution s = matrix(&pt, 16, 1, 2, 128);
    s.MatrixInstruction.v[7] = s.MatrixInstruction.v[8] = 1;
    s.WorkGroup = intlist3(16, 8, 4), s.EdgeType = EDGE_SHIFTPTR;
    assert_true(solution_derive(&d, &s, NULL));
    assert_int_equal(s.NumThreads, 4 * 32);
    assert_int_equal(s.MacroTile0, 16);
    assert_int_equal(s.MacroTile1, 16);
    assert_int_equal(s.LocalSplitU, 4);
    assert_int_equal(s.LoopIters, 2);            /* of 8 steps of 16 */
    assert_int_equal(s.NumElementsPerThread, 8); /* 16 x 16 in 32 threads */
    assert_int_equal(s.EdgeType, EDGE_SHIFTPTR);
    s = matrix(&pt, 16, 1, 2, 32);
    s.MatrixInstruction.v[7] = s.MatrixInstruction.v[8] = 1;
    s.WorkGroup = intlist3(16, 8, 4);
    assert_rule(&d, s, RULE_LOOP_EMPTY);
    d = deriver(&pt, "gfx90a", TYPE_H, TYPE_H, TYPE_S, false, false);
    s.WorkGroup = intlist3(16, 8, 8), s.MatrixInstruction.v[0] = 32, s.MatrixInstruction.v[1] = 32;
    s.MatrixInstruction.v[2] = 8, s.PrefetchGlobalRead = 1;
    assert_rule(&d, s, RULE_MI_SPLIT_U);
}

static void check_text(const Deriver *d, Solution s, const char *piece)
{
    Verdict v;
    Buf text, why;
    buf_init(&text);
    buf_init(&why);
    if (!solution_derive(d, &s, &v)) {
        verdict_text(&v, &why);
        fail_msg("rejected: %s", buf_cstr(&why));
    }
    assert_ok(kernel_emit(&s, d->target, STR("k"), &text));
    Str t = buf_view(&text);
    assert_names(t);
    assert_non_null(strstr(buf_cstr(&text), piece));
    assert_int_equal(strstr(buf_cstr(&text), "cp.async") != NULL, s.NvRing == 1);
    buf_fini(&why);
    buf_fini(&text);
}

/* The ways in which input is rounded to tf32, and shifted copies, which both layouts have. */
static void test_xf32(void **state)
{
    (void)state;
    static const char *const rounds[] = {"m16n8k8.row.col.f32.tf32", "cvt.rna.tf32", "fma.rn.f32"};
    ProblemType pt;
    for (int op = 0; op < 4; op++)
        for (int32_t i = 0; i < 3; i++) {
            Deriver d = deriver(&pt, "sm_90", TYPE_S, TYPE_S, TYPE_S, op & 1, op & 2);
            d.xdl = pt.F32XdlMathOp = TYPE_X;
            Solution s = matrix(&pt, 8, 2, 4, 32);
            s.NvRoundXF32 = i, s.NvShift = i == 2;
            check_text(&d, s, rounds[i]);
            check_text(&d, s, s.NvShift ? "_extra_a(" : "_elements_a(");
        }
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        DataType in, out, compute;
        int32_t k, depth;
        const char *piece;
    } mma[] = {{TYPE_H, TYPE_H, TYPE_S, 16, 32, "m16n8k16.row.col.f32.f16"},
               {TYPE_H, TYPE_S, TYPE_S, 16, 32, "m16n8k16.row.col.f32.f16"},
               {TYPE_B, TYPE_B, TYPE_S, 16, 32, "m16n8k16.row.col.f32.bf16"},
               {TYPE_D, TYPE_D, TYPE_D, 8, 16, "m16n8k8.row.col.f64"},
               {TYPE_I8, TYPE_I, TYPE_I, 32, 64, "m16n8k32.row.col.s32.s8"}};
    ProblemType pt;
    for (int op = 0; op < 4; op++) {
        for (size_t i = 0; i < sizeof mma / sizeof *mma; i++) {
            Deriver d = deriver(&pt, "sm_90", mma[i].in, mma[i].out, mma[i].compute, op & 1, op & 2);
            check_text(&d, matrix(&pt, mma[i].k, 2, 4, mma[i].depth), mma[i].piece);
        }
        for (DataType t = TYPE_S; t <= TYPE_Z; t++) {
            Deriver d = deriver(&pt, "sm_80", t, t, t, op & 1, op & 2);
            check_text(&d, threads(&pt, 8, 16, 4, 4), "Frag");
        }
    }
}

/* 128 threads copy two elements each of a row of 256: the same again from the state of a logic file, which
 * has that number, and no other one. */
static void test_coalesced(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90", TYPE_S, TYPE_S, TYPE_S, false, false);
    Solution s = threads(&pt, 16, 8, 16, 8);
    s.DepthU = 8, s.GlobalReadVectorWidth = 1;
    assert_true(solution_derive(&d, &s, NULL));
    assert_true(s.MacroTile0 == 256 && s.NumThreads == 128 && s.NumLoadsCoalescedA == 2);
    Solution again = s;
    assert_true(solution_derive(&d, &again, NULL));
    assert_memory_equal(&again, &s, sizeof s);
    s.NumLoadsCoalescedA = 4;
    assert_false(solution_derive(&d, &s, NULL));
}

/* Operands of their own types, D of three; B is the instruction's row operand. sm_90 multiplies in binary16.
 */
static Solution warp_groups(const ProblemType *pt, int32_t m, int32_t n, int32_t k, int32_t wt1,
                            int32_t groups1)
{
    Solution s;
    solution_init(&s, pt);
    s.MatrixInstruction = (IntList){9, {m, n, k, 1, 1, 1, wt1, 1, groups1}};
    s.StaggerU = 0, s.PersistentKernel = 1, s.PersistentKernelAlongBatch = 1;
    return s;
}

/* wgmma: tile, threads, local memory and registers from one plan; the same again from the state of a logic
 * file. */
static void test_wgmma_plan(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90a", TYPE_H, TYPE_H, TYPE_S, true, false);
    Solution s = warp_groups(&pt, 256, 64, 16, 1, 2);
    assert_true(solution_derive(&d, &s, NULL));
    assert_true(s.MacroTile0 == 256 && s.MacroTile1 == 128 && s.DepthU == 64 && s.NumThreads == 384);
    assert_true(s.SourceSwap == 1 && s.RingStages == 4 && s.ProducerRegisters == 56 &&
                s.ConsumerRegisters == 224);
    assert_int_equal(s.LdsNumElements * 2, 4 * (256 + 128) * 128 + 2 * 2 * 8192 + 512 + 1024);
    Solution again = s;
    assert_true(solution_derive(&d, &again, NULL));
    assert_memory_equal(&again, &s, sizeof s);
    Solution turns = warp_groups(&pt, 192, 64, 16, 2, 1);
    turns.ConsumerSchedule = SCHEDULE_PINGPONG;
    assert_true(solution_derive(&d, &turns, NULL));
    assert_true(turns.MacroTile0 == 192 && turns.MacroTile1 == 128 && turns.NumThreads == 384);
    assert_true(turns.ConsumerRegisters == 232 && turns.ProducerRegisters == 40);
    again = turns;
    assert_true(solution_derive(&d, &again, NULL));
    assert_memory_equal(&again, &turns, sizeof turns);
    Solution split = warp_groups(&pt, 128, 64, 16, 1, 2);
    split.GlobalSplitU = 4, split.GlobalSplitUAlgorithm = GSUA_MULTIPLE;
    assert_true(solution_derive(&d, &split, NULL));
    assert_int_equal(split.EngineStore, 1); /* of the sums of parts, into the workspace */
    split = warp_groups(&pt, 128, 64, 16, 1, 2);
    split.GlobalSplitUAlgorithm = GSUA_SINGLE_KERNEL, split.GlobalSplitU = 3;
    assert_true(solution_derive(&d, &split, NULL));
    assert_true(split.EngineStore == 1 && split.GlobalAccumulation == GACC_PARTIALS);
    assert_int_equal(split.WorkspaceSizePerElemC, 3 * 4);
    Solution stream = warp_groups(&pt, 128, 64, 16, 1, 2);
    stream.StreamK = 2, stream.PersistentKernel = 0;
    assert_true(solution_derive(&d, &stream, NULL));
    assert_true(stream.EngineStore == 1 && stream.GlobalAccumulation == GACC_PARTIALS);
    assert_int_equal(stream.WorkspaceSizePerElemC, 2 * 4); /* two slots of each work-group */
    again = stream;
    assert_true(solution_derive(&d, &again, NULL));
    assert_memory_equal(&again, &stream, sizeof stream);
    Solution members = warp_groups(&pt, 128, 64, 16, 1, 2);
    members.ClusterK = 8;
    assert_true(solution_derive(&d, &members, NULL));
    /* sums take the ring's place, so there are no slices, and one stage more than with them */
    assert_true(members.EngineStore == 0 && members.GlobalSplitU == 1 && members.WorkspaceSizePerElemC == 0);
    assert_int_equal(members.LdsNumElements * 2, 7 * (128 + 128) * 128 + 512 + 1024);
    again = members;
    assert_true(solution_derive(&d, &again, NULL));
    assert_memory_equal(&again, &members, sizeof members);
}

/* Stream-K of kernels without wgmma. */
static void test_stream_k_reasons(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90a", TYPE_H, TYPE_H, TYPE_S, false, false);
    Solution bad = matrix(&pt, 16, 4, 4, 64);
    bad.GlobalSplitU = 2, bad.StreamK = 1;
    assert_rule(&d, bad, RULE_STREAM_K_ALONE);
    bad.GlobalSplitU = 1, bad.PersistentKernel = 1;
    assert_rule(&d, bad, RULE_STREAM_K_ALONE);
    bad.PersistentKernel = 0, bad.StreamKAtomic = 1; /* D is half */
    assert_rule(&d, bad, RULE_STREAM_K_ADDS);
}

static void test_lag_reasons(void **state)
{
    (void)state;
    ProblemType pt;
    const Deriver d = deriver(&pt, "sm_90a", TYPE_H, TYPE_H, TYPE_S, true, false);
    Solution s = warp_groups(&pt, 256, 64, 16, 1, 2);
    s.ConsumerLag = 4; /* as many as stages */
    assert_rule(&d, s, RULE_WG_LAG_STAGES);
    s.ConsumerLag = 1, s.ClusterK = 2;
    assert_rule(&d, s, RULE_WG_LAG_CLUSTER);
    s.ClusterK = 1, s.MatrixInstruction.v[8] = 1;
    assert_rule(&d, s, RULE_WG_LAG);
    s.ConsumerSchedule = SCHEDULE_PINGPONG;
    assert_rule(&d, s, RULE_WG_LAG);
}

static void test_wgmma_reasons(void **state)
{
    (void)state;
    ProblemType pt, other;
    Deriver d = deriver(&pt, "sm_90a", TYPE_H, TYPE_H, TYPE_S, true, false);
    Deriver plain = deriver(&other, "sm_90", TYPE_H, TYPE_H, TYPE_S, true, false);
    Solution s = warp_groups(&pt, 256, 64, 16, 1, 2);
#define REASON(change, rule)                                                                                 \
    do {                                                                                                     \
        Solution bad = s;                                                                                    \
        change;                                                                                              \
        assert_rule(&d, bad, rule);                                                                          \
    } while (0)
    assert_rule(&plain, s, RULE_MI_NOT_ON_ARCH);
    REASON(bad.MatrixInstruction.v[2] = 8, RULE_MI_NOT_FOR_TYPE);
    REASON(bad.MatrixInstruction.v[7] = 2, RULE_WG_LANES);
    REASON(bad.ConsumerSchedule = SCHEDULE_PINGPONG, RULE_WG_PINGPONG);
    REASON(bad.PersistentKernel = 0, RULE_WG_PERSISTENT);
    REASON(bad.PersistentKernelAlongBatch = 0, RULE_WG_PERSISTENT);
    REASON(bad.DepthU = 96, RULE_WG_DEPTH);
    REASON(bad.MatrixInstruction.v[0] = 72, RULE_WG_COLUMNS);
    REASON(bad.ClusterM = bad.ClusterN = 4, RULE_WG_CLUSTER);
    REASON(bad.ClusterM = bad.ClusterN = 2; bad.ClusterK = 4, RULE_WG_CLUSTER_K);
    REASON(bad.ClusterK = bad.GlobalSplitU = 2;
           bad.GlobalSplitUAlgorithm = GSUA_SINGLE_KERNEL, RULE_WG_CLUSTER_SPLIT);
    REASON(bad.PartsFirst = 1, RULE_WG_PARTS_FIRST);
    REASON(bad.SelfResetCounters = 1, RULE_WG_COUNTERS);
    REASON(bad.SelfResetCounters = 1; bad.GlobalSplitU = 2;
           bad.GlobalSplitUAlgorithm = GSUA_MULTIPLE, RULE_WG_COUNTERS);
    REASON(bad.SelfResetCounters = 1; bad.GlobalSplitU = 17;
           bad.GlobalSplitUAlgorithm = GSUA_SINGLE_KERNEL, RULE_WG_COUNTERS);
    REASON(bad.ClusterK = 2; bad.MatrixInstruction.v[8] = 1;
           bad.ConsumerSchedule = SCHEDULE_PINGPONG, RULE_WG_CLUSTER_K);
    REASON(bad.StreamK = 1, RULE_WG_STREAM_K); /* and PersistentKernel */
    REASON(bad.StreamK = 1; bad.PersistentKernel = 0; bad.ClusterK = 2, RULE_WG_STREAM_K);
    REASON(bad.StreamK = bad.StreamKAtomic = 1; bad.PersistentKernel = 0, RULE_WG_STREAM_K);
    REASON(bad.ClusterK = 2; bad.RingStages = 2, RULE_WG_CLUSTER_SUMS); /* 128 x 264 sums */
    REASON(bad.MatrixInstruction.v[6] = 2, RULE_WG_REGISTERS);
    REASON(bad.ConsumerRegisters = 248, RULE_WG_REGISTERS); /* 2 * 248 + 56 are more than 512 */
    REASON(bad.RingStages = 5, RULE_WG_STAGES);
    REASON(bad.KeepWindow = 64, RULE_WG_VALUE);
    REASON(bad.GlobalSplitU = 2, RULE_WG_SPLIT);
    REASON(bad.NonTemporalA = 1, RULE_WG_VALUE);
#undef REASON
    Solution threads_only = matrix(&pt, 16, 4, 4, 64);
    threads_only.ClusterN = 2;
    assert_rule(&d, threads_only, RULE_WG_ONLY);
    threads_only.ClusterN = 1;
    threads_only.ClusterK = 2;
    assert_rule(&d, threads_only, RULE_WG_ONLY);
    threads_only.ClusterK = 1, threads_only.DependentLaunch = 1;
    assert_rule(&d, threads_only, RULE_WG_ONLY);
    threads_only.DependentLaunch = 0, threads_only.PackOperands = 1;
    assert_rule(&d, threads_only, RULE_WG_ONLY);
    d = deriver(&pt, "sm_90a", TYPE_H, TYPE_H, TYPE_S, false, false);
    Solution narrow = warp_groups(&pt, 96, 64, 16, 1, 2); /* A's last block of 64 rows is half used */
    assert_true(solution_derive(&d, &narrow, NULL));
    assert_int_equal(narrow.LdsNumElements * 2,
                     narrow.RingStages * (128 + 128) * 128 + 2 * 2 * 64 * 32 * 2 + 512 + 1024);
    assert_rule(&d, warp_groups(&pt, 128, 64, 16, 3, 2), RULE_WG_SIDE);
}

/* Operands of tf32 with K strided: copied, or through registers. */
static void test_wgmma_strided_k(void **state)
{
    (void)state;
    ProblemType pt;
    Deriver d = deriver(&pt, "sm_90a", TYPE_S, TYPE_S, TYPE_S, false, false);
    pt.F32XdlMathOp = TYPE_X;
    assert_ok(deriver_init(&d, &pt, d.target, NULL));
    assert_rule(&d, warp_groups(&pt, 256, 64, 8, 1, 2), RULE_WG_K_MAJOR);
    Solution copies = warp_groups(&pt, 256, 64, 8, 1, 2); /* of A, which has K strided; not of B alone */
    copies.PackOperands = 2;
    assert_rule(&d, copies, RULE_WG_K_MAJOR);
    copies.PackOperands = 1;
    assert_true(solution_derive(&d, &copies, NULL));
    copies.RowsFromRegisters = 1; /* of B, whose K is contiguous */
    assert_rule(&d, copies, RULE_WG_ROWS);
    Solution rows = warp_groups(&pt, 64, 128, 8, 1, 1);
    assert_rule(&d, rows, RULE_WG_K_MAJOR);
    rows.RowsFromRegisters = 1;
    assert_true(solution_derive(&d, &rows, NULL));
}

/* Kernels that make lines of pixels have a warp group more, which makes them. */
static void test_lines(void **state)
{
    (void)state;
    ConvDesc c;
    ProblemType pt, gemm;
    Deriver d = deriver(&gemm, "sm_90a", TYPE_H, TYPE_H, TYPE_S, true, false);
    Solution s = warp_groups(&gemm, 64, 128, 16, 1, 1);
    s.PackOperands = PACK_LINES | PACK_A;
    assert_rule(&d, s, RULE_WG_VALUE);
    conv_desc_init(&c);
    conv_desc_types(&c, TYPE_H);
    conv_desc_formats(&c, true);
    assert_ok(conv_problem_type(&c, &pt));
    assert_ok(deriver_init(&d, &pt, d.target, NULL));
    s = warp_groups(&pt, 64, 192, 16, 1, 1);
    s.ConsumerSchedule = SCHEDULE_PINGPONG, s.PackBatchDims = 1,
    s.PackOperands = PACK_LINES | PACK_A | PACK_B;
    assert_true(solution_derive(&d, &s, NULL));
    assert_true(s.NumThreads == 512 && s.ProducerRegisters == 112 && s.ConsumerRegisters == 144);
    assert_int_equal(s.LdsNumElements * 2, s.RingStages * (64 + 192) * 128 + 2 * 2 * 8192 + 512 + 1024 + 128 +
                                               2 * (192 * 8 + 45056));
    Solution again = s;
    assert_true(solution_derive(&d, &again, NULL));
    assert_memory_equal(&again, &s, sizeof s);
    Solution wide = warp_groups(&pt, 64, 256, 16, 1, 1); /* one that multiplies has registers for them */
    wide.PackBatchDims = 1, wide.PackOperands = s.PackOperands;
    assert_true(solution_derive(&d, &wide, NULL));
    assert_int_equal(wide.NumThreads, 384);
    Solution bad = warp_groups(&pt, 64, 256, 16, 1, 1);
    bad.ConsumerSchedule = SCHEDULE_PINGPONG, bad.PackBatchDims = 1, bad.PackOperands = s.PackOperands;
    assert_rule(&d, bad, RULE_WG_REGISTERS);
    bad = warp_groups(&pt, 64, 128, 16, 1, 1);
    bad.PackBatchDims = 1, bad.PackOperands = s.PackOperands, bad.ClusterN = 2;
    assert_rule(&d, bad, RULE_WG_WINDOW_LINES);
    bad.ClusterN = 1, bad.PackOperands = PACK_LINES;
    assert_rule(&d, bad, RULE_WG_WINDOW_COPY);
}

static bool text_has(const Deriver *d, Solution s, const char *word)
{
    Buf text;
    buf_init(&text);
    assert_true(solution_derive(d, &s, NULL));
    assert_ok(kernel_emit(&s, d->target, STR("kernel"), &text));
    bool has = strstr(buf_cstr(&text), word) != NULL;
    /* the program's own text has every number of it */
    Buf program, again;
    buf_init(&program);
    buf_init(&again);
    assert_ok(kernel_dump(&s, d->target, STR("edges"), &program));
    assert_ok(kernel_emit_text(buf_view(&program), "p", STR("kernel"), &again));
    assert_true(str_eq(buf_view(&text), buf_view(&again)));
    buf_fini(&program);
    buf_fini(&again);
    buf_fini(&text);
    return has;
}

/* What stands in the program is in the text: instruction, majors of X and Y, cluster, registers. */
static void test_wgmma_texts(void **state)
{
    (void)state;
    static const struct {
        DataType in, out, compute;
        int32_t k;
        const char *instruction;
    } types[] = {{TYPE_H, TYPE_H, TYPE_S, 16, "m64n256k16.f32.f16.f16"},
                 {TYPE_B, TYPE_S, TYPE_S, 16, "m64n256k16.f32.bf16.bf16"},
                 {TYPE_I8, TYPE_I, TYPE_I, 32, "m64n256k32.s32.s8.s8"}};
    static const char *const majors[] = {"p, 1, 1, 0, 1;", "p, 1, 1, 0, 0;", "p, 1, 1, 1, 1;",
                                         "p, 1, 1, 1, 0;"};
    ProblemType pt;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (unsigned op = 0; op < 4; op++) { /* NN, TN, NT, TT; swapped: X is B */
            if (types[t].k == 32 && op != 1) continue;
            Deriver d = deriver(&pt, "sm_90a", types[t].in, types[t].out, types[t].compute, op & 1, op & 2);
            Solution s = warp_groups(&pt, 256, 64, types[t].k, 1, 2);
            assert_true(text_has(&d, s, types[t].instruction));
            if (types[t].k == 16) assert_true(text_has(&d, s, majors[op]));
            assert_false(text_has(&d, s, "__cluster_dims__"));
            assert_false(text_has(&d, s, "    wait_for_launches();"));
            s.DependentLaunch = 1, s.ClusterK = 4;
            assert_true(text_has(&d, s, "__cluster_dims__(4, 1, 1)"));
            assert_true(text_has(&d, s, "q < 4"));
            assert_true(text_has(&d, s, "    wait_for_launches();"));
            s.ClusterK = 1;
            s.ClusterM = 2, s.RingStages = 3, s.ConsumerRegisters = 232, s.ProducerRegisters = 40;
            assert_true(text_has(&d, s, "__cluster_dims__(2, 1, 1)"));
            assert_true(text_has(&d, s, "stage == 3"));
            assert_true(text_has(&d, s, "more_registers<232>();"));
        }
}

static void test_f8(void **state)
{
    (void)state;
    static const struct {
        DataType in, byte;
        const char *op;
        bool e5m2[2]; /* A, B */
    } types[] = {{TYPE_F8, TYPE_F8, "m16n8k32.row.col.f32.e4m3.e4m3", {false, false}},
                 {TYPE_B8, TYPE_B8, "m16n8k32.row.col.f32.e5m2.e5m2", {true, true}},
                 {TYPE_F8B8, TYPE_B8, "m16n8k32.row.col.f32.e5m2.e4m3", {false, true}},
                 {TYPE_B8F8, TYPE_B8, "m16n8k32.row.col.f32.e4m3.e5m2", {true, false}}};
    static const char *const halves[] = {"asm(\"{ .reg .b16 low, high;", "low = __byte_perm(x, 0, 0x1404)"};
    static const char *const widen[] = {"g_f8_to_f(f.", "g_b8_to_f(f."};
    ProblemType pt;
    for (int i = 0; i < 4 * 4 * 3; i++) {
        int t = i / 12, op = i / 3 % 4;
        char function[120];
        const DataType dest = i % 3 == 0 ? TYPE_S : i % 3 == 1 ? TYPE_H : types[t].byte;
        Deriver d = deriver(&pt, "sm_89", types[t].in, dest, TYPE_S, op & 1, op & 2);
        check_text(&d, matrix(&pt, 32, 2, 4, 64), types[t].op);
        d = deriver(&pt, "sm_90a", types[t].in, dest, TYPE_S, op & 1, op & 2);
        Solution s = matrix(&pt, 32, 2, 4, 64), registers = threads(&pt, 8, 8, 4, 4);
        registers.PrefetchGlobalRead = 1;
        check_text(&d, s, "m16n8k16.row.col.f32.f16.f16");
        for (int x = 0; x < 2; x++) {
            snprintf(function, sizeof function,
                     "g_halves_%c(unsigned &low, unsigned &high, unsigned x)\n{\n    %s", "ab"[x],
                     halves[types[t].e5m2[x]]);
            check_text(&d, s, function);
            snprintf(function, sizeof function, "%s%c[", widen[types[t].e5m2[x]], "ab"[x]);
            check_text(&d, registers, function);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thread_tiles),    cmocka_unit_test(test_wave_tiles),
        cmocka_unit_test(test_held_copies),     cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_split),           cmocka_unit_test(test_xf32),
        cmocka_unit_test(test_texts),           cmocka_unit_test(test_coalesced),
        cmocka_unit_test(test_wgmma_plan),      cmocka_unit_test(test_stream_k_reasons),
        cmocka_unit_test(test_lag_reasons),     cmocka_unit_test(test_wgmma_reasons),
        cmocka_unit_test(test_wgmma_strided_k), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_wgmma_texts),     cmocka_unit_test(test_f8)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
