/* tuner-bench on GPUs: matrices on the device, and calls timed in blocks as tuner-client times launches
 * (block_timer.h), or as rocblas-bench does. See bench_gpu.h. */
#include "client/bench/bench_gpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/worker/block_timer.h"

enum { SETS_MAX = 2048 };
/* Reading a GPU's sensors takes a millisecond: the least time between two readings. */
static const uint64_t READING_NS = UINT64_C(10000000);

struct BenchGpu {
    const BenchSide *side; /* that the timer calls */
    Device *device;
    DeviceProps props;
    BlockTimer timer;
    DeviceMem pool;
    uint64_t at[MATRICES], stride; /* matrices within a set, bytes of a set */
    tuner_gemm_desc *set;
    int64_t n_sets, n_wanted, next; /* sets that exist, that were wanted; the set of the next call */
    double host_ns;                 /* time of the host per call, for the last calls */
    uint64_t read_at;
    double clock_mhz, power_w; /* sums of readings */
    int n_readings;
};

/* ---- life ---- */

/* The three functions of the BlockTimer. */
static Err prepare(void *ctx, int64_t n, bool replay)
{
    (void)ctx;
    (void)n;
    (void)replay;
    return ERR_OK;
}

static Err call(void *ctx, int64_t first, int64_t n)
{
    BenchGpu *g = ctx;
    (void)first; /* the rotation over the sets continues from block to block */
    uint64_t before = clock_ns();
    for (int64_t i = 0; i < n; i++) {
        TRY(side_call(g->side, &g->set[g->next]));
        g->next = (g->next + 1) % g->n_sets;
    }
    if (n > 0) g->host_ns = (double)(clock_ns() - before) / (double)n;
    return ERR_OK;
}

static void read_device(void *ctx)
{
    BenchGpu *g = ctx;
    DeviceReading r;
    uint64_t now = clock_ns();
    if (g->read_at && now - g->read_at < READING_NS) return;
    g->device->api->read(g->device, &r);
    g->read_at = now;
    g->clock_mhz += r.clock_sys_mhz;
    g->power_w += r.power_w;
    g->n_readings++;
}

static Err open_gpu(BenchGpu *g, tuner_library *lib, Str name)
{
    Str kind;
    int64_t index = 0;
    str_split(&name, ':', &kind);
    str_to_i64(name, &index);
    const DeviceApi *api = device_api_find(kind);
    if (!api) return device_absent(kind);
    TRY(api->open((int)index, &(DeviceOptions){0}, &g->device));
    TRY(api->props(g->device, &g->props));
    g->timer = (BlockTimer){
        .device = g->device, .ctx = g, .prepare = prepare, .launch = call, .meanwhile = read_device};
    TRY(block_timer_init(&g->timer));
    return bench_gpu_join(g, lib);
}

Err bench_gpu_join(BenchGpu *g, tuner_library *lib)
{
    return g ? (Err)tuner_set_stream(lib, g->device->api->stream(g->device)) : ERR_OK;
}

Device *bench_gpu_device(BenchGpu *g) { return g->device; }

Err bench_gpu_open(tuner_library *lib, BenchGpu **out)
{
    Str device = str_from(tuner_library_device(lib));
    *out = NULL;
    if (str_eq_c(device, "host")) return ERR_OK;
    BenchGpu *g = calloc(1, sizeof *g);
    TRY_ALLOC(g);
    Err e = open_gpu(g, lib, device);
    if (e)
        bench_gpu_close(g);
    else
        *out = g;
    return e;
}

void bench_gpu_close(BenchGpu *g)
{
    if (!g) return;
    if (g->device) {
        bench_gpu_unload(g);
        if (g->timer.device) block_timer_fini(&g->timer);
        g->device->api->close(g->device);
    }
    free(g);
}

/* ---- matrices ---- */

/* Sets the offsets of the matrices of a set and of its arrays of batch pointers. */
static void set_offsets(BenchGpu *g, const BenchCase *c, const BenchData *d)
{
    g->stride = c->call.batched ? device_aligned(MATRICES * (uint64_t)c->g.batch * 8) : 0;
    for (int i = 0; i < MATRICES; i++) {
        g->at[i] = g->stride;
        g->stride += device_aligned(d->bytes[i]);
    }
}

static int64_t sets_wanted(const BenchGpu *g, const BenchCase *c)
{
    uint64_t cover = c->rotating >= 0 ? (uint64_t)c->rotating << 20 : 2 * g->props.l2_bytes;
    uint64_t n = g->stride ? (cover + g->stride - 1) / g->stride : 1;
    return n < 1 ? 1 : n > SETS_MAX ? SETS_MAX : (int64_t)n;
}

