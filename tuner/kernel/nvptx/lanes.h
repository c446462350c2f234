/* Which elements a lane holds, as functions of a kernel's text. See lanes.c. */
#ifndef KERNEL_NVPTX_LANES_H
#define KERNEL_NVPTX_LANES_H

#include "index/matrix_lanes.h"

/* Functions of a text with names from '@': of the lane of a warp and the number v of one of its elements.
 *   template <bool ROW> @u32 @op_free(@u32 lane, @u32 v);  row of the first operand (ROW) or column of the
 *                                                          second
 *   template <bool ROW> @u32 @op_k(@u32 lane, @u32 v);     its place along K
 *   @u32 @acc_row(@u32 lane, @u32 v); @u32 @acc_col(@u32 lane, @u32 v);  of a sum
 * in: mma.sync. Needs @u32 and @FN. */
Err nvptx_mma_lanes(const MatrixInst *in, Buf *out);
/* unsigned acc_row(unsigned lane, unsigned v) and acc_col of wgmma with `columns` columns; lane: of the warp
 * group. */
Err nvptx_wgmma_lanes(const MatrixInst *in, int columns, Buf *out);

#endif
