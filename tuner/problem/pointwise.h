/* Convolutions that are one GEMM on the tensors as they lie: one filter element, stride 1, no pads.
 *
 * Positions are one index where W, H and D follow each other in memory, as in all formats; the images of a
 * batch join them where they do so too (NHWC, CNHW, CHWN), else each is a matrix of a batch (NCHW). Groups
 * are a batch. */
#ifndef PROBLEM_POINTWISE_H
#define PROBLEM_POINTWISE_H

#include "problem/conv_desc.h"

/* Column-major: D (m x n) = op(A) * op(B); batches by strides, which may be 0 for the filter. */
typedef struct {
    int64_t m, n, k, batch;
    bool trans[2];
    ConvTensor a, b;          /* D is conv_result */
    int64_t ld[3], stride[3]; /* of A, B, D; strides between the matrices of a batch */
} PointwiseGemm;

/* False: it is not pointwise, or has two batches (images and groups) or two indices that are summed over. */
bool pointwise_gemm(const ConvDesc *c, PointwiseGemm *out);

#endif
