/* The tensors of a convolution as operands of its matrix product: chains of pad, embed and merge (view.h).
 *
 * Forward and backward weights read the input through pad and embed (position = dilation * filter element +
 * stride * output position), and merge what the product sums over and what it does not. Backward data does so
 * for each phase of the stride (conv_desc.h): the input's positions and the filter's elements are every s-th
 * and every yt-th, and the output's positions go down where the filter element goes up.
 *
 * Merged dimensions have the order of memory: positions that of the result (weights: the filter's elements),
 * and what is summed over that of the right operand, so that the last one is contiguous where it can be.
 */
#ifndef INDEX_CONV_VIEW_H
#define INDEX_CONV_VIEW_H

#include "index/view.h"
#include "problem/conv_desc.h"

/* Top dimensions in the order of view_top: the group, where there are several, then two of gemmK, gemmM and
 * gemmN: (gemmK, gemmM) left, (gemmK, gemmN) right, (gemmM, gemmN) of the result. */
typedef struct {
    View view;
    char number[2 * VIEW_MAX_DIMS][24]; /* texts of sizes and strides */
    int n_numbers;
} ConvView;

/* The view of a tensor in product g, which is not empty. False: the view is full. */
bool conv_view(const ConvDesc *c, const ConvGemm *g, ConvTensor t, ConvView *out);
/* One line for each kind of transform, with names, sizes and parameters. */
void conv_view_print(const ConvDesc *c, const ConvView *v, ConvTensor t, Buf *out);
/* The names of what is merged into gemmM, gemmN or gemmK (side 'M', 'N', 'K'), the last one fastest. */
int conv_side(const ConvDesc *c, char side, char letters[CONV_DIMS]);

#endif
