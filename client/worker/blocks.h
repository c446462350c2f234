/* The worker's part of a race: blocks of launches (block_timer.h) of solutions and of the peer, with the
 * device's state (clock, power, throttle) read while a block runs. Graphs, the peer's best algorithm and the
 * position of the rotation over the copies outlive a request. The supervisor's part is race.c. */
#ifndef CLIENT_BLOCKS_H
#define CLIENT_BLOCKS_H

#include "client/worker/launches.h"

typedef struct Blocks Blocks;

Err blocks_new(WorkerContext *r, Blocks **out);
/* Frees everything that belongs to the problem; call before its tensors are freed. */
void blocks_clear(Blocks *b);
/* Serves DO_LOOK, DO_BLOCK and DO_FRESH: sends their messages and fills in the last one, end. */
Err blocks_serve(Blocks *b, WorkMessage *end);

#endif
