/* Fork, derive, judge, de-duplicate and name on one core: permutations a second, with the spread over runs,
 * and the growth of memory. A 24-million-point space is walked in part to show that memory does not depend on
 * its size. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "space/space.h"

enum { N_RUNS = 15, N_POINTS = 2000000 };

static const char config_text[] =
    "BenchmarkProblems:\n"
    "  - - {OperationType: GEMM, DataType: s, TransposeB: False, Batched: True}\n"
    "    - ForkParameters:\n"
    "        - KernelLanguage: [Assembly]\n"
    "        - EdgeType: [ShiftPtr]\n"
    "        - PrefetchLocalRead: [0, 1]\n"
    "        - PrefetchGlobalRead: [0, 1]\n"
    "        - ThreadTile: [[2, 2], [4, 4], [4, 8], [8, 4], [8, 8], [6, 4]]\n"
    "        - WorkGroup: [[8, 8, 1], [16, 8, 1], [16, 16, 1], [8, 8, 4]]\n"
    "        - WorkGroupMapping: [1, 8]\n"
    "        - DepthU: [8, 16, 32]\n"
    "        - VectorWidth: [1, 2, 4]\n"
    "        - GlobalReadVectorWidth: [1, 2, 4]\n"
    "        - GlobalSplitU: [%s]\n"
    "      BenchmarkFinalParameters: [{ProblemSizes: [{Exact: [64, 64, 1, 64]}]}]\n";

/* Time of this thread, whatever else the machine does. */
static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long peak_kib(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) ? 0 : u.ru_maxrss;
}

/* Walks up to max points, naming each solution that is kept. */
static Err walk(const Space *sp, const Deriver *d, int64_t max, bool full, int64_t *n, uint64_t *n_unique)
{
    Fork fork;
    Namer namer;
    Buf name;
    bool more = true, kept = false;
    buf_init(&name);
    if (namer_init(&namer, d->pt)) abort();
    if (full) namer_show_all(&namer);
    TRY(fork_init(&fork, sp, d));
    for (*n = 0; *n < max; ++*n) {
        TRY(fork_step(&fork, &more, &kept));
        if (!more) break;
        if (!kept) continue;
        buf_reset(&name);
        solution_name(&namer, &fork.solution, NAME_KERNEL, &name);
    }
    *n_unique = fork.n_unique;
    fork_fini(&fork);
    buf_fini(&name);
    return ERR_OK;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static Err open_space(Arena *a, const char *split, Space *sp, Deriver *d)
{
    Config *config;
    Node *root;
    Str text = arena_printf(a, config_text, split);
    TRY_ALLOC(text.s);
    TRY(yaml_parse(a, "bench.yaml", text, NULL, &root));
    TRY(config_from_node(a, "bench.yaml", root, NULL, &config));
    TRY(space_of_size_group(sp, config, &config->problem[0].pt, &config->problem[0].size_group[0]));
    return deriver_init(d, &config->problem[0].pt, target_find(STR("gfx906")), NULL);
}

static Err bench(Arena *a, bool full)
{
    Space sp;
    Deriver d;
    double rate[N_RUNS];
    int64_t n = 0;
    uint64_t unique = 0;
    TRY(open_space(a, "1, 2, 4", &sp, &d));
    for (int i = 0; i < N_RUNS; i++) {
        double start = cpu_seconds();
        TRY(walk(&sp, &d, INT64_MAX, full, &n, &unique));
        rate[i] = (double)n / (cpu_seconds() - start);
    }
    space_fini(&sp);
    qsort(rate, N_RUNS, sizeof *rate, compare);
    printf("fork, derive, judge, %s name: %lld permutations, %llu solutions, n %d: %.0f/s (95%%: %.0f .. "
           "%.0f)%s\n",
           full ? "full" : "short", (long long)n, (unsigned long long)unique, N_RUNS, rate[N_RUNS / 2],
           rate[3], rate[11], rate[3] >= 300000 ? "" : "  BELOW 300000");
    return rate[N_RUNS / 2] >= 300000 ? ERR_OK : ERR_FAILED;
}

static Err bench_large(Arena *a)
{
    Space sp;
    Deriver d;
    Buf split;
    int64_t n = 0, size = 0;
    uint64_t unique = 0;
    buf_init(&split);
    for (int i = 1; i <= 4096; i++) buf_printf(&split, "%s%d", i > 1 ? ", " : "", i);
    TRY(open_space(a, buf_cstr(&split), &sp, &d));
    buf_fini(&split);
    TRY(space_size(&sp, &size));
    long before = peak_kib();
    double start = cpu_seconds();
    TRY(walk(&sp, &d, N_POINTS, true, &n, &unique));
    double seconds = cpu_seconds() - start;
    printf("first %lld of %lld permutations: %.2f s, %llu solutions, memory %+ld KiB (%.1f bytes per "
           "solution)\n",
           (long long)n, (long long)size, seconds, (unsigned long long)unique, peak_kib() - before,
           (double)(peak_kib() - before) * 1024 / (double)(unique ? unique : 1));
    space_fini(&sp);
    return ERR_OK;
}

int main(void)
{
    Arena a;
    arena_init(&a, 0);
    Err e = bench(&a, true);
    if (!e) e = bench(&a, false);
    if (!e) e = bench_large(&a);
    arena_fini(&a);
    if (e) fprintf(stderr, "space_bench: %s\n", err_message());
    return e;
}
