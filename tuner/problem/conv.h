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
 * stride of its own. With groups, the group is an index of all three tensors, slower than the channels of one
 * group.
 */
#ifndef PROBLEM_CONV_H
#define PROBLEM_CONV_H

#include "problem/conv_desc.h"
#include "problem/sizes.h"

/* Fills NumIndicesC, the index assignments, constant strides, zero pads, UseInitialStridesAB,
 * AllowNoFreeDims and UseBeta of a problem type whose OperationType is a convolution from its
 * ConvolutionConfig. ERR_INPUT names the key and the value. */
Err conv_derive(ProblemType *pt);

/* The problem type with which a config describes a convolution: its direction, types and formats are fixed;
 * filter, strides, dilations and pads are those of each size. */
Err conv_problem_type(const ConvDesc *c, ProblemType *pt);

/* Sizes of filter indices that are part of the problem type, as Tensile's AssertSizeEqual: index[i] has
 * size[i]. Returns how many. */
int32_t conv_fixed_sizes(const ProblemType *pt, int32_t index[CONV_SPATIAL], int32_t size[CONV_SPATIAL]);

/* One contraction of a convolution. Backward data has one for each phase of the strides. A ProblemSize has no
 * pointers: callers add the offsets to those of the tensors. */
typedef struct {
    ProblemSize size; /* its extra is not set: it is the next member */
    SizeExtra extra;
    int64_t offset[4]; /* of D, C, A, B (LD_D ..): elements before the contraction's first one */
    bool zero;         /* no filter element reaches these elements of D: compute them with alpha 0 */
} ConvPart;
/* How many contractions a convolution is; ERR_INPUT as conv_part. */
Err conv_n_parts(const ProblemType *pt, const ConvSize *s, int64_t *n);
/* Contraction i: sizes, strides and pads (elements of A) of all indices. ERR_INPUT with the numbers where the
 * convolution does not agree with the problem type, has no output, or is too large. */
Err conv_part(const ProblemType *pt, const ConvSize *s, int64_t i, ConvPart *out);
/* The contraction of a convolution that consists of only one; ERR_INPUT where it consists of several. */
Err conv_problem(const ProblemType *pt, const ConvSize *s, ProblemSize *out, SizeExtra *extra);

#endif
