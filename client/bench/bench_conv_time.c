/* tuner-bench conv: tensors on the device, the peer's fastest algorithm, checks and times. See
 * bench_conv.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/bench/bench_conv.h"
#include "client/runtime/conv_members.h"
#include "client/worker/conv_reference.h"
#include "client/worker/number.h"

enum { SETS_MAX = 1024 };
static const uint64_t POOL_BYTES_MAX = UINT64_C(8) << 30;
/* A call that is longer is timed once when algorithms are compared (reference code of a library takes
 * minutes), and blocks end when they have taken BLOCKS_NS, one of them at least. Shorter calls than GRAPH_NS
 * are timed in graphs: they may be ten launches of 5 us each of the host (backward data with a stride of 3).
 */
static const double LONG_NS = 5e8, BLOCKS_NS = 2e10, GRAPH_NS = 2e5;

/* ---- calls ---- */

static Err prepare(void *ctx, int64_t n, bool replay)
{
    (void)ctx, (void)n, (void)replay;
    return ERR_OK;
}

static Err our_launch(ConvBench *b, const uint64_t address[CONV_TENSORS])
{
    tuner_conv2d_desc *d = &b->call;
    tuner_conv3d_desc *of_3d = &b->call_3d;
    d->input = of_3d->input = (void *)(uintptr_t)address[CONV_INPUT];
    d->filter = of_3d->filter = (void *)(uintptr_t)address[CONV_FILTER];
    d->output = of_3d->output = (void *)(uintptr_t)address[CONV_OUTPUT];
    const tuner_status status =
        b->conv->n_spatial == 3 ? tuner_conv3d(b->lib, of_3d, NULL) : tuner_conv2d(b->lib, d);
    return status ? err_set((Err)status, "%s", tuner_error_message()) : ERR_OK;
}

static Err launch(void *ctx, int64_t first, int64_t n)
{
    ConvBench *b = ctx;
    (void)first; /* the rotation over the sets continues from block to block */
    for (int64_t i = 0; i < n; i++) {
        uint64_t address[CONV_TENSORS];
        const uint64_t base = b->pool.address + b->stride * (uint64_t)b->next;
        for (int t = 0; t < CONV_TENSORS; t++) address[t] = base + b->at[t];
        TRY(b->side == CONV_PEER ? peer_conv_launch(b->peer, b->conv, address) : our_launch(b, address));
        b->next = (b->next + 1) % b->n_sets;
    }
    return ERR_OK;
}

static void meanwhile(void *ctx) { (void)ctx; }

/* ---- life ---- */

static Err our_open(ConvBench *b, const ConvParties *parties)
{
    const tuner_options o = {.n_threads = b->n_threads, .device = parties->device};
    if (!parties->library) return ERR_OK;
    const tuner_status status = tuner_open(&b->lib, parties->library, &o);
    return status ? err_set((Err)status, "%s", tuner_error_message()) : ERR_OK;
}

/* The library and the peer share the device and its stream. */
Err conv_bench_open(ConvBench *b, const ConvParties *parties)
{
    const char *peer = parties->peer, *usual = peer && !strcmp(peer, "cudnn") ? "cuda" : "host";
    if (peer && !peer_known_conv(peer)) FAIL(ERR_INPUT, "--peer: '%s', expected cudnn or onednn", peer);
    TRY(our_open(b, parties));
    if (b->lib) usual = tuner_library_device(b->lib);
    Str name = str_from(parties->device ? parties->device : usual), rest = name, part, number = STR_NULL;
    int64_t index = 0;
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
    if (b->lib && api->is_gpu) TRY((Err)tuner_set_stream(b->lib, api->stream(b->device)));
    return peer ? peer_open(peer, b->device, b->n_threads, &b->peer) : ERR_OK;
}

bool conv_bench_has(const ConvBench *b, ConvSide side)
{
    return side == CONV_PEER ? b->peer != NULL : b->lib != NULL;
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
    tuner_close(b->lib);
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
        b->stride += device_aligned(bytes_of(b->conv, (ConvTensor)t));
    }
    uint64_t n = !api->is_gpu || !b->n_blocks ? 1 : (2 * b->props.l2_bytes + b->stride - 1) / b->stride;
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

/* ---- the peer ---- */

static double of_each(const BlockTimes *t) { return (double)t->ns[0] / (double)t->n_launches; }

