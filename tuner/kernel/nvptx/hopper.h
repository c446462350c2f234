/* Warp-specialised kernels for sm_90a: a producer warp group fills a ring of stages by TMA, and consumer warp
 * groups multiply by wgmma. */
#ifndef KERNEL_NVPTX_HOPPER_H
#define KERNEL_NVPTX_HOPPER_H

#include "kernel/gpu/gpu.h"
#include "kernel/lower/producer.h"
#include "kernel/lower/shares.h"
#include "problem/matrix_inst.h"
#include "problem/window.h"

/* Appends the text of a kernel. program: as the passes of hopper_program.c made it. */
Err hopper_lower(const Program *program, Str symbol, Buf *out);

/* The roles of a contraction's indices. ERR_INPUT: the copy engine does not load it. */
Err hopper_window(const GpuPlan *p, Window *out);
/* Is it one whose results the launch places (problem/window.h)? */
bool hopper_is_placed(const GpuPlan *p);

/* hopper_walk.c: prints the walk over tiles, of clusters; then that of work-groups, WorkTile and Walk. */
void hopper_walk(const GpuPlan *p, Stmts *s);
void hopper_tiles(const GpuPlan *p, Stmts *s);
/* Work-groups of a cluster with the same part of K, which share tiles by multicast; parts of K. */
int hopper_sharing(const GpuPlan *p);
int hopper_members(const GpuPlan *p);
/* The number of a work-group in its cluster, "rank", and its place: along M, along N, and which part of K. */
typedef struct {
    const Expr *along[2], *member;
} HopperPlace;
const Expr *hopper_rank(const GpuPlan *p, Stmts *s);
HopperPlace hopper_place(const GpuPlan *p, Stmts *s, const Expr *rank);

/* Kernels whose stages have several taps, which share pixels (WindowTaps). Those of sliding windows have a
 * tile of the filter (operand 0) for each tap, and WINDOW_REACH rows more of pixels. Per tap, a tile of D has
 * rows of all these taps, while operand 0 has their channels once, and WINDOW_REACH elements of K more. */
static inline int hopper_taps(const GpuPlan *p)
{
    const int taps = p->groups.window_taps;
    return taps > 1 ? taps : 1;
}
static inline bool hopper_taps_slide(const GpuPlan *p) { return hopper_taps(p) > 1 && !p->groups.per_tap; }
static inline bool hopper_taps_are_rows(const GpuPlan *p) { return hopper_taps(p) > 1 && p->groups.per_tap; }
/* An operand's tiles in a stage; elements along the free dimension of one, and along K. */
static inline int hopper_copies(const GpuPlan *p, int operand)
{
    return !operand && hopper_taps_slide(p) ? hopper_taps(p) : 1;
}
static inline int hopper_side(const GpuPlan *p, int operand)
{
    const int side = p->mt[operand];
    if (operand) return hopper_taps_slide(p) ? side + WINDOW_REACH : side;
    return hopper_taps_are_rows(p) ? side / hopper_taps(p) : side;
}
static inline int hopper_depth(const GpuPlan *p, int operand)
{
    return !operand && hopper_taps_are_rows(p) ? p->depth_u + WINDOW_REACH : p->depth_u;
}
/* Of 64 rows of a tile number `block`: their tap, and the number of their 64 channels. A warp group has rows
 * of all taps, or there are as many warp groups as taps; with swap the instruction's columns are 64 channels
 * of each tap. */
typedef struct {
    const Expr *tap, *channels;
} HopperRows;
HopperRows hopper_rows(const GpuPlan *p, Stmts *s, const Expr *block);

/* hopper_memory.c: the kernel's shared memory, in bytes from its aligned beginning. */
enum { HOPPER_ROW_BYTES = 128, HOPPER_BUFFERS = 2 }; /* of a swizzled block; slices of a warp group */
typedef struct {
    int x_bytes, stage_bytes, slice_bytes; /* of X's tile, of a stage, of a slice of results */
    int out_at, barriers_at;
    int columns, along,
        slices;                /* columns of the instruction in a slice; slices along them; of a warp group */
    int line, pieces;          /* bytes of a line along M; blocks of a slice along M */
    int lines_at, lines_bytes; /* rows of pixels of which threads make lines (problem/lines.h) */
} HopperMemory;
HopperMemory hopper_memory(const GpuPlan *p);
/* ERR_INPUT: the plan has other numbers. */
Err hopper_memory_check(const GpuPlan *p);
/* The aligned beginning of dynamic shared memory that begins at that address. */
const Value *hopper_base(Stmts *s, const Value *address);
/* Prints Ring, Shared and matrix descriptors. */
void hopper_memory_put(const GpuPlan *p, const StageRing *ring, Stmts *s);

/* hopper_load.c: prints fill_stage(). window: NULL, or of the program's indices. */
void hopper_fill(const GpuPlan *p, const Window *window, Stmts *s);
/* What it fills. */
void hopper_filled_tiles(const GpuPlan *p, const Window *window, ProducerTile out[PRODUCER_TILES]);
/* Rows from a work-group's part of a tile to the next one's; 0: parts are whole blocks. */
int hopper_part_rows(const GpuPlan *p, int i);

/* The tap of a chunk of K of a sliding window, and the chunk's number among those of the tap. */
const Expr *hopper_tap(const GpuPlan *p, const Window *w, Stmts *s, const Expr *chunk);
const Expr *hopper_chunk_of_tap(const GpuPlan *p, Stmts *s, const Expr *chunk, const Expr *tap);

