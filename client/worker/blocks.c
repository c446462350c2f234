/* Blocks of launches. See blocks.h. */
#include "client/worker/blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/worker/block_timer.h"
#include "client/worker/compare.h"
#include "client/worker/number.h"
#include "client/peer/peer.h"

enum { GRAPHS_MAX = 128 };
/* One launch longer than LONG_NS is measured well enough; it is not repeated when it takes more than HOPELESS
 * times the best solution's time. */
static const double LONG_NS = 5e6, HOPELESS = 1.4;
/* First samples of launches shorter than BLOCK_GRAPH_NS come from a graph, in blocks of LOOK_GRAPH_NS: the
 * start of a graph takes about 1 us, and events resolve 0.5 us. Recording takes some us a launch, so that the
 * graph of all copies is recorded for them only where it has LOOK_GRAPH_MAX launches at most and takes twice
 * that time at most. Otherwise a graph of LOOK_GRAPH_MIN to LOOK_GRAPH_MAX launches on some of the copies
 * does. */
enum { LOOK_GRAPH_MIN = 16, LOOK_GRAPH_MAX = 64 };
static const double LOOK_GRAPH_NS = 200e3;
/* Time of the host between the events around a single launch on an idle device: about so much. */
static const double HOST_NS = 5e3;
/* Reading a GPU's sensors takes a millisecond, so a reading is used for this long. */
static const uint64_t READING_NS = UINT64_C(10000000);
/* To choose the peer's algorithm for a GEMM shorter than GRAPH_NS, ALGO_BLOCKS blocks of ALGO_NS are timed
 * with a graph of ALGO_LAUNCHES launches. */
enum { FRESH_SEED = 1000, ALGO_BLOCKS = 3, ALGO_LAUNCHES = 32 };
static const double GRAPH_NS = 40e3, ALGO_NS = 300e3;

typedef struct {
    int64_t s;
    DeviceGraph *graph;
    int64_t n_launches;
} Graph;

struct Blocks {
    WorkerContext *r;
    BlockTimer timer;
    Graph graph[GRAPHS_MAX];
    size_t n_graphs;
    int64_t next;   /* copy of the operands that launches[0] uses */
    int64_t n_made; /* number of launches[], for consecutive copies */
    int64_t queued; /* launches that were queued since launches[] was made */
    DeviceReading reading;
    uint64_t read_at;
    bool peer_ready, peer_bad;
    bool fresh;           /* the validated sets contain the new data of DO_FRESH */
    unsigned char *ref_d; /* the peer's D for that data */
    Launches *launches;   /* one for each copy */
    DeviceMem other;      /* as large as all copies, at most twice the cache; empty until it is needed */
};

static void graphs_free(Blocks *b)
{
    for (size_t i = 0; i < b->n_graphs; i++) b->r->device->api->graph_free(b->r->device, b->graph[i].graph);
    b->n_graphs = 0;
}

void blocks_clear(Blocks *b)
{
    graphs_free(b);
    b->next = b->queued = 0;
    b->peer_ready = b->peer_bad = b->fresh = false;
    free(b->ref_d);
    b->ref_d = NULL;
    free(b->launches);
    b->launches = NULL;
    b->r->device->api->free(b->r->device, &b->other);
}

/* ---- launches on the copies ---- */

/* Makes launches for the next n copies, or for all if there are fewer; *n_made: their number. */
static Err build(Blocks *b, int64_t n, int64_t *n_made)
{
    WorkerContext *r = b->r;
    Tensors *t = r->tensors;
    if (!b->launches) {
        b->launches = calloc((size_t)t->n_copies, sizeof *b->launches);
        if (!b->launches) FAIL(ERR_FAILED, "out of memory for %d launches", t->n_copies);
    }
    if (launches_workspace_bytes(r) > t->pool_workspace.bytes)
        graphs_free(b); /* they use the old workspace */
    TRY(copies_workspace(t, launches_workspace_bytes(r)));
    *n_made = n < t->n_copies ? n : t->n_copies;
    for (int64_t i = 0; i < *n_made; i++)
        TRY(launches_build(r, &t->copies[(b->next + i) % t->n_copies], &b->launches[i]));
    return 0;
}

