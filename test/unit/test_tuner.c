/* libtuner end to end with kernels compiled here (tuner_library.h). Results are checked element by element;
 * so are the file search, errors, the log and calls from several threads. */
#include "test/support.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/runtime/host_run.h"
#include "client/runtime/tuner.h"
#include "test/unit/tuner_library.h"
#include "problem/target.h"

/* ---- results ---- */

typedef struct {
    int64_t m, n, k, batch;
    float alpha, beta;
} Gemm;

static float pattern(int64_t i) { return (float)((i * 7919) % 13 - 6); }

/* Whole numbers: sums are exact. */
static void check_gemm(tuner_library *lib, Gemm g)
{
    int64_t lda = g.m + 3, ldb = g.k + 1, ldc = g.m + 2;
    int64_t sa = lda * g.k + 5, sb = ldb * g.n, sc = ldc * g.n + 7;
    float *a = calloc((size_t)(sa * g.batch + 1), 4), *b = calloc((size_t)(sb * g.batch + 1), 4);
    float *c = calloc((size_t)(sc * g.batch + 1), 4), *old = calloc((size_t)(sc * g.batch + 1), 4);
    for (int64_t i = 0; i < sa * g.batch; i++) a[i] = pattern(i);
    for (int64_t i = 0; i < sb * g.batch; i++) b[i] = pattern(i + 5);
    for (int64_t i = 0; i < sc * g.batch; i++) c[i] = old[i] = pattern(i + 9);
    tuner_status s = tuner_sgemm_strided_batched(lib, TUNER_N, TUNER_N, g.m, g.n, g.k, &g.alpha, a, lda, sa,
                                                 b, ldb, sb, &g.beta, c, ldc, sc, g.batch);
    if (s) fail_msg("%s", tuner_error_message());
    for (int64_t i = 0; i < sc * g.batch; i++) {
        int64_t z = i / sc, col = i % sc / ldc, row = i % sc % ldc;
        float want = old[i];
        if (col < g.n && row < g.m) {
            float sum = 0;
            for (int64_t l = 0; l < g.k; l++) sum += a[z * sa + l * lda + row] * b[z * sb + col * ldb + l];
            want = g.alpha * sum + g.beta * old[i];
        }
        if (c[i] != want) /* whole numbers */
            fail_msg("m %d n %d: element %d is %g, wanted %g", (int)g.m, (int)g.n, (int)i, (double)c[i],
                     (double)want);
    }
    free(a);
    free(b);
    free(c);
    free(old);
}

static void all_cases(tuner_library *lib)
{
    static const int64_t ms[] = {10, 20, 30, 49};
    for (size_t i = 0; i < 4; i++)
        for (int beta = 0; beta < 3; beta++) {
            check_gemm(lib, (Gemm){ms[i], 37, 19, 1, 2, (float)beta});
            check_gemm(lib, (Gemm){ms[i], 5, 8, 3, 1, (float)beta});
            check_gemm(lib, (Gemm){ms[i], 1, 1, 1, -1, (float)beta});
            check_gemm(lib, (Gemm){ms[i], 33, 0, 2, 1, (float)beta});
        }
    check_gemm(lib, (Gemm){400, 300, 64, 2, 1, 1});
}

static void results(void **state)
{
    tuner_library *lib;
    tuner_options one = {.n_threads = 1}, four = {.n_threads = 4};
    char *dir = test_dir();
    (void)state;
    make_library(dir, "TensileLibrary.yaml");
    assert_int_equal(tuner_open(&lib, dir, &one), TUNER_OK);
    all_cases(lib);
    tuner_close(lib);
    assert_int_equal(tuner_open(&lib, dir, &four), TUNER_OK);
    for (int i = 0; i < 20; i++) all_cases(lib);
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

static void *caller(void *lib)
{
    for (int i = 0; i < 10; i++) all_cases(lib);
    return NULL;
}

static void from_many_threads(void **state)
{
    tuner_library *lib;
    tuner_options options = {.n_threads = 3};
    pthread_t thread[4];
    char *dir = test_dir();
    (void)state;
    make_library(dir, "TensileLibrary.yaml");
    assert_int_equal(tuner_open(&lib, dir, &options), TUNER_OK);
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&thread[i], NULL, caller, lib), 0);
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