/* hopper_lines.c: kernels whose threads make lines of pixels (problem/lines.h). Their arguments in struct
 * WindowArgs; the function lines(). Arrivals that the mbarriers of a full stage, and of full and empty rows
 * expect: those of all lanes that write or read there, and of the producer at a full stage. */
void hopper_line_args(Stmts *s);
void hopper_lines(const GpuPlan *p, const Window *w, const StageRing *ring, Stmts *s);
int hopper_full_arrivals(const GpuPlan *p);
int hopper_rows_arrivals(bool full);

/* hopper_produce.c: prints d_at(), c_at(), fill_stage() and produce(). ERR_FAILED: producer_derive refuses
 * it. */
Err hopper_produce(const GpuPlan *p, const StageRing *ring, Stmts *s, Produced *out);

/* hopper_products.c: prints accumulate(), the products of a tile. in: the instruction. */
void hopper_products(const GpuPlan *p, const MatrixInst *in, const StageRing *ring, Stmts *s);
/* Prints that consumer 1 lets consumer 0 give it its first turn (ConsumerLag). */
void hopper_first_turn(const GpuPlan *p, Stmts *s);
/* hopper_mend.c: prints mend_sums(), which makes sums again that zeros of A's copy have made NaN. ERR_INPUT:
 * A is no filter under which pixels slide. */
Err hopper_mend(const GpuPlan *p, const MatrixInst *in, Stmts *s);
/* hopper_write.c: prints struct Vectors; slice_words(), the results of a slice, write_slice() and
 * write_slice_with_c(), which write a slice to shared memory. Declares `word`, a thread's results; calls
 * slice_words() for it. Bytes from a slice's first one to the word of row m and column n. Whether vectors of
 * fused operations are loaded before the products. */
void hopper_write(const GpuPlan *p, const MatrixInst *in, Stmts *s);
void hopper_words(const GpuPlan *p, Stmts *s);
void hopper_slice_words(Stmts *s, const Expr *i);
const Expr *hopper_word_at(const GpuPlan *p, Stmts *s, const Expr *m, const Expr *n);
/* The same of a byte of column n of a piece. */
const Expr *hopper_byte_at(const GpuPlan *p, Stmts *s, const Expr *piece, const Expr *n, const Expr *byte);
/* What the epilogue makes of the sum x and, if `with_c`, of C's element c. function: "g_combined", or
 * "g_before_relu". */
const Value *hopper_result(Stmts *s, const char *function, const Value *x, const Value *c,
                           const Value *with_c, const Value *row, const Value *col);
/* Declares `reads`: whether C is read. */
const Value *hopper_reads(const GpuPlan *p, Stmts *s);
bool hopper_vectors_early(const GpuPlan *p);
/* Sums of a thread of a consumer. */
static inline int hopper_sums(const GpuPlan *p)
{
    return p->matrix.tiles[p->matrix.swap] * p->mt[!p->matrix.swap] / 2;
}
/* Parts of K whose sums a helper kernel adds up later; 1: none. */
static inline int hopper_split(const GpuPlan *p) { return p->gsu_multiple ? p->walk.split : 1; }

/* hopper_elements.c: prints store_one(), which stores an element. Statements that store a tile from shared
 * memory without the copy engine. */
void hopper_store_one(const GpuPlan *p, Stmts *s);
void hopper_elements(const GpuPlan *p, Stmts *s);
/* hopper_wide.c: statements that store a tile whose lines of outputs continue into the padding. */
void hopper_wide(const GpuPlan *p, const Window *w, Stmts *s);
/* hopper_store.c: prints slice_m() and slice_n(), the places of slices of results; store_tile(). ERR_FAILED:
 * slices_derive refuses it. */
void hopper_slices(const GpuPlan *p, Stmts *s);
Err hopper_store(const GpuPlan *p, Stmts *s);
/* hopper_join.c: prints join_sums() or add_sums(), which add up parts of K through the workspace.
 * ERR_INPUT: sums are no whole runs. ERR_FAILED: shares_verify refuses it. What it is told. */
Err hopper_join(const GpuPlan *p, const MatrixInst *in, Stmts *s);
Shares hopper_shares(const GpuPlan *p);
/* hopper_parts.c: prints add_parts(), which adds and stores the sums of a cluster's parts of K. ERR_INPUT:
 * the ring is too small for them. */
Err hopper_parts(const GpuPlan *p, const MatrixInst *in, Stmts *s);
/* Bytes from X's tile in a stage to the rows of a consumer warp group. */
const Value *hopper_group_at(const GpuPlan *p, Stmts *s, const Expr *group);

/* hopper_consume.c: prints release(), the products, the epilogue's functions and consume(). produced: what
 * the producers do. *arrivals: those that the mbarrier of an empty stage expects. ERR_FAILED: consumer_derive
 * refuses it, or it does not fit the producers. ring must outlive s. */
Err hopper_consume(const GpuPlan *p, const MatrixInst *in, const StageRing *ring, const Produced *produced,
                   Stmts *s, int *arrivals);
/* hopper_roles.c: prints gemm(), the body of the kernel function. ERR_FAILED: setup_verify refuses it. */
Err hopper_roles(const GpuPlan *p, int arrivals, Stmts *s);

#endif