/* The three functions of the BlockTimer. */
static Err prepare(void *ctx, int64_t n, bool replay)
{
    Blocks *b = ctx;
    if (!replay) {
        b->next = (b->next + b->queued) % b->r->tensors->n_copies;
        b->queued = 0;
        TRY(build(b, n, &b->n_made));
    }
    return worker_budget(b->r->socket, launches_budget_ns(b->r, n, 1));
}

static Err enqueue(void *ctx, int64_t first, int64_t n)
{
    Blocks *b = ctx;
    for (int64_t i = 0; i < n; i++) TRY(launches_enqueue(b->r, &b->launches[(first + i) % b->n_made]));
    b->queued = first + n;
    return 0;
}

static void read_device(void *ctx)
{
    Blocks *b = ctx;
    Device *d = b->r->device;
    uint64_t now = clock_ns();
    bool recent = d->api->is_gpu && b->read_at && now - b->read_at < READING_NS;
    if (!b->r->session->o.hardware_monitor || recent) return;
    d->api->read(d, &b->reading);
    b->read_at = now;
}

/* Puts the times into the message, or forwards the error e. */
static Err put_times(Blocks *b, Err e, const BlockTimes *times, WorkMessage *samples)
{
    TRY(e);
    for (int64_t i = 0; i < times->n_blocks; i++) {
        samples->n_enqueues[i] = times->n_launches;
        samples->total_ns[i] = times->ns[i];
    }
    samples->n_samples = times->n_blocks;
    samples->mean = b->reading;
    return 0;
}

/* Times n_blocks blocks of n single launches. */
static Err run_plain(Blocks *b, int64_t n, int64_t n_blocks, double launch_ns, WorkMessage *samples)
{
    BlockTimes times;
    Err e = block_timer_plain(&b->timer, n, n_blocks, launch_ns, &times);
    samples->in_graph = false;
    return put_times(b, e, &times, samples);
}

static Err look_plain(Blocks *b, double first_ns, double short_ns, WorkMessage *samples)
{
    BlockTimes times;
    Err e = block_timer_look(&b->timer, first_ns, short_ns, &times);
    samples->in_graph = false;
    return put_times(b, e, &times, samples);
}

/* ---- graphs ---- */

static Err record(Blocks *b, int64_t n_launches, Graph *g)
{
    b->next = b->queued = 0;
    g->n_launches = n_launches;
    return block_timer_record(&b->timer, n_launches, &g->graph);
}

/* The solution's graph; NULL when the driver has no graphs. The oldest graph is freed when there are many. */
static Graph *graph_of(Blocks *b)
{
    int64_t s = b->r->request.s, n = block_graph_length(b->r->tensors->n_copies);
    for (size_t i = 0; i < b->n_graphs; i++)
        if (b->graph[i].s == s && b->graph[i].n_launches == n) return &b->graph[i];
    Graph g = {.s = s};
    if (record(b, n, &g)) return NULL;
    if (b->n_graphs == GRAPHS_MAX) {
        b->r->device->api->graph_free(b->r->device, b->graph[0].graph);
        memmove(&b->graph[0], &b->graph[1], --b->n_graphs * sizeof b->graph[0]);
    }
    b->graph[b->n_graphs] = g;
    return &b->graph[b->n_graphs++];
}

static Err run_graph(Blocks *b, const Graph *g, int64_t n, int64_t n_blocks, WorkMessage *samples)
{
    BlockTimes times;
    Err e = block_timer_graph(&b->timer, g->graph, g->n_launches, n, n_blocks, &times);
    samples->in_graph = true;
    return put_times(b, e, &times, samples);
}

/* ---- first samples ---- */

static Err other_alloc(Blocks *b)
{
    Device *d = b->r->device;
    const uint64_t cover = 2 * b->r->session->props.l2_bytes, pool = b->r->tensors->pool.bytes;
    const uint64_t bytes = pool < cover ? pool : cover;
    return bytes && !b->other.bytes ? d->api->alloc(d, bytes, DEVICE_GUARD_NONE, &b->other) : 0;
}