/* ---- choice, errors, search ---- */

static tuner_gemm_desc desc(int64_t m, const float *scalar)
{
    return (tuner_gemm_desc){
        .m = m, .n = 4, .k = 4, .lda = m, .ldb = 4, .ldc = m, .batch = 1, .alpha = scalar, .beta = scalar};
}

static void choice(void **state)
{
    tuner_library *lib;
    tuner_selection s;
    float one = 1, c[64] = {0};
    char *dir = test_dir();
    (void)state;
    make_library(dir, "TensileLibrary.yaml");
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    assert_int_equal(tuner_library_solutions(lib), 4);
    assert_string_equal(tuner_library_arch(lib), target_host_level()->name);
    tuner_gemm_desc g = desc(30, &one);
    assert_int_equal(tuner_select(lib, &g, &s), TUNER_OK);
    assert_string_equal(s.kernel, "multi");
    assert_string_equal(s.why, "exact");
    assert_int_equal(s.n_kernels, 2);
    assert_int_equal(s.workspace_bytes, 30 * 4 * 8);
    g = desc(12, &one);
    assert_int_equal(tuner_select(lib, &g, &s), TUNER_OK);
    assert_string_equal(s.why, "nearest");
    assert_true(s.distance == 4 && s.key[0] == 10);
    g.solution_index = 2; /* index 1 */
    assert_int_equal(tuner_select(lib, &g, &s), TUNER_OK);
    assert_string_equal(s.kernel, "single");
    g.solution_index = 77;
    assert_int_equal(tuner_select(lib, &g, &s), TUNER_INPUT);
    g = desc(10, &one);
    g.trans_a = TUNER_T;
    assert_int_equal(tuner_select(lib, &g, &s), TUNER_NO_SOLUTION);
    g = desc(10, &one);
    g.lda = 9;
    assert_int_equal(tuner_gemm(lib, &g), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "lda is 9"));
    g = desc(10, &one);
    assert_int_equal(tuner_gemm(lib, &g), TUNER_INPUT); /* no matrices */
    g = desc(999, &one);
    g.a = g.b = g.c = c;
    assert_int_equal(tuner_gemm(lib, &g), TUNER_FAILED);
    assert_non_null(strstr(tuner_error_message(), "kernel absent is in none"));
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

static void search(void **state)
{
    tuner_library *lib = NULL;
    tuner_options gpu = {.arch = "gfx906"};
    Arena a;
    char *dir = test_dir(), name[128];
    const char *arch = target_host_level()->name;
    (void)state;
    arena_init(&a, 0);
    unsetenv("TUNER_LIBPATH");
    unsetenv("ROCBLAS_TENSILE_LIBPATH");
    assert_int_equal(tuner_open(&lib, NULL, NULL), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "TUNER_LIBPATH"));
    setenv("ROCBLAS_TENSILE_LIBPATH", "/nonexistent/place", 1);
    assert_int_equal(tuner_open(&lib, NULL, NULL), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "'/nonexistent/place' (from ROCBLAS_TENSILE_LIBPATH)"));
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_INPUT); /* empty */
    assert_non_null(strstr(tuner_error_message(), "no library for"));
    assert_null(lib);
    const char *sub = path_join(&a, dir, arch).s;
    assert_ok(dir_make(sub));
    snprintf(name, sizeof name, "TensileLibrary_%s.yaml", arch);
    make_library(sub, name);
    setenv("TUNER_LIBPATH", dir, 1); /* goes before the other variable */
    assert_int_equal(tuner_open(&lib, NULL, NULL), TUNER_OK);
    assert_string_equal(tuner_library_path(lib), path_join(&a, sub, name).s);
    check_gemm(lib, (Gemm){20, 20, 20, 1, 1, 1});
    tuner_close(lib);
    assert_int_equal(tuner_open(&lib, NULL, &gpu), TUNER_INPUT); /* nothing for it there */
    assert_ok(file_write(path_join(&a, dir, "TensileLibrary.dat").s, STR("\x82\xa9solu")));
    assert_int_equal(tuner_open(&lib, path_join(&a, dir, "TensileLibrary.dat").s, NULL), TUNER_INPUT);
    assert_int_equal(tuner_open(&lib, NULL, &gpu), TUNER_INPUT);
    assert_non_null(strstr(tuner_error_message(), "TensileLibrary.dat"));
    unsetenv("TUNER_LIBPATH");
    unsetenv("ROCBLAS_TENSILE_LIBPATH");
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

