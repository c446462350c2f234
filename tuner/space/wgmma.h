/* Layout of nvptx kernels that multiply by wgmma: warp groups of 128 threads with one role each, a ring of
 * stages that the copy engine fills, results through swizzled local memory. One planner for the rules that
 * reject a solution, for the kernel program and for the library's tensor maps.
 *
 * X is the operand of the instruction's 64 rows, Y that of its columns. With `swapped` the rows lie along N:
 * X is B. In local memory an operand's tile consists of rows of 128 bytes: with K contiguous, all rows of
 * the tile for each 128 bytes of K; otherwise blocks of 128 bytes of the free dimension, a row for each
 * element of K. Not here: rules (rules_wgmma.c). */
#ifndef SPACE_WGMMA_H
#define SPACE_WGMMA_H

#include "problem/matrix_inst.h"
#include "space/solution.h"

enum { WGMMA_ROW_BYTES = 128, WGMMA_BUFFERS = 2 };

typedef struct {
    bool swapped, turns; /* turns: warp groups have a tile each (PingPong) */
    int32_t columns, k;  /* of the instruction */
    int32_t groups;      /* warp groups that multiply */
    int32_t tile_groups; /* that share a tile of D */
    int32_t repeats;     /* instructions along the rows, of a warp group */
    int32_t side[2];     /* macro tile of A, of B */
    bool k_major[2];     /* K is contiguous in A, in B */
    int32_t parts[2];    /* work-groups of a cluster that share A's tile, B's: each copies a part */
    int32_t box[4][2]; /* of tensor maps of A, B, C, D: elements along the contiguous dimension, and across */
    int32_t stage_bytes, slice_bytes, slice_n; /* a slice of results; its columns of D */
    int32_t out_bytes;                         /* of an element of a slice */
    int32_t local_bytes;                       /* all of it; for RingStages of the solution */
    int32_t other_bytes;                       /* local_bytes without the ring */
    bool promotes;     /* each stage has sums of its own, which are then added to those in f32 */
    int32_t sums;      /* of a thread */
    int32_t registers; /* that a thread's sums take, those of a stage with them */
} WgmmaPlan;

/* Does its MatrixInstruction name wgmma? For unfinished solutions too. */
bool wgmma_is(const Solution *s);
/* Of a solution with MatrixInst*, MIWaveTile, MIWaveGroup, MacroTile and DepthU derived. */
void wgmma_plan(const Solution *s, WgmmaPlan *p);
/* The copy engine stores D. */
bool wgmma_engine_store(const Solution *s);

#endif
