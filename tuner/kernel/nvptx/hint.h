/* Cache hints of loads and stores. See hint.c. */
#ifndef KERNEL_NVPTX_HINT_H
#define KERNEL_NVPTX_HINT_H

#include "kernel/gpu/gpu.h"

/* Emits @load_nt<h>(const V *) and @store_nt<h>(V *, V) for the NonTemporal values that the kernel has. */
void nvptx_hints(const GpuPlan *p, Stmts *s);

#endif
