/* `tuner status DIR` of a folder that `tuner shard` made: how far its shards are. */
#ifndef TUNER_REPORT_SHARDS_H
#define TUNER_REPORT_SHARDS_H

#include <stdio.h>

#include "base/arena.h"

/* A line per shard: state, sizes, what is measured, device; then the sums. */
Err report_shards(const char *dir, FILE *f);

#endif
