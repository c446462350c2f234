/* What the copy engine of NVIDIA's GPUs (TMA) takes: a tensor map's strides are multiples of 16 bytes, and
 * so is the address. Kernels of wgmma read A and B through maps, and with EngineStore write D, so that a
 * size whose leading dimensions do not fit cannot be given to them. */
#ifndef PROBLEM_COPY_ENGINE_H
#define PROBLEM_COPY_ENGINE_H

#include "problem/predicate.h"

/* Whether the engine takes tensor t (A, B, C, D: 0 to 3) where it lies: its strides and its address. */
bool engine_takes(const Contraction *p, unsigned t);
/* The same of a kernel's map of tensor t. is_copied: PackOperands copies A or B where they do not fit.
 * sums: the kernel stores sums of parts of K, in a workspace without gaps, instead of D. */
bool engine_map_fits(const Contraction *p, unsigned t, bool is_copied, bool sums);

#endif
