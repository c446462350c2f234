/* tuner-bench: runs one case, checks it, times it and prints rocblas-bench's line and what libtuner chose. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/bench/bench.h"
#include "client/bench/bench_gpu.h"
#include "measure/stats.h"

static const char *const ops[] = {"N", "T", "C"};

static Err status(tuner_status s) { return s ? (Err)s : ERR_OK; }

/* ---- printing ---- */

static void print_header(const BenchCase *c, Bench *b)
{
    char header[sizeof b->header];
    bool batch = c->call.strided || c->call.batched;
    snprintf(
        header, sizeof header, "transA,transB,M,N,K,alpha,lda%s,beta,ldb%s,ldc%s%s%s%s,rocblas-Gflops,us%s",
        c->call.strided ? ",stride_a" : "", c->call.strided ? ",stride_b" : "",
        c->call.strided ? ",stride_c" : "", c->call.ex ? (c->call.strided ? ",ldd,stride_d" : ",ldd") : "",
        batch ? ",batch_count" : "", bench_fused_columns(c), c->verify ? ",norm_error_1" : "");
    if (strcmp(header, b->header) == 0) return;
    memcpy(b->header, header, sizeof header);
    puts(header);
}

static void print_ld(const BenchCase *c, int64_t ld, int64_t stride)
{
    printf(",%" PRId64, ld);
    if (c->call.strided) printf(",%" PRId64, stride);
}

static void print_scalar(const double v[2])
{
    printf(",%g", v[0]);
    if (v[1] != 0) printf(":%g", v[1]);
}

double case_flops(const BenchCase *c)
{
    double f = 2.0 * (double)c->g.m * (double)c->g.n * (double)c->g.k * (double)c->g.batch *
               type_info((DataType)c->g.a_type)->packing;
    return c->g.a_type == TUNER_C32 || c->g.a_type == TUNER_C64 ? 4 * f : f;
}

static void print_line(const BenchCase *c, const Summary *ns, const Check *check)
{
    double error = check->want > 0 ? check->diff / check->want : check->diff;
    const tuner_gemm_desc *g = &c->g;
    printf("%s,%s,%" PRId64 ",%" PRId64 ",%" PRId64, ops[g->trans_a], ops[g->trans_b], g->m, g->n, g->k);
    print_scalar(c->call.alpha);
    print_ld(c, g->lda, g->stride_a);
    print_scalar(c->call.beta);
    print_ld(c, g->ldb, g->stride_b);
    print_ld(c, g->ldc, g->stride_c);
    if (c->call.ex) print_ld(c, g->ldd, g->stride_d);
    if (c->call.strided || c->call.batched) printf(",%" PRId64, g->batch);
    bench_fused_print(c);
    printf(",%.6g,%.6g", case_flops(c) / ns->median, ns->median / 1000);
    if (c->verify) printf(",%.3g", isnan(error) ? (double)INFINITY : error);
    puts("");
}

static void print_solution(const BenchCase *c, const tuner_selection *s)
{
    printf("# solution %" PRId64 " %s, %s%s", s->solution_index, s->kernel, s->fallback ? "fallback, " : "",
           s->why);
    if (s->n_key) {
        printf(" size");
        for (int i = 0; i < s->n_key; i++) printf("%s%" PRId64, i ? "x" : " ", s->key[i]);
    }
    if (s->distance > 0) printf(" at distance %g", s->distance);
    if (!strcmp(s->why, "model")) printf(", predicted %.6g us", case_flops(c) / s->speed * 1e-3);
    if (s->n_kernels > 1) printf(", %d kernels", s->n_kernels);
}

/* Prints ", wgm 4 xcc 8 (tuned)"; nothing where the order is part of the kernel. */
static void print_mapping(tuner_library *lib, const tuner_gemm_desc *g)
{
    tuner_mapping m;
    const char *why;
    if (tuner_select_mapping(lib, g, &m, &why) || !m.wgm) return;
    printf(", wgm %d xcc %d", m.wgm, m.xcc);
    if (m.group) printf(" group %d", m.group);
    if (m.chunk) printf(" chunk %d", m.chunk);
    printf(" (%s)", why);
}

