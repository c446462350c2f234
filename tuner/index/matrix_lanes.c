/* Lane layouts of matrix instructions; see matrix_lanes.h. */
#include "index/matrix_lanes.h"

MatrixOperandLane matrix_operand_lane(ExprPool *p, const MatrixInst *in, const Expr *lane)
{
    const Expr *zero = expr_const(p, 0), *group = expr_div_i(p, lane, in->m);
    MatrixOperandLane l = {.row = expr_mod_i(p, lane, in->m), .block = zero, .part = zero};
    switch (in->layout) {
    case LANES_MFMA: /* a group of lanes holds a block, or a part of K if there is only one block */
        *(in->blocks > 1 ? &l.block : &l.part) = group;
        break;
    case LANES_MFMA_F64:
        l.block = expr_mod_i(p, group, in->blocks);
        l.part = expr_div_i(p, group, in->blocks);
        break;
    case LANES_WMMA_R3: /* lanes 16 to 31 repeat lanes 0 to 15 */
        break;
    case LANES_WMMA_R4:
        l.part = group;
        break;
    case LANES_MMA:
    case LANES_WGMMA:
        break;
    }
    return l;
}

/* A lane has four consecutive rows, the next group of lanes the next four rows; an instruction of 32 rows
 * repeats this four times. */
static MatrixAccLane mfma(ExprPool *p, const MatrixInst *in, const Expr *lane, const Expr *v)
{
    const Expr *in_four = expr_mod_i(p, v, 4), *group = expr_div_i(p, lane, in->m), *row = in_four;
    int per_block = in->m * in->m / 64; /* accumulators of a lane */
    if (in->m == 4) return (MatrixAccLane){.row = row, .block = group};
    if (in->m == 32) row = expr_add(p, expr_mul_i(p, expr_div_i(p, expr_mod_i(p, v, per_block), 4), 8), row);
    row = expr_add(p, row, expr_mul_i(p, group, 4));
    return (MatrixAccLane){.row = row, .block = expr_div_i(p, v, per_block)};
}

MatrixAccLane matrix_acc_lane(ExprPool *p, const MatrixInst *in, const Expr *lane, const Expr *v)
{
    const Expr *zero = expr_const(p, 0), *group = expr_div_i(p, lane, in->m);
    MatrixAccLane a = {.row = zero, .block = zero};
    switch (in->layout) {
    case LANES_MFMA:
        a = mfma(p, in, lane, v);
        break;
    case LANES_MFMA_F64:
        if (in->m == 4) {
            a.row = expr_div_i(p, lane, 16);
            a.block = expr_mod_i(p, group, in->blocks);
        } else
            a.row = expr_add(p, expr_mul_i(p, v, 4), group);
        break;
    case LANES_WMMA_R3:
        a.row = expr_add(p, expr_mul_i(p, v, 2), group);
        break;
    case LANES_WMMA_R4:
        a.row = expr_add(p, expr_mul_i(p, group, 8), v);
        break;
    case LANES_MMA:
    case LANES_WGMMA:
        break;
    }
    a.col = expr_mod_i(p, lane, in->m);
    return a;
}
