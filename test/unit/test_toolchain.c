/* Unit tests of the compilers for GPUs: which one is taken, what is said when none is fit, and real objects
 * of those that this machine has. */
#include "test/support.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include "base/own.h"
#include "base/proc.h"
#include "build/build.h"

typedef struct {
    Arena arena;
    char *dir, *path;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 0);
    f->dir = test_dir();
    f->path = strdup(getenv("PATH"));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    setenv("PATH", f->path, 1);
    assert_ok(dir_remove(f->dir));
    free(f->path);
    free(f->dir);
    arena_fini(&f->arena);
    free(f);
    return 0;
}

static const char *script(Fixture *f, const char *name, const char *version, const char *body)
{
    Str path = path_join(&f->arena, f->dir, name);
    Str text = arena_printf(&f->arena,
                            "#!/bin/sh\ncase \"$*\" in\n*--version*) echo 'noise'; echo '%s'; exit 0 ;;\n"
                            "*-print-prog-name*) echo %s/ld.lld; exit 0 ;;\nesac\n%s\n",
                            version, f->dir, body);
    assert_ok(file_write(path.s, text));
    assert_int_equal(chmod(path.s, 0755), 0);
    return path.s;
}

static bool has_arg(const Toolchain *t, const char *arg)
{
    for (size_t i = 0; i < t->n_args; i++)
        if (!strcmp(t->args[i], arg)) return true;
    return false;
}

static const Target *target(const char *name)
{
    const Target *t = target_find(str_from(name));
    assert_non_null(t);
    return t;
}

static void test_hip_choice(void **state)
{
    Fixture *f = *state;
    Toolchain t;
    setenv("PATH", f->dir, 1);
    assert_int_equal(toolchain_find(&f->arena, target("gfx906"), NULL, NULL, &t), ERR_FAILED);
    assert_non_null(strstr(err_message(), "no compiler for gfx906: none of clang++-22, clang-22, "));
    assert_non_null(strstr(err_message(), "hipcc is in PATH (install clang 16 or newer"));

    const char *old = script(f, "clang-15", "Debian clang version 15.0.6", "exit 0");
    assert_int_equal(toolchain_find(&f->arena, target("gfx906"), NULL, NULL, &t), ERR_FAILED);
    assert_non_null(strstr(err_message(), "has no linker: no ld.lld beside it or in PATH"));
    script(f, "ld.lld", "LLD", "exit 0");
    assert_ok(toolchain_find(&f->arena, target("gfx906"), NULL, NULL, &t));
    assert_string_equal(t.program, old);
    assert_string_equal(t.version, "Debian clang version 15.0.6");
    assert_true(has_arg(&t, "--offload-arch=gfx906") && has_arg(&t, "-nogpulib"));
    /* never LLVM 15 for gfx11 and later, not even when forced */
    assert_int_equal(toolchain_find(&f->arena, target("gfx1100"), NULL, NULL, &t), ERR_FAILED);
    assert_non_null(strstr(err_message(), "is not used for gfx1100: LLVM before 16 encodes"));
    assert_int_equal(toolchain_find(&f->arena, target("gfx1201"), old, NULL, &t), ERR_FAILED);
    /* one that does not know the architecture is passed over for the next */
    script(f, "clang-19", "clang version 19.1.7",
           "case \"$*\" in *gfx90a*) echo \"error: invalid target ID 'gfx90a'\"; exit 1 ;; esac; exit 0");
    assert_ok(toolchain_find(&f->arena, target("gfx1201"), NULL, NULL, &t));
    assert_non_null(strstr(t.version, "19.1.7"));
    assert_ok(toolchain_find(&f->arena, target("gfx90a"), NULL, NULL, &t));
    assert_string_equal(t.program, old);
    script(f, "clang-15", "clang version 15", "echo 'error: no'; exit 1");
    assert_int_equal(toolchain_find(&f->arena, target("gfx90a"), NULL, NULL, &t), ERR_FAILED);
    assert_non_null(strstr(err_message(), "cannot compile for gfx90a: error: invalid target ID 'gfx90a'; "));
    assert_non_null(strstr(err_message(), "(clang version 15) cannot compile for gfx90a: error: no"));
}

