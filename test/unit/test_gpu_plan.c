/* GPU kernels as plans and texts: arguments against the bytes that the launcher makes, what is refused and
 * why, texts of all types and architectures, and that compilers take them. Numbers are checked by the
 * conformance tests, on an emulator. */
#include "test/support.h"

#include "base/proc.h"
#include "client/runtime/launch.h"
#include "kernel/plan.h"
#include "kernel/helper.h"
#include "kernel/kernel.h"
#include "space/derive.h"
#include "test/lib_solution.h"

typedef struct {
    Arena a;
    ProblemType pt;
    Deriver d;
    Solution s;
    const Target *t;
    Verdict v;
} Case;

static const Node *map_of(Arena *a, const char *text)
{
    Node *n;
    assert_ok(yaml_parse(a, "case", str_from(text), NULL, &n));
    return n;
}

/* False: a rule rejected it (c->v). */
static bool case_init(Case *c, const char *arch, const char *problem, const char *solution)
{
    arena_init(&c->a, 0);
    c->t = target_find(str_from(arch));
    assert_non_null(c->t);
    ProblemReadOptions o = {.strict = true};
    assert_ok(problem_type_read("case", map_of(&c->a, problem), &o, &c->pt));
    assert_ok(deriver_init(&c->d, &c->pt, c->t, NULL));
    solution_init(&c->s, &c->pt);
    const Node *given = map_of(&c->a, solution);
    for (size_t i = 0; i < given->n; i++) {
        const Param *p = param_find(given->item[2 * i].text);
        if (!p) fail_msg("no parameter '%.*s'", STR_ARG(given->item[2 * i].text));
        assert_ok(param_parse_value(p, &given->item[2 * i + 1], &c->s));
        solution_mark(&c->s, (ParamId)p->id);
    }
    return solution_derive(&c->d, &c->s, &c->v);
}

static void case_fini(Case *c) { arena_fini(&c->a); }

/* ---- arguments ---- */

static const int64_t M = 37, N = 41, BATCH = 3, K = 530;

static uint64_t address(unsigned which) { return UINT64_C(0x7e50000000000000) + ((uint64_t)which << 40); }

/* What the launcher must have written for the argument of that name. */
static uint64_t expected(const Case *c, const Contraction *p, const LaunchHardware *hw, const char *name)
{
    const Solution *s = &c->s;
    int64_t tiles0 = (M + s->MacroTile0 - 1) / s->MacroTile0,
            tiles1 = (N + s->MacroTile1 - 1) / s->MacroTile1;
    bool workspace = s->GlobalAccumulation == GACC_SINGLE || s->GlobalAccumulation == GACC_MULTIPLE;
    LibSolution lib;
    lib_solution_of(s, "k", &lib);
    const struct {
        const char *name;
        uint64_t value;
    } table[] = {
        {"d", address(workspace ? 4 : 0)},
        {"c", address(workspace ? 4 : 1)},
        {"a", address(2)},
        {"b", address(3)},
        {"ldd", (uint64_t)(workspace ? M : p->d[1])},
        {"batch_d", (uint64_t)(workspace ? M * N : p->d[2])},
        {"ldc", (uint64_t)(workspace ? M : p->c[1])},
        {"batch_c", (uint64_t)(workspace ? M * N : p->c[2])},
        {"lda", (uint64_t)p->a[1]},
        {"batch_a", (uint64_t)p->a[2]},
        {"ldb", (uint64_t)p->b[1]},
        {"batch_b", (uint64_t)p->b[2]},
        {"size_m", (uint64_t)M},
        {"size_n", (uint64_t)N},
        {"size_batch", (uint64_t)BATCH},
        {"size_k", (uint64_t)K},
        {"offset_d", 5},
        {"offset_c", 6},
        {"offset_a", 7},
        {"offset_b", 8},
        {"stagger_mask", launch_stagger_iter(p, &lib)},
        {"tiles_m", (uint64_t)tiles0},
        {"tiles_n", (uint64_t)tiles1},
        {"tiles_batch", (uint64_t)BATCH},
        {"n_groups", (uint64_t)(hw->n_cu < tiles0 * tiles1 ? hw->n_cu : tiles0 * tiles1)},
        {"pad", 0},
        /* stream-K: 12 tiles of 67 chunks for 5 work-groups, which share all, or the 2 of the last round */
        {"sums", address(4)},
        {"flags", address(4) + 32 * 32 * 4 * 5},
        {"tile_chunks", 67},
        {"total_chunks", 804},
        {"share_chunks", s->StreamK == 1 ? 161 : 26},
        {"share_groups", 5},
        {"share_tiles", 2},
        {"longer_groups", 4},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) return table[i].value;
    return UINT64_MAX;
}

