/* Layout of nvptx kernels with wgmma: warp groups of 128 threads with one role each, a ring of stages that
 * TMA fills, results stored through swizzled shared memory. Rules, the kernel program and the library's
 * tensor maps use this plan.
 *
 * X is the operand of the instruction's 64 rows, Y that of its columns. With `swapped` the rows lie along N:
 * X is B. In shared memory an operand's tile consists of rows of 128 bytes: with K contiguous, all rows of
 * the tile for each 128 bytes of K; otherwise a row per element of K for each 128 bytes of the free
 * dimension. */
#ifndef SPACE_WGMMA_H
#define SPACE_WGMMA_H

#include "problem/matrix_inst.h"
#include "problem/problem.h"
#include "space/solution.h"

enum { WGMMA_ROW_BYTES = 128, WGMMA_BUFFERS = 2 };

typedef struct {
    bool swapped;        /* X is B: the instruction's rows lie along N */
    bool pingpong;       /* ConsumerSchedule PingPong: each warp group has a tile of its own */
    bool from_registers; /* X goes through registers */
    int32_t columns, k;  /* N and K of the instruction */
    int32_t groups;      /* warp groups that multiply */
    int32_t tile_groups; /* warp groups that share a tile of D */
    int32_t repeats;     /* instructions of a warp group along the rows */
    int32_t side[2];     /* macro tile along M, along N */
    int32_t
        shared_side[2]; /* rows of the tile in shared memory: side, with K strided rounded up to whole rows
                             * of 128 bytes; with WindowTaps as problem/window.h has it */
    int32_t depth[2];   /* elements of K there */
    bool k_major[2];    /* K is contiguous in what is read of A, of B: the operand or its copy */
    int32_t parts[2];   /* work-groups of a cluster that share A's tile, B's: each copies a part */
    int32_t box[4][2]; /* of tensor maps of A, B, C, D: elements along the contiguous dimension, and across */
    int32_t swizzle[4]; /* their swizzle in bytes; 0: lines that are shorter than the swizzle's rows */
    int32_t stage_bytes, slice_bytes, slice_n; /* slice_n: columns of D in a slice of results */
    int32_t out_bytes;                         /* bytes of an element of a slice */
    int32_t cluster_sum_bytes; /* sums of a tile, which take the ring's place with ClusterK; else 0 */
    int32_t local_bytes;       /* shared memory with the solution's RingStages */
    int32_t other_bytes;       /* local_bytes without the ring */
    int32_t line_pixels; /* outputs whose lines of pixels threads make at once (problem/lines.h); 0: none */
    bool wide;           /* threads store lines of outputs that continue into the padding (WindowTaps) */
    bool promotes;       /* each stage has sums of its own, which are then added to those in f32 */
    int32_t sums;        /* accumulators of a thread */
    int32_t registers;   /* of a thread for its accumulators, those of a stage's own sums included */
} WgmmaPlan;

/* True when MatrixInstruction is a wgmma shape; also for solutions that are not derived. */
bool wgmma_is(const Solution *s);
/* The plan of a solution whose MatrixInst*, MIWaveTile, MIWaveGroup, MacroTile and DepthU are derived. */
void wgmma_plan(const Solution *s, WgmmaPlan *p);
/* The problem's operand (0 A, 1 B) with the indices of M (t 0) or of N (1). Arrays of a plan have the order
 * of M and N, which is that of A and B unless D's first index is one of B. */
static inline int wgmma_operand(const Solution *s, int t) { return s->pt->Tensor0 ? 1 - t : t; }
/* True when K is contiguous in the operand of M (0) or N (1), or in its copy by PackOperands. */
bool wgmma_k_major(const Solution *s, int t);
/* Operand X: 0 is A, 1 is B. Of solutions whose SourceSwap is derived. */
static inline int wgmma_rows_operand(const Solution *s) { return s->SourceSwap ? 1 : 0; }
/* True when TMA stores D, or the sums of parts of K that a helper kernel adds up; not with ClusterK. */
bool wgmma_engine_store(const Solution *s);

#endif
