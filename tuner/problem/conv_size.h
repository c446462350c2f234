/* The size of one convolution: its numbers, the output sizes that follow from them, and the extents and
 * strides of its tensors in a memory format.
 *
 * A format lists a tensor's dimensions, the slowest first: "NHWC", "KCYX". Letters of an image (the input or
 * the output): N, C, and its positions D, H, W; of a filter: K, C, and its elements Z, Y, X.
 */
#ifndef PROBLEM_CONV_SIZE_H
#define PROBLEM_CONV_SIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { CONV_SPATIAL = 3, CONV_ANY = -1, CONV_FORMAT_MAX = 8 };

/* Letters of spatial dimension 0, 1, 2: of an image "WHD", of a filter "XYZ". */
extern const char conv_names_out[], conv_names_filter[];

/* One convolution. Arrays are W, H, D; CONV_ANY: the problem type's value. */
typedef struct {
    int64_t n, c, k; /* batch; channels of the input and of the output, of all groups */
    int64_t in[CONV_SPATIAL], filter[CONV_SPATIAL], stride[CONV_SPATIAL], dilation[CONV_SPATIAL];
    int64_t pad[CONV_SPATIAL], pad_end[CONV_SPATIAL];
    int64_t groups, count; /* count: how often it is called; 0 when not given */
} ConvSize;

/* All values CONV_ANY, one group. */
void conv_size_init(ConvSize *s);
/* The number that a key of a Conv sets: n c k, d h w (input), z y x (filter), # u v (stride), ^ l j
 * (dilation), $ p q (pad), $_ p_ q_ (at the end), g, count; NULL: there is no such key. */
int64_t *conv_size_field(ConvSize *s, Str key);
/* Checks a size without CONV_ANY: all numbers in range, the filter fits, groups divide the channels.
 * ERR_INPUT with the numbers. */
Err conv_size_check(const ConvSize *s, int n_spatial);

/* Output positions along spatial dimension d (0 W, 1 H, 2 D); below 1 where the filter does not fit. */
int64_t conv_out(const ConvSize *s, int d);

/* a * b, saturated at 2^61, which is above all sizes and strides. */
int64_t conv_times(int64_t a, int64_t b);
/* A tensor's size along a letter of its format. channels: its size along C. in: it has the input's spatial
 * size, else the output's. */
int64_t conv_extent(const ConvSize *s, char letter, int64_t channels, bool in);
/* Distance in memory, in elements, of two neighbours along a letter of the format; 0 for a letter that it
 * does not have. */
int64_t conv_distance(const ConvSize *s, const char *format, char letter, int64_t channels, bool in);

#endif
