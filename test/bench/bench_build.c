/* Bench of the compile pool: kernels of one tuning step, one by one and several to a compiler call, then from
 * the cache, then linked. Prints one line per case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "build/build.h"
#include "kernel/kernel.h"

enum { N_KERNELS = 96 };

/* sgemm NN with register tiles of 16..48 x 2..8, packed or not. */
static Err job_make(Arena *a, const Target *t, int i, BuildJob *job)
{
    ProblemType pt;
    Solution s;
    Buf text;
    TRY(problem_type_gemm(&pt, false, false, TYPE_S, TYPE_S, TYPE_S));
    solution_init(&s, &pt);
    int tt0 = t->vector_bits / 32 * (1 + i % 3), tt1 = 2 + i / 3 % 7, groups = 2 << (i / 21 % 2);
    s.VectorWidth = t->vector_bits / 32;
    s.ThreadTile = (IntList){.n = 2, .v = {tt0, tt1}};
    s.WorkGroup = (IntList){.n = 3, .v = {groups, 8, 1}};
    s.DepthU = 64 + 32 * (i / 42);
    s.HostPackA = s.HostPackB = i % 2;
    s.MacroTile0 = groups * tt0;
    s.MacroTile1 = 8 * tt1;
    job->symbol = arena_printf(a, "kernel_%d", i);
    TRY_ALLOC(job->symbol.s);
    buf_init(&text);
    TRY(kernel_emit(&s, t, job->symbol, &text));
    TRY(buf_check(&text));
    job->source = arena_dup(a, buf_view(&text));
    buf_fini(&text);
    TRY_ALLOC(job->source.s);
    return 0;
}

static double children_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

/* CPU time too: it is what a busy machine does not change much. */
static Err run_case(Arena *a, const BuildOptions *o, BuildJob *job, const char *what)
{
    BuildReport r;
    double cpu = children_ms();
    TRY(build_run(a, o, job, N_KERNELS, &r));
    cpu = children_ms() - cpu;
    printf("build: %-20s n=%d wall %8.1f ms, %6.2f a kernel; compilers' CPU %6.2f ms a kernel; %zu calls, "
           "%zu failed\n",
           what, N_KERNELS, (double)r.wall_ns * 1e-6, (double)r.wall_ns * 1e-6 / N_KERNELS, cpu / N_KERNELS,
           r.n_calls, r.n_failed);
    return 0;
}

static Err link_case(Arena *a, const Toolchain *t, const BuildJob *job, const char *dir)
{
    Str objects[N_KERNELS], so = path_join(a, dir, "kernels.so");
    TRY_ALLOC(so.s);
    for (int i = 0; i < N_KERNELS; i++) objects[i] = job[i].object_path;
    uint64_t start = clock_ns();
    TRY(build_link(t, objects, N_KERNELS, NULL, 0, so.s));
    printf("build: %-28s n=%d %8.1f ms\n", "link", N_KERNELS, (double)(clock_ns() - start) * 1e-6);
    return 0;
}

static Err bench(Arena *a, const char *dir)
{
    static const size_t batches[] = {1, 4, 16};
    Toolchain t;
    BuildJob *job = ARENA_ARRAY(a, N_KERNELS, BuildJob);
    TRY_ALLOC(job);
    TRY(toolchain_find(a, target_host_level(), getenv("TUNER_CC"), NULL, &t));
    size_t bytes = 0;
    for (int i = 0; i < N_KERNELS; i++) {
        TRY(job_make(a, t.target, i, &job[i]));
        bytes += job[i].source.n;
    }
    printf("build: %s, %zu bytes of source a kernel\n", t.version, bytes / N_KERNELS);
    BuildOptions o = {.toolchain = &t};
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        o.batch = batches[i];
        o.cache_dir = arena_printf(a, "%s/cache%zu", dir, batches[i]).s;
        TRY_ALLOC(o.cache_dir);
        TRY(run_case(a, &o, job, arena_printf(a, "compile, batch %zu", o.batch).s));
    }
    TRY(run_case(a, &o, job, "from the cache"));
    return link_case(a, &t, job, dir);
}

int main(void)
{
    char dir[] = "/tmp/bench_build.XXXXXX";
    Arena a;
    log_init("bench_build", LOG_NORMAL);
    if (!mkdtemp(dir)) return error(ERR_FAILED, "cannot make '%s'", dir);
    arena_init(&a, 0);
    Err e = bench(&a, dir);
    if (e) error_report(e);
    arena_fini(&a);
    dir_remove(dir);
    return e;
}
