/* tuner-bench on GPUs. Calls are timed between device events, in batches that the events' resolution (0.5 us)
 * does not show in; short ones as graphs, so that the time is the device's and not the host's. The same
 * method as tuner-client's (blocks.c). See bench_gpu.h. */
#include "client/bench_gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/runtime/gpu.h"
#include "model/datatype.h"

enum { MATRICES = 4, ALIGN = 256, SETS_MAX = 4096, GRAPH_CALLS_MIN = 32, REPEAT_MAX = 100000, WARM_MAX = 16 };
static const double SAMPLE_NS = 300e3, GRAPH_NS = 20e3, WARM_NS = 20e3;

struct BenchGpu {
    Gpu *gpu;
    GpuInfo info;
    void *stream;
    GpuEvent start, stop;
    uint64_t pool, at[MATRICES], stride; /* matrices within a set, bytes of a set */
    tuner_gemm_desc *set;
    int64_t n_sets, next;
};

/* ---- life ---- */

static Err open_gpu(BenchGpu *b, Str device)
{
    Str kind;
    int64_t index = 0;
    str_split(&device, ':', &kind);
    str_to_i64(device, &index);
    TRY(gpu_open(str_eq_c(kind, "hip") ? &gpu_hip : &gpu_cuda, (int)index, &b->gpu, NULL));
    TRY(gpu_info(b->gpu, &b->info));
    TRY(gpu_stream_new(b->gpu, &b->stream));
    TRY(gpu_event_new(b->gpu, &b->start));
    return gpu_event_new(b->gpu, &b->stop);
}

Err bench_gpu_open(tuner_library *lib, BenchGpu **out)
{
    Str device = str_from(tuner_library_device(lib));
    *out = NULL;
    if (str_eq_c(device, "host")) return ERR_OK;
    BenchGpu *b = calloc(1, sizeof *b);
    TRY_ALLOC(b);
    Err e = open_gpu(b, device);
    if (!e) e = (Err)tuner_set_stream(lib, b->stream);
    if (e)
        bench_gpu_close(b);
    else
        *out = b;
    return e;
}

void bench_gpu_close(BenchGpu *b)
{
    if (!b) return;
    if (b->gpu) {
        bench_gpu_unload(b);
        gpu_event_free(b->gpu, b->start);
        gpu_event_free(b->gpu, b->stop);
        gpu_stream_free(b->gpu, b->stream);
    }
    gpu_close(b->gpu);
    free(b);
}

/* ---- matrices ---- */

