/* What cutting tiles costs stream-K kernels of NVIDIA, by which they or their launches choose the parts. */
#ifndef SPACE_STREAM_H
#define SPACE_STREAM_H

#include "space/solution.h"

/* In elements of K, in whose time that is: for each part of a tile that is cut (with blocks: for each round
 * of work-groups), and once. blocks: as in StreamKernel (problem/stream_cut.h). All 0: kernels that cut tiles
 * as Tensile defines it. */
typedef struct {
    int32_t part, fix, blocks;
} StreamCost;
StreamCost stream_cost(const Solution *s);

#endif
