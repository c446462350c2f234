/* Kernels with a ring of stages (NvRing 1): a work-group's copies of A and B run PrefetchGlobalRead chunks of
 * K ahead, by cp.async, into stages of shared memory; full and empty are a wait for the copy group and one
 * barrier per chunk. Inside only: the pieces of their text. ring.c puts them together.
 *
 * Constants of the text, '@' in front: MT0 MT1 DU, macro tile and DepthU; NT, threads; NS, stages; PLR, steps
 * by which fragments are read ahead; STAGGER, StaggerU is used; LDS, bytes of shared memory; LINE and SLOTS,
 * the lines of results in it; ADDS, results are added to D or the workspace; SCALE, they are multiplied by
 * alpha; READS, C is read unless beta is 0. LSU: groups of warps that split each DepthU chunk (LocalSplitU)
 * and reduce in shared memory. MOVES: tiles that overhang the edge of D are shifted back inside (EdgeType
 * ShiftPtr); otherwise accesses outside are guarded. Of FMA kernels WG0 WG1 TT0 TT1, threads and elements of
 * a thread along M and N; LM, lanes of a warp along M; KV, elements of K that are read at once. The texts
 * derive KS, the steps of a group's share of a chunk, RUN, consecutive rows of D per thread, and N_RUN, the
 * number of such runs.
 *
 * Operands need not be aligned. Copies of GlobalReadVectorWidth elements that turn out misaligned are made
 * element by element (slow); with GlobalReadVectorWidth 1 they are as short as elements, neighbouring threads
 * copying neighbours: 32-bit and longer ones by cp.async, 16-bit ones HELD in registers for a chunk. With
 * NvShift 32-bit rows are SHIFTED: copied from the 16 bytes that they begin in, at most 12 bytes in front of
 * the operand, which are read, and never used. */
#ifndef KERNEL_NVPTX_RING_H
#define KERNEL_NVPTX_RING_H

#include "kernel/gpu/gpu.h"
#include "problem/matrix_inst.h"

/* ERR_INPUT: the target has no mma.sync of the plan's shape and types. */
Err ring_mma_check(const GpuPlan *p);
/* The multiplying part: structs @Frag and @Acc (init, load, mac; row, col and element of result r). */
void ring_mma_emit(const GpuPlan *p, Buf *out);

/* An mma.sync as a function of a text, void @mma(@TC *sums, const @F *first, const @F *second), and the type
 * @F of a register of operands. */
void nvptx_instruction(const MatrixInst *in, Stmts *s);

/* The compute modules of these kernels. */
extern const GpuCompute ring_simt, ring_mma;
extern const GpuCopy ring_copy;

/* Entry point of the family: kernels with a ring from here, others from gpu_lower. */
Err nvptx_lower(const Program *program, Str symbol, Buf *out);

#endif
