/* Windows: contractions in which one operand, the pixels, slides under a filter along spatial dimensions, as
 * the copy engine loads them (PTX ISA, "im2col mode"). A row of a matrix is a pixel with its channels; all
 * rows of a tile are read at the same distance from their own pixels, which is the filter element.
 *
 *     pixels[channel, tap.., out.., image]   filter[channel, tap.., row] or filter[row, tap.., channel]
 *     D[row, out.., image]
 *
 * first indices contiguous. A pixel's position along a spatial dimension is out * step + tap * dilation +
 * lower, in units of the tensor's pixels (WindowShape). The images belong to N (PackBatchDims, groups) or to
 * the batch. Where the filter is mirrored, its element is the last tap less the pixels'.
 */
#ifndef PROBLEM_WINDOW_H
#define PROBLEM_WINDOW_H

#include "problem/indices.h"

enum { WINDOW_SPATIAL = 2 };

typedef struct {
    int pixels;      /* operand: 0 A, 1 B; the other one is the filter */
    int32_t channel; /* index that is summed over and contiguous in the pixels */
    int32_t tap[WINDOW_SPATIAL], out[WINDOW_SPATIAL]; /* along W, H */
    int32_t image, row;                               /* image: -1 none */
    bool image_in_batch, filter_k_major;
    bool mirrored[WINDOW_SPATIAL]; /* of the filter */
} Window;

/* Finds the roles of the indices. NULL: it is a window; otherwise why not. */
const char *window_of(const Indices *x, Window *out);

/* One window's numbers along the spatial dimensions. */
typedef struct {
    int64_t size;                  /* pixels of the tensor */
    int64_t pitch;                 /* elements from a pixel to the next */
    int64_t step, lower, dilation; /* lower: of output 0 and tap 0; at most 0 */
    int64_t upper;                 /* the last output's position with tap 0, behind the last pixel's: at most 0 as a
                                      rule, above it where the end's padding exceeds the filter */
} WindowShape;

/* ERR_INPUT with the numbers where a copy engine has no such window: it allows positions of -128 to 127
 * beside the tensor, filters of 256 pixels, steps of 8. */
Err window_shape(const IndexSizes *x, const Window *w, WindowShape out[WINDOW_SPATIAL]);

#endif
