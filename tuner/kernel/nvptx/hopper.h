/* Kernels of warp groups with a role each: the copy engine fills a ring of stages, wgmma multiplies
 * (sm_90a). */
#ifndef KERNEL_NVPTX_HOPPER_H
#define KERNEL_NVPTX_HOPPER_H

#include "kernel/gpu/gpu.h"

/* The text of a kernel whose program hopper_program.c's passes have made. */
Err hopper_lower(const Program *program, Str symbol, Buf *out);

#endif
