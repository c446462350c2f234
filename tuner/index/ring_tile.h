/* Shared memory of nvptx kernels with a ring of stages (NvRing): an operand's tile in a stage, and the lines
 * that results go through. The rules' numbers and the texts' expressions are both made here. */
#ifndef INDEX_RING_TILE_H
#define INDEX_RING_TILE_H

#include "index/expr.h"

/* What decides the layout of A's tile or of B's. */
typedef struct {
    bool first;      /* A; else B */
    bool matrix;     /* multiplied by mma.sync, else by fused multiply-adds */
    bool tlu;        /* the free dimension is contiguous in memory, else K is */
    bool vectors;    /* multiply-adds read vectors along K (UnrollMajorLDS) */
    bool shifts;     /* copied from the 16 bytes that a row begins in (NvShift) */
    int tile, depth; /* elements along the free dimension and along K */
    int bytes;       /* of an element */
} RingOperand;

/* Bits of the row number that are exclusive-or'ed to the number of a row's 16-byte chunk. */
typedef enum {
    SWIZZLE_NONE,
    SWIZZLE_ROW7,
    SWIZZLE_ROW3,
    SWIZZLE_ROW1,
    SWIZZLE_QUAD,
    SWIZZLE_QUAD4
} RingSwizzle;

typedef struct {
    int rows, row_bytes; /* in shared memory; row_bytes includes the padding of a row */
    int gap, every;      /* `gap` bytes of padding after each `every` rows */
    int bytes;           /* of all rows, a multiple of 128 */
    bool transposed;     /* K is the slow dimension here, though it is the contiguous one in global memory */
    RingSwizzle swizzle;
    int element_bytes, depth;
} RingTile;

RingTile ring_tile(const RingOperand *x);
/* First byte of a row, without its swizzle. */
const Expr *ring_row(ExprPool *p, const RingTile *t, const Expr *row);
/* What is exclusive-or'ed to the number of a chunk of the row. */
const Expr *ring_swizzle(ExprPool *p, const RingTile *t, const Expr *row);
/* Where a byte of a row stands. */
const Expr *ring_at(ExprPool *p, const RingTile *t, const Expr *row, const Expr *byte);
/* Transposed tiles: what is exclusive-or'ed with the number of an element of row k, so that a warp's writes
 * along K are spread over the banks. */
const Expr *ring_element_swizzle(ExprPool *p, const RingTile *t, const Expr *k);

/* Contractions: what elements of K add to addresses and positions stands in a table behind the stages. It has
 * an entry for each element of K of the chunks of two blocks, for A and behind both blocks for B. A block is
 * filled while the other one's chunks are copied. An entry has two words for the address, and one for the
 * position along each zero pad or for the bits of all (nvptx/ring_gather.c). */
enum { RING_BLOCKS = 2, RING_ENTRY_WORDS = 8 };
typedef struct {
    int entry_bytes;
    int chunks, entries; /* of a block */
    int operand_bytes;   /* of both blocks of an operand */
    int bytes;
} RingTable;
/* ahead: PrefetchGlobalRead; pads: of the operand that has more of them. */
RingTable ring_table(int n_threads, int depth, int ahead, int pads);

/* Results pass through shared memory in parts. A part consists of lines, each with the sums of one column of
 * D. */
typedef struct {
    int line;      /* sums from one line to the next, padding included */
    int slots;     /* lines */
    int64_t bytes; /* for all parts that the work-group splits K into */
} RingResults;
/* tile: macro tile; parts: of its columns; run: neighbours along M of which a thread's results consist;
 * sum_bytes: of a sum; splits: LocalSplitU. */
RingResults ring_results(const int tile[2], int parts, int run, int sum_bytes, int splits);
/* Bytes of shared memory for all stages and for results. Results are in the stages' memory, or behind it
 * (separate) where copies into the stages are under way while results are stored. */
int64_t ring_local_bytes(int64_t stages, int64_t results, bool separate);

#endif