/* ---- null pointers, fork ---- */

static void ignore(void *ctx, const tuner_launch *launch)
{
    (void)ctx;
    (void)launch;
}

static void null_pointers(void **state)
{
    tuner_library *lib = NULL;
    tuner_selection s;
    float x[4] = {0};
    double y[4] = {0};
    tuner_gemm_desc g = desc(1, x);
    (void)state;
    assert_int_equal(tuner_gemm(NULL, &g), TUNER_INPUT);
    assert_string_equal(tuner_error_message(), "tuner_gemm: the library is a null pointer");
    assert_int_equal(tuner_sgemm(NULL, TUNER_N, TUNER_N, 1, 1, 1, x, x, 1, x, 1, x, x, 1), TUNER_INPUT);
    assert_int_equal(tuner_dgemm(NULL, TUNER_N, TUNER_N, 1, 1, 1, y, y, 1, y, 1, y, y, 1), TUNER_INPUT);
    for (int batch = 0; batch < 2; batch++)
        assert_int_equal(tuner_sgemm_strided_batched(NULL, TUNER_N, TUNER_N, 1, 1, 1, x, x, 1, 1, x, 1, 1, x,
                                                     x, 1, 1, batch),
                         TUNER_INPUT);
    assert_int_equal(tuner_select(NULL, &g, &s), TUNER_INPUT);
    assert_int_equal(tuner_launches(NULL, &g, NULL, ignore, NULL), TUNER_INPUT);
    assert_int_equal(tuner_set_stream(NULL, NULL), TUNER_INPUT);
    assert_int_equal(tuner_synchronize(NULL), TUNER_INPUT);
    assert_string_equal(tuner_library_path(NULL), "");
    assert_string_equal(tuner_library_arch(NULL), "");
    assert_string_equal(tuner_library_device(NULL), "");
    assert_int_equal(tuner_library_solutions(NULL), 0);
    tuner_close(NULL);
    char *dir = test_dir();
    make_library(dir, "TensileLibrary.yaml");
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    assert_int_equal(tuner_gemm(lib, NULL), TUNER_INPUT);
    assert_int_equal(tuner_select(lib, NULL, &s), TUNER_INPUT);
    assert_int_equal(tuner_select(lib, &g, NULL), TUNER_INPUT);
    assert_int_equal(tuner_launches(lib, &g, NULL, NULL, NULL), TUNER_INPUT);
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

/* In the child: 0 when calls on the parent's library are errors, and those on its own work. */
static int child(tuner_library *parents, const char *dir)
{
    tuner_library *own;
    tuner_selection s;
    float one = 1, *m = calloc(300 * 300, sizeof *m);
    tuner_gemm_desc g = desc(10, &one);
    tuner_options options = {.n_threads = 4};
    alarm(20); /* a call that hangs */
    if (tuner_sgemm(parents, TUNER_N, TUNER_N, 300, 300, 300, &one, m, 300, m, 300, &one, m, 300) !=
            TUNER_INPUT ||
        !strstr(tuner_error_message(), "opened before fork"))
        return 1;
    if (tuner_select(parents, &g, &s) != TUNER_INPUT || tuner_synchronize(parents) != TUNER_INPUT) return 2;
    tuner_close(parents);
    if (tuner_open(&own, dir, &options)) return 3;
    check_gemm(own, (Gemm){300, 300, 300, 1, 1, 1});
    tuner_close(own);
    free(m);
    return 0;
}

static void after_fork(void **state)
{
    tuner_library *lib;
    tuner_options options = {.n_threads = 4};
    int status;
    char *dir = test_dir();
    (void)state;
    make_library(dir, "TensileLibrary.yaml");
    assert_int_equal(tuner_open(&lib, dir, &options), TUNER_OK);
    check_gemm(lib, (Gemm){300, 300, 300, 1, 1, 1}); /* its threads run */
    pid_t pid = fork();
    if (pid == 0) _exit(child(lib, dir));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    check_gemm(lib, (Gemm){300, 300, 300, 1, 1, 1});
    tuner_close(lib);
    assert_ok(dir_remove(dir));
    free(dir);
}

static void call_log(void **state)
{
    tuner_library *lib;
    Arena a;
    Str text;
    char *dir = test_dir();
    (void)state;
    arena_init(&a, 0);
    make_library(dir, "TensileLibrary.yaml");
    const char *path = path_join(&a, dir, "calls.log").s;
    setenv("TUNER_LAYER", "6", 1);
    setenv("TUNER_LOG_PATH", path, 1);
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    check_gemm(lib, (Gemm){10, 5, 4, 1, 2, 0});
    check_gemm(lib, (Gemm){10, 5, 4, 1, 2, 0});
    check_gemm(lib, (Gemm){10, 5, 4, 2, 1, 1});
    tuner_close(lib);
    setenv("TUNER_LAYER", "9", 1);
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_INPUT);
    unsetenv("TUNER_LAYER");
    unsetenv("TUNER_LOG_PATH");
    assert_ok(file_read(&a, path, 1 << 16, &text));
    const char *one =
        "rocblas-bench -f gemm -r f32_r --transposeA N --transposeB N -m 10 -n 5 -k 4 --alpha 2 --lda 13 "
        "--ldb 5 --beta 0 --ldc 12\n";
    assert_memory_equal(text.s, one, strlen(one));
    assert_non_null(strstr(text.s, "gemm_strided_batched -r f32_r"));
    assert_non_null(strstr(
        text.s, "- { rocblas_function: \"rocblas_sgemm\", transA: 'N', transB: 'N', M: 10, N: 5, K: 4, "
                "alpha: 2, lda: 13, ldb: 5, beta: 0, ldc: 12, call_count: 2 }\n"));
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

static void log_like_rocblas(void **state)
{
    static const char *const names[] = {"ROCBLAS_LOG_TRACE_PATH", "ROCBLAS_LOG_BENCH_PATH",
                                        "ROCBLAS_LOG_PROFILE_PATH", "ROCBLAS_LOG_PATH", "TUNER_LOG_PATH"};
    static const char *const files[] = {"trace", "bench", "profile", "all", "own"};
    static const char *const starts[] = {"tuner_gemm,", "rocblas-bench -f gemm ", "- { rocblas_function"};
    tuner_library *lib;
    Arena a;
    Str text;
    char *dir = test_dir();
    const char *path[5];
    (void)state;
    arena_init(&a, 0);
    make_library(dir, "TensileLibrary.yaml");
    for (int i = 0; i < 5; i++) path[i] = path_join(&a, dir, files[i]).s;
    for (int i = 0; i < 4; i++) setenv(names[i], path[i], 1);
    setenv("ROCBLAS_LAYER", "0xf", 1); /* 8: rocBLAS's own */
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    check_gemm(lib, (Gemm){10, 5, 4, 1, 2, 0});
    tuner_close(lib);
    for (int i = 0; i < 3; i++) {
        assert_ok(file_read(&a, path[i], 1 << 16, &text));
        assert_true(str_starts(text, starts[i]));
        assert_int_equal(str_find(text, '\n', 0), text.n - 1); /* one line */
    }
    assert_false(file_exists(path[3]));
    unsetenv(names[1]); /* the name for all */
    setenv("ROCBLAS_LAYER", "2", 1);
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    check_gemm(lib, (Gemm){10, 5, 4, 1, 2, 0});
    tuner_close(lib);
    assert_ok(file_read(&a, path[3], 1 << 16, &text));
    assert_true(str_starts(text, starts[1]));
    setenv("TUNER_LAYER", "1", 1); /* comes first, with its own file */
    setenv(names[4], path[4], 1);
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_OK);
    check_gemm(lib, (Gemm){10, 5, 4, 1, 2, 0});
    tuner_close(lib);
    assert_ok(file_read(&a, path[4], 1 << 16, &text));
    assert_true(str_starts(text, starts[0]));
    unsetenv("TUNER_LAYER");
    setenv(names[1], "/nowhere/log", 1);
    assert_int_equal(tuner_open(&lib, dir, NULL), TUNER_FAILED);
    assert_non_null(strstr(tuner_error_message(), "'/nowhere/log' (ROCBLAS_LOG_BENCH_PATH)"));
    for (int i = 0; i < 5; i++) unsetenv(names[i]);
    unsetenv("ROCBLAS_LAYER");
    assert_ok(dir_remove(dir));
    free(dir);
    arena_fini(&a);
}