static void check_args(const char *arch, const char *problem, const char *solution, int least)
{
    Case c;
    GpuPlan plan;
    LaunchList list;
    LibSolution lib;
    Contraction p;
    assert_true(case_init(&c, arch, problem, solution));
    assert_ok(gpu_plan(&plan, &c.s, c.t));
    bool strided = c.pt.StridedBatched;
    contraction_gemm(&p, c.pt.TransposeA, c.pt.TransposeB, M, N, K, BATCH);
    contraction_strides(&p, 1001, 1003, 1007, 1009, strided ? 600011 : 0, strided ? 600013 : 0,
                        strided ? 600017 : 0, strided ? 600019 : 0);
    p.batched = c.pt.NumIndicesC > 2;
    p.strided_batched = strided;
    contraction_types(&p, (unsigned)c.pt.DataType, (unsigned)c.pt.DataType, (unsigned)c.pt.DestDataType,
                      (unsigned)c.pt.DestDataType, (unsigned)c.pt.ComputeDataType);
    lib_solution_of(&c.s, "k", &lib);
    unsigned char alpha[16], beta[16];
    memset(alpha, 0xa1, sizeof alpha);
    memset(beta, 0xb2, sizeof beta);
    LaunchInputs in = {.a = (void *)(uintptr_t)address(2),
                       .b = (void *)(uintptr_t)address(3),
                       .c = (void *)(uintptr_t)address(1),
                       .d = (void *)(uintptr_t)address(0),
                       .workspace = (void *)(uintptr_t)address(4),
                       .alpha = alpha,
                       .beta = beta};
    if (!strided) in.offset_d = 5, in.offset_c = 6, in.offset_a = 7, in.offset_b = 8;
    LaunchHardware hw = {.n_cu = c.s.StreamK ? 5 : 2};
    assert_ok(launch_build(&p, &lib, &in, &hw, &list));
    const KernelCall *call = NULL;
    for (uint32_t i = 0; i < list.n; i++)
        if (list.call[i].role == CALL_MAIN) call = &list.call[i];
    assert_non_null(call);
    assert_int_equal(call->n_arg_bytes, plan.arg_bytes);
    assert_int_equal(call->work_group[0], plan.n_threads);
    int known = 0;
    for (int i = 0; i < plan.n_args; i++) {
        const GpuArg *arg = &plan.arg[i];
        const unsigned char *at = call->args + arg->offset;
        if (!strncmp(arg->name, "alpha", 5) || !strncmp(arg->name, "beta", 4)) {
            for (int b = 0; b < arg->bytes; b++) assert_int_equal(at[b], arg->name[0] == 'a' ? 0xa1 : 0xb2);
            known++;
            continue;
        }
        uint64_t want = expected(&c, &p, &hw, arg->name), got = 0;
        if (want == UINT64_MAX) continue; /* magic numbers, which the kernels do not use */
        memcpy(&got, at, (size_t)arg->bytes);
        if (got != want)
            fail_msg("%s: %s is %#llx, not %#llx", solution, arg->name, (unsigned long long)got,
                     (unsigned long long)want);
        known++;
    }
    if (known < least) fail_msg("%s: %d arguments known, not %d", solution, known, least);
    case_fini(&c);
}

#define S_NN "{DataType: s, TransposeB: false, Batched: true}"
#define TILE "WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 8"
#define STREAM "KernelLanguage: Assembly, MatrixInstruction: [16, 16, 4, 1, 1, 1, 1, 2, 2], DepthU: 8"
#define ASM ", KernelLanguage: Assembly"

