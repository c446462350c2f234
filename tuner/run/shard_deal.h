/* Deals sizes to shards. Pure: knows neither files nor devices.
 *
 * Sizes are brought into an order in which neighbours need the same kernels: by size-group, and within one by
 * the position of (M, N, K) on a space-filling curve. The order is cut into as many runs as there are shards,
 * so that the most expensive one is as cheap as possible. A shard pays once for each size-group of which it
 * has sizes: its kernels are compiled there.
 */
#ifndef TUNER_SHARD_DEAL_H
#define TUNER_SHARD_DEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct {
    int32_t group;
    int64_t number; /* in the group's list */
    int64_t m, n, k;
    double seconds; /* expected for all kernels of the group */
    bool held_out;  /* stays with the size before it: a search of held-out sizes alone would find nothing */
    uint64_t place; /* set by deal */
    int32_t shard;  /* set by deal */
} DealSize;

/* Sorts the sizes by shard, group and number, and sets their shard, 0 to n_shards - 1; every shard gets a
 * size that is not held out. setup[group]: seconds that a shard pays for a group. ERR_INPUT when there are
 * fewer such sizes than shards. */
Err deal(DealSize *size, size_t n, const double *setup, size_t n_shards);
/* Seconds of each shard after deal. */
void deal_seconds(const DealSize *size, size_t n, const double *setup, double *seconds);

#endif
