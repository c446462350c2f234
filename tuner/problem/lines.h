/* Lines of pixels that the kernel makes itself (PackOperands with PACK_LINES; problem/pack.h). They are those
 * of a window (problem/window.h) of few channels: all channels of all taps along W of an output follow one
 * another in a row of the tensor. K of the new contraction goes through the taps along H, of which each has
 * such a line, padded to whole pieces of LINE_PIECE elements; per tap these are the rows.
 *
 * Outputs are handled in blocks of consecutive numbers. The rows of the tensor that a block reads are copied
 * to local memory once, where each has the zero pads beside it; threads then copy pieces to the stage. Rows
 * are numbered through all images, each with its rows of padding in front and behind.
 */
#ifndef PROBLEM_LINES_H
#define PROBLEM_LINES_H

#include <stdint.h>

enum {
    LINE_BYTES = 2,  /* of an element: f16, bf16 */
    LINE_PIECE = 8,  /* elements of a piece, which are 16 bytes */
    LINE_BUFFERS = 2 /* blocks in local memory */
};

/* The kernel's arguments: X(name). Bytes are those of local memory. */
#define LINE_NUMBERS(X)                                                                                      \
    X(row_bytes) /* of a row of the tensor */                                                                \
    X(left)      /* bytes in front of it */                                                                  \
    X(pitch)     /* bytes from a row to the next */                                                          \
    X(start)     /* bytes in a row to the line of output 0 */                                                \
    X(step)      /* bytes from the line of an output to that of the next */                                  \
    X(rows)      /* of an image with its padding */                                                          \
    X(step_h)    /* rows from an output to the next along H */                                               \
    X(apart)     /* rows from a tap to the next */                                                           \
    X(reach)     /* rows from the first to behind the last one of an output */                               \
    X(top)       /* rows of padding above an image */                                                        \
    X(height)    /* rows of the tensor; 0: nothing is read */                                                \
    X(outs_w)                                                                                                \
    X(outs_h)                                                                                                \
    X(pixels) /* outputs of all images */                                                                    \
    X(pieces) /* of a line */                                                                                \
    X(taps)   /* along H */                                                                                  \
    X(tail)   /* elements of a line's last piece */                                                          \
    X(from_h) /* elements of the tensor from a row, an image to the next */                                  \
    X(from_image)

typedef struct {
#define LINE_FIELD(name) int64_t name;
    LINE_NUMBERS(LINE_FIELD)
#undef LINE_FIELD
} LineNumbers;

/* The names of the arguments, as many as LineNumbers has. */
enum { LINE_ARGS = sizeof(LineNumbers) / sizeof(int64_t) };
extern const char *const line_arg_names[LINE_ARGS];

/* Outputs of a block per tap, of which a chunk has `depth`: several chunks share rows. */
static inline int32_t line_block(int32_t depth) { return depth < 128 ? 128 / depth * depth : depth; }

/* Bytes of local memory for the rows of a block of that many outputs: with larger tiles less is left. */
static inline int32_t line_rows_bytes(int32_t pixels) { return pixels > 192 ? 32768 : 45056; }

/* Bytes of local memory for blocks of that many outputs: zeros, for each output two words, rows. */
enum { LINE_ZERO_BYTES = 128, LINE_PLACE_BYTES = 8 };
static inline int32_t line_local_bytes(int32_t pixels)
{
    return LINE_ZERO_BYTES + LINE_BUFFERS * (pixels * LINE_PLACE_BYTES + line_rows_bytes(pixels));
}

#endif
