/* Copies of one operand of a ring kernel to its stages, as statements. See ring_copy.c. */
#ifndef KERNEL_NVPTX_RING_COPY_H
#define KERNEL_NVPTX_RING_COPY_H

#include "index/ring_tile.h"
#include "kernel/nvptx/ring.h"

typedef struct {
    const GpuPlan *p;
    Stmts *s;
    const GpuOperand *x;
    RingTile tile;   /* in shared memory */
    char upper;      /* 'A' or 'B' */
    bool k_rows;     /* rows of the tile in global memory lie along the free dimension, else along K */
    int bpe, cw, ce; /* bytes of an element and of a piece, elements of a piece */
    int mr, mc;      /* rows of the tile in global memory, elements of a row */
    int pass_cols, pass_rows; /* adjacent pieces and rows that all threads copy in one pass */
    int passes, n;            /* passes of a row; pieces of a thread */
    int extra;                /* NvShift: further pieces of a thread, at the ends of rows */
    bool partly;              /* the last pass has rows behind the tile */
    bool always_aligned;      /* pieces of any operand are aligned to their size */
    bool elements;            /* the copies element by element are used */
    bool via_registers;       /* contractions: copied through registers */
} RingCopy;

/* PrefetchAcrossPersistent: does cp.async fill stages of the next tile while results of the last one are
 * stored? Results then have shared memory of their own, behind the stages. */
static inline bool ring_fills_ahead(const GpuPlan *p) { return p->walk.prefetches && !p->ring.via_registers; }
RingTile ring_tile_of(const GpuPlan *p, int i);
/* The copies of operand i (0 A, 1 B). */
RingCopy ring_copy_of(const GpuPlan *p, Stmts *s, int i);
/* The name of an operand's function: "@whole_a". */
const char *ring_copy_name(Stmts *s, const char *name, char operand);
/* Prints the struct and the functions. */
void ring_copy_put(const RingCopy *c);

/* ---- contractions: ring_gather.c ---- */

RingTable ring_table_of(const GpuPlan *p);
/* Copies of a chunk of a contraction that are issued at once (load_entries in ring_gather.c). */
enum { RING_COPY_RUN = 6 };
/* Prints @chunk_k and @fill: the first element of K of a chunk; fills a block of the table. */
void ring_table_put(const GpuPlan *p, Stmts *s);
/* ring_copy_put of an operand of a contraction. */
void ring_gather_put(const RingCopy *c);
/* Whether an operand with that first element can be copied by other functions than @elements_X. */
const Value *ring_gather_fits(const RingCopy *c, const Value *base);
/* ring_gather_loop.c: prints @advance, @operand_X, @copy and @begin; the start of an iteration, the copies of
 * one operand in a step of it. */
void ring_gather_loop_put(const RingCopy copy[2]);
void ring_gather_iteration(const RingCopy copy[2], const Value *into);
void ring_gather_part(const RingCopy *c, const Value *into, const Value *from, const Value *to);

/* ---- windows that stay in shared memory: ring_window.c ---- */

/* ERR_INPUT: the plan's contraction has no such window. Prints @Ring, @begin and @main_loop. */
Err ring_window_check(const GpuPlan *p);
Err ring_window_put(const GpuPlan *p, Stmts *s);
/* Sets the members of the ring that the kernel has as arguments. */
void ring_window_args(Stmts *s);
/* Does it print @mend, which makes sums again that zeros in place of other groups' filters have made NaN? */
bool ring_window_mends(const GpuPlan *p);
/* Has the kernel @store_kept, which stores aligned results? */
bool ring_window_stores(const GpuPlan *p);

/* ---- the main loop: ring_loop.c ---- */

/* Opens a function of both operands' copies and the ring, and of the stage `into`. Calls one without. */
void ring_open(Stmts *s, const char *name, bool into);
void ring_call(Stmts *s, const char *name);
/* Declares whole, whether chunk g.next has all DepthU elements of K, and k_left, how many it has. */
void ring_chunk(const GpuPlan *p, Stmts *s);

/* Prints @Ring, the functions that copy a chunk and @main_loop, which copies and multiplies the chunks of a
 * work-group. ERR_FAILED: async_derive refuses them. */
Err ring_loop_put(const GpuPlan *p, Stmts *s);

#endif
