/* Rules about the ops of a program written by hand. Part of tile_plan. */
#ifndef KERNEL_TILE_VERIFY_H
#define KERNEL_TILE_VERIFY_H

#include "kernel/tile/plan.h"

/* plan: with the maps; sets columns_first. ERR_INPUT: "name:line: what, with the numbers". */
Err verify_ops(const Program *p, const Target *t, const char *name, TilePlan *plan);

#endif