static Err run_part(Blocks *b, const Graph *g, WorkMessage *samples)
{
    BlockTimes times;
    Err e = block_timer_graph_part(&b->timer, g->graph, g->n_launches, &b->other, &times);
    samples->in_graph = true;
    return put_times(b, e, &times, samples);
}

/* Takes one sample of short launches, of about launch_ns each, in a graph. The graph of all copies is kept
 * for later blocks. *done false: the launches cannot be recorded, or there is no room for Blocks.other. */
static Err look_graph(Blocks *b, double launch_ns, WorkMessage *samples, bool *done)
{
    const int64_t all = block_graph_length(b->r->tensors->n_copies);
    int64_t n = block_launches(launch_ns, LOOK_GRAPH_NS);
    *done = false;
    if (all <= LOOK_GRAPH_MAX && (double)all * launch_ns <= 2 * LOOK_GRAPH_NS) {
        const Graph *g = graph_of(b);
        *done = g != NULL;
        return g ? run_graph(b, g, n, 1, samples) : 0;
    }
    Graph part = {.s = b->r->request.s};
    n = n < LOOK_GRAPH_MIN ? LOOK_GRAPH_MIN : n > LOOK_GRAPH_MAX ? LOOK_GRAPH_MAX : n;
    if (other_alloc(b) || record(b, n, &part)) return 0;
    Err e = run_part(b, &part, samples);
    b->r->device->api->graph_free(b->r->device, part.graph);
    *done = !e;
    return e;
}

/* Takes the first sample after a launch that was timed alone. That time contains some of the host's, so that
 * it tells which kernels are short for certain; of the others plain launches tell. */
static Err look(Blocks *b, double first_ns, WorkMessage *samples)
{
    const double short_ns = b->r->device->api->has_gaps ? BLOCK_GRAPH_NS : 0;
    double launch_ns = fmax(first_ns - HOST_NS, first_ns / 4);
    bool done;
    if (first_ns >= short_ns) {
        TRY(look_plain(b, first_ns, short_ns, samples));
        first_ns = launch_ns = (double)samples->total_ns[0] / (double)samples->n_enqueues[0];
        if (launch_ns >= short_ns) return 0;
    }
    TRY(look_graph(b, launch_ns, samples, &done));
    return done ? 0 : look_plain(b, first_ns, 0, samples);
}

/* ---- the peer ---- */

/* Time of the peer's current algorithm; INFINITY: it does not run. Short ones are timed in a graph, because
 * single launches would measure the launch gap. */
static double algo_ns(Blocks *b)
{
    const DeviceApi *api = b->r->device->api;
    WorkMessage m = {0};
    Graph g = {0};
    if (run_plain(b, 1, 1, 0, &m)) return INFINITY;
    if ((double)m.total_ns[0] > LONG_NS) return (double)m.total_ns[0];
    if (look_plain(b, (double)m.total_ns[0], 0, &m)) return INFINITY;
    double ns = (double)m.total_ns[0] / (double)m.n_enqueues[0];
    if (ns < GRAPH_NS && api->is_gpu && !record(b, ALGO_LAUNCHES, &g)) {
        if (!run_graph(b, &g, (int64_t)(ALGO_NS / ns), ALGO_BLOCKS, &m)) {
            for (int i = 0; i < ALGO_BLOCKS; i++)
                ns = fmin(i ? ns : INFINITY, (double)m.total_ns[i] / (double)m.n_enqueues[i]);
        }
        api->graph_free(b->r->device, g.graph);
    }
    return ns;
}

