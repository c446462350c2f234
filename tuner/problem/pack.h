/* PackOperands: copies of A or B in the workspace, made by a helper kernel before the main kernel runs, for
 * operands that the copy engine or the matrix instruction cannot use as they lie in memory. The interface
 * between the helper kernel (kernel/nvptx/pack.c) and its launch (client/runtime/launch_pack.c).
 *
 * A copy has lines of the contiguous dimension, each beginning at a multiple of PACK_LINE_BYTES; matrices of
 * a batch follow one another. The contiguous dimension is K where wgmma takes nothing else (all types but
 * those of 16 bits), else that of the operand. The padding after a line's end has any value.
 *
 * The kernel's arguments are two PackArgs, of A and of B; its grid is the sum of their groups along x.
 *
 * For windows (problem/window.h) the copies turn the problem into another contraction with the same result,
 * which suits the copy engine and wgmma better. Another helper kernel makes them, from PackPixels and
 * PackFilter:
 *
 *     lines (both operands): the pixels of few channels. The channels of `fold` rows of pixels, one tap
 *         apart, become the channels of one pixel; a line of as many such pixels as the filter has taps
 *         along W is one pixel of the new contraction, whose filter has one tap along W and 1/fold of those
 *         along H, which fold divides. Lines of neighbouring outputs overlap in memory. Zero pads are part
 *         of the copy. Weights have lines too (the pixels alone), whose rows the launch places.
 *         With PACK_LINES the pixels are not copied: the kernel makes their lines itself (problem/lines.h).
 *     blocks (the filter alone): groups of few channels. Some groups become one, whose filter is 0 where
 *         rows and channels are of different ones.
 *     a filter without groups, alone: the same filter at multiples of 16 bytes. Where the launch places
 *         results (WindowPlace) and rows are few, the outputs of a block become rows of their own: the pixels
 *         that a block reads are loaded once for all of its outputs, whose filters are 0 where they do not
 *         reach.
 *
 * Blocks multiply elements by zeros that the convolution does not multiply at all: the channels of other
 * groups, or the pixels that other outputs need. Where such an element is infinite or NaN, the sum becomes
 * NaN; in no other case does it change. These zeros are -0 (pack_mark), which the filter's own are not in a
 * copy: kernels make sums that are NaN again without them (kernel/nvptx/hopper_mend.c).
 */
#ifndef PROBLEM_PACK_H
#define PROBLEM_PACK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PACK_A = 1, /* bits of the parameter */
    PACK_B = 2,
    PACK_LINES = 4, /* lines of pixels are not copied: the kernel makes them (problem/lines.h) */
    PACK_LINE_BYTES = 128,
    PACK_START_BYTES = 256, /* a copy's address is a multiple of this */
    PACK_TILE_LINES = 64,   /* of the operand, which a workgroup copies */
    PACK_TILE_BYTES = 256
};

/* The arguments, whose fields problem/pack.def has. They have no padding: the kernel gets their bytes. */
#define PACK_FIELD_TO uint64_t
#define PACK_FIELD_FROM uint64_t
#define PACK_FIELD_U64 uint64_t
#define PACK_FIELD_U32 uint32_t
#define PACK_FIELD_I32 int32_t
typedef struct {
#define OPERAND(kind, field) PACK_FIELD_##kind field;
#include "problem/pack.def"
} PackArgs;

enum { PACK_PIECE_BYTES = 8, PACK_GROUP = 256 }; /* of windows: bytes and threads of a work-group */

typedef struct {
#define PIXELS(kind, field) PACK_FIELD_##kind field;
#include "problem/pack.def"
} PackPixels;

typedef struct {
#define TAPS(kind, field) PACK_FIELD_##kind field;
#include "problem/pack.def"
} PackTaps;

typedef struct {
#define FILTER(kind, field) PACK_FIELD_##kind field;
#include "problem/pack.def"
    PackTaps taps[2];
} PackFilter;

/* Whether the copy of an operand with elements of that size has K contiguous although the operand has not. */
static inline bool pack_transposes(int element_bytes, bool k_major) { return !k_major && element_bytes != 2; }

/* The bits of an element of a filter's copy that is none of the filter. Integers have none: their zeros are
 * harmless. */
static inline uint32_t pack_mark(int element_bytes)
{
    return element_bytes > 1 ? UINT32_C(1) << (8 * element_bytes - 1) : 0;
}

/* "PackOperands_4": the helper kernel for elements of that size; NULL when there is none. */
const char *pack_kernel_name(int element_bytes);
/* "PackWindow_2": the same of windows. */
const char *pack_window_name(int element_bytes);
/* The size of such a name; 0 when it is none. */
int pack_kernel_bytes(const char *name, uint64_t n);
/* Whether it is the name of a kernel for windows. */
bool pack_name_is_window(const char *name, uint64_t n);

#endif