/* Sources with the word get further arguments, where the compiler knows them. */
static void test_marked_sources(void **state)
{
    Fixture *f = *state;
    Toolchain t, without;
    setenv("PATH", f->dir, 1);
    script(f, "ld.lld", "LLD", "exit 0");
    script(f, "clang-19", "clang version 19.1.7", "exit 0");
    assert_ok(toolchain_find(&f->arena, target("gfx90a"), NULL, NULL, &t));
    const char *const *more = toolchain_marked(&t, STR("/* sums fill the accumulation registers */\nint x;"));
    assert_non_null(more);
    assert_string_equal(more[0], "-mllvm");
    assert_null(more[2]);
    assert_null(toolchain_marked(&t, STR("int x;")));
    script(f, "clang-19", "clang version 19.1.7",
           "case \"$*\" in *-mllvm*) echo 'error: unknown argument'; exit 1 ;; esac; exit 0");
    assert_ok(toolchain_find(&f->arena, target("gfx90a"), NULL, NULL, &without));
    assert_null(toolchain_marked(&without, STR("/* sums fill the accumulation registers */")));
    assert_false(str_eq(t.identity, without.identity));
}

static void test_cuda_choice(void **state)
{
    Fixture *f = *state;
    Toolchain t;
    const char *nvcc = script(f, "nvcc", "Cuda compilation tools, release 13.0, V13.0.88", "exit 0");
    assert_ok(toolchain_find(&f->arena, target("sm_90"), nvcc, NULL, &t));
    assert_non_null(strstr(t.version, "release 13.0"));
    assert_true(has_arg(&t, "-cubin") && has_arg(&t, "-arch=sm_90"));
    const char *nvrtc = script(f, "my-nvrtc", "NVRTC 13.0", "exit 0");
    assert_ok(toolchain_find(&f->arena, target("sm_80"), nvrtc, NULL, &t));
    assert_true(!has_arg(&t, "-cubin") && has_arg(&t, "-arch=sm_80"));
    assert_null(t.linker);
    script(f, "my-nvrtc", "x", "echo 'nvrtc: error: invalid value for --gpu-architecture'; exit 1");
    assert_int_equal(toolchain_find(&f->arena, target("sm_80"), nvrtc, NULL, &t), ERR_FAILED);
    assert_non_null(strstr(err_message(), "cannot compile for sm_80: nvrtc: error: invalid value"));
}

static const char *const kernel_text[2] = {
    "#define KERNEL extern \"C\" __attribute__((global)) void\n"
    "KERNEL %s(float *d, const float *c) { d[__builtin_amdgcn_workitem_id_x()] = c[0]; }\n",
    "extern \"C\" __global__ void %s(float *d, const float *c) { d[threadIdx.x] = c[0]; }\n"};

/* Two objects to one code object, when the compiler's are linked at all. */
static void link_check(Fixture *f, const Toolchain *t, const BuildJob *job)
{
    Str object[2] = {job[0].object_path, job[1].object_path}, co;
    const char *out = path_join(&f->arena, f->dir, "linked").s;
    if (!t->linker) {
        assert_int_equal(build_link(t, object, 2, NULL, 0, out), ERR_INPUT);
        return;
    }
    assert_ok(build_link(t, object, 2, NULL, 0, out));
    assert_ok(file_read(&f->arena, out, 1 << 24, &co));
    assert_memory_equal(co.s, "\177ELF\2\1", 6);
    for (int i = 0; i < 2; i++) assert_non_null(memmem(co.s, co.n, job[i].symbol.s, job[i].symbol.n));
    LinkName name = {STR("x"), STR("good_a")};
    assert_int_equal(build_link(t, object, 2, &name, 1, out), ERR_INPUT);
    object[1] = STR("/nonexistent");
    assert_int_equal(build_link(t, object, 2, NULL, 0, out), ERR_FAILED);
    Str *left;
    size_t n;
    assert_ok(dir_list(&f->arena, f->dir, "", false, &left, &n));
    for (size_t i = 0; i < n; i++) assert_false(is_temporary(left[i].s));
}

/* Compiles kernels and links them, and checks the message of every failure. */
static void real_run(Fixture *f, const Toolchain *t, const char *format)
{
    BuildJob job[3] = {{.symbol = STR("good_a")}, {.symbol = STR("good_b")}, {.symbol = STR("bad")}};
    char text[1024];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, format, job[i].symbol.s);
        job[i].source = arena_dup(&f->arena, str_from(text));
    }
    job[2].source = STR("this is no kernel\n");
    const char *cache = path_join(&f->arena, f->dir, "cache").s;
    BuildOptions o = {.toolchain = t, .cache_dir = cache};
    BuildReport r;
    assert_ok(build_run(&f->arena, &o, job, 3, &r));
    assert_int_equal(job[0].status, 0);
    assert_int_equal(job[1].status, 0);
    assert_int_equal(job[2].status, ERR_FAILED);
    assert_non_null(strstr(job[2].why.s, "error"));
    assert_int_equal(r.n_failed, 1);

    Str one;
    assert_ok(file_read(&f->arena, job[0].object_path.s, 1 << 24, &one));
    assert_memory_equal(one.s, "\177ELF\2\1", 6);
    assert_non_null(memmem(one.s, one.n, "good_a", 6));
    link_check(f, t, job);
    assert_ok(build_run(&f->arena, &o, job, 2, &r));
    assert_int_equal(r.n_cached, 2);
}

