/* Blocks of launches between events. See block_timer.h. */
#include "client/worker/block_timer.h"

#include <string.h>

enum { GRAPH_LAUNCHES_MIN = 32, WARM_MAX = 16, LOOK_MAX = 4096, LAUNCHES_MAX = 1000000 };
/* Length of a first measurement: the resolution of events is 0.5 us. */
static const double LOOK_NS = 300e3;
/* Untimed launches keep the device busy for this long before a block, while the host queues it. */
static const double WARM_NS = 20e3;
/* A GPU under load reaches its power limit after some tens of milliseconds, and its clock then varies by 10 %
 * for as long as the load lasts (H200, bf16 4096^3: 304 to 348 us within 15 rounds). Therefore the device
 * rests before the first block of long launches, and before each following one PACE times the block's length.
 */
static const double PACED_LAUNCH_NS = 40e3, PACE = 4, REST_NS = 15e7, PACE_MAX_NS = 4e7;

Err block_timer_init(BlockTimer *t)
{
    const DeviceApi *api = t->device->api;
    memset(t->start, 0, sizeof t->start);
    memset(t->stop, 0, sizeof t->stop);
    for (int i = 0; i < BLOCKS_MAX; i++) {
        TRY(api->event_new(t->device, &t->start[i]));
        TRY(api->event_new(t->device, &t->stop[i]));
    }
    return 0;
}

void block_timer_fini(BlockTimer *t)
{
    for (int i = 0; i < BLOCKS_MAX; i++) {
        if (t->start[i]) t->device->api->event_free(t->device, t->start[i]);
        if (t->stop[i]) t->device->api->event_free(t->device, t->stop[i]);
        t->start[i] = t->stop[i] = NULL;
    }
}

static int64_t warm_launches(double launch_ns)
{
    if (launch_ns > 100 * WARM_NS) return 0;
    double n = launch_ns > 0 ? ceil(WARM_NS / launch_ns) : 1;
    return n > WARM_MAX ? WARM_MAX : (int64_t)n;
}

/* Waits for the blocks and reads their times. */
static Err elapsed(BlockTimer *t, int64_t n_blocks, int64_t n_launches, BlockTimes *out)
{
    Device *d = t->device;
    t->meanwhile(t->ctx);
    TRY(d->api->sync(d));
    for (int64_t i = 0; i < n_blocks; i++)
        TRY(d->api->event_elapsed(d, t->start[i], t->stop[i], &out->ns[i]));
    out->n_blocks = n_blocks;
    out->n_launches = n_launches;
    return 0;
}

Err block_timer_plain(BlockTimer *t, int64_t n, int64_t n_blocks, double launch_ns, BlockTimes *out)
{
    Device *d = t->device;
    int64_t warm = warm_launches(launch_ns);
    TRY(t->prepare(t->ctx, warm + n * n_blocks, false));
    TRY(t->launch(t->ctx, 0, warm));
    for (int64_t i = 0; i < n_blocks; i++) {
        TRY(d->api->event_record(d, t->start[i]));
        TRY(t->launch(t->ctx, warm + i * n, n));
        TRY(d->api->event_record(d, t->stop[i]));
    }
    return elapsed(t, n_blocks, n, out);
}

Err block_timer_look(BlockTimer *t, double first_ns, double short_ns, BlockTimes *out)
{
    double launch_ns = first_ns > 0 ? first_ns : LOOK_NS;
    int64_t n = launch_ns < LOOK_NS ? (int64_t)(LOOK_NS / launch_ns) : 1;
    for (;;) {
        if (n > LOOK_MAX) n = LOOK_MAX;
        TRY(block_timer_plain(t, n, 1, launch_ns, out));
        double took = (double)out->ns[0];
        launch_ns = took / (double)n;
        if (took >= LOOK_NS / 2 || n == LOOK_MAX || launch_ns < short_ns) return 0;
        n = took > 0 && LOOK_NS / launch_ns > 2 * (double)n ? (int64_t)(LOOK_NS / launch_ns) + 1 : 2 * n;
    }
}

int64_t block_graph_length(int64_t n_copies)
{
    int64_t n = n_copies;
    return n < GRAPH_LAUNCHES_MIN ? (GRAPH_LAUNCHES_MIN + n - 1) / n * n : n;
}

Err block_timer_record(BlockTimer *t, int64_t n, DeviceGraph **out)
{
    Device *d = t->device;
    *out = NULL;
    TRY(t->prepare(t->ctx, n, false));
    TRY(d->api->graph_begin(d));
    Err e = t->launch(t->ctx, 0, n);
    Err end = d->api->graph_end(d, out);
    return e ? e : end;
}

Err block_timer_graph(BlockTimer *t, DeviceGraph *g, int64_t n_graph, int64_t n, int64_t n_blocks,
                      BlockTimes *out)
{
    Device *d = t->device;
    int64_t times = n > n_graph ? (n + n_graph / 2) / n_graph : 1;
    TRY(t->prepare(t->ctx, n_graph * (1 + times * n_blocks), true));
    TRY(d->api->graph_launch(d, g));
    for (int64_t i = 0; i < n_blocks; i++) {
        TRY(d->api->event_record(d, t->start[i]));
        for (int64_t k = 0; k < times; k++) TRY(d->api->graph_launch(d, g));
        TRY(d->api->event_record(d, t->stop[i]));
    }
    return elapsed(t, n_blocks, times * n_graph, out);
}

/* Writing keeps the device busy while the host queues the replay. */
Err block_timer_graph_part(BlockTimer *t, DeviceGraph *g, int64_t n_graph, const DeviceMem *other,
                           BlockTimes *out)
{
    Device *d = t->device;
    TRY(t->prepare(t->ctx, 2 * n_graph, true));
    TRY(d->api->graph_launch(d, g));
    if (other->bytes) TRY(d->api->fill(d, other, 0));
    TRY(d->api->event_record(d, t->start[0]));
    TRY(d->api->graph_launch(d, g));
    TRY(d->api->event_record(d, t->stop[0]));
    return elapsed(t, 1, n_graph, out);
}

int64_t block_launches(double launch_ns, double block_ns)
{
    double n = launch_ns > 0 ? ceil(block_ns / launch_ns) : 1;
    return n < 1 ? 1 : n > LAUNCHES_MAX ? LAUNCHES_MAX : (int64_t)n;
}

uint64_t block_rest_ns(double launch_ns, double block_ns, bool first)
{
    if (launch_ns < PACED_LAUNCH_NS) return 0;
    return (uint64_t)(first ? REST_NS : fmin(PACE * fmax(block_ns, launch_ns), PACE_MAX_NS));
}
