/* ConvDesc: one convolution with its direction, data types and memory formats, and the matrix products that
 * it is.
 *
 * Tensors are the input, the filter and the output, whatever the direction; the one that is computed is the
 * output (forward), the input (backward data) or the filter (backward weights). The equivalent product has,
 * with C and K channels per group and Ho, Wo the output positions:
 *
 *   direction | M | N            | K            | products
 *   forward   | K | N * Ho * Wo  | C * Y * X    | 1
 *   weights   | K | C * Y * X    | N * Ho * Wo  | 1
 *   data      | C | N * hs * ws  | K * ys * xs  | yt * xt
 *
 * each for every group. Backward data is cut by the phase of an input position in the stride, so that no
 * product multiplies by zeros: along a dimension with stride s, dilation d, g = gcd(s, d), phase i of
 * yt = s / g has the filter elements i, i + yt, i + 2 yt, ..; hs input positions can be reached (ConvSlices).
 * A product without filter elements (K = 0) only writes zeros.
 */
#ifndef PROBLEM_CONV_DESC_H
#define PROBLEM_CONV_DESC_H

#include "problem/conv_size.h"
#include "problem/gemm_call.h"

typedef enum { CONV_INPUT, CONV_FILTER, CONV_OUTPUT, CONV_TENSORS } ConvTensor;
enum { CONV_DIMS = 2 + CONV_SPATIAL };

/* Flat, unused bytes are 0: equal convolutions have equal bytes. */
typedef struct {
    int32_t op, n_spatial;      /* OperationKind; 2 or 3 */
    int32_t type[CONV_TENSORS]; /* DataType */
    int32_t compute, xf32;      /* DataType of sums; 1: f32 products may be xf32 or tf32 */
    int32_t unused;             /* 0: makes the size a multiple of 8 without padding */
    char format[CONV_TENSORS][CONV_FORMAT_MAX];
    ConvSize size; /* without CONV_ANY */
} ConvDesc;

/* A forward 2-D convolution of f32 in NCHW and KCYX: one image, one channel, one filter element. */
void conv_desc_init(ConvDesc *c);
/* Sets the data types by that of the operands: sums in f32 (i32 of i8), results like the operands (i32 of
 * i8). */
void conv_desc_types(ConvDesc *c, DataType t);
/* Sets a format by its name, for two or three spatial dimensions. Filters also have the names of images, N
 * standing for K: NHWC is KYXC. ERR_INPUT with the legal ones. */
Err conv_desc_format(ConvDesc *c, ConvTensor tensor, Str name);
/* Formats with their usual names: "NCHW" or "NHWC" of all three. */
void conv_desc_formats(ConvDesc *c, bool channels_last);
/* ERR_INPUT with the numbers: a size, groups, formats of another number of dimensions, tensors too large. */
Err conv_desc_check(const ConvDesc *c);

ConvTensor conv_result(const ConvDesc *c);
/* The operand that stands left in the table (rows M), and the right one. */
ConvTensor conv_left(const ConvDesc *c);
ConvTensor conv_right(const ConvDesc *c);
const char *conv_tensor_name(ConvTensor t); /* "input" */

/* Sizes and strides in elements, in the order N C D H W of images and K C Z Y X of filters (C per group);
 * a 2-D convolution has D and Z of size 1. */
void conv_tensor(const ConvDesc *c, ConvTensor t, int64_t size[CONV_DIMS], int64_t stride[CONV_DIMS]);
int64_t conv_elements(const ConvDesc *c, ConvTensor t);
/* Two operations for each product of an output element and a filter element, pads included. */
double conv_flops(const ConvDesc *c);
bool conv_is_pointwise(const ConvDesc *c); /* 1x1, stride 1, no pads */

/* How backward data cuts a dimension. */
typedef struct {
    int64_t phases;      /* yt */
    int64_t taps;        /* ceil(Y / yt): filter elements of a phase, at most */
    int64_t reach;       /* ht: positions that input and pads have, in steps of the stride */
    int64_t left, right; /* the first of them that has an input position, and the last plus 1 */
    int64_t size;        /* hs = right - left */
} ConvSlices;
void conv_slices(const ConvSize *s, int d, ConvSlices *out);
/* Filter elements of phase i: i, i + phases, .. */
int64_t conv_phase_taps(const ConvSize *s, int d, int64_t i);

typedef struct {
    int64_t m, n, k;             /* as in the table */
    int64_t phase[CONV_SPATIAL]; /* of backward data, along W, H, D */
} ConvGemm;
/* The largest supported number of products of one convolution: that of backward data with a stride of 16
 * along three dimensions. */
#define CONV_PRODUCTS_MAX INT64_C(4096)
/* Matrix products per group; 2^61 where it is more. */
int64_t conv_n_gemms(const ConvDesc *c);
void conv_gemm(const ConvDesc *c, int64_t i, ConvGemm *out);
/* Whether D's unit index is on the N side of the table, so that the column-major product exchanges M and N:
 * so in NCHW, where it is along the positions, and not in NHWC. */
bool conv_swaps(const ConvDesc *c);
/* The product as a column-major GEMM of packed matrices, one per group; the transposes follow from the
 * formats. *empty: it has K = 0 and *out is unset. */
Err conv_gemm_call(const ConvDesc *c, const ConvGemm *g, GemmCall *out, bool *empty);

/* "forward f16 NHWC KYXC NHWC n64 c64 h56 w56 k64 y3 x3 s1 p1 d1 g1": equal numbers of all dimensions are
 * printed once. */
void conv_desc_print(const ConvDesc *c, Buf *out);
const char *conv_op_name(int32_t op); /* "forward", "data", "weights" */

#endif
