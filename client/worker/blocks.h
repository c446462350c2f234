/* The worker's part of a race: blocks of launches between two events, of solutions and of the peer.
 *
 * A block is long against the resolution of events (LOOK, then as many launches as the supervisor says), has
 * untimed launches in front that keep the device busy while the host queues, rotates over the copies of the
 * operands, and comes with the device's state (clock, power, throttle) read while it runs. Short kernels are
 * queued as a graph. State that outlives a request: graphs, the peer's best way, where the rotation stands.
 * Used by worker.c; the supervisor's part is race.c. */
#ifndef CLIENT_BLOCKS_H
#define CLIENT_BLOCKS_H

#include "client/worker/launches.h"

typedef struct Blocks Blocks;

Err blocks_new(Run *r, Blocks **out);
void blocks_free(Blocks *b);
/* What belongs to the problem goes, before its tensors do. */
void blocks_clear(Blocks *b);
/* DO_LOOK, DO_BLOCK, DO_FRESH. Fills in end and sends the messages before it. */
Err blocks_serve(Blocks *b, WorkMessage *end);

#endif
