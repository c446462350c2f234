/* Lowering of programs written by hand to statements, for all families. lower.c walks the ops; what happens
 * to elements is in a TileFamily: gpu.c (each work-item has its elements, by the maps) and host.c (one thread
 * has all elements of a tile, and products by matrix instructions are plain ones).
 *
 * Names in a kernel: v_NAME numbers of the program; t_NAME a tile's elements in local memory or registers;
 * t_NAME_row, _col, _rows, _cols, _ld position, shape and stride of a tile in global memory; base_a ..
 */
#ifndef KERNEL_TILE_LOWER_H
#define KERNEL_TILE_LOWER_H

#include "kernel/lower/stmt.h"
#include "kernel/tile/plan.h"

typedef struct TileLowering TileLowering;

typedef struct {
    const ExprStyle *style;
    const char *widen, *narrow; /* functions of the text: D's type to that of sums, and back */
    void (*load)(TileLowering *t);
    void (*store)(TileLowering *t);
    void (*mma)(TileLowering *t);
    /* x NULL: the same for all elements, v. */
    void (*elements)(TileLowering *t, const Value *v);
    void (*prefetch)(TileLowering *t);
    bool (*loop)(TileLowering *t); /* lowers the loop its own way; false: it did not. NULL: never */
    bool barriers;                 /* work-items run side by side */
} TileFamily;

struct TileLowering {
    const Program *p;
    const TilePlan *plan;
    const TileFamily *family;
    Stmts *s;
    const Op *o;               /* the op that is lowered */
    unsigned written, read;    /* bit per local tile: since the last barrier */
    const Value *alpha, *beta; /* in the type of sums */
    const void *numbers;       /* the family's own */
    StageRing ring;            /* of asynchronous loads (TilePlan.async) */
    bool is_short;             /* loops over K of products are not written out */
};

/* Slots of the text's variables behind those of hand.h. */
enum {
    TILE_SLOT_POSITION = HAND_SLOTS,
    TILE_SLOT_TID = TILE_SLOT_POSITION + 5 * PROGRAM_MAX_TILES,
    TILE_SLOT_I,
    TILE_SLOT_J,
    TILE_SLOT_L,
    TILE_SLOT_U
};

/* Declares the positions of tiles. */
void tile_positions(TileLowering *t);
/* All ops; one of them, without the barriers that it needs. */
void tile_ops(TileLowering *t);
void tile_op(TileLowering *t, const Op *o);

/* ---- for families ---- */

typedef enum { POSITION_ROW, POSITION_COL, POSITION_ROWS, POSITION_COLS, POSITION_LD } TilePosition;
const Expr *tile_position(TileLowering *t, int tile, TilePosition which);
/* The elements of a tile, an array. */
const Value *tile_array(TileLowering *t, int tile);
/* Element (row, col) of a tile in global memory: 1 where its base has it; where it is, from the base. */
const Expr *tile_inside(TileLowering *t, int tile, const Expr *row, const Expr *col);
const Expr *tile_offset(TileLowering *t, int tile, const Expr *row, const Expr *col);
/* Name of the text's type of a tile's elements in memory or registers: "@T", "@TC", "@TD". */
const char *tile_type(const Program *p, int tile);
/* A constant of the type of sums. */
const Value *tile_constant(TileLowering *t, double v);
/* What an element op makes of an element x (and y): add, multiply, convert .. */
const Value *tile_element_value(TileLowering *t, const Value *d, const Value *x, const Value *y);

/* ---- entry points ---- */

/* The text of a kernel with the ABI of kernel.h, for plan->target. ERR_INPUT: what the target cannot do. */
Err tile_lower(const Program *p, const TilePlan *plan, Str symbol, Buf *out);
Err tile_lower_host(const Program *p, const TilePlan *plan, Str symbol, Buf *out);
Err tile_lower_gpu(const Program *p, const TilePlan *plan, Str symbol, Buf *out);

#endif
