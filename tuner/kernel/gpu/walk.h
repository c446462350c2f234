/* The walk over tiles and parts of K in the text of a GPU kernel: the expressions of index/walk.h under the
 * kernel's names. What a kernel does with a tile is not here.
 */
#ifndef KERNEL_GPU_WALK_H
#define KERNEL_GPU_WALK_H

#include "kernel/gpu/gpu.h"

/* The walk in the kernel function's text: its expressions under the kernel's names. */
enum { GPU_WALK_NODES = 512 };
typedef struct {
    const GpuPlan *p;
    ExprPool pool;
    ExprText text;
    WalkPlace at;
    WalkChunks chunks;
    WalkStream stream;
    Expr node[GPU_WALK_NODES];
} GpuWalk;
/* Names of the kernel's arguments that a walk reads, as members of WalkNames. */
#define GPU_WALK_ARGUMENTS                                                                                   \
    .tiles_m = "tiles_m", .tiles_n = "tiles_n", .batch = "size_batch", .stagger_mask = "stagger_mask",       \
    .mapping = "mapping", .mapping_chunk = "mapping_chunk"
/* Names in the loop over the steps of stream-K, where a step has the number of its tile. */
extern const WalkNames gpu_names_of_tile;
/* Declares the work-group's tile (wg0 wg1 wg2) and part of K; opens the loop of a persistent kernel. Where a
 * tile's parts are added up in the same launch, also part, parts and first_slot (parts.c). */
void gpu_walk_place(GpuWalk *w, const GpuPlan *p, Buf *out);
/* Declares first, step, count and whole (WalkChunks) of K elements named k. slow: a name; if it is true,
 * no chunk is a whole one. NULL: never. */
void gpu_walk_chunks(GpuWalk *w, const char *k, const char *slow);
/* Declares late: chunks by which StaggerU makes the group start later. */
void gpu_walk_stagger(GpuWalk *w);
Err gpu_walk_check(const GpuWalk *w);

#endif