/* Allocates the sets; fewer where there is no memory for all. */
static Err alloc_sets(BenchGpu *g, const BenchCase *c)
{
    const DeviceApi *api = g->device->api;
    g->n_wanted = g->n_sets = sets_wanted(g, c);
    for (;;) {
        Err e = api->alloc(g->device, g->stride * (uint64_t)g->n_sets, DEVICE_GUARD_NONE, &g->pool);
        if (!e || g->n_sets == 1) return e;
        g->n_sets /= 2;
    }
}

/* Repeats the first `done` bytes at base until `bytes` of them are filled; each copy doubles what is
 * there. */
static Err double_up(BenchGpu *g, uint64_t base, uint64_t done, uint64_t bytes)
{
    const DeviceApi *api = g->device->api;
    const DeviceMem from = {.address = base, .bytes = bytes};
    while (done < bytes) {
        uint64_t more = done < bytes - done ? done : bytes - done;
        DeviceMem to = {.address = base + done, .bytes = more};
        TRY(api->copy(g->device, &to, &from, more));
        done += more;
    }
    return ERR_OK;
}

/* Fills the first set: copies one period of each matrix from the host; the rest is copied on the device. */
static Err fill_first(BenchGpu *g, const BenchData *d)
{
    const DeviceApi *api = g->device->api;
    for (int i = 0; i < MATRICES; i++) {
        uint64_t bytes = d->bytes[i], first = bytes < BENCH_PERIOD ? bytes : BENCH_PERIOD;
        DeviceMem m = {.address = g->pool.address + g->at[i], .bytes = bytes};
        if (bytes == 0) continue;
        if (d->at[i])
            TRY(api->copy_to(g->device, &m, 0, d->at[i], first));
        else
            TRY(api->fill(g->device, &m, 0xff));
        if (d->at[i]) TRY(double_up(g, m.address, first, bytes));
    }
    return ERR_OK;
}

static Err fill_sets(BenchGpu *g, const BenchData *d)
{
    TRY(fill_first(g, d));
    TRY(double_up(g, g->pool.address, g->stride, (uint64_t)g->n_sets * g->stride));
    return g->device->api->sync(g->device);
}

Err bench_gpu_restore(BenchGpu *g, const BenchData *d)
{
    TRY(g->device->api->sync(g->device));
    TRY(fill_first(g, d));
    return g->device->api->sync(g->device);
}

static void *pointer(uint64_t address) { return (void *)(uintptr_t)address; }

/* Makes the description of set i, and the contents of its arrays of pointers. */
static Err describe(BenchGpu *g, const BenchCase *c, int64_t i)
{
    tuner_gemm_desc *s = &g->set[i];
    const int64_t stride[MATRICES] = {c->g.stride_a, c->g.stride_b, c->g.stride_c, c->g.stride_d};
    const tuner_type type[MATRICES] = {c->g.a_type, c->g.b_type, c->g.c_type, c->g.d_type};
    uint64_t base = g->pool.address + (uint64_t)i * g->stride, n = (uint64_t)c->g.batch, at[MATRICES];
    for (int k = 0; k < MATRICES; k++) at[k] = base + (c->call.batched ? (uint64_t)k * n * 8 : g->at[k]);
    *s = c->g;
    s->a = pointer(at[0]);
    s->b = pointer(at[1]);
    s->c = pointer(at[2]);
    s->d = c->call.ex ? pointer(at[3]) : NULL;
    if (!c->call.batched) return ERR_OK;
    uint64_t *p = calloc(MATRICES * n, sizeof *p);
    TRY_ALLOC(p);
    for (uint64_t k = 0; k < MATRICES; k++)
        for (uint64_t z = 0; z < n; z++)
            p[k * n + z] =
                base + g->at[k] + z * (uint64_t)stride[k] * (uint64_t)type_bytes((DataType)type[k]);
    Err e =
        g->device->api->copy_to(g->device, &g->pool, (uint64_t)i * g->stride, p, MATRICES * n * sizeof *p);
    free(p);
    return e;
}

Err bench_gpu_load(BenchGpu *g, BenchCase *c, const BenchData *d)
{
    set_offsets(g, c, d);
    g->next = 0;
    TRY(alloc_sets(g, c));
    g->set = calloc((size_t)g->n_sets, sizeof *g->set);
    TRY_ALLOC(g->set);
    TRY(fill_sets(g, d));
    for (int64_t i = 0; i < g->n_sets; i++) TRY(describe(g, c, i));
    const tuner_gemm_desc *s = &g->set[0];
    c->g.a = s->a;
    c->g.b = s->b;
    c->g.c = s->c;
    c->g.d = s->d;
    return ERR_OK;
}

void bench_gpu_unload(BenchGpu *g)
{
    g->device->api->free(g->device, &g->pool);
    free(g->set);
    g->set = NULL;
}

size_t bench_gpu_result_bytes(const BenchCase *c, const BenchData *d) { return d->bytes[c->call.ex ? 3 : 2]; }

Err bench_gpu_result(BenchGpu *g, const BenchCase *c, const BenchData *d, void *to)
{
    return g->device->api->copy_from(g->device, to, &g->pool, g->at[c->call.ex ? 3 : 2],
                                     bench_gpu_result_bytes(c, d));
}