/* ---- the pool ---- */

typedef struct {
    uint32_t count[6 * 8 * 2];
    uint32_t order_wrong;
} Seen;

static void count_groups(const void *args, const uint32_t grid[3], uint64_t first, uint64_t last, void *local)
{
    Seen *seen = *(Seen *const *)args;
    (void)local;
    (void)grid;
    for (uint64_t i = first; i < last; i++) __atomic_fetch_add(&seen->count[i], 1, __ATOMIC_RELAXED);
}

/* Rows of 4 parts of one tile must come in order: part p only after part p - 1 has been counted. */
static void count_parts(const void *args, const uint32_t grid[3], uint64_t first, uint64_t last, void *local)
{
    Seen *seen = *(Seen *const *)args;
    (void)local;
    for (uint64_t i = first; i < last; i++) {
        uint32_t x = (uint32_t)(i % grid[0]), y = (uint32_t)(i / grid[0] % grid[1]);
        uint64_t before = i - grid[0];
        if (y % 4 && __atomic_load_n(&seen->count[before], __ATOMIC_RELAXED) == 0)
            __atomic_fetch_add(&seen->order_wrong, 1, __ATOMIC_RELAXED);
        (void)x;
        __atomic_fetch_add(&seen->count[i], 1, __ATOMIC_RELAXED);
    }
}

