/* The problems of a client run: the sizes and strides of the ini as tensors, as the input of predicates and
 * launches (Contraction), and as the input of the reference (Gemm).
 *
 * Of a contraction that is no GEMM (problem/indices.h) tensors are lists of n_elements elements, shape.dims
 * has its indices, and the reference's matrices get maps (matrix_map.h) when its data is made. */
#ifndef CLIENT_PROBLEM_SET_H
#define CLIENT_PROBLEM_SET_H

#include "client/options.h"
#include "client/worker/reference.h"
#include "problem/predicate.h"

enum { TENSOR_A, TENSOR_B, TENSOR_C, TENSOR_D, TENSOR_COUNT };

typedef struct {
    Contraction shape;
    Tensor tensor[TENSOR_COUNT];
    int64_t offset[TENSOR_COUNT]; /* elements before the tensor in its buffer */
    Fused fused;
    Gemm gemm; /* data pointers NULL; its k counts values, not elements */
    int n_sizes;
    int64_t size[INDEX_MAX]; /* of all indices; of a GEMM m, n, [batch,] k */
    int n_ld;                /* 4, or 0 of a contraction that is no GEMM */
    int64_t ld[4];           /* LDD, LDC, LDA, LDB, as result files list them */
} Problem;

typedef struct {
    Problem *v;
    size_t n;
    const char *identifier;
    int n_sizes; /* of each problem */
} ProblemSet;

/* ERR_INPUT names the option and the value. */
Err problem_set_read(Arena *a, const ClientOptions *o, ProblemSet *out);

/* Sets the types of tensors and references to the 8-bit float formats of the architecture. */
void problem_set_target(ProblemSet *s, const char *architecture);

/* "(64,64,1,64)". */
void problem_sizes_text(const Problem *p, Buf *out);
double problem_flops(const Problem *p);

#endif
