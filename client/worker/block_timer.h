/* Blocks of launches, timed between two events: the one method of tuner-client's race (blocks.c) and of
 * tuner-bench (bench_gpu.c), so that a library can be compared with what it was tuned to.
 *
 * A block is long against the resolution of events (0.5 us), has untimed launches in front that keep the
 * device busy while the host queues, and rotates over copies of the operands that cover its cache. Short
 * launches are queued as a graph; before blocks of long ones the device rests. What a launch is, the caller
 * says. All times in ns.
 */
#ifndef CLIENT_BLOCK_TIMER_H
#define CLIENT_BLOCK_TIMER_H

#include "client/device/device.h"

enum { BLOCKS_MAX = 24 };

/* Launch gaps of the host are 2 to 5 us: launches that are shorter than this are queued as a graph. */
#define BLOCK_GRAPH_NS 20e3
/* Length of a block that counts; more where a launch takes longer. */
#define BLOCK_NS 1e6

typedef struct {
    Device *device;
    void *ctx; /* of the functions */
    /* n launches are going to be queued: arguments, time limits. replay: of a graph, where all is made. */
    Err (*prepare)(void *ctx, int64_t n, bool replay);
    /* Queues n of them, from number first on. */
    Err (*launch)(void *ctx, int64_t first, int64_t n);
    /* Called while the device runs: its sensors. */
    void (*meanwhile)(void *ctx);
    DeviceEvent *start[BLOCKS_MAX], *stop[BLOCKS_MAX];
} BlockTimer;

typedef struct {
    int64_t n_blocks, n_launches; /* of each */
    uint64_t ns[BLOCKS_MAX];      /* of each block */
} BlockTimes;

/* The caller has set device, ctx and the functions. After an error too, call fini. */
Err block_timer_init(BlockTimer *t);
void block_timer_fini(BlockTimer *t);

/* n_blocks blocks of n launches, one by one. launch_ns: what one takes, as far as is known (0: not). */
Err block_timer_plain(BlockTimer *t, int64_t n, int64_t n_blocks, double launch_ns, BlockTimes *out);
/* One block that is long enough to tell what a launch takes; first_ns: of the first one, 0 unknown. */
Err block_timer_look(BlockTimer *t, double first_ns, BlockTimes *out);

/* Launches of a graph: one rotation over all copies, or several. Replays of a part would find their operands
 * in the cache. */
int64_t block_graph_length(int64_t n_copies);
/* Records n launches. An error: the driver has no graphs, or the launches cannot be recorded. */
Err block_timer_record(BlockTimer *t, int64_t n, DeviceGraph **out);
/* n_blocks blocks of replays of a graph of n_graph launches, of about n launches each. */
Err block_timer_graph(BlockTimer *t, DeviceGraph *g, int64_t n_graph, int64_t n, int64_t n_blocks,
                      BlockTimes *out);

/* Launches of a block of block_ns. */
int64_t block_launches(double launch_ns, double block_ns);
/* Rest of a GPU before a block, longer before the first one. */
uint64_t block_rest_ns(double launch_ns, double block_ns, bool first);

#endif
