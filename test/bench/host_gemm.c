/* Host kernels against OpenBLAS, side by side in one process: sgemm and dgemm NN, one thread, and one against
 * two threads. Prints the ratio of times (over 1: libtuner is faster) with n and the interval of the median.
 *
 * host_gemm                 every row of host_points.def, then the figures
 * host_gemm TYPE M N K BATCH TT0 TT1 WG0 WG1 DEPTHU REPM REPN PACKA PACKB UNROLL PLR PGR [THREADS]   one
 * point OpenBLAS is opened at run time; without it only our own times are printed. Its AVX-512 core is asked
 * for by OPENBLAS_CORETYPE=SKYLAKEX where the machine has one, because Debian's misdetects newer machines.
 */
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"
#include "kernel/kernel.h"
#include "measure/stats.h"
#include "space/derive.h"

enum { MAX_THREADS = 2, MAX_SAMPLES = 101 };

typedef struct {
    DataType type;
    int64_t m, n, k, batch;
    int32_t tt0, tt1, wg0, wg1, du, rep_m, rep_n, pack_a, pack_b, unroll, plr, pgr;
    int group; /* figure that the row counts for: 1 geometric mean, 2 large sgemm, 3 dgemm */
} Point;

static const Point points[] = {
#include "test/bench/host_points.def"
};
enum { N_POINTS = sizeof points / sizeof points[0] };

typedef void HostKernel(const void *kernarg, const uint32_t grid[3], uint64_t first, uint64_t last,
                        void *local);
typedef void Gemm(const char *, const char *, const int *, const int *, const int *, const void *,
                  const void *, const int *, const void *, const int *, const void *, void *, const int *);

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *memory(size_t bytes)
{
    size_t huge = (size_t)2 << 20, size = (bytes + huge - 1) / huge * huge + huge;
    void *p = NULL;
    if (posix_memalign(&p, huge, size)) exit(1);
    madvise(p, size, MADV_HUGEPAGE);
    memset(p, 0, size);
    return p;
}

/* ---- kernels ---- */

typedef struct {
    void *lib;
    HostKernel *run;
    uint64_t local_bytes;
    int32_t mt0, mt1;
} Built;

static Err point_solution(const Point *p, ProblemType *pt, Solution *s)
{
    Deriver d;
    Verdict v;
    TRY(problem_type_gemm(pt, false, false, p->type, p->type, p->type));
    solution_init(s, pt);
    s->ThreadTile = intlist2(p->tt0, p->tt1);
    s->WorkGroup = intlist3(p->wg0, p->wg1, 1);
    s->DepthU = p->du;
    s->HostRepeatM = p->rep_m, s->HostRepeatN = p->rep_n;
    s->HostPackA = p->pack_a, s->HostPackB = p->pack_b;
    s->InnerUnroll = p->unroll;
    s->PrefetchLocalRead = p->plr, s->PrefetchGlobalRead = p->pgr;
    s->WorkGroupMapping = 1;
    s->MacroTileShapeMax = 512;
    TRY(deriver_init(&d, pt, target_host_level(), NULL));
    if (solution_derive(&d, s, &v)) return ERR_OK;
    Buf text;
    buf_init(&text);
    verdict_text(&v, &text);
    Err e = err_set(ERR_INPUT, "%s", buf_cstr(&text));
    buf_fini(&text);
    return e;
}

static Err compile(const char *c, const char *so)
{
    char march[64];
    snprintf(march, sizeof march, "-march=%s", target_host_level()->name);
    const char *const argv[] = {"cc", "-O2", "-fPIC", "-shared", march, "-o", so, c, NULL};
    ProcSpec spec = {.argv = argv, .stdout_path = "-", .stderr_path = "-"};
    ProcResult r;
    TRY(proc_run(&spec, UINT64_C(60000000000), &r));
    if (r.end != PROC_EXITED || r.code) FAIL(ERR_FAILED, "cc ended with code %d on '%s'", r.code, c);
    return ERR_OK;
}