/* Time of a call by the algorithm that is set; ERR_FAILED: it does not run. */
static Err look(ConvBench *b, double *ns)
{
    BlockTimes t;
    TRY(block_timer_plain(&b->timer, 1, 1, 0, &t));
    if ((double)t.ns[0] < LONG_NS) TRY(block_timer_look(&b->timer, (double)t.ns[0], 0, &t));
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

/* ---- ours ---- */

static int32_t layout_of(const ConvDesc *c, ConvTensor t)
{
    static const char *const letters[] = {"NC", "NH", "CN", "CH"}; /* TUNER_NCHW .. */
    char first[3] = {c->format[t][0], c->format[t][1], 0};
    for (int i = 0; i < 2; i++) { /* a filter's letters; planes stand where rows do in two dimensions */
        static const char here[] = "KZYXD", of_image[] = "NHHWH";
        const char *at = strchr(here, first[i]);
        if (at) first[i] = of_image[at - here];
    }
    for (int32_t i = 0; i < 4; i++)
        if (!strcmp(letters[i], first)) return i;
    return 0;
}

/* The calls of libtuner, of which one has the convolution's number of dimensions. */
static void call_of_3d(const ConvDesc *c, tuner_conv3d_desc *out)
{
    const ConvSize *s = &c->size;
    *out = (tuner_conv3d_desc){.size = sizeof *out,
                               .direction = c->op - OP_CONV_FORWARD,
                               .input_layout = layout_of(c, CONV_INPUT),
                               .filter_layout = layout_of(c, CONV_FILTER),
                               .output_layout = layout_of(c, CONV_OUTPUT),
                               .input_type = c->type[CONV_INPUT],
                               .filter_type = c->type[CONV_FILTER],
                               .output_type = c->type[CONV_OUTPUT],
                               .compute_type = c->compute,
                               .xf32 = c->xf32,
                               .n = s->n,
                               .c = s->c,
                               .d = s->in[2],
                               .h = s->in[1],
                               .w = s->in[0],
                               .k = s->k,
                               .z = s->filter[2],
                               .y = s->filter[1],
                               .x = s->filter[0],
                               .stride_d = s->stride[2],
                               .stride_h = s->stride[1],
                               .stride_w = s->stride[0],
                               .dilation_d = s->dilation[2],
                               .dilation_h = s->dilation[1],
                               .dilation_w = s->dilation[0],
                               .pad_d = s->pad[2],
                               .pad_h = s->pad[1],
                               .pad_w = s->pad[0],
                               .pad_d_end = s->pad_end[2],
                               .pad_h_end = s->pad_end[1],
                               .pad_w_end = s->pad_end[0],
                               .groups = s->groups};
}

static void call_of_2d(const tuner_conv3d_desc *same, tuner_conv2d_desc *out)
{
    *out = (tuner_conv2d_desc){.size = sizeof *out};
#define COPY(m) out->m = same->m;
    CONV_MEMBERS(COPY)
#undef COPY
}

static tuner_status our_select(ConvBench *b, tuner_selection *s)
{
    call_of_3d(b->conv, &b->call_3d);
    b->call_3d.solution_index = b->solution;
    call_of_2d(&b->call_3d, &b->call);
    return b->conv->n_spatial == 3 ? tuner_select_conv3d(b->lib, &b->call_3d, NULL, s)
                                   : tuner_select_conv2d(b->lib, &b->call, s);
}

bool conv_bench_can(ConvBench *b, const ConvDesc *c)
{
    tuner_selection s;
    b->conv = c;
    const bool can = b->lib && !our_select(b, &s);
    b->conv = NULL;
    return can;
}

static Err our_solution(ConvBench *b, ConvTimes *out)
{
    tuner_selection s;
    const tuner_status status = our_select(b, &s);
    if (status)
        return err_set(status == TUNER_NO_SOLUTION ? ERR_INPUT : (Err)status, "%s", tuner_error_message());
    snprintf(out->algorithm, sizeof out->algorithm, "%.200s (%s)", s.kernel, s.why);
    return ERR_OK;
}

/* ---- blocks ---- */

typedef struct {
    double *ns, all_ns, call_ns;
    int64_t n_done, n_graph;
    DeviceGraph *graph;
} Lane;

static Err lane_begin(ConvBench *b, Lane *l)
{
    const DeviceApi *api = b->device->api;
    l->n_graph = block_graph_length(b->n_sets);
    l->ns = calloc((size_t)b->n_blocks, sizeof *l->ns);
    if (!l->ns) FAIL(ERR_FAILED, "out of memory for %lld blocks", (long long)b->n_blocks);
    b->next = 0;
    if (l->call_ns < GRAPH_NS && api->has_gaps && block_timer_record(&b->timer, l->n_graph, &l->graph)) {
        api->graph_free(b->device, l->graph);
        l->graph = NULL; /* the calls synchronise, or the driver has no graphs */
        err_clear();
    }
    return ERR_OK;
}

static Err lane_step(ConvBench *b, Lane *l, ConvTimes *out)
{
    const int64_t n = block_launches(l->call_ns, BLOCK_NS);
    const uint64_t rest = block_rest_ns(l->call_ns, BLOCK_NS, l->n_done == 0, (double)INFINITY);
    BlockTimes t;
    if (l->n_done == b->n_blocks || (l->n_done && l->all_ns >= BLOCKS_NS)) return ERR_OK;
    if (rest && b->device->api->is_gpu) b->device->api->idle(b->device, rest);
    TRY(l->graph ? block_timer_graph(&b->timer, l->graph, l->n_graph, n, 1, &t)
                 : block_timer_plain(&b->timer, n, 1, l->call_ns, &t));
    l->ns[l->n_done++] = of_each(&t);
    l->all_ns += (double)t.ns[0];
    out->n_calls = t.n_launches;
    out->graph = l->graph != NULL;
    return ERR_OK;
}

/* A block of one party, then one of the other. */
static Err time_blocks(ConvBench *b, Lane lane[CONV_SIDES], ConvTimes out[CONV_SIDES])
{
    if (!b->n_blocks) return ERR_OK;
    for (int side = 0; side < CONV_SIDES; side++) {
        b->side = (ConvSide)side;
        if (out[side].ran) TRY(lane_begin(b, &lane[side]));
    }
    for (int64_t i = 0; i < b->n_blocks; i++)
        for (int side = 0; side < CONV_SIDES; side++) {
            b->side = (ConvSide)side;
            if (out[side].ran) TRY(lane_step(b, &lane[side], &out[side]));
        }
    for (int side = 0; side < CONV_SIDES; side++)
        if (out[side].ran) stats_summary(lane[side].ns, (size_t)lane[side].n_done, 0.95, &out[side].ns);
    return ERR_OK;
}

/* ---- a convolution ---- */

/* Chooses, checks and times one call of a party; ERR_INPUT: it cannot do the convolution. */
static Err party_begin(ConvBench *b, ConvTimes *out, double *call_ns)
{
    if (b->side == CONV_PEER) {
        TRY(peer_conv(b->peer, b->conv));
        TRY(choose(b, out, call_ns));
    } else {
        TRY(our_solution(b, out));
        if (b->n_blocks) TRY(look(b, call_ns));
    }
    return b->verify ? verify(b, &out->check) : ERR_OK;
}

static Err run(ConvBench *b, Lane lane[CONV_SIDES], ConvTimes out[CONV_SIDES])
{
    TRY(memory_make(b));
    for (int side = 0; side < CONV_SIDES; side++) {
        b->side = (ConvSide)side;
        if (!conv_bench_has(b, b->side)) continue;
        const Err e = party_begin(b, &out[side], &lane[side].call_ns);
        if (e && e != ERR_INPUT) return e;
        out[side].ran = !e;
        if (!e) continue;
        snprintf(out[side].why, sizeof out[side].why, "%s", err_message());
        err_clear();
    }
    return time_blocks(b, lane, out);
}

Err conv_bench_run(ConvBench *b, const ConvDesc *c, ConvTimes out[CONV_SIDES])
{
    Lane lane[CONV_SIDES] = {{0}};
    memset(out, 0, CONV_SIDES * sizeof *out);
    b->conv = c;
    Err e = run(b, lane, out);
    for (int side = 0; side < CONV_SIDES; side++) {
        if (lane[side].graph) b->device->api->graph_free(b->device, lane[side].graph);
        free(lane[side].ns);
    }
    memory_free(b);
    b->conv = NULL;
    return e;
}
