/* See lanes.h. */
#include "kernel/nvptx/lanes.h"

/* Bit i of the place is bit from[i] of a fragment's row. */
const Expr *nvptx_spread_row(ExprPool *p, const Expr *row)
{
    static const int from[] = {3, 0, 2, 4, 1, 5};
    const Expr *place = NULL;
    for (int i = 0; i < (int)(sizeof from / sizeof *from); i++) {
        const Expr *bit = expr_mod_i(p, expr_div_i(p, row, 1 << from[i]), 2);
        const Expr *part = expr_mul_i(p, bit, 1 << i);
        place = place ? expr_add(p, place, part) : part;
    }
    return place;
}

MatrixAccLane nvptx_acc_lane(ExprPool *p, const GpuPlan *plan, const MatrixInst *in, const Expr *thread,
                             const Expr *j)
{
    MatrixAccLane own = matrix_acc_lane(p, in, thread, j);
    if (plan->groups.rows_from_registers) own.row = nvptx_spread_row(p, own.row);
    return own;
}
