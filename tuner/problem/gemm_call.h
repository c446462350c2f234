/* GemmCall: one call of a GEMM as rocBLAS's bench lines and YAML profiles describe it, with the names of
 * their options.
 *
 * Shapes: op(A) is m x k, op(B) is k x n, C and D are m x n, column-major; leading dimensions and strides
 * count elements. Owns nothing: copy it by value. */
#ifndef PROBLEM_GEMM_CALL_H
#define PROBLEM_GEMM_CALL_H

#include "problem/problem.h"

enum { CALL_A, CALL_B, CALL_C, CALL_D, CALL_COMPUTE, CALL_TYPES };

typedef struct {
    char op[2];                /* of A and of B: 'N', 'T' or 'C' */
    DataType type[CALL_TYPES]; /* indexed by CALL_A .. CALL_COMPUTE */
    int64_t m, n, k, batch;
    int64_t ld[4], stride[4];  /* indexed by CALL_A .. CALL_D; 0: the default, until call_finish */
    double alpha[2], beta[2];  /* real and imaginary part */
    bool ex, strided, batched; /* parts of the function's name: gemm_strided_batched_ex; batched: arrays of
                                * pointers */
    bool xf32;                 /* math_mode 1: f32 products may be xf32 or tf32 */
    int64_t flags;             /* rocblas_gemm_flags, 0 to 15 */
    int64_t solution_index;
} GemmCall;

/* rocblas-bench's defaults: sgemm NN, 128 x 128 x 128, alpha 1, beta 0. */
void call_init(GemmCall *c);
/* Sets one option by its long name ("transposeA", "sizem") or its name in YAML files (transA, M,
 * rocblas_function). ERR_INPUT: an unknown name, a value outside its range, a function that is no GEMM; the
 * message begins with "--name: ". */
Err call_set(GemmCall *c, Str name, Str value);
/* The same; an unknown name is no error, and *known is then false. */
Err call_set_known(GemmCall *c, Str name, Str value, bool *known);
/* An option's value that is an integer of at least min. ERR_INPUT with the option's name. */
Err call_read_int(const char *name, Str v, int64_t min, int64_t *out);
/* Fills in the defaults that depend on other options and checks the call as rocblas-bench does. */
Err call_finish(GemmCall *c);
/* Whether text is the name of one of rocBLAS's GEMM functions, with or without "rocblas_". */
bool call_is_gemm(Str function);
/* rocBLAS's name of a type ("f32_r"), NULL when it has none. */
const char *call_type_name(DataType t);
bool call_type_find(Str text, DataType *out); /* "f16_r", "h" */
/* The problem type of a call in a config: a strided batched (or general batched) GEMM with beta. ERR_INPUT:
 * no problem type has these data types. */
Err call_problem_type(const GemmCall *c, ProblemType *pt);

#endif