static void test_arguments(void **state)
{
    (void)state;
    check_args("gfx906", S_NN, "{" TILE "}", 21);
    check_args("gfx906", S_NN, "{" TILE ", StaggerU: 0}", 20);
    check_args("gfx906", S_NN, "{" TILE ASM "}", 22);
    check_args("gfx906", S_NN, "{" TILE ASM ", WorkGroupMapping: 1, StaggerU: 0}", 21);
    check_args("gfx906", S_NN, "{" TILE ASM ", WorkGroupMapping: -3}", 22);
    check_args("gfx906", S_NN, "{" TILE ASM ", PersistentKernel: 1, PersistentKernelAlongBatch: true}", 23);
    check_args("gfx906", S_NN, "{" TILE ", GlobalSplitU: 3, GlobalSplitUAlgorithm: MultipleBuffer}", 21);
    check_args("gfx90a", S_NN, "{" STREAM ", StreamK: 1}", 27);
    check_args("gfx90a", S_NN, "{" STREAM ", StreamK: 2, WorkGroupMapping: 8}", 30);
    check_args("gfx90a", S_NN, "{" STREAM ", StreamK: 3, StreamKAtomic: 1, StaggerU: 0}", 27);
    check_args("gfx906", "{DataType: d, TransposeB: false}", "{" TILE ASM "}", 17);
    check_args("gfx906", "{DataType: s, UseBeta: false, Batched: true}", "{" TILE "}", 20);
    check_args("gfx906", "{DataType: s, Batched: true, StridedBatched: false}", "{" TILE "}", 25);
    check_args("gfx906", "{DataType: z, Batched: true}", "{" TILE ASM "}", 22);
    check_args("gfx906", "{DataType: c, Batched: true}", "{" TILE "}", 21);
    check_args("gfx906", "{DataType: h, Batched: true}", "{" TILE ASM ", AssertFree0ElementMultiple: 2}", 24);
    check_args("gfx906", "{DataType: h, Batched: true}", "{" TILE "}", 21);
    check_args(
        "gfx90a",
        "{DataType: b, DestDataType: b, ComputeDataType: s, HighPrecisionAccumulate: true, Batched: true}",
        "{" TILE ", GlobalSplitU: 2}", 21);
    check_args("gfx90a", S_NN, "{" TILE ASM ", PreloadKernelArguments: 1, WorkGroupMapping: 1, StaggerU: 0}",
               21);
    check_args("sm_90", S_NN, "{" TILE "}", 21);
}

/* ---- refusals ---- */

static void refused(const char *arch, const char *problem, const char *solution, const char *why)
{
    Case c;
    Buf text;
    buf_init(&text);
    if (!case_init(&c, arch, problem, solution)) {
        verdict_text(&c.v, &text);
        fail_msg("%s: rejected by a rule: %s", solution, buf_cstr(&text));
    }
    assert_int_equal(kernel_emit(&c.s, c.t, STR("k"), &text), ERR_INPUT);
    if (!strstr(err_message(), why)) fail_msg("'%s' does not say '%s'", err_message(), why);
    buf_fini(&text);
    case_fini(&c);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("gfx906", S_NN, "{" TILE ", WorkGroupMappingType: Z, WorkGroupMapping: 2}",
            "WorkGroupMappingType Z with WorkGroupMapping 2");
    refused("gfx1100", S_NN,
            "{" TILE
            ", KernelLanguage: Assembly, GlobalReadVectorWidth: 1, VectorWidth: 1, DirectToLdsA: true}",
            "gfx1100 has no loads of 4 bytes into local memory");
    refused("gfx906", S_NN,
            "{WorkGroup: [8, 8, 1], ThreadTile: [3, 4], DepthU: 8, NoReject: true, VectorWidth: 2}",
            "do not make up");
    refused("sm_90", S_NN,
            "{WorkGroup: [8, 8, 1], ThreadTile: [4, 4], DepthU: 3, NoReject: true, GlobalReadVectorWidth: 2}",
            "do not make up");
}

/* ---- texts ---- */

