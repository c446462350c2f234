/* Prints, as functions of a kernel's text, which matrix elements the registers of a lane hold. */
#ifndef KERNEL_NVPTX_LANES_H
#define KERNEL_NVPTX_LANES_H

#include "index/matrix_lanes.h"

/* Prints functions of the lane of a warp and the number v of one of its elements:
 *   template <bool ROW> @u32 @op_free(@u32 lane, @u32 v);  operands: row of the first one (ROW), or column of
 *                                                          the second
 *   template <bool ROW> @u32 @op_k(@u32 lane, @u32 v);     operands: element of K
 *   @u32 @acc_row(@u32 lane, @u32 v);                      accumulators: row
 *   @u32 @acc_col(@u32 lane, @u32 v);                      accumulators: column
 * in: an mma.sync. The text must define @u32 and @FN. */
Err nvptx_mma_lanes(const MatrixInst *in, Buf *out);
/* Prints unsigned acc_row(unsigned lane, unsigned v) and acc_col for a wgmma with `columns` columns. lane:
 * thread of the warp group, 0 to 127. spread: rows of X are spread over the fragments so that X can be loaded
 * into registers from shared memory in which its K is strided (nvptx_spread_row). */
Err nvptx_wgmma_lanes(const MatrixInst *in, int columns, bool spread, Buf *out);
/* A permutation of the 64 rows of a fragment. Places 2i and 2i + 1 are rows of one lane, which loads both at
 * once. Half a warp, whose lanes have 4 values of k, then accesses all banks of shared memory once, where
 * each k has lines of 32 words with the 128-byte swizzle. */
const Expr *nvptx_spread_row(ExprPool *p, const Expr *row);

#endif
