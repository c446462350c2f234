/* Problem sizes: what a config's ProblemSizes and a logic file's rows hold, and their expansion.
 *
 * Order of sizes everywhere: the problem type's indices [M, N, batch, K], then for a GEMM the leading
 * dimensions LDD, LDC, LDA, LDB (Tensile's order), always resolved: never -1; for a convolution the strides
 * of size_key_strides. A SizeIter enumerates ranges without storing them.
 */
#ifndef MODEL_SIZES_H
#define MODEL_SIZES_H

#include "problem/problem.h"

enum { SIZE_LD_MAX = 4, SIZE_KEY_MAX = 8, SIZE_MAX_DIMS = INDEX_MAX + SIZE_KEY_MAX };
enum { LD_D, LD_C, LD_A, LD_B };
/* Bounds: a size (kernels take 32-bit sizes), the elements between a tensor's first and last, the points of
 * one ProblemSizes (each becomes a line of the client's file). */
#define SIZE_VALUE_MAX INT64_C(2147483647)
#define TENSOR_ELEMENTS_MAX (INT64_C(1) << 46)
#define SIZES_COUNT_MAX INT64_C(1000000)

/* Extra data of an Exact given as a map; -1: not given (packed). Indexed like the tensor's own index list:
 * stride[LD_A][1] is the stride of A's second index. */
typedef struct {
    int32_t n_stride[4]; /* indexed by LD_*; 0 when not given */
    int64_t stride[4][INDEX_MAX];
    int32_t n_pad[2]; /* A, B: number of zero pads of the problem type */
    int64_t pad_start[2][TUPLE_MAX], pad_end[2][TUPLE_MAX];
    int64_t count; /* 0 when not given */
    Str conv;      /* of a Conv: its numbers, "n=64,c=3,.."; s NULL: no Conv */
} SizeExtra;

typedef struct {
    int32_t n;                /* size_key_length of the problem type, or TotalIndices */
    int64_t v[SIZE_MAX_DIMS]; /* 0 from n on */
    const SizeExtra *extra;   /* NULL when only sizes were given */
} ProblemSize;

/* One dimension of a Range: a mapped one copies another dimension's current value. */
typedef struct {
    bool mapped;
    int32_t source; /* mapped: the dimension to copy */
    int64_t start, stride, increment, end;
    int64_t count; /* number of values */
} SizeDim;

typedef struct {
    int32_t n;
    SizeDim dim[SIZE_MAX_DIMS];
    int64_t count; /* points */
    int line;
} SizeRange;

typedef struct {
    ProblemType pt;
    SizeRange *range;
    size_t n_ranges;
    ProblemSize *exact; /* resolved */
    size_t n_exacts;
    int64_t min_stride[INDEX_MAX]; /* 0: none */
    bool has_min_stride, sorted;
    int64_t count; /* points in all */
} ProblemSizes;

/* node is the list below ProblemSizes; NULL or a null gives Tensile's default range. */
Err problem_sizes_from_node(Arena *a, const char *file, const Node *node, const ProblemType *pt,
                            Notices *notices, ProblemSizes *out);

/* Enumerates all Ranges in order, then all Exacts, with leading dimensions resolved. Keeps duplicates;
 * ignores sorted. */
typedef struct {
    const ProblemSizes *sizes;
    size_t range, exact;
    int64_t value[SIZE_MAX_DIMS], step[SIZE_MAX_DIMS], full[SIZE_MAX_DIMS];
    bool in_range;
} SizeIter;
void size_iter_init(SizeIter *it, const ProblemSizes *sizes);
bool size_iter_next(SizeIter *it, ProblemSize *out);

/* The whole list, sorted when sizes->sorted is set. ERR_INPUT for more than max. */
Err problem_sizes_list(Arena *a, const ProblemSizes *sizes, int64_t max, ProblemSize **out, size_t *n);

/* Convolutions of equal output sizes may differ in stride, dilation and input size. The key of a convolution
 * that is no GEMM therefore includes strides: those of A's dimensions that are no batch. Fills dim with their
 * positions in A's indices and returns their number; 0 for other problem types. */
int32_t size_key_strides(const ProblemType *pt, int32_t dim[SIZE_KEY_MAX]);
/* Numbers of a complete size: those of the indices, leading dimensions, key strides. */
int32_t size_key_length(const ProblemType *pt);
/* Appends the key strides to a size that has its indices and, if it has any, its strides. */
void size_key_finish(const ProblemType *pt, ProblemSize *s);

/* Resolves -1 and too small leading dimensions of a GEMM, as Tensile does: max(minimum, given). given: LDD
 * LDC LDA LDB. */
void size_resolve_ld(const ProblemType *pt, ProblemSize *s, const int64_t given[SIZE_LD_MAX]);
/* Least leading dimension of tensor (LD_D ..). */
int64_t size_min_ld(const ProblemType *pt, const ProblemSize *s, int tensor);
/* A size from plain numbers (a logic row, a command line): n is TotalIndices or size_key_length.
 * ERR_INPUT for a size outside 1..SIZE_VALUE_MAX, a wrong count, or a leading dimension below the minimum. */
Err problem_size_from_ints(const ProblemType *pt, const int64_t *v, size_t n, ProblemSize *out);
/* ERR_INPUT when a tensor has more than TENSOR_ELEMENTS_MAX elements. */
Err problem_size_check(const ProblemType *pt, const ProblemSize *s);

int problem_size_cmp(const ProblemSize *a, const ProblemSize *b); /* order by numbers, then by length */
bool problem_size_equal(const ProblemSize *a, const ProblemSize *b);
/* "1024,1024,1,1024,1024,1024,1024,1024" */
void problem_size_print(const ProblemSize *s, Buf *out);

/* Products of sizes: of A's free indices (M), of B's (N), of the summation indices (K), of the batch indices.
 */
int64_t size_m(const ProblemType *pt, const ProblemSize *s);
int64_t size_n(const ProblemType *pt, const ProblemSize *s);
int64_t size_k(const ProblemType *pt, const ProblemSize *s);
int64_t size_batch(const ProblemType *pt, const ProblemSize *s);
int64_t size_ld(const ProblemType *pt, const ProblemSize *s, int tensor); /* of a GEMM's tensor (LD_D ..) */

/* The indices of a tensor (LD_D ..) in memory order, the contiguous one first. */
IndexList size_tensor_indices(const ProblemType *pt, int tensor);
/* Strides of a tensor's dimensions in elements, all resolved: given ones, constant ones (SetConstStride), the
 * leading dimension, and packed ones (stride times size of the dimension before). Returns the number of
 * dimensions. */
int32_t size_strides(const ProblemType *pt, const ProblemSize *s, int tensor, int64_t out[INDEX_MAX]);
/* Elements that a tensor spans in memory; -1 on overflow. */
int64_t size_tensor_elements(const ProblemType *pt, const ProblemSize *s, int tensor);

#endif
