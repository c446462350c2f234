/* The table of matrix instructions: which architecture has which, of which shape, and their builtins. */
#ifndef PROBLEM_MATRIX_INST_H
#define PROBLEM_MATRIX_INST_H

#include "problem/datatype.h"
#include "problem/target.h"

enum {
    MATRIX_ARCH_GFX908 = 1,
    MATRIX_ARCH_GFX90A = 2,
    MATRIX_ARCH_GFX940 = 4,
    MATRIX_ARCH_GFX11 = 8,
    MATRIX_ARCH_GFX12 = 16
};

/* Which lane holds which elements: index/matrix_lanes.h. */
typedef enum { LANES_MFMA, LANES_MFMA_F64, LANES_WMMA_R3, LANES_WMMA_R4 } MatrixLayout;

/* Products of blocks of M x K and K x N elements; M is N in all AMD instructions. */
typedef struct {
    int arches;
    DataType type;
    int m, n, k, blocks;
    MatrixLayout layout;
    const char *operand; /* C type of a lane's part of A or B */
    const char *acc;     /* C type of an accumulator */
    int n_acc;           /* accumulators of a lane */
    const char *builtin;
} MatrixInst;

/* The target's bit of MATRIX_ARCH_*; 0: it has no matrix instructions that the table knows. */
int matrix_arch(const Target *t);
/* For an input type (that of a part of a complex number) and shape; NULL when the target has none. */
const MatrixInst *matrix_inst(const Target *t, DataType type, int m, int n, int k, int blocks);

#endif