static void print_times(const BenchCase *c, const Summary *ns, const BenchTiming *how)
{
    if (c->timing == TIMING_LOOP) {
        printf("; mean %.6g us of %" PRId64 " calls", ns->median / 1000, how->repeat);
    } else {
        printf("; median %.6g us", ns->median / 1000);
        if (ns->level > 0) printf(" [%.6g, %.6g] %.3g%%", ns->lo / 1000, ns->hi / 1000, 100 * ns->level);
        printf(" best %.6g n %zu", ns->min / 1000, ns->n);
        if (how->repeat > 1) printf(" of %" PRId64 " calls each", how->repeat);
    }
    if (how->graph) printf(" in a graph");
    if (how->n_sets > 1) printf(" over %" PRId64 " sets of matrices", how->n_sets);
    if (how->n_sets < how->n_wanted)
        printf(" (%" PRId64 " wanted, no device memory for more than %" PRId64 ")", how->n_wanted,
               how->n_sets);
    if (how->host_ns > 0) printf("; a call costs the host %.3g us", how->host_ns / 1000);
    if (how->clock_mhz > 0) printf("; %.0f MHz", how->clock_mhz);
    if (how->power_w > 0) printf(" %.0f W", how->power_w);
}

/* Prints the check that was done and its result. */
static void print_check(const BenchCase *c, const Check *k)
{
    int64_t total = c->g.m * c->g.n * c->g.batch;
    printf("; %s: ", k->passed ? "right" : "WRONG");
    if (k->n_checked >= total)
        printf("all %" PRId64 " elements", total);
    else if (k->covered)
        printf("all %" PRId64 " elements by products, %" PRId64 " one by one", total, k->n_checked);
    else
        printf("%" PRId64 " of %" PRId64 " elements", k->n_checked, total);
    if (k->text[0]) printf(", %s", k->text);
}

/* ---- timing ---- */

/* Short calls are timed in groups, so that the clock's own cost (tens of ns) does not show. */
static const double LEAST_SAMPLE_NS = 5000;

static Err time_host(Bench *b, const BenchSide *s, const BenchCase *c, double *sample, BenchTiming *how)
{
    BenchLane lane = {.side = s, .repeat = c->iters};
    Err e = ERR_OK;
    *how = (BenchTiming){0};
    for (int64_t i = 1; i < c->cold_iters; i++) TRY(side_call(s, &c->g));
    if (c->timing == TIMING_RACE) e = lane_open(b, s, c, LEAST_SAMPLE_NS, &lane);
    for (int64_t i = 0; !e && i < case_samples(c); i++) e = lane_block(b, &lane, c, &sample[i]);
    how->repeat = lane.repeat;
    lane_close(b, &lane);
    return e;
}

int64_t case_samples(const BenchCase *c) { return c->timing == TIMING_LOOP ? 1 : c->iters; }

/* ---- a case ---- */

static Err check(Bench *b, const BenchCase *c, const BenchData *d, Check *out)
{
    Validator *v;
    *out = (Check){0};
    if (!c->verify) return ERR_OK;
    TRY(data_validator(b, c, d, &v));
    Err e = data_check(b, c, d, v, out);
    validator_free(v);
    if (!e && !out->passed) b->n_wrong++;
    return e;
}

static Err run(Bench *b, BenchCase *c, BenchData *d)
{
    const BenchSide side = {.lib = b->lib, .epilogue = d->epilogue};
    tuner_selection chosen;
    Summary ns;
    BenchTiming how;
    Check right;
    TRY(status(tuner_select_fused(b->lib, &c->g, d->epilogue, &chosen)));
    if (b->gpu) TRY(bench_gpu_load(b->gpu, c, d));
    TRY(side_call(&side, &c->g));
    TRY(status(tuner_synchronize(b->lib)));
    TRY(check(b, c, d, &right));
    double *sample = calloc((size_t)case_samples(c), sizeof *sample);
    TRY_ALLOC(sample);
    Err e = b->gpu ? bench_gpu_time(b->gpu, &side, c, sample, &how) : time_host(b, &side, c, sample, &how);
    if (!e) {
        stats_summary(sample, (size_t)case_samples(c), 0.95, &ns);
        print_header(c, b);
        print_line(c, &ns, &right);
        print_solution(c, &chosen);
        if (!d->epilogue) print_mapping(b->lib, &c->g);
        print_times(c, &ns, &how);
        if (c->verify) print_check(c, &right);
        puts("");
        fflush(stdout);
    }
    free(sample);
    return e;
}

Err bench_run(Bench *b, BenchCase *c)
{
    unsigned char alpha[16], beta[16];
    BenchData d;
    case_scalars(c, alpha, beta);
    if (c->iters > 1 << 24) FAIL(ERR_INPUT, "--iters: %" PRId64 " is above %d", c->iters, 1 << 24);
    Err e = data_init(b, c, &d);
    if (!e) e = run(b, c, &d);
    if (b->gpu) bench_gpu_unload(b->gpu);
    data_fini(&d);
    return e;
}
