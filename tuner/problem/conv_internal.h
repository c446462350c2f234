/* A parsed ConvolutionConfig and the dimensions that it gives the tensors: made by conv.c, used by
 * conv_part.c too. */
#ifndef PROBLEM_CONV_INTERNAL_H
#define PROBLEM_CONV_INTERNAL_H

#include "problem/conv.h"

enum { REGS_MAX = 10, NAME_PACKED = 'P' };

/* A dimension of the convolution: N, C, K, G (groups), W, H, D (positions of D or of the output; P: all of
 * them packed), X, Y, Z. */
typedef struct {
    char name;
    int32_t index;
    int64_t size;     /* of a filter dimension that the problem type fixes; -1 else */
    int64_t stride_a; /* constants, -1: none */
    int64_t stride_b;
} Dim;

typedef struct {
    char a[CONV_FORMAT_MAX], b[CONV_FORMAT_MAX], d[CONV_FORMAT_MAX]; /* given formats */
    int n_spatial;
    int64_t filter[CONV_SPATIAL], stride[CONV_SPATIAL], dilation[CONV_SPATIAL]; /* CONV_ANY: of each size */
    int64_t pad[CONV_SPATIAL], pad_end[CONV_SPATIAL], in[CONV_SPATIAL];
    bool has_in, packs_spatial, packs_filter, channel_last;
    int64_t groups; /* CONV_ANY: of each size */
} Config;

typedef struct {
    Config cfg;
    OperationKind op;
    bool has_groups; /* the group is an index */
    Dim n, c, k, g, out[CONV_SPATIAL], filter[CONV_SPATIAL];
    Dim *outs[CONV_SPATIAL], *filters[CONV_SPATIAL]; /* as they are registered: slowest first */
    int n_outs, n_filters;
    Dim *a[REGS_MAX], *b[REGS_MAX]; /* dimensions of A, B, slowest first */
    int n_a, n_b;
    int32_t n_indices_d;
} Conv;

/* The settings and dimensions of a problem type. ERR_INPUT names the key and the value. */
Err conv_init(Conv *v, const ProblemType *pt);

#endif
