/* Warp groups that multiply from a ring of stages by asynchronous products (wgmma), while a producer fills
 * the stages: how many groups of products a wait may leave under way, and how often a stage is released a
 * round. Both follow from the statements: the function of a warp group is run, chunk by chunk, over small
 * walks of tiles, and then all warp groups together with the producer.
 *
 * Functions of the same tree are followed. A call of another one reads the stage whose address it gets, and
 * uses the registers that it gets: where it gets both, it loads the stage into the registers, and the stage
 * is read until products that take these registers are complete. (The threads of a warp group load at
 * different times, and one of them releases the stage for all; but all have issued a product that has
 * completed.) */
#ifndef KERNEL_LOWER_CONSUMER_H
#define KERNEL_LOWER_CONSUMER_H

#include "kernel/lower/stmt.h"

/* The names that the text has for what a warp group works with. */
typedef struct {
    const char *function, *group; /* of a warp group; its parameter with the group's number */
    int n_groups;
    const StageRing *ring;
    const char *cursor;                     /* of the ring; has_phase */
    const char *skip;                       /* skip(n): as n steps of the cursor */
    const char *full;                       /* full(stage): the mbarrier that counts a stage's copies */
    const char *tile[2];                    /* tile(stage): the address of X's or Y's tile */
    const char *release;                    /* release(.., stage, ..): arrives at the stage's empty barrier */
    const char *done, *next, *take, *count; /* the walk: whether it has ended; a step; a tile, whose field has
                                                * the number of its chunks */
    const char *store;                      /* stores a tile: not followed (slices.h) */
    const char *meet;                       /* all threads of the cluster meet */
    int meetings;                           /* of the producer's threads for each tile */
    const char *turn_wait, *turn_give;      /* ping-pong: waits for the turn of a group, gives it */
} Consumers;

/* Sets the numbers of all waits for products, then checks the function. *releases: warp groups that release a
 * stage in every round. ERR_FAILED: as consumer_verify. */
Err consumer_derive(Stmts *s, const Consumers *c, int *releases);

/* ERR_FAILED: a stage is read, or released, by a warp group that does not have it; it is released while
 * products may still read it, unread, or not at all; stages are not waited for one by one, or by the wrong
 * parity of their phase; registers are used while products under way use them, or by products without a
 * fence behind other uses; products are in no group; a wait has no number, or waits for nothing; not every
 * chunk is released equally often; warp groups wait for one another for ever; they do not meet the
 * producer's threads. */
Err consumer_verify(const Stmts *s, const Consumers *c, int *releases);

#endif
