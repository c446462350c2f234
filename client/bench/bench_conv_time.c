/* tuner-bench conv: tensors on the device, the peer's fastest algorithm, its check and its times. See
 * bench_conv.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/bench/bench_conv.h"
#include "client/worker/conv_reference.h"
#include "client/worker/number.h"

enum { ALIGN = 256, SETS_MAX = 1024 };
static const uint64_t POOL_BYTES_MAX = UINT64_C(8) << 30;
/* A call that is longer is timed once when algorithms are compared (reference code of a library takes
 * minutes), and blocks end when they have taken BLOCKS_NS, one of them at least. */
static const double LONG_NS = 5e8, BLOCKS_NS = 2e10;

/* ---- calls ---- */

static Err prepare(void *ctx, int64_t n, bool replay)
{
    (void)ctx, (void)n, (void)replay;
    return ERR_OK;
}

static Err launch(void *ctx, int64_t first, int64_t n)
{
    ConvBench *b = ctx;
    (void)first; /* the rotation over the sets continues from block to block */
    for (int64_t i = 0; i < n; i++) {
        uint64_t address[CONV_TENSORS];
        const uint64_t base = b->pool.address + b->stride * (uint64_t)b->next;
        for (int t = 0; t < CONV_TENSORS; t++) address[t] = base + b->at[t];
        TRY(peer_conv_launch(b->peer, b->conv, address));
        b->next = (b->next + 1) % b->n_sets;
    }
    return ERR_OK;
}

static void meanwhile(void *ctx) { (void)ctx; }

/* ---- life ---- */

Err conv_bench_open(ConvBench *b, const char *kind, const char *peer)
{
    const char *usual = strcmp(peer, "cudnn") ? "host" : "cuda";
    Str name = str_from(kind ? kind : usual), rest = name, part, number = STR_NULL;
    int64_t index = 0;
    if (!peer_known_conv(peer)) FAIL(ERR_INPUT, "--peer: '%s', expected cudnn or onednn", peer);
    str_split(&rest, ':', &part);
    if (rest.s) number = rest;
    const DeviceApi *api = device_api_find(part);
    if (!api || api->is_simulated || (rest.s && (!str_to_i64(number, &index) || index < 0 || index > 65536)))
        FAIL(ERR_INPUT, "--device: '%.*s', expected host, cuda, hip or cuda:1", STR_ARG(name));
    TRY(api->open((int)index, &(DeviceOptions){.n_threads = 1}, &b->device));
    TRY(api->props(b->device, &b->props));
    b->timer = (BlockTimer){
        .device = b->device, .ctx = b, .prepare = prepare, .launch = launch, .meanwhile = meanwhile};
    TRY(block_timer_init(&b->timer));
    return peer_open(peer, b->device, b->n_threads, &b->peer);
}

static void memory_free(ConvBench *b)
{
    for (int t = 0; t < CONV_TENSORS; t++) {
        free(b->host[t]);
        b->host[t] = NULL;
    }
    if (b->device) b->device->api->free(b->device, &b->pool);
}

void conv_bench_close(ConvBench *b)
{
    memory_free(b);
    peer_close(b->peer);
    if (b->timer.device) block_timer_fini(&b->timer);
    if (b->device) b->device->api->close(b->device);
    *b = (ConvBench){0};
}

/* ---- tensors ---- */

static uint64_t bytes_of(const ConvDesc *c, ConvTensor t)
{
    return (uint64_t)conv_elements(c, t) * (uint64_t)type_bytes((DataType)c->type[t]);
}

static Err fill_host(ConvBench *b, ConvTensor t)
{
    const ConvDesc *c = b->conv;
    Tensor flat = {.type = (DataType)c->type[t], .size = {conv_elements(c, t), 1, 1}, .stride = {1, 1, 1}};
    const uint64_t bytes = bytes_of(c, t);
    TRY(tensor_finish(&flat));
    b->host[t] = malloc(bytes);
    if (!b->host[t])
        FAIL(ERR_FAILED, "out of memory for the %s (%llu bytes)", conv_tensor_name(t),
             (unsigned long long)bytes);
    if (t == conv_result(c)) {
        memset(b->host[t], number_poison(flat.type), bytes);
        return ERR_OK;
    }
    const InitType how = type_info(flat.type)->integral ? b->fill_integers : b->fill;
    TRY(init_check(how, flat.type, false));
    init_tensor(&flat, how, b->seed + (uint64_t)t, b->n_threads, b->host[t]);
    return ERR_OK;
}

/* On GPUs copies of all tensors that together exceed twice the cache; fewer where there is no memory. */
static Err memory_make(ConvBench *b)
{
    const DeviceApi *api = b->device->api;
    b->stride = 0;
    for (int t = 0; t < CONV_TENSORS; t++) {
        TRY(fill_host(b, (ConvTensor)t));
        b->at[t] = b->stride;
        b->stride += (bytes_of(b->conv, (ConvTensor)t) + ALIGN - 1) / ALIGN * ALIGN;
    }
    uint64_t n = !api->is_gpu ? 1 : (2 * b->props.l2_bytes + b->stride - 1) / b->stride;
    if (n * b->stride > POOL_BYTES_MAX) n = POOL_BYTES_MAX / b->stride;
    b->n_wanted = b->n_sets = n < 1 ? 1 : n > SETS_MAX ? SETS_MAX : (int64_t)n;
    b->next = 0;
    for (;;) {
        Err e = api->alloc(b->device, b->stride * (uint64_t)b->n_sets, DEVICE_GUARD_NONE, &b->pool);
        if (!e) break;
        if (b->n_sets == 1) return e;
        b->n_sets /= 2;
    }
    for (int64_t i = 0; i < b->n_sets; i++)
        for (int t = 0; t < CONV_TENSORS; t++)
            TRY(api->copy_to(b->device, &b->pool, b->stride * (uint64_t)i + b->at[t], b->host[t],
                             bytes_of(b->conv, (ConvTensor)t)));
    return ERR_OK;
}

