/* Maps of GPU kernels (maps.c, verify.c). */
#ifndef KERNEL_GPU_MAPS_H
#define KERNEL_GPU_MAPS_H

#include "kernel/gpu/gpu.h"

/* Which elements a thread copies, multiplies and stores stands in wg_map and sg_map of the program's tiles
 * alone: %acc, %reg_a and %reg_b for products and results, %fetch_a and %fetch_b (%local_a and %local_b,
 * where loads write local memory themselves) for the loop's loads, %local_a and %local_b for those of the
 * rest of K. An operand without %local_a, %local_b is loaded into %reg_a, %reg_b. Subgroups are threads of
 * kernels without matrix instructions and without a ring, and of loads; else they are waves. The numbers of a
 * GpuPlan that say the same (mt to vw, steps to acc_run, n_stages, n_sets, matrix, tile to run of the
 * operands, lanes_m) are the planner's before the maps are written, and the maps' from then on. */

/* Writes the maps of the planner's numbers; adds tiles in local memory and those that loads go through. */
Err gpu_tiles(Program *p);
/* Makes the plan's numbers those of the maps. ERR_INPUT: "NAME:LINE: tile %acc: ...". name: of the text that
 * the program was read from, NULL for none. */
Err gpu_maps_read(Program *p, const char *name);
/* The loads of all threads make up the tile; with FractionalLoad they may be more: x->fractional. */
Err gpu_check_loads(const GpuPlan *p, GpuOperand *x, bool fractional);
/* The same for a program that was read: every tile, loop and edge must be what goes with the maps. */
Err gpu_verify(Program *p, const char *name);

/* e with the program's name and line of a tile in front, if there was an error. name may be NULL. */
Err gpu_tile_error(const char *name, const Tile *t, Err e);
/* Behind hopper_distribute: names the instruction of the sums. */
void gpu_mma_of_warp_groups(Program *p);

#endif
