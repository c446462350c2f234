/* The epilogue: the ops behind the loop over K, from the sums of products to D. They stand in the program
 * like all others, and lowerings walk them; nothing about the epilogue is taken from elsewhere.
 *
 *     reduce_tile %acc across group         adds up the sums of parts of K
 *     scale_tile %acc by alpha
 *     scale_tile %acc <- %scale_a           so do %scale_b and %scale_alpha (problem/fused.h)
 *     load_tile %reg_c <- %c guard m n      not where beta is 0
 *     scale_tile %reg_c <- %scale_c
 *     add_tile %acc <- %acc, %reg_c by beta
 *     add_tile %acc <- %acc, %bias
 *     activate_tile %acc by relu
 *     scale_tile %acc <- %scale_d
 *     convert_tile %reg_d <- %acc           to the type of %d
 *     store_tile %d <- %reg_d guard m n
 *
 * `store_tile %d <- %reg_d parts`: %d is the workspace, where each part of K has a matrix. Kernels that add
 * to D in place end with `atomic_add_tile %d <- %acc` instead of the last two. Where the copy engine moves C
 * and D, %local_d takes the place of %reg_c, and D is stored there first.
 *
 * On the host, where the register tile's sums are those of a chunk of K, `carry_tile %c <- %d` ends a chunk:
 * those behind it add to what it has stored. Sums that are converted go to local memory first (`store_tile
 * %sums <- %acc`, or `add_tile %sums <- %sums, %acc` where they stay there until the last chunk, and the ops
 * behind are done in the `last` one only).
 *
 * Tiles of fused operations are vectors along M ([m, k 1]) or N ([k 1, n]), or single numbers ([k 1, k 1]).
 *
 * The type of %d is that of what the kernel writes: D or the workspace. */
#ifndef KERNEL_EPILOGUE_H
#define KERNEL_EPILOGUE_H

#include "kernel/program.h"

/* Where the sums are that the epilogue begins with. */
typedef enum { SUMS_IN_REGISTERS, SUMS_STORED, SUMS_ADDED } SumsIn;

/* What the planner knows of an epilogue. The ops are made from it, and lowerings see the ops. */
typedef struct {
    Across across; /* parts of K of a work-group or a cluster that are added up */
    bool grid;     /* then those of work-groups of the grid, across ACROSS_GRID, through a workspace */
    bool scales;   /* by alpha */
    bool reads_c;  /* beta * C is added */
    bool adds;     /* D is added to in place */
    bool parts;    /* each part of K has a matrix of its own in the workspace */
    bool staged;   /* C and D go through %local_d */
    SumsIn sums;   /* SUMS_ADDED: the ops are done in the last chunk of K */
    Role role;
    Fused fused;
    DataType written; /* elements of %d */
} Epilogue;

/* Adds the tiles that the ops need and the program does not have yet, and gives %d its type. */
Err epilogue_tiles(Program *p, const Epilogue *e);
/* Returns the list of ops, whose tiles are there; NULL: out of memory. */
Op *epilogue_ops(Program *p, const Epilogue *e);
/* Makes p a program of tiles %acc, %c and %d alone, and returns the ops that make D of whole sums: those of
 * the helper kernel that adds parts up. NULL: out of memory. a: for the program. */
const Op *epilogue_of_sums(Program *p, Arena *a, DataType sum, DataType dest, const Fused *fused);
/* Reads what an epilogue is from its ops. ERR_INPUT: "NAME:LINE: what", if they are none that epilogue_ops
 * makes. name: of the text that the program was read from; NULL for none. */
Err epilogue_read(const Program *p, const Op *ops, const char *name, Epilogue *e);

#endif