static uint64_t aligned(uint64_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

/* Where the matrices of a set and its arrays of batch pointers lie. */
static void lay_out(BenchGpu *b, const BenchCase *c, const BenchData *d)
{
    b->stride = c->batched ? aligned(MATRICES * (uint64_t)c->g.batch * 8) : 0;
    for (int i = 0; i < MATRICES; i++) {
        b->at[i] = b->stride;
        b->stride += aligned(d->bytes[i]);
    }
}

static int64_t sets_wanted(const BenchGpu *b, const BenchCase *c)
{
    uint64_t cover = c->rotating >= 0 ? (uint64_t)c->rotating << 20 : 2 * b->info.l2_bytes;
    uint64_t n = b->stride ? (cover + b->stride - 1) / b->stride : 1;
    return n < 1 ? 1 : n > SETS_MAX ? SETS_MAX : (int64_t)n;
}

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Set i's description; for arrays of pointers also their contents. */
static Err describe(BenchGpu *b, const BenchCase *c, const BenchData *d, int64_t i)
{
    tuner_gemm_desc *g = &b->set[i];
    const int64_t stride[MATRICES] = {c->g.stride_a, c->g.stride_b, c->g.stride_c, c->g.stride_d};
    const tuner_type type[MATRICES] = {c->g.a_type, c->g.b_type, c->g.c_type, c->g.d_type};
    uint64_t base = b->pool + (uint64_t)i * b->stride, n = (uint64_t)c->g.batch, at[MATRICES];
    for (int k = 0; k < MATRICES; k++) at[k] = base + (c->batched ? (uint64_t)k * n * 8 : b->at[k]);
    *g = c->g;
    g->a = pointer(at[0]);
    g->b = pointer(at[1]);
    g->c = pointer(at[2]);
    g->d = d->d ? pointer(at[3]) : NULL;
    if (!c->batched) return ERR_OK;
    uint64_t *p = calloc(MATRICES * n, sizeof *p);
    TRY_ALLOC(p);
    for (uint64_t k = 0; k < MATRICES; k++)
        for (uint64_t z = 0; z < n; z++)
            p[k * n + z] =
                base + b->at[k] + z * (uint64_t)stride[k] * (uint64_t)type_bytes((DataType)type[k]);
    Err e = gpu_copy_to(b->gpu, base, p, MATRICES * n * sizeof *p, b->stream);
    free(p);
    return e;
}

Err bench_gpu_load(BenchGpu *b, BenchCase *c, const BenchData *d)
{
    const void *const from[MATRICES] = {d->a, d->b, d->c, d->d};
    lay_out(b, c, d);
    b->n_sets = sets_wanted(b, c);
    b->next = 0;
    b->set = calloc((size_t)b->n_sets, sizeof *b->set);
    TRY_ALLOC(b->set);
    TRY(gpu_alloc(b->gpu, b->stride * (uint64_t)b->n_sets, &b->pool));
    for (int i = 0; i < MATRICES; i++)
        TRY(gpu_copy_to(b->gpu, b->pool + b->at[i], from[i], d->bytes[i], b->stream));
    for (int64_t n = 1; n < b->n_sets; n *= 2) {
        uint64_t more = (uint64_t)(n < b->n_sets - n ? n : b->n_sets - n);
        TRY(gpu_copy(b->gpu, b->pool + (uint64_t)n * b->stride, b->pool, more * b->stride, b->stream));
    }
    TRY(gpu_stream_sync(b->gpu, b->stream));
    for (int64_t i = 0; i < b->n_sets; i++) TRY(describe(b, c, d, i));
    const tuner_gemm_desc *g = &b->set[0];
    c->g.a = g->a;
    c->g.b = g->b;
    c->g.c = g->c;
    c->g.d = g->d;
    return ERR_OK;
}

void bench_gpu_unload(BenchGpu *b)
{
    gpu_free(b->gpu, b->pool);
    b->pool = 0;
    free(b->set);
    b->set = NULL;
}

Err bench_gpu_result(BenchGpu *b, const BenchCase *c, const BenchData *d)
{
    (void)c;
    TRY(gpu_copy_from(b->gpu, d->c, b->pool + b->at[2], d->bytes[2], b->stream));
    return d->d ? gpu_copy_from(b->gpu, d->d, b->pool + b->at[3], d->bytes[3], b->stream) : ERR_OK;
}

/* ---- times ---- */

static Err call(BenchGpu *b, tuner_library *lib, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        TRY((Err)tuner_gemm(lib, &b->set[b->next]));
        b->next = (b->next + 1) % b->n_sets;
    }
    return ERR_OK;
}

/* So many calls keep the device busy while the host queues what is timed. */
static int64_t warm_calls(double call_ns)
{
    double n = ceil(WARM_NS / (call_ns > 1 ? call_ns : 1));
    return call_ns > 100 * WARM_NS ? 0 : n > WARM_MAX ? WARM_MAX : (int64_t)n;
}

static Err elapsed(BenchGpu *b, double *ns)
{
    uint64_t took;
    TRY(gpu_event_record(b->gpu, b->stop, b->stream));
    TRY(gpu_stream_sync(b->gpu, b->stream));
    TRY(gpu_event_elapsed(b->gpu, b->start, b->stop, &took));
    *ns = (double)took;
    return ERR_OK;
}