/* Times every algorithm once and keeps the fastest that runs. */
static Err choose_algo(Blocks *b)
{
    Peer *p = b->r->peer;
    double best_ns = INFINITY;
    int best = -1;
    for (p->algo = 0; p->algo < p->n_algos; p->algo++) {
        double ns = algo_ns(b);
        if (b->r->device->api->lost(b->r->device)) return ERR_FAILED;
        if (ns < best_ns) best_ns = ns, best = p->algo;
    }
    TRY(worker_budget(b->r->socket, 0));
    p->algo = best;
    if (best < 0)
        FAIL(ERR_INPUT, "%s: none of %d algorithms runs: %s", p->version, p->n_algos, err_message());
    return 0;
}

static Err peer_ready(Blocks *b)
{
    WorkerContext *r = b->r;
    if (b->peer_ready) return 0;
    if (!r->peer) FAIL(ERR_FAILED, "there is no peer");
    if (b->peer_bad) FAIL(ERR_INPUT, "the peer does not do this problem");
    b->peer_bad = true;
    TRY(peer_problem(r->peer, r->problem));
    TRY(choose_algo(b));
    b->peer_bad = false;
    b->peer_ready = true;
    return 0;
}

/* ---- fresh data ---- */

static Matrix matrix_of_d(const WorkerContext *r, const unsigned char *data)
{
    const Tensor *x = &r->problem->tensor[TENSOR_D];
    return (Matrix){.type = x->type,
                    .data = data + (size_t)r->problem->offset[TENSOR_D] * (size_t)type_bytes(x->type),
                    .row = x->stride[0],
                    .col = x->stride[1],
                    .batch = x->stride[2]};
}

static Err run_once(WorkerContext *r, TensorSet *s)
{
    Launches l;
    TRY(set_poison(r->tensors, s));
    TRY(launches_build(r, s, &l));
    TRY(worker_budget(r->socket, launches_budget_ns(r, 1, 1)));
    TRY(launches_enqueue(r, &l));
    TRY(r->device->api->sync(r->device));
    return worker_budget(r->socket, 0);
}

/* Computes the peer's D and keeps it for the next candidates. */
static Err reference_make(Blocks *b)
{
    WorkerContext *r = b->r;
    Tensors *t = r->tensors;
    TensorSet *s;
    const LibSolution *solution = r->solution;
    if (b->ref_d) return 0;
    TRY(validated_set(t, DEVICE_GUARD_NONE, true, 0, &s));
    r->solution = NULL;
    Err e = run_once(r, s);
    r->solution = solution;
    TRY(e);
    b->ref_d = malloc(t->bytes[TENSOR_D] + 1);
    if (!b->ref_d)
        FAIL(ERR_FAILED, "out of memory for %llu bytes of a result", (unsigned long long)t->bytes[TENSOR_D]);
    return r->device->api->copy_from(r->device, b->ref_d, &s->buffer[TENSOR_D], s->pad, t->bytes[TENSOR_D]);
}

/* *right: all of D equals the peer's up to rounding. */
static Err fresh_against_peer(Blocks *b, WorkMessage *valid, bool *right)
{
    WorkerContext *r = b->r;
    Tensors *t = r->tensors;
    TensorSet *s;
    const unsigned char *d;
    bool good;
    Check c;
    TRY(reference_make(b));
    TRY(validated_set(t, DEVICE_GUARD_NONE, true, launches_workspace_bytes(r), &s));
    TRY(run_once(r, s));
    TRY(set_check(t, s, CHECK_FULL, valid->text, sizeof valid->text, &good, &d));
    Gemm g = tensors_gemm(t);
    Matrix got = matrix_of_d(r, d), want = matrix_of_d(r, b->ref_d);
    const ClientOptions *o = &r->session->o;
    int bits = number_input_bits(g.a.type, o->f32_xdl == TYPE_X, o->fp16_alt);
    TRY(compare_results(&g, &got, &want, r->session->n_threads, bits, &c));
    *right = good && c.passed;
    valid->n_checked = c.n_checked;
    valid->max_err = c.max_err;
    return *right ? worker_send(r->socket, valid) : 0;
}

/* DO_FRESH: small problems are compared with the CPU's reference, large ones with the peer's result. Where
 * the result differs from the peer's, the CPU decides by a product check: a peer may add parts of its sums in
 * the type of D. */
