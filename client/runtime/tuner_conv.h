/* ConvCall: a convolution as tuner_conv2d and tuner_conv3d are asked for it, checked. */
#ifndef CLIENT_RUNTIME_TUNER_CONV_H
#define CLIENT_RUNTIME_TUNER_CONV_H

#include "client/runtime/tuner_priv.h"
#include "problem/conv.h"

typedef struct {
    ConvDesc c;
    Epilogue f;
    uint8_t metric;
    const void *alpha, *beta; /* NULL: 1 and 0 */
    void *tensor[CONV_TENSORS];
    int64_t solution_index;
} ConvCall;

/* e NULL: no operations. ERR_INPUT with the member and its value. */
Err conv_call_2d(const tuner_conv2d_desc *d, const tuner_epilogue *e, ConvCall *out);
Err conv_call_3d(const tuner_conv3d_desc *d, const tuner_epilogue *e, ConvCall *out);

#endif
