/* The problems of a client run: sizes and strides of the ini as tensors, as what predicates and launches see
 * (Contraction), and as what the reference computes (Gemm). Shapes: GEMM, strided batched or not batched.
 * Used by supervisor and worker. */
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
    Gemm gemm;                    /* data pointers NULL; its k counts values, not elements */
    int n_sizes;                  /* 3 or 4 */
    int64_t size[4];              /* m, n, [batch,] k */
    int64_t ld[4];                /* LDD, LDC, LDA, LDB, as result files list them */
} Problem;

typedef struct {
    Problem *v;
    size_t n;
    const char *identifier;
    bool batched;
} ProblemSet;

/* ERR_INPUT names the option and the value. */
Err problem_set_read(Arena *a, const Options *o, ProblemSet *out);

/* Makes tensors and references those of the architecture that runs them: its 8-bit floats. */
void problem_set_target(ProblemSet *s, const char *architecture);

/* "(64,64,1,64)". */
void problem_sizes_text(const Problem *p, Buf *out);
double problem_flops(const Problem *p);

#endif
