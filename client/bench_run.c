/* tuner-bench: runs one case, checks it, times it and prints rocblas-bench's line and what libtuner chose. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "client/bench.h"
#include "client/bench_gpu.h"
#include "measure/stats.h"

static const char *const ops[] = {"N", "T", "C"};

static Err status(tuner_status s) { return s ? (Err)s : ERR_OK; }

/* ---- printing ---- */

static void print_header(const BenchCase *c, BenchReport *r)
{
    char header[sizeof r->header];
    bool batch = c->strided || c->batched;
    snprintf(header, sizeof header,
             "transA,transB,M,N,K,alpha,lda%s,beta,ldb%s,ldc%s%s%s,rocblas-Gflops,us%s",
             c->strided ? ",stride_a" : "", c->strided ? ",stride_b" : "", c->strided ? ",stride_c" : "",
             c->ex ? (c->strided ? ",ldd,stride_d" : ",ldd") : "", batch ? ",batch_count" : "",
             c->verify ? ",norm_error_1" : "");
    if (strcmp(header, r->header) == 0) return;
    memcpy(r->header, header, sizeof header);
    puts(header);
}

static void print_ld(const BenchCase *c, int64_t ld, int64_t stride)
{
    printf(",%" PRId64, ld);
    if (c->strided) printf(",%" PRId64, stride);
}

static void print_scalar(const double v[2])
{
    printf(",%g", v[0]);
    if (v[1] != 0) printf(":%g", v[1]);
}

static double flops(const BenchCase *c)
{
    double f = 2.0 * (double)c->g.m * (double)c->g.n * (double)c->g.k * (double)c->g.batch;
    return c->g.a_type == TUNER_C32 || c->g.a_type == TUNER_C64 ? 4 * f : f;
}

static void print_line(const BenchCase *c, const Summary *ns, double error)
{
    const tuner_gemm_desc *g = &c->g;
    printf("%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64, ops[g->trans_a], ops[g->trans_b], g->m, g->n, g->k);
    print_scalar(c->alpha);
    print_ld(c, g->lda, g->stride_a);
    print_scalar(c->beta);
    print_ld(c, g->ldb, g->stride_b);
    print_ld(c, g->ldc, g->stride_c);
    if (c->ex) print_ld(c, g->ldd, g->stride_d);
    if (c->strided || c->batched) printf(",%" PRId64, g->batch);
    printf(",%.6g,%.6g", flops(c) / ns->median, ns->median / 1000);
    if (c->verify) printf(",%.3g", error);
    puts("");
}

static void print_choice(const BenchCase *c, const tuner_selection *s, const Summary *ns,
                         const BenchTiming *how, uint64_t n_checked)
{
    printf("# solution %" PRId64 " %s, %s%s", s->solution_index, s->kernel, s->fallback ? "fallback, " : "",
           s->why);
    if (s->n_key) {
        printf(" size");
        for (int i = 0; i < s->n_key; i++) printf("%s%" PRId64, i ? "x" : " ", s->key[i]);
    }
    if (s->distance > 0) printf(" at distance %g", s->distance);
    if (s->n_kernels > 1) printf(", %d kernels", s->n_kernels);
    printf("; median %.6g us", ns->median / 1000);
    if (ns->level > 0) printf(" [%.6g, %.6g] %.3g%%", ns->lo / 1000, ns->hi / 1000, 100 * ns->level);
    printf(" best %.6g n %zu", ns->min / 1000, ns->n);
    if (how->repeat > 1) printf(" of %" PRId64 " calls each", how->repeat);
    if (how->graph) printf(" in a graph");
    if (how->n_sets > 1) printf(" over %" PRId64 " sets of matrices", how->n_sets);
    if (how->host_ns > 0) printf("; a call costs the host %.3g us", how->host_ns / 1000);
    if (c->verify) printf("; checked %" PRIu64 " elements", n_checked);
    puts("");
}

/* ---- timing ---- */

enum { LEAST_SAMPLE_NS = 5000, REPEAT_MAX = 1000000 };

/* Calls in one sample: short calls are timed in groups, so that the clock's own cost (tens of ns) does not
 * show. */
static Err find_repeat(tuner_library *lib, const BenchCase *c, int64_t *repeat)
{
    *repeat = 1;
    for (;;) {
        uint64_t from = clock_ns();
        for (int64_t i = 0; i < *repeat; i++) TRY(status(tuner_gemm(lib, &c->g)));
        uint64_t took = clock_ns() - from;
        if (took >= LEAST_SAMPLE_NS || *repeat >= REPEAT_MAX) return ERR_OK;
        *repeat *= 2;
    }
}

static Err time_calls(tuner_library *lib, const BenchCase *c, double *sample, int64_t repeat)
{
    for (int64_t s = 0; s < c->iters; s++) {
        uint64_t from = clock_ns();
        for (int64_t i = 0; i < repeat; i++) TRY(status(tuner_gemm(lib, &c->g)));
        sample[s] = (double)(clock_ns() - from) / (double)repeat;
    }
    return ERR_OK;
}

static Err time_host(tuner_library *lib, BenchCase *c, BenchData *d, double *sample, BenchTiming *how)
{
    *how = (BenchTiming){0};
    if (c->init == INIT_ZERO) memset(d->c, 0, d->bytes[2]);
    for (int64_t i = 1; i < c->cold_iters; i++) TRY(status(tuner_gemm(lib, &c->g)));
    TRY(find_repeat(lib, c, &how->repeat));
    return time_calls(lib, c, sample, how->repeat);
}

static Err run(tuner_library *lib, BenchGpu *gpu, BenchCase *c, BenchData *d, BenchReport *r)
{
    tuner_selection chosen;
    Summary ns;
    BenchTiming how;
    uint64_t n_checked = 0;
    double error = 0;
    TRY(status(tuner_select(lib, &c->g, &chosen)));
    if (gpu) TRY(bench_gpu_load(gpu, c, d));
    TRY(status(tuner_gemm(lib, &c->g)));
    TRY(status(tuner_synchronize(lib)));
    if (gpu && c->verify) TRY(bench_gpu_result(gpu, c, d));
    if (c->verify) error = data_norm_error(c, d, &n_checked);
    double *sample = calloc((size_t)c->iters, sizeof *sample);
    TRY_ALLOC(sample);
    Err e = gpu ? bench_gpu_time(gpu, lib, c, sample, &how) : time_host(lib, c, d, sample, &how);
    if (!e) {
        stats_summary(sample, (size_t)c->iters, 0.95, &ns);
        print_header(c, r);
        print_line(c, &ns, error);
        print_choice(c, &chosen, &ns, &how, n_checked);
        fflush(stdout);
        if (error > r->max_error) r->max_error = error;
    }
    free(sample);
    return e;
}

Err bench_run(tuner_library *lib, BenchGpu *gpu, BenchCase *c, BenchReport *report)
{
    unsigned char alpha[16], beta[16];
    BenchData d;
    scalar_bytes(c->g.compute_type, c->alpha, alpha);
    scalar_bytes(c->g.compute_type, c->beta, beta);
    c->g.alpha = alpha;
    c->g.beta = beta;
    if (c->iters > 1 << 24) FAIL(ERR_INPUT, "--iters: %" PRId64 " is above %d", c->iters, 1 << 24);
    Err e = data_init(c, &d);
    if (!e) e = run(lib, gpu, c, &d, report);
    if (gpu) bench_gpu_unload(gpu);
    data_fini(&d);
    report->n_run++;
    return e;
}
