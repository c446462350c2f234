/* The loops of a convolution over slabs: one image and one group of it, in doubles, packed. Part of
 * conv_reference.h. */
#ifndef CLIENT_CONV_SLAB_H
#define CLIENT_CONV_SLAB_H

#include "client/worker/conv_reference.h"

/* Sizes of one group. Rows: the side M of the matrix product (channels K, or C of backward data); a check
 * that sums over them has one. */
typedef struct {
    const ConvSize *s;
    int64_t out[CONV_SPATIAL];   /* positions along W, H, D */
    int64_t c, k;                /* channels per group */
    int64_t n_in, n_out, n_taps; /* elements of a channel of the input, of the output, of a filter */
} ConvSlab;

void conv_slab_init(const ConvDesc *c, ConvSlab *out);
/* input: c * n_in numbers, filter: k * c * n_taps, output: k * n_out. Each adds to its result. */
void conv_slab_forward(const ConvSlab *g, const double *input, const double *filter, double *output);
void conv_slab_data(const ConvSlab *g, double *input, const double *filter, const double *output);
void conv_slab_weights(const ConvSlab *g, const double *input, double *filter, const double *output);

/* Loads `n` neighbouring first coordinates (images, or K of the filter) and `n_second` second ones of a
 * tensor, from (first, second) on, with all positions. */
void conv_slab_load(const ConvData *d, ConvTensor t, int64_t first, int64_t n, int64_t second,
                    int64_t n_second, double *to);

#endif
