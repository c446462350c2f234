/* The groups of a gathered run. See gather.h. */
#ifndef TUNER_GATHER_GROUPS_H
#define TUNER_GATHER_GROUPS_H

#include "run/gather.h"

/* Makes r's groups from the shards' kernels and sizes. ERR_INPUT when a shard names a group or a size that
 * the plan does not have. */
Err gather_groups(Run *r);

#endif
