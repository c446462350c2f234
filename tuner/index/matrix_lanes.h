/* Which elements of its operands and of its result each lane of a matrix instruction holds, as expressions of
 * the lane and of the number of an element. From AMD's ISA documents and the PTX ISA's figures of fragments.
 *
 * "first" and "second" are the instruction's operands in the order of its arguments. A lane holds elements of
 * one row of the first operand, or of one column of the second, and of one part of K, which has k / parts
 * elements. An accumulator is the product of one row of the first operand and one column of the second.
 */
#ifndef INDEX_MATRIX_LANES_H
#define INDEX_MATRIX_LANES_H

#include "index/expr.h"
#include "problem/matrix_inst.h"

typedef struct {
    const Expr *row;   /* below m */
    const Expr *block; /* below blocks */
    const Expr *part;  /* of K; 0 where each lane has all of it */
} MatrixOperandLane;
/* lane: below the wave's size. AMD's instructions alone: a lane holds elements of one row. */
MatrixOperandLane matrix_operand_lane(ExprPool *p, const MatrixInst *in, const Expr *lane);

/* Of an operand's element. */
typedef struct {
    const Expr *free;  /* row of the first operand, column of the second */
    const Expr *k;     /* below k */
    const Expr *block; /* below blocks */
} MatrixElement;
/* Element v of lane's part of the first (operand 0) or the second operand (1); v: below n_a or n_b. Not of
 * wgmma, whose operands are in shared memory. */
MatrixElement matrix_operand_element(ExprPool *p, const MatrixInst *in, int operand, const Expr *lane,
                                     const Expr *v);

typedef struct {
    const Expr *row;   /* of the first operand */
    const Expr *col;   /* of the second */
    const Expr *block; /* below blocks */
} MatrixAccLane;
/* v: below n_acc; of wgmma below half the columns. */
MatrixAccLane matrix_acc_lane(ExprPool *p, const MatrixInst *in, const Expr *lane, const Expr *v);

#endif
