/* The groups of a gathered run. See gather.h. */
#ifndef TUNER_GATHER_GROUPS_H
#define TUNER_GATHER_GROUPS_H

#include "run/gather.h"

/* Makes r's groups of the shards' kernels and sizes. ERR_INPUT when a shard names what its plan has not. */
Err gather_groups(Run *r);

#endif
