/* Which elements of a tile the accumulators of wgmma kernels are (index/matrix_lanes.h). */
#ifndef KERNEL_NVPTX_LANES_H
#define KERNEL_NVPTX_LANES_H

#include "index/matrix_lanes.h"
#include "kernel/gpu/gpu.h"

/* Row and column of accumulator j of a thread of the warp group, 0 to 127, in its instruction. Where rows
 * of X are loaded into registers they are spread over the fragments (nvptx_spread_row). */
MatrixAccLane nvptx_acc_lane(ExprPool *p, const GpuPlan *plan, const MatrixInst *in, const Expr *thread,
                             const Expr *j);
/* A permutation of the 64 rows of a fragment, for shared memory in which X's K is strided. Places 2i and
 * 2i + 1 are rows of one lane, which loads both at once. Half a warp, whose lanes have 4 values of k, then
 * accesses all banks of shared memory once, where each k has lines of 32 words with the 128-byte swizzle. */
const Expr *nvptx_spread_row(ExprPool *p, const Expr *row);

#endif
