/* libtuner on GPUs over the fake driver libraries (test/fake), which play GEMM kernels: results with device
 * pointers, streams, workspaces, arrays of pointers, the choice of the device, the thread's context, errors.
 * Each test runs in a child, since a driver library is opened once per process. */
#include "test/support.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/runtime/gpu.h"
#include "client/runtime/tuner.h"
#include "problem/target.h"

#define CHECK(x)                                                                                             \
    do {                                                                                                     \
        if (!(x)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s fails; last error: %s\n", __FILE__, __LINE__, #x, err_message());     \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

static char *dir;
static char log_path[4200];
static void *fake;

static void use(const char *folder, const char *file, const char *settings)
{
    char path[4400], program[4096], value[5000];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    CHECK(n > 0);
    program[n] = 0;
    snprintf(path, sizeof path, "%.*s/../fake/%s/%s", (int)(strrchr(program, '/') - program), program, folder,
             file);
    snprintf(value, sizeof value, "log=%s;%s", log_path, settings);
    setenv("TUNER_FAKE", value, 1);
    fake = dlopen(path, RTLD_NOW);
    CHECK(fake);
}

static const char *leaks(void)
{
    const char *(*f)(void);
    void *p = dlsym(fake, "fake_leaks");
    memcpy(&f, &p, sizeof f);
    return f();
}

static size_t log_count(const char *text)
{
    Arena a;
    Str s;
    size_t n = 0;
    arena_init(&a, 0);
    CHECK(!file_read(&a, log_path, 1 << 26, &s));
    for (const char *at = s.s; (at = strstr(at, text)); at++) n++;
    arena_fini(&a);
    return n;
}

/* ---- the library ---- */

/* fused: suffix of the operation identifier. */
static void add_solution(Buf *b, int index, const char *name, const char *fused, int gsu, int accumulation,
                         int bytes)
{
    buf_printf(b, "- name: %s\n  index: %d\n  hardwarePredicate: {type: TruePred}\n", name, index);
    buf_puts(
        b,
        "  problemPredicate: {type: And, value: [{type: TypesEqual, value: [Float, Float, Float, Float]},\n"
        "    {type: StrideAEqual, index: 0, value: 1}, {type: StridedBatched, value: true}]}\n");
    buf_printf(b, "  taskPredicate: {type: %s}\n", bytes ? "WorkspaceCheck" : "TruePred");
    buf_printf(b,
               "  problemType: {operationIdentifier: Contraction_l_Ailk_Bljk_Cijk_Dijk%s, aType: Float, "
               "bType: Float,\n"
               "    cType: Float, dType: Float, useBeta: true, highPrecisionAccumulate: false}\n",
               fused);
    buf_printf(
        b,
        "  sizeMapping: {workGroup: [16, 16, 1], macroTile: [16, 16, 1], threadTile: [1, 1], depthU: 8,\n"
        "    staggerU: 0, globalSplitU: %d, staggerStrideShift: 0, workGroupMapping: 1, persistentKernel: "
        "0,\n"
        "    persistentKernelAlongBatch: false, sourceKernel: true, globalAccumulation: %d,\n"
        "    workspaceSizePerElemC: %d}\n  debugKernel: false\n",
        gsu, accumulation, bytes);
}

/* M of 20 goes to the split one, 30 to the one with a workspace, the rest to the plain one. */
static void make_library(const char *arch, const char *suffix)
{
    Arena a;
    Buf b;
    arena_init(&a, 0);
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    add_solution(&b, 0, "Cijk_Ailk_Bljk_SB_plain", "", 1, 0, 0);
    add_solution(&b, 1, "Cijk_Ailk_Bljk_SB_split", "", 4, 0, 0);
    add_solution(&b, 2, "Other_workspace", "", 2, 2, 8);
    add_solution(&b, 3, "Other_fused", "_BiasSN_CLAMP_SCD", 1, 0, 0);
    buf_printf(
        &b,
        "library:\n  type: Hardware\n  rows:\n  - predicate: {type: AMDGPU, value: {type: Processor, "
        "value: %s}}\n"
        "    library:\n      type: ProblemMap\n      property: {type: OperationIdentifier}\n      map:\n"
        "        Contraction_l_Ailk_Bljk_Cijk_Dijk:\n          type: Matching\n          distance: "
        "Euclidean\n"
        "          properties: [{type: FreeSizeA, index: 0}]\n          table:\n"
        "          - {key: [10], index: 0, speed: 1.0}\n          - {key: [20], index: 1, speed: 1.0}\n"
        "          - {key: [30], index: 2, speed: 1.0}\n          - {key: [50], index: 0, speed: 1.0}\n"
        "        Contraction_l_Ailk_Bljk_Cijk_Dijk_BiasSN_CLAMP_SCD: {type: Single, index: 3}\n",
        arch);
    CHECK(!file_write(arena_printf(&a, "%s/TensileLibrary.yaml", dir).s, buf_view(&b)));
    Str code = arena_printf(
        &a,
        "FAKE %s\nCijk_Ailk_Bljk_SB_plain 96 70000\nCijk_Ailk_Bljk_SB_split 96 0\nOther_workspace 96 "
        "0\nOther_fused 132 0\nCijk_S 48 0\nCijk_S_PostGSU2 68 0\nCijk_S_PostGSU2_VW2 68 0\n",
        arch);
    CHECK(!file_write(arena_printf(&a, "%s/Kernels.so-000-%s%s", dir, arch, suffix).s, code));
    CHECK(!file_write(arena_printf(&a, "%s/Kernels.so-000-gfx1030%s", dir, suffix).s, STR("FAKE gfx1030\n")));
    buf_fini(&b);
    arena_fini(&a);
}

/* ---- GEMMs ---- */

typedef struct {
    Gpu *gpu;
    tuner_library *lib;
} On;

static float pattern(int64_t i) { return (float)((i * 7919) % 13 - 6); }

static uint64_t upload(Gpu *g, const void *data, size_t bytes)
{
    uint64_t at;
    CHECK(!gpu_alloc(g, bytes, &at) && !gpu_copy_to(g, at, data, bytes, NULL));
    return at;
}

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Whole numbers: sums are exact. arrays: as arrays of pointers in device memory. */
static void check_gemm(const On *on, int64_t m, int64_t n, int64_t k, int64_t batch, float beta, bool arrays)
{
    enum { MOST = 60 * 60 * 4 };
    float a[MOST], b[MOST], c[MOST], d[MOST], alpha = 2;
    for (int64_t i = 0; i < MOST; i++) a[i] = pattern(i), b[i] = pattern(i + 5), c[i] = pattern(i + 9);
    int64_t lda = m + 3, ldb = k + 1, ldc = m + 2, sa = lda * k, sb = ldb * n, sc = ldc * n;
    uint64_t da = upload(on->gpu, a, sizeof a), db = upload(on->gpu, b, sizeof b),
             dc = upload(on->gpu, c, sizeof c);
    tuner_gemm_desc g = {.m = m, .n = n, .k = k, .alpha = &alpha, .beta = &beta, .batch = batch};
    g.lda = lda, g.ldb = ldb, g.ldc = ldc, g.stride_a = sa, g.stride_b = sb, g.stride_c = sc;
    g.a = pointer(da), g.b = pointer(db), g.c = pointer(dc);
    uint64_t p[3][4], dp[3];
    for (uint64_t z = 0; z < 4; z++)
        p[0][z] = da + z * (uint64_t)sa * 4, p[1][z] = db + z * (uint64_t)sb * 4,
        p[2][z] = dc + z * (uint64_t)sc * 4;
    for (int i = 0; i < 3; i++) dp[i] = upload(on->gpu, p[i], sizeof p[i]);
    if (arrays) {
        g.pointer_arrays = 1;
        g.a = pointer(dp[0]), g.b = pointer(dp[1]), g.c = pointer(dp[2]);
    }
    CHECK(!tuner_gemm(on->lib, &g) && !tuner_synchronize(on->lib));
    CHECK(!gpu_copy_from(on->gpu, d, dc, sizeof d, NULL));
    for (int64_t i = 0; i < MOST; i++) {
        int64_t z = i / sc, col = i % sc / ldc, row = i % sc % ldc;
        float want = c[i], sum = 0;
        if (z < batch && col < n && row < m) {
            for (int64_t l = 0; l < k; l++) sum += a[z * sa + l * lda + row] * b[z * sb + col * ldb + l];
            want = alpha * sum + beta * c[i];
        }
        CHECK(d[i] == want);
    }
    for (int i = 0; i < 3; i++) gpu_free(on->gpu, dp[i]);
    gpu_free(on->gpu, da);
    gpu_free(on->gpu, db);
    gpu_free(on->gpu, dc);
}

static void all_gemms(const On *on)
{
    for (int64_t m = 10; m <= 20; m += 10)
        for (int beta = 0; beta < 3; beta++) {
            check_gemm(on, m, 37, 19, 1, (float)beta, false);
            check_gemm(on, m, 5, 8, 3, (float)beta, false);
            check_gemm(on, m, 33, 0, 2, (float)beta, false);
        }
    check_gemm(on, 10, 12, 20, 3, 1, true); /* no kernels for these: one by one */
}

static void results(const GpuKind *kind, const char *device, const char *arch)
{
    On on;
    void *stream;
    CHECK(!gpu_open(kind, 0, &on.gpu, NULL));
    CHECK(!tuner_open(&on.lib, dir, NULL)); /* nothing there for the CPU */
    CHECK(!strcmp(tuner_library_device(on.lib), device) && !strcmp(tuner_library_arch(on.lib), arch));
    all_gemms(&on);
    CHECK(!gpu_stream_new(on.gpu, &stream) && !tuner_set_stream(on.lib, stream));
    all_gemms(&on);
    CHECK(log_count("WRONG") == 0);
    CHECK(log_count("SB_split") > 10 && log_count("launch Cijk_S ") == log_count("SB_split"));
    tuner_close(on.lib);
    gpu_stream_free(on.gpu, stream);
    gpu_close(on.gpu);
    CHECK(!strcmp(leaks(), ""));
}

static void cuda_results(void)
{
    use("cuda", "libcuda.so.1", "");
    make_library("sm_90", ".cubin");
    results(&gpu_cuda, "cuda:0", "sm_90");
    CHECK(log_count("lds 70000") > 0);
}

static void hip_results(void)
{
    use("hip6", "libamdhip64.so.6", "");
    make_library("gfx90a", ".hsaco");
    results(&gpu_hip, "hip:0", "gfx90a");
}

/* One of each stream that grows and is given back. */
static void workspaces(void)
{
    float one = 1;
    tuner_library *lib;
    tuner_options o = {.device = "cuda:0"};
    tuner_gemm_desc g = {
        .m = 30, .n = 5, .k = 4, .lda = 30, .ldb = 4, .ldc = 30, .alpha = &one, .beta = &one};
    use("cuda", "libcuda.so.1", "");
    make_library("sm_90", ".cubin");
    CHECK(!tuner_open(&lib, dir, &o));
    g.a = g.b = g.c = pointer(4096); /* these kernels are not played */
    for (int i = 0; i < 3; i++) CHECK(!tuner_gemm(lib, &g));
    CHECK(!strcmp(leaks(), "1 buffer, 1 module"));
    g.n = 50;
    CHECK(!tuner_gemm(lib, &g) && !strcmp(leaks(), "1 buffer, 1 module"));
    CHECK(log_count("Other_workspace") == 4 && log_count("Cijk_S_PostGSU2") == 4 && log_count("WRONG") == 0);
    tuner_close(lib);
    CHECK(!strcmp(leaks(), ""));
}

static void *caller(void *on)
{
    /* a thread of its own has no context */
    for (int i = 0; i < 3; i++) {
        float alpha = 1, beta = 0;
        tuner_gemm_desc g = {
            .m = 999, .n = 5, .k = 4, .lda = 999, .ldb = 4, .ldc = 999, .alpha = &alpha, .beta = &beta};
        g.a = g.b = g.c = pointer(4096);
        g.solution_index = 3;
        if (tuner_gemm(((On *)on)->lib, &g)) return on;
    }
    return NULL;
}

static void threads_and_contexts(void)
{
    On on;
    pthread_t thread[4];
    void *before, *after, *wrong;
    tuner_options o = {.device = "cuda:1"};
    int (*get)(void **), (*set)(void *);
    use("cuda", "libcuda.so.1", "devices=2");
    void *p = dlsym(fake, "cuCtxGetCurrent"), *q = dlsym(fake, "cuCtxSetCurrent");
    memcpy(&get, &p, sizeof get);
    memcpy(&set, &q, sizeof set);
    make_library("sm_90", ".cubin");
    CHECK(!gpu_open(&gpu_cuda, 0, &on.gpu, NULL) && !get(&before) && before);
    CHECK(!tuner_open(&on.lib, dir, &o) && !strcmp(tuner_library_device(on.lib), "cuda:1"));
    CHECK(!get(&after) && after == before);
    CHECK(!caller(&on) && !get(&after) && after == before);
    for (int i = 0; i < 4; i++) CHECK(!pthread_create(&thread[i], NULL, caller, &on));
    for (int i = 0; i < 4; i++) CHECK(!pthread_join(thread[i], &wrong) && !wrong);
    CHECK(!set(NULL) && !caller(&on) && !get(&after) && !after);
    tuner_close(on.lib);
    gpu_close(on.gpu);
    CHECK(!strcmp(leaks(), "") && log_count("WRONG") == 0);
}

/* Arrays of pointers that cannot be read: the thread's context is the caller's again. */
static void context_after_error(void)
{
    On on;
    void *before, *after;
    float one = 1;
    tuner_options o = {.device = "cuda:1"};
    tuner_gemm_desc g = {
        .m = 10, .n = 5, .k = 4, .lda = 10, .ldb = 4, .ldc = 10, .alpha = &one, .beta = &one, .batch = 2};
    int (*get)(void **);
    use("cuda", "libcuda.so.1", "devices=2");
    void *p = dlsym(fake, "cuCtxGetCurrent");
    memcpy(&get, &p, sizeof get);
    make_library("sm_90", ".cubin");
    CHECK(!gpu_open(&gpu_cuda, 0, &on.gpu, NULL) && !get(&before) && before);
    CHECK(!tuner_open(&on.lib, dir, &o));
    g.pointer_arrays = 1;
    g.a = g.b = g.c = pointer(4096); /* no memory of the device */
    CHECK(tuner_gemm(on.lib, &g) != TUNER_OK);
    CHECK(!get(&after) && after == before);
    tuner_close(on.lib);
    gpu_close(on.gpu);
    CHECK(!strcmp(leaks(), ""));
}

/* The fake driver reads its settings, which other threads read too, in every call. */
static void *count_devices(void *function)
{
    int (*count)(int *), n;
    memcpy(&count, &function, sizeof count);
    for (int i = 0; i < 200000; i++)
        if (count(&n) || n != 2) return function;
    return NULL;
}

static void driver_in_threads(void)
{
    pthread_t thread[4];
    void *wrong;
    int (*init)(unsigned);
    use("cuda", "libcuda.so.1", "devices=2");
    void *p = dlsym(fake, "cuInit"), *count = dlsym(fake, "cuDeviceGetCount");
    memcpy(&init, &p, sizeof init);
    CHECK(!init(0));
    for (int i = 0; i < 4; i++) CHECK(!pthread_create(&thread[i], NULL, count_devices, count));
    for (int i = 0; i < 4; i++) CHECK(!pthread_join(thread[i], &wrong) && !wrong);
}

static void device_choice(void)
{
    tuner_library *lib;
    float one = 1;
    tuner_gemm_desc g = {
        .m = 10, .n = 5, .k = 4, .lda = 30, .ldb = 4, .ldc = 30, .alpha = &one, .beta = &one};
    g.a = g.b = g.c = &one;
    use("cuda", "libcuda.so.1", "");
    make_library("sm_90", ".cubin");
    CHECK(tuner_open(&lib, dir, &(tuner_options){.device = "gpu"}) == TUNER_INPUT);
    CHECK(tuner_open(&lib, dir, &(tuner_options){.device = "cuda:x"}) == TUNER_INPUT);
    CHECK(tuner_open(&lib, dir, &(tuner_options){.device = "cuda:7"}) == TUNER_NO_DEVICE);
    CHECK(!strcmp(tuner_error_message(), "no cuda device 7: there is 1"));
    /* an architecture that is here, one that is not */
    CHECK(!tuner_open(&lib, dir, &(tuner_options){.arch = "sm_90"}) &&
          !strcmp(tuner_library_device(lib), "cuda:0"));
    tuner_close(lib);
    CHECK(!tuner_open(&lib, dir, &(tuner_options){.arch = "sm_80"}) &&
          !strcmp(tuner_library_device(lib), "host"));
    CHECK(tuner_gemm(lib, &g) == TUNER_NO_DEVICE);
    tuner_close(lib);
    CHECK(!tuner_open(&lib, dir, &(tuner_options){.arch = "sm_90", .select_only = 1}));
    CHECK(!strcmp(tuner_library_device(lib), "host"));
    tuner_close(lib);
    setenv("TUNER_DEVICE", "host", 1);
    CHECK(!tuner_open(&lib, dir, NULL) && !strcmp(tuner_library_arch(lib), target_host_level()->name));
    tuner_close(lib);
    setenv("TUNER_DEVICE", "cuda:0", 1);
    CHECK(!tuner_open(&lib, dir, NULL) && !strcmp(tuner_library_device(lib), "cuda:0"));
    tuner_close(lib);
    CHECK(!strcmp(leaks(), ""));
}

/* Opens a library of one solution. maps: what its sizeMapping has besides the usual; code: the kernels of its
 * code object, as the fake driver reads them. */
static tuner_library *open_mapped(const char *maps, const char *code)
{
    tuner_library *lib;
    Arena a;
    Buf b;
    use("cuda", "libcuda.so.1", "");
    arena_init(&a, 0);
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    add_solution(&b, 0, "Mapped", "", 1, 0, 0);
    const char *at = strstr(buf_cstr(&b), "globalSplitU:");
    Str text = arena_printf(&a,
                            "%.*s%s,\n    %slibrary:\n  type: Problem\n  rows:\n  - {predicate: {type: "
                            "TruePred}, library: {type: Single, index: 0}}\n",
                            (int)(at - buf_cstr(&b)), buf_cstr(&b), maps, at);
    CHECK(!file_write(arena_printf(&a, "%s/TensileLibrary.yaml", dir).s, text));
    CHECK(!file_write(arena_printf(&a, "%s/Kernels.so-000-sm_90.cubin", dir).s, str_from(code)));
    CHECK(!tuner_open(&lib, dir, &(tuner_options){.device = "cuda"}));
    buf_fini(&b);
    arena_fini(&a);
    return lib;
}

/* A kernel that takes maps of A and B after its arguments. */
static void tensor_maps(void)
{
    float one = 1;
    tuner_gemm_desc g = {
        .m = 64, .n = 48, .k = 32, .lda = 68, .ldb = 36, .ldc = 64, .alpha = &one, .beta = &one};
    tuner_library *lib = open_mapped("tensorMaps: [{tensor: A, box: [64, 16], swizzle: 128}, "
                                     "{tensor: B, box: [32, 48], l2: 256}]",
                                     "FAKE sm_90\nMapped 368 0 112\n");
    g.a = pointer(0x10000), g.b = pointer(0x20000), g.c = pointer(0x30000);
    CHECK(!tuner_gemm(lib, &g));
    /* 96 bytes of arguments; the maps are at 112, where the driver says that the kernel has them, and not at
     * 128: address, sizes, strides in bytes */
    CHECK(log_count("args 368 ") == 1);
    CHECK(log_count("00000000000000000000000000000000000001000000000040") == 1);
    CHECK(log_count("0000010000000000400000000000000020000000000000000100000000000000"
                    "1001000000000000002200000000000040000000000000001000000000000000") == 1);
    CHECK(log_count("0000020000000000200000000000000030000000000000000100000000000000"
                    "9000000000000000001b00000000000020000000000000003000000000000000") == 1);
    /* the copy engine does not support the stride, so another solution is selected */
    tuner_selection s;
    g.lda = 65;
    CHECK(tuner_gemm(lib, &g) == TUNER_NO_SOLUTION && tuner_select(lib, &g, &s) == TUNER_NO_SOLUTION);
    g.lda = 68, g.a = pointer(0x10004); /* nor this address */
    CHECK(tuner_select(lib, &g, &s) == TUNER_NO_SOLUTION && tuner_gemm(lib, &g) == TUNER_NO_SOLUTION);
    CHECK(strstr(tuner_error_message(), " with addresses that are no multiples of 16 bytes"));
    tuner_close(lib);
    lib = open_mapped("dependentLaunch: false", "FAKE sm_90\nMapped 96 0 0 4\n");
    g.m = g.lda = g.ldc = 256;
    CHECK(!tuner_gemm(lib, &g));
    CHECK(log_count("launch Mapped grid 8,3,1") == 1); /* of 16 along x */
    tuner_close(lib);
}

/* A kernel that reads copies: made of B, which has a stride that the copy engine does not support, and of A
 * where that is not aligned. */
static void copied_operands(void)
{
    float one = 1;
    tuner_selection s;
    tuner_gemm_desc g = {
        .m = 64, .n = 48, .k = 32, .lda = 68, .ldb = 36, .ldc = 64, .alpha = &one, .beta = &one};
    tuner_library *lib = open_mapped(
        "tensorMaps: [{tensor: A, box: [32, 64]}, {tensor: B, box: [32, 48]}],\n    packOperands: 3",
        "FAKE sm_90\nMapped 384 0 128\nPackOperands_4 160 0\n");
    g.a = pointer(0x10000), g.b = pointer(0x20004), g.c = pointer(0x30000);
    CHECK(!tuner_select(lib, &g, &s));
    CHECK(s.n_kernels == 2 && s.workspace_bytes == 64 * 128 + 48 * 128 + 256); /* K is strided in A */
    CHECK(!tuner_gemm(lib, &g));
    /* B: address, bytes of a line and a matrix; its line, lines as they lie */
    CHECK(log_count("launch PackOperands_4 grid 2,1,1 group 256,1,1") == 1 &&
          log_count("launch Mapped") == 1);
    CHECK(log_count("04000200000000009000000000000000") == 1);
    g.b = pointer(0x20000);
    CHECK(!tuner_select(lib, &g, &s));
    CHECK(s.workspace_bytes == 64 * 128 + 256);
    g.alpha = &(float){0}; /* A and B are not read */
    g.a = g.b = NULL;
    CHECK(!tuner_select(lib, &g, &s) && s.n_kernels == 1 && s.workspace_bytes == 0);
    CHECK(!tuner_gemm(lib, &g) && log_count("launch PackOperands_4") == 1);
    tuner_close(lib);
}

/* Solutions for xf32 and tf32 are selected only on request, and other solutions if there are none. */
static void rounded_products(void)
{
    float one = 1;
    tuner_library *lib;
    tuner_selection s;
    Arena a;
    Buf b;
    tuner_gemm_desc g = {
        .m = 10, .n = 5, .k = 4, .lda = 10, .ldb = 4, .ldc = 10, .alpha = &one, .beta = &one};
    use("cuda", "libcuda.so.1", "");
    arena_init(&a, 0);
    buf_init(&b);
    buf_puts(&b, "solutions:\n");
    add_solution(&b, 0, "exact", "", 1, 0, 0);
    add_solution(&b, 1, "rounded", "", 1, 0, 0);
    for (int i = 0; i < 2; i++) { /* the predicate of both, one after the other */
        const char *text = buf_cstr(&b), *at = strstr(text, "{type: StridedBatched, value: true}]");
        at = i ? strstr(at + 1, "{type: StridedBatched, value: true}]") : at;
        Str whole = arena_printf(&a, "%.*s{type: F32XdlMathOp, value: %s}, %s", (int)(at - text), text,
                                 i ? "XFloat32" : "Float", at);
        buf_reset(&b);
        buf_puts(&b, whole.s);
    }
    const char *path = arena_printf(&a, "%s/TensileLibrary.yaml", dir).s;
    buf_puts(&b, "library:\n  type: Problem\n  rows:\n"
                 "  - {predicate: {type: TruePred}, library: {type: Single, index: 0}}\n");
    CHECK(!file_write(path, buf_view(&b)));
    CHECK(!tuner_open(&lib, dir, &(tuner_options){.arch = "sm_90", .select_only = 1}));
    g.xf32 = 1;
    CHECK(!tuner_select(lib, &g, &s) && !strcmp(s.kernel, "exact"));
    tuner_close(lib);
    buf_puts(&b, "  - {predicate: {type: TruePred}, library: {type: Single, index: 1}}\n");
    CHECK(!file_write(path, buf_view(&b)));
    CHECK(!tuner_open(&lib, dir, &(tuner_options){.arch = "sm_90", .select_only = 1}));
    CHECK(!tuner_select(lib, &g, &s) && !strcmp(s.kernel, "rounded"));
    g.xf32 = 0;
    CHECK(!tuner_select(lib, &g, &s) && !strcmp(s.kernel, "exact"));
    tuner_close(lib);
    buf_fini(&b);
    arena_fini(&a);
}

static void device_errors(void)
{
    float one = 1;
    tuner_library *lib;
    tuner_gemm_desc g = {
        .m = 10, .n = 5, .k = 4, .lda = 30, .ldb = 4, .ldc = 30, .alpha = &one, .beta = &one};
    use("cuda", "libcuda.so.1", "memory=5000");
    make_library("sm_90", ".cubin");
    CHECK(!tuner_open(&lib, dir, NULL));
    g.a = g.b = g.c = pointer(4096);
    g.m = 30, g.n = 50;
    CHECK(tuner_gemm(lib, &g) == TUNER_FAILED);
    CHECK(!strncmp(tuner_error_message(), "out of device memory: 12000 bytes wanted, ", 42));
    g.m = 10, g.n = 5;
    CHECK(!tuner_gemm(lib, &g)); /* no buffers: it shows later */
    CHECK(tuner_synchronize(lib) == TUNER_FAILED &&
          strstr(tuner_error_message(), "CUDA_ERROR_ILLEGAL_ADDRESS"));
    CHECK(tuner_gemm(lib, &g) == TUNER_FAILED);
    tuner_close(lib);
}

/* ---- in children ---- */

/* The operands of an epilogue stand behind the other arguments; its numbers are in the compute type. */
static void epilogues(void)
{
    tuner_library *lib;
    const float one = 1;
    use("cuda", "libcuda.so.1", "");
    make_library("sm_90", ".cubin");
    CHECK(!tuner_open(&lib, dir, NULL));
    const uint64_t at = 0x0807060504030201;
    const void *pointer = (const void *)(uintptr_t)at;
    void *d = (void *)(uintptr_t)0x1000;
    tuner_gemm_desc g = {.m = 16, .n = 16, .k = 8, .lda = 16, .ldb = 8, .ldc = 16, .ldd = 16, .batch = 2};
    g.alpha = g.beta = &one;
    g.a = g.b = g.c = g.d = d;
    tuner_epilogue e = {.size = sizeof e, .activation = TUNER_ACTIVATION_CLAMP, .activation_arg = {1, 2}};
    e.bias_along = TUNER_ALONG_N, e.bias_stride = 0x55, e.scale_cd = 1;
    e.scale_c = e.scale_d = e.bias = pointer;
    CHECK(!tuner_gemm_fused(lib, &g, &e));
    CHECK(!tuner_synchronize(lib));
    CHECK(log_count("Other_fused") == 1);
    CHECK(log_count("010203040506070801020304050607080102030405060708550000000000803f00000040") == 1);
    e.bias = NULL;
    CHECK(tuner_gemm_fused(lib, &g, &e) == TUNER_INPUT);
    tuner_close(lib);
}

static void in_child(void (*body)(void))
{
    int status;
    dir = test_dir();
    snprintf(log_path, sizeof log_path, "%s/log", dir);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        fflush(NULL);
        _exit(42);
    }
    assert_true(waitpid(pid, &status, 0) == pid);
    assert_ok(dir_remove(dir));
    free(dir);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

#define CHILD_TEST(name)                                                                                     \
    static void test_##name(void **state)                                                                    \
    {                                                                                                        \
        (void)state;                                                                                         \
        in_child(name);                                                                                      \
    }
CHILD_TEST(cuda_results)
CHILD_TEST(hip_results)
CHILD_TEST(workspaces)
CHILD_TEST(epilogues)
CHILD_TEST(threads_and_contexts)
CHILD_TEST(context_after_error)
CHILD_TEST(driver_in_threads)
CHILD_TEST(device_choice)
CHILD_TEST(tensor_maps)
CHILD_TEST(copied_operands)
CHILD_TEST(rounded_products)
CHILD_TEST(device_errors)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_results),
        cmocka_unit_test(test_hip_results),
        cmocka_unit_test(test_epilogues),
        cmocka_unit_test(test_workspaces),
        cmocka_unit_test(test_threads_and_contexts),
        cmocka_unit_test(test_context_after_error),
        cmocka_unit_test(test_device_choice),
        cmocka_unit_test(test_device_errors),
        cmocka_unit_test(test_tensor_maps),
        cmocka_unit_test(test_copied_operands),
        cmocka_unit_test(test_rounded_products),
        cmocka_unit_test(test_driver_in_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
