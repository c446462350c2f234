/* The problems of a client run: the sizes and strides of the ini as tensors, as the input of predicates and
 * launches (Contraction), and as the input of the reference (Gemm). Shapes: GEMM, batched or not. */
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
    Gemm gemm;       /* data pointers NULL; its k counts values, not elements */
    int n_sizes;     /* 3 or 4 */
    int64_t size[4]; /* m, n, [batch,] k */
    int64_t ld[4];   /* LDD, LDC, LDA, LDB, as result files list them */
} Problem;

typedef struct {
    Problem *v;
    size_t n;
    const char *identifier;
    bool batched;
} ProblemSet;

/* ERR_INPUT names the option and the value. */
Err problem_set_read(Arena *a, const ClientOptions *o, ProblemSet *out);

/* Sets the types of tensors and references to the 8-bit float formats of the architecture. */
void problem_set_target(ProblemSet *s, const char *architecture);

/* "(64,64,1,64)". */
void problem_sizes_text(const Problem *p, Buf *out);
double problem_flops(const Problem *p);

#endif
