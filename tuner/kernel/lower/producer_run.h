/* What the statements of a producer are traced with, and what is known of its boxes. */
#ifndef KERNEL_LOWER_PRODUCER_RUN_H
#define KERNEL_LOWER_PRODUCER_RUN_H

#include "base/vec.h"
#include "kernel/lower/producer.h"
#include "kernel/lower/trace.h"

enum { WALK_TILES = 3, TILE_CHUNKS_MAX = STAGES_MAX + 2 };

typedef struct {
    int chunks, first, step;
} ProducerWalkTile;
typedef struct {
    int n;
    ProducerWalkTile tile[WALK_TILES];
} ProducerWalk;

/* A box that a work-group has copied. Chunks are counted through all tiles of the walk. */
typedef struct {
    int chunk, rank, tile;
    int offset, bytes;
    uint32_t to;     /* work-groups, a bit each */
    int64_t k, free; /* of the stage's tile: its first element along K, along the other side; -1: not known */
} ProducerBox;

/* Things: a STAGE is an address in tile `of` of it; a BARRIER is that of a full stage, or of an empty
 * one if `of` is 1. */
typedef struct {
    Trace trace; /* the first member */
    const Producers *of;
    Produced *out;
    ProducerWalk walk;
    const Stmt *expect; /* NULL: none yet */
    VEC(ProducerBox) boxes;
    bool copies;                /* the thread that copies */
    int rank, tile, at;         /* work-group; of the walk; the chunk */
    int first_at, meetings;     /* the tile's first chunk */
    int waited, expected;       /* the newest chunk whose stage was waited for, was given its bytes */
    int64_t k[TILE_CHUNKS_MAX]; /* of the tile's chunks */
} Producer;

/* ---- producer_check.c ---- */

/* Keeps a box, of which the elements' numbers along and across its rows are known or not. */
void producer_box(Producer *p, ProducerBox *b, Thing along, Thing across);
/* A tile begins at the present chunk. */
void producer_begin(Producer *p);
/* A step of the walk: the tile's chunks were all copied. */
void producer_next(Producer *p);
/* Every work-group of the cluster got whole tiles, of its own rows and chunks. */
void producer_check(Producer *p);

#endif
