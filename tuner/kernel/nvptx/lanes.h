/* Prints, as functions of a kernel's text, which matrix elements the registers of a lane hold. */
#ifndef KERNEL_NVPTX_LANES_H
#define KERNEL_NVPTX_LANES_H

#include "index/matrix_lanes.h"

/* Prints unsigned acc_row(unsigned lane, unsigned v) and acc_col for a wgmma with `columns` columns. lane:
 * thread of the warp group, 0 to 127. spread: rows of X are spread over the fragments so that X can be loaded
 * into registers from shared memory in which its K is strided (nvptx_spread_row). */
Err nvptx_wgmma_lanes(const MatrixInst *in, int columns, bool spread, Buf *out);
/* A permutation of the 64 rows of a fragment. Places 2i and 2i + 1 are rows of one lane, which loads both at
 * once. Half a warp, whose lanes have 4 values of k, then accesses all banks of shared memory once, where
 * each k has lines of 32 words with the 128-byte swizzle. */
const Expr *nvptx_spread_row(ExprPool *p, const Expr *row);

#endif
