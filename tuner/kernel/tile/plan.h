/* TilePlan: where the tiles of a program written by hand are, for one target: which elements each work-item
 * has (from wg_map and sg_map by index/distribute.h alone), and what lies where in local memory. Made by the
 * verifier, read by the interpreter and the lowerings.
 */
#ifndef KERNEL_TILE_PLAN_H
#define KERNEL_TILE_PLAN_H

#include "kernel/hand.h"
#include "problem/matrix_inst.h"

/* One tile. A side's elements of a work-item are numbered 0 .. per - 1. */
typedef struct {
    bool mapped;        /* else its elements are copied in turn, by all work-items */
    TileMap wg, sg;     /* as written, sg filled in where the program leaves it out */
    int32_t rounds[2];  /* subtiles of a subgroup */
    int32_t turns[2];   /* blocks of wi_data of a work-item in one of them */
    int32_t per[2];     /* elements of a work-item along each side */
    bool columns_first; /* in local memory columns are lines: the first operand of products, K outside */
    int32_t line;       /* elements from line to line in local memory */
    int64_t offset;     /* bytes */
} TilePlace;

typedef struct {
    const Target *target; /* NULL: any */
    int32_t n_subgroups, n_lanes, n_threads;
    TilePlace tile[PROGRAM_MAX_TILES];
    int64_t local_bytes;
    int32_t registers; /* of a work-item, 32 bits each, for tiles alone */
} TilePlan;

/* Checks a program and plans it. t: NULL checks what holds on every target. name: of the file. ERR_INPUT:
 * "name:line: what, with the numbers". */
Err tile_plan(const Program *p, const Target *t, const char *name, TilePlan *out);

/* Row (side 0) or column (side 1) of a work-item's element `i` of that side. subgroup, lane: their
 * coordinates on this side. */
const Expr *tile_element(ExprPool *pool, const TilePlace *x, const int32_t size[2], int side,
                         const Expr *subgroup, const Expr *lane, const Expr *i);
/* Of the work-items that have the same elements, this one writes them. Coordinates on both sides. */
const Expr *tile_writes(ExprPool *pool, const TilePlace *x, const int32_t size[2],
                        const Expr *const subgroup[2]);
/* Element of local memory, from the tile's offset, of row and column. */
const Expr *tile_local(ExprPool *pool, const TilePlace *x, const Expr *row, const Expr *col);

#endif
