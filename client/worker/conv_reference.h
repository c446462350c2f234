/* Convolutions on the CPU in double precision, by their definition: no transform, no matrix product.
 *
 *   output[n, k, p] = sum over c, t of input[n, c, p * stride + t * dilation - pad] * filter[k, c, t]
 *
 * for the channels of each group, with positions p, filter elements t, and zeros where the position is
 * outside the input. Backward data and backward weights are the sums over the other two. Sums of integers
 * are exact up to 2^53 and wrap to int32.
 */
#ifndef CLIENT_CONV_REFERENCE_H
#define CLIENT_CONV_REFERENCE_H

#include "client/worker/validate.h"
#include "problem/conv_desc.h"

/* data: the tensors in the memory of the host, with the description's types and formats. */
typedef struct {
    const ConvDesc *c;
    const void *data[CONV_TENSORS];
    int n_threads;
} ConvData;

/* The whole result in the order of conv_tensor's dimensions, packed: conv_elements numbers. */
Err conv_reference(const ConvData *d, double *out);
/* One element, summed in long double; at: as conv_tensor orders dimensions. scale: root of the sum of the
 * squared products, by which the rounding of a sum is judged; may be NULL. */
double conv_reference_element(const ConvData *d, const int64_t at[CONV_DIMS], double *scale);

/* Compares the result in d->data with the reference: all elements of a small convolution; of a large one
 * the sums of all elements along the rows M of the matrix product (conv_desc.h) with random signs, and a
 * sample of elements. A sum outside its tolerance is only a suspicion: its elements are then compared one by
 * one. An element is wrong if the formula of validate.h says so and its error is larger than what the
 * rounding of its sum exceeds with a probability below 1e-12: weights are sums over all images, whose terms
 * cancel. never_all: treat small ones like large ones, for tests. */
typedef struct {
    uint64_t seed;
    bool never_all;
} ConvCheckOptions;
Err conv_check(const ConvData *d, const ConvCheckOptions *o, Check *out);

#endif
