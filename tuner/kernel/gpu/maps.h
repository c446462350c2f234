/* Between the files about maps of GPU kernels (maps.c, verify.c). */
#ifndef KERNEL_GPU_MAPS_H
#define KERNEL_GPU_MAPS_H

#include "kernel/gpu/gpu.h"

/* e with the program's name and line of a tile in front, if there was an error. name may be NULL. */
Err gpu_tile_error(const char *name, const Tile *t, Err e);
/* Behind hopper_distribute: names the instruction of the sums. */
void gpu_mma_of_warp_groups(Program *p);

#endif
