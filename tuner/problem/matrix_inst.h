/* The table of matrix instructions (matrix_inst.def): which architecture has which, of which types and sides,
 * and what a lane holds. It is the only place that lists them; a new instruction is a new row. */
#ifndef PROBLEM_MATRIX_INST_H
#define PROBLEM_MATRIX_INST_H

#include "problem/datatype.h"
#include "problem/target.h"

/* Which lane holds which elements: index/matrix_lanes.h. */
typedef enum {
    LANES_MFMA,
    LANES_MFMA_F64,
    LANES_WMMA_R3,
    LANES_WMMA_R4,
    LANES_MMA,
    LANES_WGMMA
} MatrixLayout;
typedef enum {
    MATRIX_UNIT_NONE,
    MATRIX_UNIT_MFMA,
    MATRIX_UNIT_WMMA,
    MATRIX_UNIT_MMA,
    MATRIX_UNIT_WGMMA
} MatrixUnit;

/* wgmma: rows of the instruction and threads of its warp group. */
enum { WGMMA_ROWS = 64, WGMMA_LANES = 128 };

/* Products of blocks of M x K and K x N elements; M is N in all AMD instructions. */
typedef struct {
    unsigned arches;    /* MATRIX_ARCH_ bits */
    DataType a, b, sum; /* of the first and the second operand, and of what is accumulated */
    int m, n, k, blocks;
    int n_last, n_step; /* N may be n, n + n_step, .. n_last */
    int lanes;
    /* Elements of A, B and C that a lane holds. wgmma: n_a and n_b are 0, because operands are read from
     * shared memory, and n_acc is that of the first N; it grows in proportion to N. */
    int n_a, n_b, n_acc;
    MatrixLayout layout;
    const char *name; /* the builtin's or the end of the PTX instruction's: matrix_inst.def */
} MatrixInst;

/* The target's instruction for these types of the first and the second operand (of the parts of a complex
 * number) and [M, N, K, blocks]. wgmma's 64 rows may be M or N. NULL: the target has none. */
const MatrixInst *matrix_inst(const Target *t, DataType a, DataType b, const int32_t shape[4]);
/* The first of any architecture; unit MATRIX_UNIT_NONE: of any unit; type TYPE_ALL: of any type, else that of
 * both operands. NULL: no row has this shape. */
const MatrixInst *matrix_shape(MatrixUnit unit, DataType type, const int32_t shape[4]);
/* The data type of an instruction's operands for problems of a data type: parts of complex numbers; of 8-bit
 * floats, which have the same shapes in all mixtures, TYPE_F8. */
DataType matrix_type(DataType type);
/* Rows in table order; NULL after the last. */
const MatrixInst *matrix_inst_at(size_t i);

MatrixUnit matrix_unit(const MatrixInst *in);
/* MFMA of bf16 exists in two generations, with two elements of K per lane and with four ("1k"). */
bool matrix_is_bf16_1k(const MatrixInst *in);
/* The unit of the target's first row: MFMA, WMMA, or MMA (also where it has wgmma). MATRIX_UNIT_NONE: the
 * target has no matrix instructions. */
MatrixUnit matrix_unit_of(const Target *t);

#endif
