/* What the modules that store results share. Names of the text: a vector v of results, sums acc, operands o
 * of the epilogue, tile t, row and col of the first element of a run. */
#ifndef KERNEL_GPU_STORE_H
#define KERNEL_GPU_STORE_H

#include "kernel/gpu/gpu.h"

/* Opens @finish, whose sums have that type ("const @Acc &"). Returns the number of the first accumulator that
 * a thread stores. */
const Expr *gpu_finish_open(const GpuPlan *p, Stmts *s, const char *sums);
/* Whether beta is not 0. */
const Value *gpu_uses_c(Stmts *s);
/* Whether the tile is inside D, and may be stored in vectors. */
const Value *gpu_whole_tile(const GpuPlan *p, Stmts *s);
/* Declares the elements of fused operations' vectors for a run of `width` rows of one column. */
void gpu_vectors_of_run(const GpuPlan *p, Stmts *s, int width);
/* Makes v of accumulators i to i + width - 1. old: the vector of C; NULL: without C. */
void gpu_fill_vector(const GpuPlan *p, Stmts *s, int width, const Expr *i, const Value *old);

#endif
