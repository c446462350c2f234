/* Contractions that are no GEMM: addresses from the sizes, strides and zero pads of all indices. */
#ifndef KERNEL_GPU_GATHER_H
#define KERNEL_GPU_GATHER_H

#include "kernel/gpu/gpu.h"

/* Global memory -> registers -> local memory, element by element. */
extern const GpuCopy gpu_copy_gather;

/* Emits struct @Dims: the sizes, strides and pads that addresses need. */
void gpu_dims_struct(const GpuPlan *p, Stmts *s);
/* Sets them in the struct `to` (of @Tile) from the kernel's arguments, and defines size_m, size_n, size_batch
 * and size_k. */
void gpu_dims_sizes(const GpuPlan *p, Stmts *s);
void gpu_dims_set(const GpuPlan *p, Stmts *s, const char *to);
/* Elements from a tensor's coordinates 0 to row and column. dims: the struct in the text ("t.x."). */
const Expr *gpu_dims_offset(const GpuPlan *p, Stmts *s, int tensor, const char *dims, const Expr *row,
                            const Expr *column);
/* Whether results in @Out o, whose sizes and strides are o.x, may be stored in vectors of that many rows:
 * none of them goes over the end of the first index, first strides are 1, and where they must be, vectors
 * are aligned. so_far: a condition beside these; or NULL. */
const Value *gpu_dims_vectors(const GpuPlan *p, Stmts *s, int width, const Value *so_far);
/* Elements from a tensor's first one to the matrix of the work-group in its batch. */
const Expr *gpu_dims_matrix(const GpuPlan *p, Stmts *s, int tensor);

#endif
