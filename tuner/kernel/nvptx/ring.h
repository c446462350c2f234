/* Kernels with a ring of stages (NvRing 1): a work-group copies A and B by cp.async into stages of shared
 * memory, PrefetchGlobalRead chunks of K ahead of the multiplication. Each chunk has one wait for its group
 * of copies and one barrier, which is both the "stage is full" and the "stage is empty" synchronisation.
 * This header declares the parts that ring.c combines into a kernel.
 *
 * Copies and the main loop are statements (ring_copy.c, ring_loop.c), whose waits are derived
 * (kernel/lower/async.h). The text of the products and of the results has these constants, with '@' in front:
 *     MT0 MT1 DU       macro tile and DepthU
 *     NT               threads
 *     LDS              bytes of shared memory
 *     LINE SLOTS       results pass through shared memory in SLOTS lines, LINE elements apart
 *     ADDS             results are added to D or the workspace
 *     READS FUSED      C is read unless beta is 0; there are fused operations
 *     M_CONTIGUOUS     neighbours along M are neighbours in memory in both C and D
 *     LSU              groups of warps that split each DepthU chunk (LocalSplitU) and reduce in shared memory
 * and of the compute part (ring_acc.h)
 *     RUN N_RUN        consecutive rows of D in a run of a thread; number of its runs
 *
 * Operands need not be aligned. Misaligned pieces of GlobalReadVectorWidth elements are copied element by
 * element, which is slow. With GlobalReadVectorWidth 1 adjacent threads copy adjacent elements, and any
 * alignment is fast: elements of 32 bits and more by cp.async, 16-bit ones through registers. With NvShift a
 * row of 32-bit elements is copied from the 16-byte boundary at or before its first element. The at most 12
 * bytes in front of the operand are read but not used. */
#ifndef KERNEL_NVPTX_RING_H
#define KERNEL_NVPTX_RING_H

#include "kernel/gpu/gpu.h"
#include "problem/matrix_inst.h"

/* Emits the compute part (ring_acc.h): structs @Frag and @Acc, with init, load (fragments of a step), mac,
 * and the row, column and elements of run r of the results. */
void ring_simt_emit(const GpuPlan *p, Buf *out);
void ring_mma_emit(const GpuPlan *p, Buf *out);
/* ERR_INPUT: the target has no mma.sync of the plan's shape and types. */
Err ring_mma_check(const GpuPlan *p);
/* Emits an mma.sync as a function, void @mma(@TC *sums, const @F *first, const @F *second), and the type @F
 * of an operand register. */
void nvptx_instruction(const MatrixInst *in, Stmts *s);

/* Prints @c_at_m, @c_at_n, @d_at_m and @d_at_n(x, ld): elements from the first one of C or D to row or column
 * x of the tensor, by the program's views. Both add up. */
void nvptx_addresses(const GpuPlan *p, Stmts *s);

/* The compute modules of these kernels. */
extern const GpuCompute ring_simt, ring_mma;
extern const GpuCopy ring_copy;

/* Entry point of the nvptx family. Kernels with a ring are lowered by ring.c, those with wgmma by hopper.c,
 * and all others by gpu_lower. */
Err nvptx_lower(const Program *program, Str symbol, Buf *out);

#endif
