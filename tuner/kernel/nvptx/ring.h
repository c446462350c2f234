/* Kernels with a ring of stages (NvRing 1): a work-group's copies of A and B run PrefetchGlobalRead chunks of
 * K ahead, by cp.async, into stages of shared memory; full and empty are a wait for the copy group and one
 * barrier per chunk. Inside only: the pieces of their text. ring.c puts them together.
 *
 * Constants of the text, '@' in front: MT0 MT1 DU macro tile and DepthU; NT threads; NS stages; KS steps of a
 * chunk; PLR fragments are read a step ahead; GSU, GSU_TURNS parts of K, dealt in turn; STAGGER; ADDS results
 * are added to D or the workspace; SCALE times alpha; READS C is read unless beta is 0. RUN: neighbours
 * along M of which a thread's results consist, N_RUN of them. LSU: as many parts of the work-group take steps
 * of a chunk each (LocalSplitU), their sums meet in shared memory; MOVES: tiles over the edge are moved back
 * inside (EdgeType ShiftPtr), else what is outside is guarded.
 *
 * Operands need not be aligned. Copies of GlobalReadVectorWidth elements that turn out misaligned are made
 * element by element (slow); with GlobalReadVectorWidth 1 they are as short as elements, neighbouring threads
 * copying neighbours: 32-bit and longer ones by cp.async, 16-bit ones HELD in registers for a chunk. With
 * NvShift 32-bit rows are SHIFTED: copied from the 16 bytes that they begin in, at most 12 bytes in front of
 * the operand, which are read, and never used.
 */
#ifndef KERNEL_NVPTX_RING_H
#define KERNEL_NVPTX_RING_H

#include "kernel/gpu/gpu.h"

/* ERR_INPUT: the target has no mma.sync of the plan's shape and types. */
Err ring_mma_check(const GpuPlan *p);
/* The multiplying part: structs @Frag and @Acc (init, load, mac; row, col and element of result r). */
void ring_mma_emit(const GpuPlan *p, Buf *out);

/* The modules as a plan has them; the program's passes see the ring through them. */
extern const GpuCompute ring_simt, ring_mma;
extern const GpuCopy ring_copy;

/* Entry point of the family: kernels with a ring from here, others from gpu_lower. */
Err nvptx_lower(const Program *program, Str symbol, Buf *out);

#endif