static Err time_calls(BenchGpu *b, tuner_library *lib, int64_t n, double warm_ns, double *ns, double *host_ns)
{
    TRY(call(b, lib, warm_calls(warm_ns)));
    TRY(gpu_event_record(b->gpu, b->start, b->stream));
    uint64_t before = clock_ns();
    TRY(call(b, lib, n));
    *host_ns = (double)(clock_ns() - before) / (double)n;
    return elapsed(b, ns);
}

/* Calls that fill a sample. */
static Err find_repeat(BenchGpu *b, tuner_library *lib, BenchTiming *how, double *call_ns)
{
    double took, warm = WARM_NS;
    how->repeat = 1;
    for (;;) {
        TRY(time_calls(b, lib, how->repeat, warm, &took, &how->host_ns));
        warm = *call_ns = took / (double)how->repeat;
        if (took >= SAMPLE_NS / 2 || how->repeat == REPEAT_MAX) break;
        double n = SAMPLE_NS / (*call_ns > 1 ? *call_ns : 1);
        how->repeat = n > 2.0 * (double)how->repeat ? (int64_t)n : 2 * how->repeat;
        if (how->repeat > REPEAT_MAX) how->repeat = REPEAT_MAX;
    }
    double n = ceil(SAMPLE_NS / (*call_ns > 1 ? *call_ns : 1));
    how->repeat = n < 1 ? 1 : n > REPEAT_MAX ? REPEAT_MAX : (int64_t)n;
    return ERR_OK;
}

/* One rotation over the sets, or several where they are few. */
static Err record(BenchGpu *b, tuner_library *lib, GpuGraph **graph, int64_t *n)
{
    *n = b->n_sets < GRAPH_CALLS_MIN ? (GRAPH_CALLS_MIN + b->n_sets - 1) / b->n_sets * b->n_sets : b->n_sets;
    b->next = 0;
    TRY(gpu_graph_begin(b->gpu, b->stream));
    Err e = call(b, lib, *n), end = gpu_graph_end(b->gpu, b->stream, graph);
    return e ? e : end;
}

static Err time_graph(BenchGpu *b, GpuGraph *graph, int64_t times, double *ns)
{
    TRY(gpu_event_record(b->gpu, b->start, b->stream));
    for (int64_t i = 0; i < times; i++) TRY(gpu_graph_launch(b->gpu, graph, b->stream));
    return elapsed(b, ns);
}

static Err graph_samples(BenchGpu *b, GpuGraph *graph, int64_t n, const BenchCase *c, double *sample,
                         BenchTiming *how)
{
    int64_t times = how->repeat > n ? (how->repeat + n / 2) / n : 1;
    double ns;
    how->repeat = times * n;
    how->graph = true;
    TRY(time_graph(b, graph, 1, &ns));
    for (int64_t i = 0; i < c->iters; i++) {
        TRY(gpu_graph_launch(b->gpu, graph,
                             b->stream)); /* in front: the device is busy when the timed ones come */
        TRY(time_graph(b, graph, times, &ns));
        sample[i] = ns / (double)how->repeat;
    }
    return ERR_OK;
}

Err bench_gpu_time(BenchGpu *b, tuner_library *lib, const BenchCase *c, double *sample, BenchTiming *how)
{
    GpuGraph *graph = NULL;
    int64_t n;
    double call_ns, ns, host_ns;
    *how = (BenchTiming){.n_sets = b->n_sets};
    TRY(call(b, lib, c->cold_iters));
    TRY(find_repeat(b, lib, how, &call_ns));
    if (call_ns < GRAPH_NS && !record(b, lib, &graph, &n)) {
        Err e = graph_samples(b, graph, n, c, sample, how);
        gpu_graph_free(b->gpu, graph);
        return e;
    }
    for (int64_t i = 0; i < c->iters; i++) {
        TRY(time_calls(b, lib, how->repeat, call_ns, &ns, &host_ns));
        sample[i] = ns / (double)how->repeat;
    }
    return ERR_OK;
}
