/* The cost of cutting tiles in stream-K kernels of NVIDIA GPUs. A kernel, or the launcher for it, weighs it
 * to choose into how many parts of K a tile is cut. */
#ifndef SPACE_STREAM_H
#define SPACE_STREAM_H

#include "space/solution.h"

/* Costs, in units of the time that a work-group takes for an element of K. part: of each part of a tile that
 * is cut (with blocks: of each round of work-groups); fix: of cutting at all. blocks: as in StreamKernel
 * (problem/stream_cut.h). All 0: kernels that cut tiles as Tensile defines it. */
typedef struct {
    int32_t part, fix, blocks;
} StreamCost;
StreamCost stream_cost(const Solution *s);

#endif
