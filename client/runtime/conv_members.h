/* The members that tuner_conv2d_desc has in common with tuner_conv3d_desc, all but the size of the structure:
 * a convolution of two dimensions is read, and filled in, as one of three without planes. */
#ifndef CLIENT_RUNTIME_CONV_MEMBERS_H
#define CLIENT_RUNTIME_CONV_MEMBERS_H

#include "client/runtime/tuner.h"

/* clang-format off */
#define CONV_MEMBERS(X)                                                                                     \
    X(direction)                                                                                            \
    X(input_layout) X(filter_layout) X(output_layout)                                                       \
    X(input_type) X(filter_type) X(output_type) X(compute_type)                                             \
    X(n) X(c) X(h) X(w) X(k) X(y) X(x)                                                                      \
    X(stride_h) X(stride_w) X(dilation_h) X(dilation_w)                                                     \
    X(pad_h) X(pad_w) X(pad_h_end) X(pad_w_end) X(out_h) X(out_w) X(groups)                                 \
    X(alpha) X(beta) X(input) X(filter) X(output) X(solution_index) X(xf32) X(metric)
/* clang-format on */

#define CONV_MEMBER_SIZE_(m) +sizeof(((tuner_conv2d_desc *)0)->m)
_Static_assert(sizeof(uint64_t) CONV_MEMBERS(CONV_MEMBER_SIZE_) == sizeof(tuner_conv2d_desc),
               "all members of tuner_conv2d_desc are listed");

#endif
