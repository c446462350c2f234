/* What the compute modules of ring kernels print: struct @Acc, which has a thread's accumulators and reads
 * its fragments from a stage, for ring_loop.c and ring_store.c. */
#ifndef KERNEL_NVPTX_RING_ACC_H
#define KERNEL_NVPTX_RING_ACC_H

#include "kernel/nvptx/ring_copy.h"

/* Where accumulators are. A run is a number of consecutive rows of D; `r` is its number, `e` that of a row
 * in it. Results go through shared memory in parts; `slot` is a line there, which has one column of the
 * tile. Rows and columns are counted from those of the thread's first run, "m" and "n" in the struct. */
enum { ACC_SUBSCRIPTS = 3 };
typedef struct {
    int runs, run, parts;
    const Expr *row, *col;                 /* of run r */
    const Expr *subscript[ACC_SUBSCRIPTS]; /* of element e of run r in the array v; NULL behind the last */
    const Expr *part, *slot;               /* of run r: where it is written to */
    const Expr *column;                    /* of the tile: what line `slot` of part `part` holds */
} AccRuns;

/* The variables of those expressions: run and element, line and part, the thread's first row and column. */
typedef struct {
    const Expr *r, *e, *slot, *part, *m, *n;
} AccNames;
AccNames ring_acc_names(const GpuPlan *p, ExprPool *pool, int runs);

/* The number of adjacent lines of a part that hold adjacent columns of the tile. */
int ring_acc_adjacent(const GpuPlan *p);
int ring_mma_adjacent(const GpuPlan *p);
int ring_simt_adjacent(const GpuPlan *p);

/* Prints @RUN and @N_RUN, the length and number of runs. */
void ring_acc_constants(Stmts *s, const AccRuns *x);
/* Prints the struct's members for the results. */
void ring_acc_results(Stmts *s, const AccRuns *x);

/* Declares the lane and the warp of the thread `tid`, which has not to be negative, and returns them. */
enum { ACC_LANES = 32, ACC_WARPS = 32 };
typedef struct {
    const Expr *lane, *warp;
} AccThread;
AccThread ring_acc_thread(Stmts *s);

/* Opens a member function that changes the struct, or does not. */
void ring_acc_member(Stmts *s, const char *name, bool changes, const StmtParam *param, int n_params);

/* Prints the struct that reads fragments of operand i of mma.sync: init(), skip(), load(), and with NvShift
 * shift(). layout: the instruction; row: the operand is its first one, which holds rows. tile: elements of a
 * wave along the operand's free dimension; words: registers of a fragment. */
typedef struct {
    const GpuPlan *p;
    const MatrixInst *layout;
    int i, tile, words;
    bool row;
} MmaReader;
void ring_mma_reader(Stmts *s, const MmaReader *m);

#endif
