/* Interpreter of programs written by hand: runs one on random matrices, with bounds checked, and compares D
 * with a GEMM in double precision. The reference that lowered kernels are checked against. */
#ifndef KERNEL_TILE_INTERPRET_H
#define KERNEL_TILE_INTERPRET_H

#include "kernel/tile/plan.h"

enum { INTERPRET_MAX_SIDE = 4096 };

typedef struct {
    int64_t m, n, k;
    uint64_t seed;
    double alpha, beta;
    int64_t steps; /* most operations on elements; 0: INTERPRET_STEPS */
} InterpretRun;
#define INTERPRET_STEPS (INT64_C(1) << 32)

/* error: the largest |D - reference| over what D's type can be off by: its precision times the sum of
 * |alpha * a * b| and |beta * c| of the element. A right program is below 4. wrong: elements above that, with
 * the first one's place and values. */
typedef struct {
    double error, got, expected;
    int64_t wrong, row, col;
    int64_t steps;
} InterpretResult;

/* plan: of tile_plan without a target. ERR_INPUT: "name:line: what" for accesses outside of a matrix, numbers
 * that cannot be computed, more than `steps` operations. */
Err tile_interpret(const Program *p, const TilePlan *plan, const char *name, const InterpretRun *run,
                   InterpretResult *out);

#endif
