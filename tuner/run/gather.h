/* `tuner gather DIR`: puts finished shards together into one ordinary run directory, DIR/gathered: a store
 * with all measurements, results, logic and library.
 *
 * Nothing is measured and no device is needed, but the compiler that the shards used is needed for packing.
 * Shards may be gathered in any order and any number of times; a shard that is not finished yet, or does not
 * fit the others, is reported and left out. Where all shards have the same kernels of a size-group (no
 * search), the gathered group is the one that a single run would have made. Where each shard searched its own
 * kernels, each becomes a group of its own, so that no kernel lacks results on sizes of its group.
 */
#ifndef TUNER_GATHER_H
#define TUNER_GATHER_H

#include "measure/shard.h"
#include "run/run.h"

typedef struct {
    size_t i; /* of the plan */
    ShardResult result;
} GatheredShard;

struct Gathering {
    const char *dir;
    ShardPlan plan;
    GatheredShard *shard; /* those that fit together */
    size_t n;
    size_t *of_group; /* of each group of the run, its number in the plan */
    size_t n_missing, n_refused;
    Buf missing; /* their numbers: "3, 17-20" */
};

Err gather_command(const Options *o);

/* Sets r->device to the device of the shards. */
void gather_device(Run *r);
/* Step in place of fork, search and measure: merges the stores, and makes the groups with the kernels and
 * sizes of the shards. */
Err step_gather(Run *r);
/* After the plan is stored: copies the reasons of rejections, and counts what was measured. */
Err gather_planned(Run *r);

#endif
