/* `tuner run-shard DIR I`: one shard of a plan as a run of its own, in DIR/shard_000I, up to the results; its
 * logic and library are made by `tuner gather`. Killed and started again it continues, like any run. */
#ifndef TUNER_SHARD_RUN_H
#define TUNER_SHARD_RUN_H

#include "measure/shard.h"
#include "run/run.h"

struct ShardRun {
    ShardPlan plan;
    const char *dir;
    size_t i;
};

Err run_shard_command(const Options *o);

/* The options of a run of the plan: those with which it was made, and from `own` those of this machine (jobs,
 * device, client, verbosity). */
Err shard_options(Arena *a, const char *dir, const ShardPlan *p, const Options *own, Options *out);
/* ERR_INPUT when another version of this program made the plan, because it may make other kernels and
 * sizes. */
Err shard_version_check(const ShardPlan *p);
/* Marks the sizes of a shard: only[group] for the plan's groups. */
Err shard_sizes(Arena *a, const ShardPlan *p, size_t shard, SizesOnly *only);
/* Writes DIR/shard_000I/shard.yaml: the shard is finished. */
Err shard_finish(Run *r);

#endif
