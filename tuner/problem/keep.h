/* Kernels that keep the pixels of a tile in local memory (KeepWindow): the sizes on which the rules, the
 * kernel's text and the launch agree, and the numbers that the launch computes for the kernel. Filters go
 * through stages of lines: rows_first: a line has the rows of the tile, for an element of K each; else a
 * row's elements of K. Lines have an odd number of chunks, so that ldmatrix has no bank conflicts. */
#ifndef PROBLEM_KEEP_H
#define PROBLEM_KEEP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    KEEP_CHUNK = 8, /* elements of KEEP_CHUNK_BYTES */
    KEEP_CHUNK_BYTES = 16,
    KEEP_STEP = 16,       /* elements of K of a step */
    KEEP_OWN_BYTES = 512, /* of local memory for the kernel's own numbers */
};

/* The kernel's arguments: X(name). */
#define KEEP_NUMBERS(X)                                                                                      \
    X(per_tap) /* steps: those of the channels that the rows of a warp read */                               \
    X(pieces)  /* chunks of a pixel: those of the channels that the rows of a tile read */

typedef struct {
#define KEEP_FIELD(name) int64_t name;
    KEEP_NUMBERS(KEEP_FIELD)
#undef KEEP_FIELD
} KeepNumbers;

/* The names of the arguments, as many as KeepNumbers has. */
enum { KEEP_ARGS = sizeof(KeepNumbers) / sizeof(int64_t) };
extern const char *const keep_arg_names[KEEP_ARGS];

static inline int32_t keep_line_bytes(int32_t rows, int32_t depth, bool rows_first)
{
    return ((rows_first ? rows : depth) / KEEP_CHUNK | 1) * KEEP_CHUNK_BYTES;
}
static inline int32_t keep_stage_bytes(int32_t rows, int32_t depth, bool rows_first)
{
    return (rows_first ? depth : rows) * keep_line_bytes(rows, depth, rows_first);
}

#endif