static Err point_build(const Point *p, Built *out)
{
    char c[128], so[128];
    ProblemType pt;
    Solution s;
    Buf text;
    TRY(point_solution(p, &pt, &s));
    buf_init(&text);
    Err e = kernel_emit(&s, target_host_level(), STR("gemm"), &text);
    snprintf(c, sizeof c, "/tmp/host_gemm_%d.c", (int)getpid());
    snprintf(so, sizeof so, "/tmp/host_gemm_%d.so", (int)getpid());
    if (!e) e = file_write(c, buf_view(&text));
    buf_fini(&text);
    if (!e) e = compile(c, so);
    unlink(c);
    TRY(e);
    *out = (Built){.lib = dlopen(so, RTLD_NOW | RTLD_LOCAL), .mt0 = s.MacroTile0, .mt1 = s.MacroTile1};
    unlink(so);
    if (!out->lib) FAIL(ERR_FAILED, "%s", dlerror());
    *(void **)(void *)&out->run = dlsym(out->lib, "gemm");
    out->local_bytes = *(const uint64_t *)dlsym(out->lib, "gemm_local_bytes");
    return ERR_OK;
}

/* ---- threads: the second one spins between launches, as a pool's worker does ---- */

typedef struct {
    const Built *kernel;
    const void *args;
    uint32_t grid[3];
    int n_threads;
    void *local[MAX_THREADS];
    volatile int go, done, quit;
} Launch;

static void share(Launch *l, int thread)
{
    uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2], n = (uint64_t)l->n_threads,
             t = (uint64_t)thread;
    l->kernel->run(l->args, l->grid, all * t / n, all * (t + 1) / n, l->local[thread]);
}