/* ---- times ---- */

static double of_each(const BlockTimes *t) { return (double)t->ns[0] / (double)t->n_launches; }

Err bench_gpu_lane_open(BenchGpu *g, const BenchSide *s, BenchLane *out)
{
    const DeviceApi *api = g->device->api;
    BlockTimes t;
    *out = (BenchLane){.side = s};
    g->side = s;
    TRY(block_timer_plain(&g->timer, 1, 1, 0, &t));
    TRY(block_timer_look(&g->timer, (double)t.ns[0], 0, &t));
    out->call_ns = of_each(&t);
    out->host_ns = g->host_ns;
    out->n_graph = block_graph_length(g->n_sets);
    g->next = 0;
    if (out->call_ns < BLOCK_GRAPH_NS && block_timer_record(&g->timer, out->n_graph, &out->graph)) {
        api->graph_free(g->device, out->graph);
        out->graph = NULL; /* the calls synchronise, or the driver has no graphs */
    }
    return ERR_OK;
}

void bench_gpu_lane_close(BenchGpu *g, BenchLane *l)
{
    g->device->api->graph_free(g->device, l->graph);
    *l = (BenchLane){0};
}

/* Times a block as in the last stage of tuner-client's race: calls one by one, or as replays of the graph. */
Err bench_gpu_lane_block(BenchGpu *g, BenchLane *l, double *ns)
{
    int64_t n = block_launches(l->call_ns, BLOCK_NS);
    uint64_t rest_ns = block_rest_ns(l->call_ns, BLOCK_NS, !l->rested, (double)INFINITY);
    BlockTimes t;
    g->side = l->side;
    if (rest_ns) g->device->api->idle(g->device, rest_ns);
    if (l->graph)
        TRY(block_timer_graph(&g->timer, l->graph, l->n_graph, n, 1, &t));
    else
        TRY(block_timer_plain(&g->timer, n, 1, l->call_ns, &t));
    l->rested = true;
    l->repeat = t.n_launches;
    *ns = of_each(&t);
    return ERR_OK;
}

Err bench_gpu_peer_choose(BenchGpu *g, BenchSide *s)
{
    double least = INFINITY;
    int best = -1;
    g->side = s;
    for (int i = 0; i < s->peer->n_algos; i++) {
        BlockTimes t;
        s->peer->algo = i;
        Err e = block_timer_look(&g->timer, 0, 0, &t);
        if (e && g->device->api->lost(g->device)) return e;
        if (e || of_each(&t) >= least) continue; /* its heuristics may name what it does not support */
        least = of_each(&t);
        best = i;
    }
    if (best < 0) FAIL(ERR_INPUT, "no algorithm of the peer does it: %s", err_message());
    s->peer->algo = best;
    return ERR_OK;
}

static Err time_race(BenchGpu *g, const BenchCase *c, double *sample, BenchTiming *how)
{
    BenchLane lane;
    Err e = bench_gpu_lane_open(g, g->side, &lane);
    how->host_ns = lane.host_ns;
    how->graph = lane.graph != NULL;
    for (int64_t i = 0; !e && i < c->iters; i++) e = bench_gpu_lane_block(g, &lane, &sample[i]);
    how->repeat = lane.repeat;
    bench_gpu_lane_close(g, &lane);
    return e;
}

/* Times iters consecutive calls, as rocblas-bench does. */
static Err time_loop(BenchGpu *g, const BenchCase *c, double *sample, BenchTiming *how)
{
    const DeviceApi *api = g->device->api;
    uint64_t ns;
    TRY(api->event_record(g->device, g->timer.start[0]));
    TRY(call(g, 0, c->iters));
    TRY(api->event_record(g->device, g->timer.stop[0]));
    read_device(g);
    TRY(api->sync(g->device));
    TRY(api->event_elapsed(g->device, g->timer.start[0], g->timer.stop[0], &ns));
    sample[0] = (double)ns / (double)c->iters;
    how->repeat = c->iters;
    how->host_ns = g->host_ns;
    return ERR_OK;
}

Err bench_gpu_time(BenchGpu *g, const BenchSide *s, const BenchCase *c, double *sample, BenchTiming *how)
{
    g->side = s;
    *how = (BenchTiming){.n_sets = g->n_sets, .n_wanted = g->n_wanted};
    TRY(call(g, 0, c->cold_iters));
    g->read_at = 0;
    g->clock_mhz = g->power_w = g->n_readings = 0;
    TRY(c->timing == TIMING_LOOP ? time_loop(g, c, sample, how) : time_race(g, c, sample, how));
    how->clock_mhz = g->n_readings ? g->clock_mhz / g->n_readings : NAN;
    how->power_w = g->n_readings ? g->power_w / g->n_readings : NAN;
    return ERR_OK;
}
