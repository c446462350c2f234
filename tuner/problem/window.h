/* Windows: contractions in which one operand, the pixels, slides under a filter along spatial dimensions, as
 * the copy engine loads them (PTX ISA, "im2col mode"). A row of what it loads is a pixel with its channels.
 * All rows of a tile are read at the same distance from their own pixels: the filter's element, or tap.
 *
 *     pixels[channel, tap.., out.., image]
 *     sliding     other[channel, tap.., row] or [row, tap.., channel]     D[row, out.., image]
 *     per tap     other[row, out.., image]                                D[channel, tap.., row]
 *
 * first indices contiguous. Convolutions forward and backward data slide: they sum over channels and taps.
 * Backward weights have a product for each tap, which sums over positions and images. A pixel's position
 * along a spatial dimension is out * step + tap * dilation + lower, in units of the tensor's pixels
 * (WindowShape). Images of sliding windows belong to the columns (PackBatchDims, groups) or to the batch.
 * Groups of channels and rows are the batch then: a group's channels follow those of the group before it. D
 * lists the group after its first index, per tap after its last one.
 * Where the other operand is mirrored, its tap is the last one less the pixels'.
 */
#ifndef PROBLEM_WINDOW_H
#define PROBLEM_WINDOW_H

#include "problem/indices.h"

enum { WINDOW_SPATIAL = 2 };

/* Kernels with WindowTaps have several neighbouring taps of a line of the filter in a stage. The pixels that
 * they read are loaded once: rows of outputs are followed by as many others as the last of these taps lies
 * behind the first one, at most WINDOW_REACH. For this, the kernel counts outputs along W beyond the last one
 * of a line, so that positions which follow one another are those of a line and its padding: an output's taps
 * are always rows that follow its own at the same distance. Positions behind the tensor and in front of it
 * are zeros, of which the end of a line and the beginning of the next one share some. */
enum { WINDOW_REACH = 8 };

/* The outputs along W that such a kernel counts, for `outs` that there are, `reach` pixels from the first to
 * the last tap, and `size` and `lower` as in WindowShape: all pixels are in their line, and what an output
 * reads of the next one is in front of the tensor. */
static inline int64_t window_wide_outs(int64_t outs, int64_t reach, int64_t size, int64_t lower)
{
    const int64_t zeros = outs + reach + lower, all = size - lower;
    const int64_t wide = zeros > all ? zeros : all;
    return wide > outs ? wide : outs;
}

typedef struct {
    int pixels;                                       /* operand: 0 A, 1 B */
    bool per_tap;                                     /* D has the taps */
    int32_t channel;                                  /* index that is contiguous in the pixels */
    int32_t tap[WINDOW_SPATIAL], out[WINDOW_SPATIAL]; /* along W, H */
    int32_t image, row, group;                        /* image, group: -1 none */
    bool image_in_batch, other_k_major;
    bool mirrored[WINDOW_SPATIAL]; /* of the other operand */
} Window;

/* Does a kernel store D element by element? Those whose results the copy engine stores do not, nor those with
 * ClusterK (members: work-groups that share the K of a tile), which store vectors. */
static inline bool window_stores_elements(bool by_engine, int64_t members)
{
    return !by_engine && members <= 1;
}

/* Whether the launch passes the kernel the places of its results (WindowPlace). Backward data needs them,
 * because the pixels of one phase of a stride are not adjacent in D; so do kernels with a product per tap
 * that store element by element (by_element; with ClusterK they store vectors), because rows of D may belong
 * to several taps or groups. For all other kernels D has no gaps. */
static inline bool window_is_placed(const Window *w, bool by_element)
{
    return w->per_tap ? by_element : w->mirrored[0] || w->mirrored[1];
}

/* Where a kernel's results belong.
 *
 * Of windows that slide, its rows are `rows` channels of block[0] x block[1] neighbouring pixels each,
 * channels first, then pixels along W; its columns are blocks of outs[0] x outs[1] pixels.
 *
 * Per tap, its rows are `channels` of each slot of a pixel of `pixel` elements; further pixels are those of
 * the next taps along W. fold slots are as many taps along H, of which the filter has `taps`, and the next
 * slots belong to the next group, each of whose columns are `rows`. Other results belong nowhere. */
typedef struct {
    int64_t rows, block[WINDOW_SPATIAL], outs[WINDOW_SPATIAL];
    int64_t channels, pixel, fold, taps;
} WindowPlace;
/* The names of the kernel arguments that pass the places: of sliding windows whether the copy engine stores D
 * as pixels, then WindowPlace's numbers. Returns their count; 0: the kernel has no such arguments. */
enum { WINDOW_PLACE_NUMBERS = 6 };
int window_place_names(const Window *w, bool by_element, const char *const **names);

/* Finds the roles of the indices, with the batch packed as in the kernel. NULL: it is a window; otherwise the
 * condition that it does not meet: "the channels of the pixels must be contiguous (NHWC)". */
const char *window_of(const Indices *x, Window *out);

/* One window's numbers along a spatial dimension. */
typedef struct {
    int64_t size;                  /* pixels of the tensor */
    int64_t pitch;                 /* elements from a pixel to the next */
    int64_t step, lower, dilation; /* lower: position of output 0 and tap 0; at most 0 */
    int64_t upper;                 /* position of the last output with tap 0, plus 1, less `size` */
} WindowShape;

/* ERR_INPUT with the numbers where a copy engine has no such window: it allows positions of -128 to 127
 * beside the tensor, filters of 256 pixels, steps of 8. */
Err window_shape(const IndexSizes *x, const Window *w, WindowShape out[WINDOW_SPATIAL]);

#endif
