/* Producers: threads that fill the stages of a ring by the copy engine, each for its own work-group and, by
 * multicast, for others of its cluster. How many bytes the mbarrier of a full stage is to expect follows from
 * the statements: the producer's function is traced in every work-group of a cluster over small walks of
 * tiles, and what each work-group's stages get from all of them is put together.
 *
 * Functions of the same tree are followed. Fields of `args` are small numbers; what the walk gives is made up
 * here.
 */
#ifndef KERNEL_LOWER_PRODUCER_H
#define KERNEL_LOWER_PRODUCER_H

#include "kernel/lower/stmt.h"

enum { PRODUCER_TILES = 2, CLUSTER_MAX = 16 };

/* A tile of a stage: blocks of rows, one after the other. Its boxes have an element's numbers along the rows
 * and across them; -1: a number from which the row does not follow. */
typedef struct {
    const char *name; /* name(stage): its address */
    const char *map;  /* the tensor map that it is copied from */
    int64_t bytes;
    int row_bytes, row_elements, rows; /* of a row; rows of a block */
    bool k_major;                      /* rows lie along K */
    int across;                        /* which number of a box is that of its first row */
    int blocks;                        /* of each tap of a stage; 0: it has one tap */
} ProducerTile;

/* The names that the text has for what a producer works with. */
typedef struct {
    const char *function, *thread; /* its parameter with the thread's number; thread 0 copies */
    bool by_all;                   /* other threads of its warp call the function, too */
    const char *args, *rank;       /* rank(): the number of the work-group in its cluster */
    int cluster, sharing;          /* work-groups of a cluster; those of it that have the same part of K */
    int depth;                     /* elements of K of a chunk */
    bool by_tap;   /* K's coordinate follows from a chunk's number and that of a filter's element */
    bool by_group; /* the batch consists of groups; their places are added to the coordinates: those of group
                      0 are verified */
    const StageRing *ring;
    const char *cursor, *full, *empty; /* full(stage), empty(stage): the mbarriers */
    const char *done, *next;           /* the walk: whether it has ended; a step */
    const char *tile_of, *tile_type;   /* a tile of it: a record of that type */
    const char *meet;                  /* all threads of the cluster meet */
    ProducerTile tile[PRODUCER_TILES];
} Producers;

/* What follows from the statements. */
typedef struct {
    int64_t bytes;                 /* that a stage gets for a chunk */
    uint32_t reaches[CLUSTER_MAX]; /* by work-group: those that its boxes are copied to, a bit each */
    int meetings;                  /* of the cluster for each tile */
} Produced;

/* Sets the number of the function's stmt_expect, then checks it. ERR_FAILED: as producer_verify. */
Err producer_derive(Stmts *s, const Producers *p, Produced *out);

/* ERR_FAILED: a stage is filled before the wait for it, or with the wrong parity of its phase; a box lies
 * outside of its tile, is counted by another mbarrier or comes from another map; a work-group gets a part of
 * a tile twice, not at all, or of another tile or chunk of K than its own; chunks are left out; an mbarrier
 * expects other bytes than it gets; threads meet a different number of times. */
Err producer_verify(const Stmts *s, const Producers *p, Produced *out);

#endif