static Err serve_fresh(Blocks *b, WorkMessage *end)
{
    WorkerContext *r = b->r;
    WorkMessage valid = {.kind = WORK_VALID, .p = r->request.p, .s = r->request.s, .status = RUN_PASSED};
    if (!b->fresh) TRY(tensors_refresh(r->tensors, FRESH_SEED));
    b->fresh = true;
    bool large = !validator_is_small(&r->problem->gemm);
    bool right = false;
    end->status = RUN_PASSED;
    if (large && r->device->api->is_gpu && r->request.trust_peer && !peer_ready(b))
        TRY(fresh_against_peer(b, &valid, &right));
    return right ? 0 : judge_solution(r, CHECK_FULL, &end->status, end->text, sizeof end->text);
}

/* ---- life ---- */

Err blocks_new(WorkerContext *r, Blocks **out)
{
    Blocks *b = *out = calloc(1, sizeof *b);
    if (!b) FAIL(ERR_FAILED, "out of memory for the timing of blocks (%zu bytes)", sizeof *b);
    b->r = r;
    b->reading = DEVICE_READING_NONE;
    b->timer = (BlockTimer){
        .device = r->device, .ctx = b, .prepare = prepare, .launch = enqueue, .meanwhile = read_device};
    return block_timer_init(&b->timer);
}

/* ---- requests ---- */

static Err serve_look(Blocks *b, WorkMessage *end)
{
    WorkerContext *r = b->r;
    WorkMessage samples = {.kind = WORK_SAMPLES, .p = r->request.p, .s = r->request.s};
    end->status = RUN_NO_CHECK;
    if (r->request.validate) TRY(judge_solution(r, CHECK_QUICK, &end->status, end->text, sizeof end->text));
    if (end->status == RUN_FAILED) return 0;
    if (!r->request.validate) {
        TRY(run_plain(b, 1, 1, 0, &samples));
        r->own_ns = (double)samples.total_ns[0];
    }
    if (r->own_ns > LONG_NS) { /* the validated launch counts as a sample and may be enough */
        read_device(b);
        samples = (WorkMessage){.kind = WORK_SAMPLES, .p = r->request.p, .s = r->request.s, .n_samples = 1};
        samples.n_enqueues[0] = 1;
        samples.total_ns[0] = (uint64_t)r->own_ns;
        samples.mean = b->reading;
        TRY(worker_send(r->socket, &samples));
        if (r->request.best_ns > 0 && r->own_ns > HOPELESS * r->request.best_ns) return 0;
    }
    TRY(look(b, r->own_ns, &samples));
    return worker_send(r->socket, &samples);
}

static Err serve_blocks(Blocks *b, WorkMessage *end)
{
    const WorkRequest *q = &b->r->request;
    WorkMessage samples = {.kind = WORK_SAMPLES, .p = q->p, .s = q->s};
    const Graph *g = q->graph && !q->brief ? graph_of(b) : NULL;
    bool done = false;
    end->status = RUN_NO_CHECK;
    if (q->wait_ns) b->r->device->api->idle(b->r->device, q->wait_ns);
    if (b->r->device->api->lost(b->r->device)) return ERR_FAILED;
    if (g)
        TRY(run_graph(b, g, q->n_launches, q->n_blocks, &samples));
    else if (q->graph && q->brief)
        TRY(look_graph(b, q->expected_ns, &samples, &done));
    if (!g && !done) TRY(run_plain(b, q->n_launches, q->n_blocks, q->expected_ns, &samples));
    return worker_send(b->r->socket, &samples);
}

Err blocks_serve(Blocks *b, WorkMessage *end)
{
    WorkerContext *r = b->r;
    r->own_ns = 0;
    if (!r->solution) TRY(peer_ready(b));
    switch (r->request.task) {
    case DO_LOOK:
        TRY(serve_look(b, end));
        break;
    case DO_FRESH:
        TRY(serve_fresh(b, end));
        break;
    default:
        TRY(serve_blocks(b, end));
    }
    return worker_budget(r->socket, 0);
}
