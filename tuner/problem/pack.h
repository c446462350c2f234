/* PackOperands: copies of A or B in the workspace, made by a helper kernel before the main kernel runs, for
 * kernels whose copy engine or matrix instruction does not take the operand as it lies in memory. What the
 * helper kernel (kernel/nvptx/pack.c) and its launch (client/runtime/launch_pack.c) agree on.
 *
 * A copy has lines of the contiguous dimension, each beginning at a multiple of PACK_LINE_BYTES; matrices of
 * a batch follow one another. The contiguous dimension is K where wgmma takes nothing else (all types but
 * those of 16 bits), else that of the operand. Bytes behind a line's end have any value.
 *
 * The kernel's arguments are two PackArgs, of A and of B; its grid is the sum of their groups along x.
 */
#ifndef PROBLEM_PACK_H
#define PROBLEM_PACK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACK_A = 1, /* bits of the parameter */
    PACK_B = 2,
    PACK_LINE_BYTES = 128,
    PACK_START_BYTES = 256, /* a copy's address is a multiple of this */
    PACK_TILE_LINES = 64,   /* of the operand, which a workgroup copies */
    PACK_TILE_BYTES = 256
};

/* One operand, in bytes but for lines and groups. An operand that is not copied has 0 groups. */
typedef struct {
    uint64_t to, from;          /* addresses */
    uint64_t ld, matrix;        /* of the operand, from one line, one matrix to the next */
    uint64_t to_ld, to_matrix;  /* of the copy */
    uint64_t line_bytes;        /* of the operand */
    uint32_t lines, transposes; /* transposes: lines of the copy lie across those of the operand */
    uint32_t tiles, per_matrix; /* workgroups along a line; of a matrix */
    uint32_t groups, unused;    /* of all matrices */
} PackArgs;

/* Whether the copy of an operand with elements of that size has K contiguous although the operand has not. */
static inline bool pack_transposes(int element_bytes, bool k_major) { return !k_major && element_bytes != 2; }

/* "PackOperands_4": the helper kernel for elements of that size; NULL when there is none. */
const char *pack_kernel_name(int element_bytes);
/* The size of such a name; 0 when it is none. */
int pack_kernel_bytes(const char *name, uint64_t n);

#endif
