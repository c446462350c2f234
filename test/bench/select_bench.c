/* Selection in libtuner on tables of 10,000 made sizes (Euclidean) and on the largest real one among the test
 * data: load, cold and cached selection, building the launch list, allocations; then what a call of
 * tuner_sgemm costs around a kernel that does nothing. Prints medians with their 95% interval over n
 * repetitions; exit 1 when a selection allocates. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/runtime/launch.h"
#include "client/runtime/tuner.h"
#include "createlib/createlib.h"
#include "fmt/write.h"
#include "measure/stats.h"
#include "problem/datatype.h"
#include "problem/target.h"
#include "test/bench/made.h"

enum { N_SIZES = 10000, N_SOLUTIONS = 200, N_QUERIES = 20000, REPEAT = 15 };

static void report(const char *what, const char *unit, double *sample, size_t n)
{
    Summary s;
    stats_summary(sample, n, 0.95, &s);
    printf("select_bench: %-44s %9.4g %s [%.4g, %.4g] n %zu\n", what, s.median, unit, s.lo, s.hi, n);
}

static Library *load(Str text, Hardware hw, const char *name)
{
    double ms[REPEAT];
    Library *lib = NULL;
    char what[80];
    for (int i = 0; i < REPEAT; i++) {
        library_free(lib);
        uint64_t from = clock_ns();
        if (library_parse("bench", text, NULL, &hw, &lib)) {
            fprintf(stderr, "select_bench: %s\n", err_message());
            exit(1);
        }
        ms[i] = (double)(clock_ns() - from) / 1e6;
    }
    snprintf(what, sizeof what, "load, %s, %zu kB", name, text.n / 1000);
    report(what, "ms", ms, REPEAT);
    return lib;
}

static void queries(Contraction *p, bool transposed, uint64_t seed)
{
    for (int i = 0; i < N_QUERIES; i++)
        contraction_gemm(&p[i], transposed, transposed, 4 + (int64_t)(rng(&seed) % 8192),
                         1 + (int64_t)(rng(&seed) % 8192), 1 + (int64_t)(rng(&seed) % 8192), 1);
}

static int selections(Library *lib, bool transposed, const char *name)
{
    static Contraction p[N_QUERIES];
    double cold[REPEAT], cached[REPEAT];
    volatile int64_t sink = 0;
    Selection s;
    char what[80];
    queries(p, transposed, 3);
    for (int i = 0; i < N_QUERIES; i++) /* reads what is read on demand */
        if (library_select_uncached(lib, &p[i], &s)) exit(1);
    struct mallinfo2 before = mallinfo2();
    for (int r = 0; r < REPEAT; r++) {
        uint64_t from = clock_ns();
        for (int i = 0; i < N_QUERIES; i++) {
            if (library_select_uncached(lib, &p[i], &s) || !s.solution) exit(1);
            sink = sink + s.solution->index;
        }
        cold[r] = (double)(clock_ns() - from) / N_QUERIES;
        if (library_select(lib, &p[r], &s)) exit(1);
        from = clock_ns();
        for (int i = 0; i < N_QUERIES; i++) {
            if (library_select(lib, &p[i % 64], &s)) exit(1);
            sink = sink + s.solution->index;
        }
        cached[r] = (double)(clock_ns() - from) / N_QUERIES;
    }
    struct mallinfo2 after = mallinfo2();
    snprintf(what, sizeof what, "selection, cold mean of 20,000, %s", name);
    report(what, "ns", cold, REPEAT);
    snprintf(what, sizeof what, "selection, cached, %s", name);
    report(what, "ns", cached, REPEAT);
    printf("select_bench: bytes allocated by selections: %zd\n", (ssize_t)(after.uordblks - before.uordblks));
    return after.uordblks != before.uordblks;
}

/* Of the solution that the first problem gets, for 64 problems. */
static void launches(Library *lib, bool transposed, int32_t n_cu, const char *name)
{
    static Contraction p[64];
    char what[80];
    static LaunchList list;
    double ns[REPEAT];
    float one = 1;
    Selection s;
    LaunchInputs in = {.alpha = &one, .beta = &one};
    LaunchHardware hw = {.n_cu = n_cu};
    uint64_t seed = 5;
    for (int i = 0; i < 64; i++)
        contraction_gemm(&p[i], transposed, transposed, 4 + (int64_t)(rng(&seed) % 8000),
                         4 + (int64_t)(rng(&seed) % 8000), 512, 1);
    if (library_select(lib, &p[0], &s) || !s.solution) exit(1);
    for (int r = 0; r < REPEAT; r++) {
        uint64_t from = clock_ns();
        for (int i = 0; i < N_QUERIES; i++)
            if (launch_build(&p[i % 64], s.solution, &in, &hw, &list)) exit(1);
        ns[r] = (double)(clock_ns() - from) / N_QUERIES;
    }
    snprintf(what, sizeof what, "launch list with arguments, %s", name);
    report(what, "ns", ns, REPEAT);
}

