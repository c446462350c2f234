/* Which tensors the copy engine of NVIDIA's GPUs (TMA) can access: the address and the strides of a tensor
 * map are multiples of 16 bytes. wgmma kernels read A and B through maps, and with EngineStore write D, so
 * that they cannot run on a size whose leading dimensions are no such multiples. */
#ifndef PROBLEM_COPY_ENGINE_H
#define PROBLEM_COPY_ENGINE_H

#include "problem/predicate.h"

/* Whether the engine can access tensor t (A, B, C, D: 0 to 3) in place, by its strides and its address. */
bool engine_takes(const Contraction *p, unsigned t);
/* Whether a kernel's map of tensor t can be made. is_copied: PackOperands copies A or B where the engine
 * cannot access them in place. sums: the kernel stores sums of parts of K in a packed workspace instead of
 * D. */
bool engine_map_fits(const Contraction *p, unsigned t, bool is_copied, bool sums);

#endif