static void every_group_once(void **state)
{
    static const uint32_t grid[3] = {6, 8, 2};
    HostPool *pool;
    HostKernel plain = {count_groups, 0}, parts = {count_parts, 64};
    HostSplit split = {.tile_y = 4};
    (void)state;
    assert_ok(host_pool_new(4, &pool));
    for (int round = 0; round < 2000; round++) {
        Seen seen = {{0}, 0}, *args = &seen;
        if (round % 2)
            assert_ok(host_launch(pool, &parts, grid, &args, &split));
        else
            assert_ok(host_launch(pool, &plain, grid, &args, NULL));
        for (size_t i = 0; i < 96; i++) assert_int_equal(seen.count[i], 1);
        assert_int_equal(seen.order_wrong, 0);
        if (round % 500 == 0) usleep(2000); /* the workers go to sleep */
    }
    split.tile_y = 3;
    assert_int_equal(host_launch(pool, &parts, grid, &pool, &split), ERR_INPUT);
    host_pool_free(pool);
    setenv("TUNER_NUM_THREADS", "zero", 1);
    assert_int_equal(host_pool_new(0, &pool), ERR_INPUT);
    unsetenv("TUNER_NUM_THREADS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_group_once), cmocka_unit_test(results),    cmocka_unit_test(from_many_threads),
        cmocka_unit_test(choice),           cmocka_unit_test(search),     cmocka_unit_test(call_log),
        cmocka_unit_test(log_like_rocblas),

        cmocka_unit_test(null_pointers),    cmocka_unit_test(after_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
