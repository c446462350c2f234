/* The parts of the lowering of programs written by hand to GPUs. See lower.h; gpu.c has the kernel and the
 * ops on elements.
 *
 * Local tiles are bytes at t_NAME (a char pointer) in the layout of their TilePlace; tiles in registers are
 * arrays t_NAME of TilePlace.count elements; f_NAME are the registers through which a local tile is loaded.
 */
#ifndef KERNEL_TILE_GPU_H
#define KERNEL_TILE_GPU_H

#include "kernel/gpu/gpu.h"
#include "kernel/tile/lower.h"

/* ---- gpu.c ---- */

const Expr *tile_gpu_tid(TileLowering *t);
/* Row (side 0) or column of element e of this work-item, of a tile in registers; the element itself. */
const Expr *tile_gpu_held(TileLowering *t, int tile, int side, const Expr *e);
const Value *tile_gpu_register(TileLowering *t, int tile, const Expr *e);
/* Sets all elements of a tile in registers to 0. */
void tile_gpu_clear(TileLowering *t, int tile);

/* A pointer into local memory: what the addresses of a work-item's accesses to a tile have in common, so that
 * the rest is a constant of each access once loops are written out. */
typedef struct {
    int tile;
    const Expr *common;
    const Value *pointer;
} TilePointer;
/* Declares the pointer under that name; at: one of the addresses (tile_local). */
TilePointer tile_gpu_pointer(TileLowering *t, int tile, const char *name, const Expr *at);
Access tile_gpu_local(TileLowering *t, const TilePointer *p, const char *type, int bytes, const Expr *at);

/* The numbers of the kernel: types, threads, dialect. */
static inline const GpuPlan *tile_gpu_plan(const TileLowering *t) { return t->numbers; }

/* ---- gpu_memory.c: loads, stores, prefetches ---- */

/* The op's load of a tile with a map, in two halves: vectors from memory to registers f_NAME, which
 * tile_gpu_fetch_registers declares, and from there to local memory. All of the tile must be inside of its
 * base, aligned and near. */
void tile_gpu_fetch_registers(TileLowering *t);
void tile_gpu_fetch(TileLowering *t);
void tile_gpu_put(TileLowering *t);
/* Both at once: copies that are under way until tile_gpu_loop waits for them (TilePlan.async). */
void tile_gpu_fetch_async(TileLowering *t);
/* The same of any tile, element by element. */
void tile_gpu_copy(TileLowering *t);
/* Lowers the variable `turns` to the number of the loop's first iterations in which tile_gpu_fetch can load
 * it. */
void tile_gpu_whole_turns(TileLowering *t, const Op *loop, const Value *turns);
void tile_gpu_load(TileLowering *t);
void tile_gpu_store(TileLowering *t);
void tile_gpu_prefetch(TileLowering *t);

/* ---- gpu_mma.c: products ---- */

void tile_gpu_mma(TileLowering *t);
/* The instructions that the program's products name, as functions of the text, and their types. */
void tile_gpu_mma_functions(TileLowering *t);

/* ---- gpu_loop.c ---- */

/* TileFamily.loop. */
bool tile_gpu_loop(TileLowering *t);
/* Declares the local tiles, which begin at the byte of local memory with that name; NULL: 0. */
void tile_gpu_local_tiles(TileLowering *t, const char *stage);

#endif
