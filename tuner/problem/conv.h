/* Convolutions as contractions: what a ConvolutionConfig makes of a problem type, and the index sizes,
 * strides and pads of one convolution.
 *
 * A is the tensor that the filter slides over, B the one that is multiplied with it:
 *
 *   operation  | A               | B               | D               | summed over
 *   Forward    | input  n c h w  | filter k c y x  | output n k p q  | c y x
 *   Weights    | input  n c h w  | output n k p q  | filter k c y x  | n p q
 *   Data       | output n k p q  | filter k c y x  | input  n c h w  | k y x
 *
 * Indices are numbered as Tensile numbers them: those of D with the contiguous one first, then the
 * filter's (of Weights: the output's), then the channel (UnrollOnChannel 0: the channel first). Spatial
 * dimensions without strides and pads are packed into one index. The input's position along a spatial
 * dimension is stride * output + dilation * filter - pad, so that dimension has two indices in A and no
 * stride of its own.
 */
#ifndef PROBLEM_CONV_H
#define PROBLEM_CONV_H

#include "problem/sizes.h"

enum { CONV_SPATIAL = 3, CONV_ANY = -1 };

/* One convolution. Arrays are W, H, D; CONV_ANY: the problem type's value. */
typedef struct {
    int64_t n, c, k; /* batch; channels of the input and of the output, of all groups */
    int64_t in[CONV_SPATIAL], filter[CONV_SPATIAL], stride[CONV_SPATIAL], dilation[CONV_SPATIAL];
    int64_t pad[CONV_SPATIAL], pad_end[CONV_SPATIAL];
    int64_t groups, count; /* count: how often it is called; 0 when not given */
} ConvSize;

/* All values CONV_ANY, one group. */
void conv_size_init(ConvSize *s);

/* Fills NumIndicesC, the index assignments, constant strides, zero pads, UseInitialStridesAB,
 * AllowNoFreeDims and UseBeta of a problem type whose OperationType is a convolution from its
 * ConvolutionConfig. ERR_INPUT names the key and the value. */
Err conv_derive(ProblemType *pt);

/* Sizes of filter indices that are part of the problem type, as Tensile's AssertSizeEqual: index[i] has
 * size[i]. Returns how many. */
int32_t conv_fixed_sizes(const ProblemType *pt, int32_t index[CONV_SPATIAL], int32_t size[CONV_SPATIAL]);

/* The contraction of one convolution: sizes, strides and pads (elements of A) of all indices. ERR_INPUT
 * with the numbers where the convolution does not agree with the problem type, has no output, or is too
 * large. */
Err conv_problem(const ProblemType *pt, const ConvSize *s, ProblemSize *out, SizeExtra *extra);

/* Output positions along spatial dimension d (0 W, 1 H, 2 D); below 1 where the filter does not fit. */
int64_t conv_out(const ConvSize *s, int d);

#endif