static void *worker(void *arg)
{
    Launch *l = arg;
    for (int seen = 0; !l->quit;) {
        int go = __atomic_load_n(&l->go, __ATOMIC_ACQUIRE);
        if (go == seen) continue;
        seen = go;
        share(l, 1);
        __atomic_store_n(&l->done, seen, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void launch(Launch *l)
{
    if (l->n_threads == 1) {
        share(l, 0);
        return;
    }
    int go = l->go + 1;
    __atomic_store_n(&l->go, go, __ATOMIC_RELEASE);
    share(l, 0);
    while (__atomic_load_n(&l->done, __ATOMIC_ACQUIRE) != go) {
    }
}

/* ---- one problem ---- */

typedef struct {
    const Point *p;
    char *a, *b, *c, *d;
    size_t bytes; /* of an element */
    char args[128];
    Gemm *gemm;
} Problem;

static void args_add(char *args, size_t *n, const void *value, size_t bytes)
{
    *n = (*n + bytes - 1) / bytes * bytes;
    memcpy(args + *n, value, bytes);
    *n += bytes;
}

static void problem_args(Problem *q)
{
    const Point *p = q->p;
    size_t n = 0;
    char *pointers[] = {q->d, q->d, q->a, q->b};
    float one = 1, zero = 0;
    double one_d = 1, zero_d = 0;
    for (int i = 0; i < 4; i++) args_add(q->args, &n, &pointers[i], 8);
    args_add(q->args, &n, p->type == TYPE_S ? (void *)&one : (void *)&one_d, q->bytes);
    args_add(q->args, &n, p->type == TYPE_S ? (void *)&zero : (void *)&zero_d, q->bytes);
    uint32_t words[] = {(uint32_t)p->m, (uint32_t)(p->m * p->n), (uint32_t)p->m,     (uint32_t)(p->m * p->n),
                        (uint32_t)p->m, (uint32_t)(p->m * p->k), (uint32_t)p->k,     (uint32_t)(p->k * p->n),
                        (uint32_t)p->m, (uint32_t)p->n,          (uint32_t)p->batch, (uint32_t)p->k};
    for (size_t i = 0; i < sizeof words / 4; i++) args_add(q->args, &n, &words[i], 4);
}

static void fill(const Problem *q, char *x, int64_t n)
{
    unsigned seed = 1;
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        float v = (float)(int)(seed >> 8 & 0xffff) / 65536.0f - 0.5f;
        if (q->bytes == 4)
            ((float *)(void *)x)[i] = v;
        else
            ((double *)(void *)x)[i] = v;
    }
}

static void problem_new(Problem *q, const Point *p, Gemm *gemm)
{
    *q = (Problem){.p = p, .bytes = p->type == TYPE_S ? 4 : 8, .gemm = gemm};
    q->a = memory(q->bytes * (size_t)(p->m * p->k * p->batch));
    q->b = memory(q->bytes * (size_t)(p->n * p->k * p->batch));
    q->c = memory(q->bytes * (size_t)(p->m * p->n * p->batch));
    q->d = memory(q->bytes * (size_t)(p->m * p->n * p->batch));
    fill(q, q->a, p->m * p->k * p->batch);
    fill(q, q->b, p->n * p->k * p->batch);
    problem_args(q);
}

static void problem_free(Problem *q) { free(q->a), free(q->b), free(q->c), free(q->d); }

static void blas(const Problem *q)
{
    const Point *p = q->p;
    int m = (int)p->m, n = (int)p->n, k = (int)p->k;
    float one = 1, zero = 0;
    double one_d = 1, zero_d = 0;
    const void *alpha = q->bytes == 4 ? (void *)&one : (void *)&one_d,
               *beta = q->bytes == 4 ? (void *)&zero : (void *)&zero_d;
    for (int64_t i = 0; i < p->batch; i++)
        q->gemm("N", "N", &m, &n, &k, alpha, q->a + q->bytes * (size_t)(i * m * k), &m,
                q->b + q->bytes * (size_t)(i * n * k), &k, beta, q->c + q->bytes * (size_t)(i * m * n), &m);
}

/* Largest difference over the size of the sums. */
static double difference(const Problem *q)
{
    double worst = 0;
    for (int64_t i = 0; i < q->p->m * q->p->n * q->p->batch; i++) {
        double x = q->bytes == 4 ? (double)((float *)(void *)q->c)[i] : ((double *)(void *)q->c)[i];
        double y = q->bytes == 4 ? (double)((float *)(void *)q->d)[i] : ((double *)(void *)q->d)[i];
        if (!(fabs(x - y) <= worst)) worst = fabs(x - y);
    }
    return worst / (double)q->p->k * (q->bytes == 4 ? 0x1p23 : 0x1p52);
}

typedef struct {
    double ours[MAX_SAMPLES], theirs[MAX_SAMPLES];
    int n;
} Samples;

/* Times both alternately: this kernel against OpenBLAS, or against itself on one thread when l1 is given. */
static void measure(const Problem *q, Launch *l, Launch *l1, Samples *s)
{
    double flops = 2.0 * (double)(q->p->m * q->p->n) * (double)(q->p->k * q->p->batch);
    int inner = (int)(2e8 / flops) + 1;
    s->n = flops > 5e9 ? 11 : flops > 5e8 ? 31 : MAX_SAMPLES;
    for (int i = -1; i < s->n; i++) {
        uint64_t t0 = now_ns();
        for (int r = 0; r < inner; r++) {
            if (l1)
                launch(l1);
            else if (q->gemm)
                blas(q);
        }
        uint64_t t1 = now_ns();
        for (int r = 0; r < inner; r++) launch(l);
        uint64_t t2 = now_ns();
        if (i < 0) continue;
        s->theirs[i] = (double)(t1 - t0) / inner;
        s->ours[i] = (double)(t2 - t1) / inner;
    }
}

static void launch_init(Launch *l, const Built *kernel, const Problem *q, int n_threads)
{
    *l = (Launch){.kernel = kernel, .args = q->args, .n_threads = n_threads};
    l->grid[0] = (uint32_t)((q->p->m + kernel->mt0 - 1) / kernel->mt0);
    l->grid[1] = (uint32_t)((q->p->n + kernel->mt1 - 1) / kernel->mt1);
    l->grid[2] = (uint32_t)q->p->batch;
    for (int i = 0; i < n_threads; i++) l->local[i] = memory(kernel->local_bytes);
}

static void launch_fini(Launch *l)
{
    for (int i = 0; i < l->n_threads; i++) free(l->local[i]);
}

static void print_result(const Point *p, const Samples *s, const char *against, const Comparison *c)
{
    double copy[MAX_SAMPLES], gf = 2.0 * (double)(p->m * p->n) * (double)(p->k * p->batch);
    Summary sum;
    memcpy(copy, s->ours, sizeof copy);
    stats_summary(copy, (size_t)s->n, 0.95, &sum);
    printf("%s %5lldx%5lldx%5lld x%-3lld %8.1f gflops", type_letter(p->type), (long long)p->m,
           (long long)p->n, (long long)p->k, (long long)p->batch, gf / sum.median);
    if (c) printf("  %s %.3f [%.3f, %.3f] n %d", against, c->ratio, c->lo, c->hi, s->n);
    printf("\n");
    fflush(stdout);
}

/* One point against OpenBLAS; ratio 0 when there is none. */
static Err point_run(const Point *p, Gemm *gemm, double *ratio)
{
    Built k;
    Problem q;
    Launch l;
    Samples s;
    Comparison c;
    TRY(point_build(p, &k));
    problem_new(&q, p, gemm);
    launch_init(&l, &k, &q, 1);
    *ratio = 0;
    measure(&q, &l, NULL, &s);
    Err e = ERR_OK;
    if (gemm) {
        double d = difference(&q);
        if (!(d < 64))
            e = err_set(ERR_FAILED, "results differ by %.1f units in the last place times K", d);
        else
            e = stats_compare_paired(s.theirs, s.ours, (size_t)s.n, 0.95, 0, &c);
        *ratio = c.ratio;
    }
    if (!e) print_result(p, &s, "openblas/ours", gemm ? &c : NULL);
    launch_fini(&l);
    problem_free(&q);
    dlclose(k.lib);
    return e;
}

static Err point_threads(const Point *p)
{
    Built k;
    Problem q;
    Launch one, two;
    Samples s;
    Comparison c;
    pthread_t t;
    TRY(point_build(p, &k));
    problem_new(&q, p, NULL);
    launch_init(&one, &k, &q, 1);
    launch_init(&two, &k, &q, 2);
    if (pthread_create(&t, NULL, worker, &two)) FAIL(ERR_FAILED, "cannot start a thread");
    /* The spinning worker would disturb the one-thread times on a machine of two cores no more than an idle
     * core. */
    measure(&q, &two, &one, &s);
    two.quit = 1;
    pthread_join(t, NULL);
    Err e = stats_compare_paired(s.theirs, s.ours, (size_t)s.n, 0.95, 0, &c);
    if (!e) print_result(p, &s, "one thread/two threads", &c);
    launch_fini(&one);
    launch_fini(&two);
    problem_free(&q);
    dlclose(k.lib);
    return e;
}

static Gemm *blas_find(void *lib, DataType type)
{
    Gemm *g = NULL;
    if (lib) *(void **)(void *)&g = dlsym(lib, type == TYPE_S ? "sgemm_" : "dgemm_");
    return g;
}

static int run_all(void *lib)
{
    double logs[4] = {0}, ratio, least[4] = {9, 9, 9, 9};
    int n[4] = {0};
    for (int i = 0; i < N_POINTS; i++) {
        const Point *p = &points[i];
        Err e = p->group == 4 ? point_threads(p) : point_run(p, blas_find(lib, p->type), &ratio);
        if (e) {
            fprintf(stderr, "host_gemm: row %d: %s\n", i, err_message());
            return 1;
        }
        if (p->group == 4 || !lib) continue;
        logs[p->group] += log(ratio);
        n[p->group]++;
        if (ratio < least[p->group]) least[p->group] = ratio;
    }
    if (!lib) return 0;
    printf("sgemm geometric mean over %d sizes: %.3f (least %.3f)\n", n[1], exp(logs[1] / n[1]), least[1]);
    printf("sgemm 1024^3 and 2048^3: least %.3f\n", least[2]);
    printf("dgemm over %d sizes: geometric mean %.3f, least %.3f\n", n[3], exp(logs[3] / n[3]), least[3]);
    return 0;
}

static int run_one(char **v, int n, void *lib)
{
    DataType type;
    if (!type_find(str_from(v[0]), &type)) return 2;
    int64_t x[17] = {0};
    for (int i = 1; i < n && i < 18; i++) x[i - 1] = atoll(v[i]);
    Point p = {type,           x[0],           x[1],           x[2],           x[3],           (int32_t)x[4],
               (int32_t)x[5],  (int32_t)x[6],  (int32_t)x[7],  (int32_t)x[8],  (int32_t)x[9],  (int32_t)x[10],
               (int32_t)x[11], (int32_t)x[12], (int32_t)x[13], (int32_t)x[14], (int32_t)x[15], 0};
    double ratio;
    Err e = x[16] == 2 ? point_threads(&p) : point_run(&p, blas_find(lib, type), &ratio);
    if (e) fprintf(stderr, "host_gemm: %s\n", err_message());
    return e;
}

int main(int argc, char **argv)
{
    if (target_host_level()->isa[0] >= 4) setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *lib = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!lib) printf("no OpenBLAS (%s): own times only\n", dlerror());
    if (argc >= 17) return run_one(argv + 1, argc - 1, lib);
    return run_all(lib);
}