/* ---- a convolution ---- */

static double of_each(const BlockTimes *t) { return (double)t->ns[0] / (double)t->n_launches; }

/* Time of a call by the algorithm that is set; ERR_FAILED: it does not run. */
static Err look(ConvBench *b, double *ns)
{
    BlockTimes t;
    TRY(block_timer_plain(&b->timer, 1, 1, 0, &t));
    if ((double)t.ns[0] < LONG_NS) TRY(block_timer_look(&b->timer, (double)t.ns[0], &t));
    *ns = of_each(&t);
    return ERR_OK;
}

/* Sets the peer's fastest algorithm. Those that fail are passed over while the device works. */
static Err choose(ConvBench *b, ConvTimes *out, double *best_ns)
{
    int best = -1;
    char why[512] = "";
    out->n_algos = b->peer->n_algos;
    for (int i = 0; i < out->n_algos; i++) {
        double ns;
        b->peer->algo = i;
        const Err e = look(b, &ns);
        if (e && (e != ERR_FAILED || b->device->api->lost(b->device))) return e;
        if (e) {
            out->n_left++;
            snprintf(why, sizeof why, "%s", err_message());
            err_clear();
        } else if (best < 0 || ns < *best_ns) {
            best = i, *best_ns = ns;
        }
    }
    if (best < 0) FAIL(ERR_INPUT, "none of %d algorithms runs: %s", out->n_algos, why);
    b->peer->algo = best;
    Buf name;
    buf_init(&name);
    b->peer->api->algo_name(b->peer, best, &name);
    snprintf(out->algorithm, sizeof out->algorithm, "%s", buf_cstr(&name));
    buf_fini(&name);
    return ERR_OK;
}

static Err verify(ConvBench *b, Check *out)
{
    const DeviceApi *api = b->device->api;
    const ConvDesc *c = b->conv;
    const ConvTensor r = conv_result(c);
    const uint64_t bytes = bytes_of(c, r);
    TRY(api->copy_to(b->device, &b->pool, b->at[r], b->host[r], bytes)); /* the poison */
    b->next = 0;
    TRY(launch(b, 0, 1));
    TRY(api->sync(b->device));
    TRY(api->copy_from(b->device, b->host[r], &b->pool, b->at[r], bytes));
    const ConvData d = {.c = c, .data = {b->host[0], b->host[1], b->host[2]}, .n_threads = b->n_threads};
    return conv_check(&d, &(ConvCheckOptions){.seed = b->seed}, out);
}

static Err time_blocks(ConvBench *b, double call_ns, ConvTimes *out)
{
    const DeviceApi *api = b->device->api;
    const int64_t n_graph = block_graph_length(b->n_sets), n = block_launches(call_ns, BLOCK_NS);
    double *ns = calloc((size_t)b->n_blocks, sizeof *ns), all_ns = 0;
    int64_t n_done = 0;
    DeviceGraph *graph = NULL;
    Err e = ns ? ERR_OK : err_set(ERR_FAILED, "out of memory");
    b->next = 0;
    if (!e && call_ns < BLOCK_GRAPH_NS && api->has_gaps && block_timer_record(&b->timer, n_graph, &graph)) {
        api->graph_free(b->device, graph);
        graph = NULL; /* the calls synchronise, or the driver has no graphs */
        err_clear();
    }
    for (; n_done < b->n_blocks && !e && (n_done == 0 || all_ns < BLOCKS_NS); n_done++) {
        BlockTimes t;
        const uint64_t rest = block_rest_ns(call_ns, BLOCK_NS, n_done == 0);
        if (rest && api->is_gpu) api->idle(b->device, rest);
        e = graph ? block_timer_graph(&b->timer, graph, n_graph, n, 1, &t)
                  : block_timer_plain(&b->timer, n, 1, call_ns, &t);
        if (e) break;
        ns[n_done] = of_each(&t);
        all_ns += (double)t.ns[0];
        out->n_calls = t.n_launches;
    }
    out->graph = graph != NULL;
    if (!e) stats_summary(ns, (size_t)n_done, 0.95, &out->ns);
    if (graph) api->graph_free(b->device, graph);
    free(ns);
    return e;
}

static Err run(ConvBench *b, ConvTimes *out)
{
    double call_ns = 0;
    TRY(peer_conv(b->peer, b->conv));
    TRY(memory_make(b));
    out->n_sets = b->n_sets, out->n_wanted = b->n_wanted;
    TRY(choose(b, out, &call_ns));
    if (b->verify) TRY(verify(b, &out->check));
    return time_blocks(b, call_ns, out);
}

Err conv_bench_run(ConvBench *b, const ConvDesc *c, ConvTimes *out)
{
    *out = (ConvTimes){0};
    b->conv = c;
    Err e = run(b, out);
    memory_free(b);
    b->conv = NULL;
    return e;
}