static const char *const problems[] = {
    "{DataType: s, TransposeA: true, Batched: true}",
    "{DataType: d, Batched: true}",
    "{DataType: c, TransposeA: true, ComplexConjugateA: true, Batched: true}",
    "{DataType: z, Batched: true, StridedBatched: false}",
    "{DataType: h, Batched: true}",
    "{DataType: h, DestDataType: s, ComputeDataType: s, HighPrecisionAccumulate: true, Batched: true}",
    "{DataType: b, DestDataType: b, ComputeDataType: s, HighPrecisionAccumulate: true, Batched: true}",
    "{DataType: I8, DestDataType: i, ComputeDataType: i, HighPrecisionAccumulate: true, Batched: true}",
    "{DataType: 4xi8, DestDataType: i, ComputeDataType: i, HighPrecisionAccumulate: true, Batched: true}"};
static const char *const solutions[] = {
    "{" TILE "}", "{" TILE ", GlobalSplitU: 4, GlobalSplitUAlgorithm: MultipleBuffer, PrefetchGlobalRead: 0}",
    "{WorkGroup: [8, 8, 1], ThreadTile: [8, 2], VectorWidth: 2, DepthU: 16, PersistentKernel: 2, StaggerU: "
    "4}",
    "{" TILE ", NonTemporalA: 1, NonTemporalB: 2, NonTemporalC: 3, NonTemporalD: 3}"};
enum { N_PROBLEMS = sizeof problems / sizeof *problems, N_SOLUTIONS = sizeof solutions / sizeof *solutions };

/* Kernel i and its helpers; the helpers of different kernels have the same names, so only the first's. */
static void emit(const char *arch, size_t i, bool helpers, Buf *out)
{
    Case c;
    char symbol[32];
    HelperKernel helper[HELPERS_MAX];
    size_t n;
    if (!case_init(&c, arch, problems[i / N_SOLUTIONS], solutions[i % N_SOLUTIONS])) {
        case_fini(&c);
        return; /* a type that the solution's widths do not fit */
    }
    snprintf(symbol, sizeof symbol, "kernel_%zu", i);
    assert_ok(kernel_emit(&c.s, c.t, str_from(symbol), out));
    assert_ok(kernel_helpers(&c.a, &c.s, helper, &n));
    for (size_t h = 0; helpers && h < n; h++) assert_ok(kernel_emit_helper(&c.pt, c.t, &helper[h], out));
    case_fini(&c);
}

static void test_texts(void **state)
{
    (void)state;
    for (size_t t = 0; target_at(t); t++) {
        const Target *target = target_at(t);
        size_t n = 0;
        if (target->family == TARGET_HOST) continue;
        for (size_t i = 0; i < (size_t)N_PROBLEMS * N_SOLUTIONS; i++) {
            Buf first, second;
            buf_init(&first);
            buf_init(&second);
            emit(target->name, i, true, &first);
            emit(target->name, i, true, &second);
            assert_true(str_eq(buf_view(&first), buf_view(&second)));
            assert_names(buf_view(&first));
            const char *mark = target->family == TARGET_NVPTX ? "__launch_bounds__" : "work_group_size";
            if (first.n) assert_non_null(strstr(buf_cstr(&first), mark));
            n += first.n > 0;
            buf_fini(&first);
            buf_fini(&second);
        }
        assert_true(n >= 24);
    }
}

/* NonTemporal's values on nvptx, in the text of a kernel that has all of them and of one that has none. */
static void test_hints(void **state)
{
    (void)state;
    static const char *const marks[] = {"ld.global.L1::no_allocate.v4.b32",
                                        "ld.global.cs.v4.b32",
                                        "ld.global.L1::no_allocate.L2::cache_hint.v4.b32",
                                        "g_load_nt<1>((const g_VP",
                                        "g_load_nt<2>((const g_VP",
                                        "g_load_nt<3>((const g_VD",
                                        "g_store_nt<2>(to, (g_VD"};
    for (int hinted = 0; hinted < 2; hinted++) {
        Case c;
        Buf text;
        buf_init(&text);
        assert_true(case_init(&c, "sm_90", S_NN,
                              hinted ? "{" TILE
                                       ", NvRing: 0, NonTemporalA: 1, NonTemporalB: 2, NonTemporalC: 3,"
                                       " NonTemporalD: 2}"
                                     : "{" TILE ", NvRing: 0}"));
        assert_ok(kernel_emit(&c.s, c.t, STR("k"), &text));
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            assert_int_equal(strstr(buf_cstr(&text), marks[i]) != NULL, hinted);
        buf_fini(&text);
        case_fini(&c);
    }
}

