/* Blocks of launches, timed between two events. tuner-client's race and tuner-bench share this method, so
 * that the times of a library can be compared with those of its tuning.
 *
 * A block is long compared with the resolution of events (0.5 us), is preceded by untimed launches that keep
 * the device busy while the host queues, and rotates over copies of the operands that exceed the cache. Short
 * launches are queued as a graph; before blocks of long ones the device rests. The caller's functions do the
 * launches. All times in ns.
 */
#ifndef CLIENT_BLOCK_TIMER_H
#define CLIENT_BLOCK_TIMER_H

#include "client/device/device.h"

enum { BLOCKS_MAX = 24 };

/* Launch gaps of the host are 2 to 5 us: launches that are shorter than this are queued as a graph. */
#define BLOCK_GRAPH_NS 20e3
/* Length of a block of the last stage; longer where one launch takes longer. */
#define BLOCK_NS 1e6

typedef struct {
    Device *device;
    void *ctx; /* of the functions */
    /* Prepares the arguments and the time limit of n launches. replay: they are replays of a graph, which has
     * its arguments. */
    Err (*prepare)(void *ctx, int64_t n, bool replay);
    /* Queues n of them, from number first on. */
    Err (*launch)(void *ctx, int64_t first, int64_t n);
    /* Called while the device runs, to read its sensors. */
    void (*meanwhile)(void *ctx);
    DeviceEvent *start[BLOCKS_MAX], *stop[BLOCKS_MAX];
} BlockTimer;

typedef struct {
    int64_t n_blocks, n_launches; /* launches of each block */
    uint64_t ns[BLOCKS_MAX];      /* of each block */
} BlockTimes;

/* The caller must have set device, ctx and the functions, and must call fini even after an error. */
Err block_timer_init(BlockTimer *t);
void block_timer_fini(BlockTimer *t);

/* Times n_blocks blocks of n single launches. launch_ns: the expected time of one; 0: not known. */
Err block_timer_plain(BlockTimer *t, int64_t n, int64_t n_blocks, double launch_ns, BlockTimes *out);
/* Times one block with enough launches to measure the time of one; first_ns: time of a first launch, 0
 * unknown. A block that shows that a launch takes less than short_ns is enough however short it is; 0: none
 * is. */
Err block_timer_look(BlockTimer *t, double first_ns, double short_ns, BlockTimes *out);

/* Launches of a graph: one or more rotations over all copies, as replays of a part of the copies would find
 * their operands in the cache. */
int64_t block_graph_length(int64_t n_copies);
/* Records n launches as a graph. ERR_FAILED: the driver has no graphs, or the launches cannot be recorded. */
Err block_timer_record(BlockTimer *t, int64_t n, DeviceGraph **out);
/* Times n_blocks blocks of about n launches each, as replays of a graph of n_graph launches. */
Err block_timer_graph(BlockTimer *t, DeviceGraph *g, int64_t n_graph, int64_t n, int64_t n_blocks,
                      BlockTimes *out);
/* Times one replay of a graph of n_graph launches on a part of the copies. Between an untimed replay and this
 * one it overwrites `other`, which may be empty, so that the operands are not found in the cache. */
Err block_timer_graph_part(BlockTimer *t, DeviceGraph *g, int64_t n_graph, const DeviceMem *other,
                           BlockTimes *out);

/* The number of launches in a block of block_ns. */
int64_t block_launches(double launch_ns, double block_ns);
/* Time for which a GPU rests before a block; longer before the first one. */
uint64_t block_rest_ns(double launch_ns, double block_ns, bool first);

#endif
