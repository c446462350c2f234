/* Traffic model: bytes of A and B that reach the L2 caches of a GPU's dies and the last-level cache (memory,
 * where there is none) in an order of the work-groups.
 *
 * Work-groups run in waves, one on each compute unit, and the hardware gives them to the dies in turn. What a
 * die reads in a wave is counted once: K elements of each distinct row of tiles of A and of each distinct
 * column of tiles of B that its work-groups have. The last-level cache is counted likewise, with all dies
 * together. Sets are counted, not estimated: the ids of a die in a wave are runs with a constant step, which
 * the order (index/walk.h; test_traffic compares them id by id) takes to runs of tiles. Nothing is allocated.
 *
 * Where the cache size of a GPU with one die is known, the bytes read from memory are counted more closely:
 * - A row or column that an earlier wave read hits the cache as far as the cache still holds it: wholly while
 *   what was read and written since then is below held_bytes, not at all above gone_bytes, in between in
 *   part. What work-groups of both halves of the cache read is there twice. All work-groups go through K in
 *   step, so that this is the same for all parts of K.
 * - Work-groups that are far apart in the order do not stay in step. Where a wave reads more than
 *   apart_bytes, the later ones read a part of a shared row or column again.
 */
#ifndef PROBLEM_TRAFFIC_H
#define PROBLEM_TRAFFIC_H

#include <stdbool.h>

#include "problem/mapping.h"

typedef struct {
    int32_t dies, cus;              /* L2 caches; compute units of all dies */
    double l2_rate, llc_rate;       /* bytes per second into all L2 caches, and into the last-level cache */
    double held_bytes, gone_bytes;  /* of a GPU with one die; 0: not known */
    double apart_bytes, apart_rate; /* part of a shared row or column that is read again, for each byte that a
                                     * wave reads above apart_bytes */
} TrafficDevice;

typedef struct {
    int64_t tiles_m, tiles_n;
    int32_t dim;             /* bands of tiles along M (0) or N (1), as WorkGroupMappingDim */
    double bytes_m, bytes_n; /* of A in a row of tiles, of B in a column of tiles, over all of K */
    double bytes_tile;       /* of D in a tile */
} TrafficGrid;

typedef struct {
    int64_t waves;
    double l2_rows, l2_columns, llc_rows, llc_columns; /* distinct ones, summed over waves (and dies) */
    double l2_bytes, llc_bytes;
    double read_bytes; /* from memory; where held_bytes is not known, llc_bytes */
} Traffic;

/* Distinct rows and columns of tiles of ids `from` to `to` - 1: with die < 0 of all of them, else of those
 * that the hardware gives to that die of `dies`. */
typedef struct {
    int64_t rows, columns;
} TrafficSet;
TrafficSet traffic_set(const TrafficGrid *g, const Mapping *m, int64_t from, int64_t to, int32_t dies,
                       int32_t die);

/* Sums over all waves; of more than TRAFFIC_WAVES_MAX that many, evenly spaced, stand for the others.
 * most_waves > 0: that many waves and one die in each do. */
enum { TRAFFIC_WAVES_MAX = 1 << 13 };
Traffic traffic_count(const TrafficDevice *d, const TrafficGrid *g, const Mapping *m, int64_t most_waves);
/* Rows and columns of tiles of one wave of `wave` work-groups in the middle of the grid, for the performance
 * model. mapping: the width of the bands of tiles, > 0 along N, < 0 along M; ids as the hardware has them. */
void traffic_of_wave(int32_t mapping, int64_t tiles_m, int64_t tiles_n, int64_t wave, double *rows,
                     double *columns);
/* The longer of the times that both caches need; of a GPU with one die the time that memory needs. */
double traffic_seconds(const TrafficDevice *d, const Traffic *t);

/* Number i (0 ..) of the orders weighed; false after the last. WorkGroupMapping 1, 2, 3, 4, 6, 8 and
 * the divisors of the tiles along the dimension or of the compute units of a die, whichever are fewer; ids as
 * the hardware has them, regrouped by die, and regrouped by die within a wave. */
enum { TRAFFIC_ORDERS_MAX = 128 };
bool traffic_order(const TrafficDevice *d, const TrafficGrid *g, int i, Mapping *out);
/* The order with the least time, by counting waves as traffic_count does. */
Mapping traffic_best(const TrafficDevice *d, const TrafficGrid *g);
/* The same for a call at run time, below a microsecond: 5 waves are counted, of orders that regroup within
 * a wave, or on a GPU with one die of the sizes alone. */
Mapping traffic_choose(const TrafficDevice *d, const TrafficGrid *g);

#endif
