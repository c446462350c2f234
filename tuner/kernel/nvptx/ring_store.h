/* The results of ring kernels. */
#ifndef KERNEL_NVPTX_RING_STORE_H
#define KERNEL_NVPTX_RING_STORE_H

#include "index/ring_tile.h"
#include "kernel/gpu/gpu.h"

/* Prints struct @Out and @store(o, acc, lds, tid). ERR_FAILED: slices_verify refuses it. */
Err ring_store(const GpuPlan *p, RingResults r, Stmts *s);
/* Prints @acc_get() and @acc_set(), of accumulator i of a thread, for parts of K (gpu/parts.c). */
void ring_store_elements(const GpuPlan *p, Stmts *s);
/* Elements of a vector of results that pass through shared memory. */
int ring_store_wide(const GpuPlan *p);

#endif