/* ---- what tuner_gemm costs around a kernel that does nothing ---- */

static void make_dir(char *dir, Arena *a)
{
    const char *arch = target_host_level()->name;
    const char *kernel =
        "#include <stdint.h>\n"
        "const uint64_t Cijk_Ailk_Bljk_SB_MT64x64x16_SN_K1_TT4_4_WG16_16_1_0_local_bytes = 4096;\n"
        "void Cijk_Ailk_Bljk_SB_MT64x64x16_SN_K1_TT4_4_WG16_16_1_0(const void *k, const uint32_t g[3], "
        "uint64_t f, uint64_t l, void *p) { (void)k; (void)g; (void)f; (void)l; (void)p; }\n";
    Buf b;
    buf_init(&b);
    Emit *e = emit_msgpack(&b);
    emit_map(e, 2, false);
    emit_cstr(e, "solutions");
    emit_seq(e, 1, false);
    emit_solution(e, predicate(a), 0);
    emit_end(e);
    emit_cstr(e, "library");
    emit_map(e, 2, true);
    emit_cstr(e, "type");
    emit_cstr(e, "Single");
    key_int(e, "index", 0);
    emit_end(e);
    emit_end(e);
    if (!mkdtemp(dir) || emit_finish(e)) abort();
    emit_free(e);
    Str lib = arena_printf(a, "%s/TensileLibrary_%s.dat", dir, arch), c = arena_printf(a, "%s/k.c", dir);
    Str cc = arena_printf(a, "cc -O2 -shared -fPIC -o %s/Kernels.so-000-%s.so %s", dir, arch, c.s);
    if (file_write(lib.s, buf_view(&b)) || file_write(c.s, str_from(kernel)) || system(cc.s)) abort();
    buf_fini(&b);
}

static void calls(void)
{
    Arena a;
    tuner_library *lib;
    double ns[REPEAT];
    float m[16] = {0}, one = 1, zero = 0;
    char dir[] = "/tmp/select_bench-XXXXXX";
    arena_init(&a, 0);
    make_dir(dir, &a);
    if (tuner_open(&lib, dir, NULL)) exit(1);
    for (int r = 0; r < REPEAT; r++) {
        uint64_t from = clock_ns();
        for (int i = 0; i < N_QUERIES; i++)
            if (tuner_sgemm(lib, TUNER_N, TUNER_N, 4, 4, 4, &one, m, 4, m, 4, &zero, m, 4)) exit(1);
        ns[r] = (double)(clock_ns() - from) / N_QUERIES;
    }
    report("tuner_sgemm 4x4x4 around an empty kernel", "ns", ns, REPEAT);
    tuner_close(lib);
    if (dir_remove(dir)) exit(1);
    arena_fini(&a);
}

/* ---- the largest real table: sgemm TT of gfx908, 82 solutions, 1,054 sizes ---- */

static int real_table(void)
{
    static const char file[] = "test/data/tensile/logic/arcturus_Cijk_Alik_Bjlk_SB.yaml",
                      name[] = "1,054 real sizes";
    Arena a;
    Str text;
    CreateOptions o;
    CreateReport r;
    char dir[] = "/tmp/select_bench-XXXXXX";
    Hardware hw = {STR("gfx908"), 120, false};
    arena_init(&a, 0);
    createlib_options_init(&o);
    o.runtime = CREATE_HIP;
    o.metadata_only = true;
    if (!mkdtemp(dir)) exit(1);
    o.logic_path = path_join(&a, dir, "logic").s;
    o.output_path = dir;
    if (dir_make(o.logic_path) || file_copy(file, path_join(&a, o.logic_path, "a.yaml").s, 1 << 28) ||
        createlib_run(&o, &r) ||
        file_read(&a, path_join(&a, dir, "library/TensileLibrary.dat").s, 1 << 28, &text)) {
        fprintf(stderr, "select_bench: %s\n", err_message());
        exit(1);
    }
    Library *lib = load(text, hw, name);
    int bad = selections(lib, true, name);
    launches(lib, true, 120, name);
    library_free(lib);
    if (dir_remove(dir)) exit(1);
    arena_fini(&a);
    return bad;
}

int main(void)
{
    int bad = 0;
    for (int gridded = 0; gridded < 2; gridded++) {
        Buf text;
        const char *name = gridded ? "10,000 gridded sizes" : "10,000 random sizes";
        Hardware hw = {STR("gfx906"), 60, false};
        made_library(&text, N_SOLUTIONS, N_SIZES, gridded);
        Library *lib = load(buf_view(&text), hw, name);
        bad |= selections(lib, false, name);
        if (!gridded) launches(lib, false, 60, name);
        library_free(lib);
        buf_fini(&text);
    }
    bad |= real_table();
    calls();
    return bad;
}
