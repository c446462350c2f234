/* `tuner shard CONFIG DIR --shards N`: cuts a run into parts for several machines. See measure/shard.h for
 * the files. */
#ifndef TUNER_SHARD_PLAN_H
#define TUNER_SHARD_PLAN_H

#include "measure/shard.h"
#include "run/options.h"
#include "run/run.h"

/* Makes DIR with the plan. The same command again changes nothing; ERR_INPUT when DIR has another plan. */
Err shard_command(const Options *o);

/* Expected seconds of a shard for a size with all of the group's kernels, and for the group itself. */
typedef struct {
    double n_kernels; /* of the group, that are compiled: an estimate */
    double setup;
} GroupCost;
Err group_cost(Run *r, const Group *g, GroupCost *out);
double size_cost(const Run *r, const Group *g, const GroupCost *c, const ProblemSize *s);

#endif