static void test_unnamed(void **state)
{
    (void)state;
    char one[KERNEL_SYMBOL_BYTES], other[KERNEL_SYMBOL_BYTES];
    for (int same = 0; same < 2; same++) {
        Case a, b;
        Buf text;
        buf_init(&text);
        assert_true(case_init(&a, "gfx906", S_NN, "{" TILE "}"));
        assert_true(case_init(&b, "gfx906", S_NN, same ? "{" TILE "}" : "{" TILE ", StaggerU: 4}"));
        assert_ok(kernel_emit_unnamed(&a.s, a.t, &text, one));
        assert_non_null(strstr(buf_cstr(&text), one));
        assert_ok(kernel_emit_unnamed(&b.s, b.t, &text, other));
        assert_int_equal(strcmp(one, other) == 0, same);
        buf_fini(&text);
        case_fini(&a);
        case_fini(&b);
    }
}

/* ---- compilers ---- */

/* All kernels of one architecture as one file through a compiler; false when it is not there. */
static bool compiles(const char *arch, const char *suffix, const char *const *argv, size_t first, size_t step)
{
    Arena a;
    arena_init(&a, 0);
    bool there = proc_which(&a, argv[0]).s != NULL;
    if (there) {
        char *dir = test_dir();
        Str source = arena_printf(&a, "%s/k.%s", dir, suffix), log = arena_printf(&a, "%s/log", dir);
        Buf text;
        buf_init(&text);
        for (size_t i = first; i < (size_t)N_PROBLEMS * N_SOLUTIONS; i += step)
            emit(arch, i, i == first, &text);
        assert_ok(file_write(source.s, buf_view(&text)));
        const char *full[16];
        size_t n = 0;
        for (; argv[n]; n++) full[n] = argv[n];
        full[n++] = source.s, full[n] = NULL;
        ProcSpec spec = {.argv = full, .stdout_path = log.s, .chdir_path = dir};
        ProcResult r;
        assert_ok(proc_run(&spec, UINT64_C(240000000000), &r));
        Str said = STR("");
        if (r.end != PROC_EXITED || r.code != 0) {
            assert_ok(file_read(&a, log.s, 1 << 20, &said));
            fail_msg("%s: %s: %.*s", argv[0], arch, STR_ARG(said));
        }
        buf_fini(&text);
        assert_ok(dir_remove(dir));
        free(dir);
    } else
        printf("skipped: %s is not in PATH\n", argv[0]);
    arena_fini(&a);
    return there;
}

static void test_clang(void **state)
{
    (void)state;
    static const char *const arch[] = {"gfx906", "gfx90a", "gfx1030", "gfx1100"};
    for (size_t i = 0; i < sizeof arch / sizeof *arch; i++) {
        char offload[40];
        snprintf(offload, sizeof offload, "--offload-arch=%s", arch[i]);
        /* not bundled: the bundler is in a package of its own */
        const char *const argv[] = {"clang-19",
                                    "-x",
                                    "hip",
                                    "--cuda-device-only",
                                    "--no-gpu-bundle-output",
                                    "-nogpulib",
                                    "-nogpuinc",
                                    offload,
                                    "-O1",
                                    "-Werror",
                                    "-c",
                                    "-o",
                                    "/dev/null",
                                    NULL};
        if (!compiles(arch[i], "hip", argv, i, 5)) skip();
    }
}

static void test_nvcc(void **state)
{
    (void)state;
    const char *const argv[] = {"nvcc", "-cubin", "-arch=sm_90", "-o", "k.cubin", NULL};
    if (!compiles("sm_90", "cu", argv, 1, 5)) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_arguments), cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_texts),     cmocka_unit_test(test_unnamed),
                                       cmocka_unit_test(test_hints),     cmocka_unit_test(test_clang),
                                       cmocka_unit_test(test_nvcc)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