/* The library that HIP reads metadata with, of which a few functions are asked. */
typedef struct {
    uint64_t handle;
} Comgr;

typedef struct {
    int (*create)(int kind, Comgr *data);
    int (*set)(Comgr data, size_t n, const char *bytes);
    int (*metadata)(Comgr data, Comgr *out);
    int (*lookup)(Comgr map, const char *key, Comgr *out);
    int (*list_size)(Comgr list, size_t *n);
} ComgrApi;

static bool comgr_open(ComgrApi *api)
{
    static const char *const names[] = {"create_data", "set_data", "get_data_metadata", "metadata_lookup",
                                        "get_metadata_list_size"};
    void *lib = dlopen("libamd_comgr.so.2", RTLD_NOW);
    if (!lib) lib = dlopen("/opt/rocm/lib/libamd_comgr.so.2", RTLD_NOW);
    for (size_t i = 0; lib && i < sizeof names / sizeof *names; i++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "amd_comgr_%s", names[i]);
        void *f = dlsym(lib, symbol);
        assert_non_null(f);
        memcpy((char *)api + i * sizeof f, &f, sizeof f);
    }
    return lib != NULL;
}

/* Every linked object keeps a metadata note of its own; HIP must find the kernels of all. */
static void test_metadata(void **state)
{
    enum { KIND_EXECUTABLE = 8, N = 5 };
    Fixture *f = *state;
    ComgrApi api;
    Toolchain t;
    if (!comgr_open(&api) || toolchain_find(&f->arena, target("gfx90a"), NULL, NULL, &t)) {
        print_message("skipped: no libamd_comgr.so.2 or no compiler\n");
        skip();
    }
    BuildJob job[N];
    Str object[N], file;
    for (int i = 0; i < N; i++) {
        job[i] = (BuildJob){.symbol = arena_printf(&f->arena, "kernel_%d", i)};
        job[i].source = arena_printf(
            &f->arena, "extern \"C\" __attribute__((global)) void kernel_%d(float *d) { *d = %d; }\n", i, i);
    }
    BuildOptions o = {.toolchain = &t, .cache_dir = path_join(&f->arena, f->dir, "cache").s, .batch = 2};
    assert_ok(build_run(&f->arena, &o, job, N, NULL));
    for (int i = 0; i < N; i++) object[i] = job[i].object_path;
    const char *out = path_join(&f->arena, f->dir, "linked.co").s;
    assert_ok(build_link(&t, object, N, NULL, 0, out));
    assert_ok(file_read(&f->arena, out, 1 << 24, &file));
    Comgr data, metadata, kernels;
    size_t n = 0;
    assert_int_equal(api.create(KIND_EXECUTABLE, &data), 0);
    assert_int_equal(api.set(data, file.n, file.s), 0);
    assert_int_equal(api.metadata(data, &metadata), 0);
    assert_int_equal(api.lookup(metadata, "amdhsa.kernels", &kernels), 0);
    assert_int_equal(api.list_size(kernels, &n), 0);
    assert_int_equal(n, N);
}

static void real_test(Fixture *f, const char *arch, const char *forced, const char *format)
{
    Toolchain t;
    if (toolchain_find(&f->arena, target(arch), forced, NULL, &t)) {
        print_message("skipped: %s\n", err_message());
        skip();
    }
    print_message("%s: %s, %s\n", arch, t.program, t.version);
    real_run(f, &t, format);
}

static void test_hip_real(void **state) { real_test(*state, "gfx906", NULL, kernel_text[0]); }
static void test_hipcc_real(void **state) { real_test(*state, "gfx90a", "hipcc", kernel_text[0]); }
static void test_nvrtc_real(void **state) { real_test(*state, "sm_90", NULL, kernel_text[1]); }

static void test_nvcc_real(void **state) { real_test(*state, "sm_90", "nvcc", kernel_text[1]); }

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_hip_choice), TEST(test_marked_sources), TEST(test_cuda_choice), TEST(test_hip_real),
        TEST(test_metadata),   TEST(test_hipcc_real),     TEST(test_nvrtc_real),  TEST(test_nvcc_real)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
