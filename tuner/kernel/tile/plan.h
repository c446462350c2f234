/* TilePlan: where the tiles of a program written by hand are, for one target: which elements each work-item
 * has (from wg_map and sg_map by index/distribute.h alone), and what lies where in local memory. Made by the
 * verifier, read by the interpreter and the lowerings.
 */
#ifndef KERNEL_TILE_PLAN_H
#define KERNEL_TILE_PLAN_H

#include "index/layout.h"
#include "kernel/hand.h"
#include "problem/matrix_inst.h"

/* One tile. A side's elements of a work-item are numbered 0 .. per - 1, all of them i * per[1] + j, or, of a
 * tile that a matrix instruction places, by subtile, instruction and element of the lane. */
typedef struct {
    bool mapped;       /* else its elements are copied in turn, by all work-items */
    TileMap wg, sg;    /* as written, sg filled in where the program leaves it out */
    int32_t rounds[2]; /* subtiles of a subgroup */
    int32_t turns[2];  /* blocks of wi_data of a work-item in one of them */
    int32_t per[2];    /* elements of a work-item along each side */
    int32_t count;     /* elements of a work-item */
    const MatrixInst
        *inst; /* in registers: the instruction whose lanes hold the elements; NULL: sg places them */
    bool columns_first; /* in local memory columns are lines, else rows are */
    Layout layout;      /* of those lines */
    int64_t offset;     /* bytes from the beginning of a stage of local memory */
} TilePlace;

typedef struct {
    const Target *target;   /* NULL: any */
    const MatrixInst *inst; /* of products; NULL: none asks for one */
    int32_t n_subgroups, n_lanes, n_threads;
    TilePlace tile[PROGRAM_MAX_TILES];
    int64_t stage_bytes; /* all local tiles once */
    int32_t stages;      /* loops that are pipelined write one while they read the others; 1: none is */
    bool async;          /* their loads write local memory themselves, stages - 1 iterations ahead */
    int64_t local_bytes; /* of all stages */
    int32_t registers;   /* of a work-item, 32 bits each, for tiles alone */
} TilePlan;

/* Checks a program and plans it. t: NULL checks what holds on every target. name: of the file. ERR_INPUT:
 * "name:line: what, with the numbers". */
Err tile_plan(const Program *p, const Target *t, const char *name, TilePlan *out);

/* Whether a loop is pipelined on GPUs: loads of the next iteration are under way while this one multiplies.
 * Its body loads local tiles with maps, each once, in front of the products that read them, changes tiles in
 * registers, and behind all loads moves tiles of memory, forward and by the same in each iteration; no op
 * outside of the loop touches those local tiles. */
bool tile_pipelines(const Program *p, const TilePlan *plan, const Op *loop);

/* ---- which elements a work-item has: place.c. tid: its number in the work-group ---- */

/* Row (side 0) or column (side 1) of element i of that side, of a tile with a map. */
const Expr *tile_element(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                         const Expr *tid, const Expr *i);
/* The same of element e, below count, of a tile in registers. */
const Expr *tile_held(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                      const Expr *tid, const Expr *e);
/* Of the work-items that have the same elements, this one writes them. */
const Expr *tile_writes(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, const Expr *tid);
/* Elements of a work-item that are always neighbours along a side, a power of two and 16 bytes at most: from
 * each multiple of it on. */
int tile_run(const Program *p, const TilePlan *plan, int tile, int side);
/* First row (side 0) or column of a subgroup's instruction number i, of a tile that an instruction places. */
const Expr *tile_instruction(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                             const Expr *tid, const Expr *i);
/* Instructions of a subgroup along a side. */
int tile_instructions(const TilePlan *plan, int tile, int side);
/* Elements of a lane's part of an operand (0: the first) that are neighbours along K: as tile_run. */
int tile_fragment_run(const MatrixInst *in, int operand);

/* Bytes that one copy of a load to local memory can have: a run of a work-item's elements, where they are
 * neighbours in local memory too, or one element. */
int tile_copy_bytes(const Program *p, const TilePlan *plan, const Op *load);

/* Byte of local memory, from the tile's offset, of row and column. */
const Expr *tile_local(ExprPool *pool, const TilePlace *x, const Expr *row, const Expr *col);
/* Whether n elements from there on along a side are neighbours, aligned to all of them. */
bool tile_local_is_vector(ExprPool *pool, const TilePlace *x, const Expr *row, const Expr *col, int side,
                          int n);

/* ---- parts of tile_plan ---- */

/* matrix.c: the instructions that products ask for, and the tiles that they place. ERR_INPUT: "name:line:
 * what" where the target lacks one, or it does not fit. */
Err tile_plan_instructions(const Program *p, const char *name, TilePlan *plan);
/* pads.c: pads of local tiles, by counting bank conflicts, in `bytes` at most for all. Needs maps. */
void tile_plan_pads(const Program *p, TilePlan *plan, int64_t bytes);

#endif
