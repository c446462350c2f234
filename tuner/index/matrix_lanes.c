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
    case LANES_MMA: /* more than one row */
    case LANES_WGMMA:
        break;
    }
    return l;
}

/* ---- mma.sync and wgmma: groups of four lanes ---- */

enum { GROUP = 4, REGISTER_BYTES = 4, EIGHT = 8, WARP = 32 };

/* A lane's registers hold neighbours along K, 4 bytes or one double. Those of the first operand alternate
 * between the row of its group and the row eight below; then K goes on behind all four lanes of the group. */
static MatrixElement mma_element(ExprPool *p, const MatrixInst *in, int operand, const Expr *lane,
                                 const Expr *v)
{
    int bytes = type_bytes(in->a), run = bytes < REGISTER_BYTES ? REGISTER_BYTES / bytes : 1;
    int eights = (operand ? in->n : in->m) / EIGHT;
    const Expr *in_run = expr_mod_i(p, v, run), *number = expr_div_i(p, v, run);
    const Expr *eight = expr_mul_i(p, expr_mod_i(p, number, eights), EIGHT);
    const Expr *from = expr_mul_i(p, expr_div_i(p, number, eights), GROUP * run);
    const Expr *k = expr_add(p, expr_mul_i(p, expr_mod_i(p, lane, GROUP), run), in_run);
    return (MatrixElement){.free = expr_add(p, expr_div_i(p, lane, GROUP), eight),
                           .k = expr_add(p, k, from),
                           .block = expr_const(p, 0)};
}

MatrixElement matrix_operand_element(ExprPool *p, const MatrixInst *in, int operand, const Expr *lane,
                                     const Expr *v)
{
    if (in->layout == LANES_MMA) return mma_element(p, in, operand, lane, v);
    MatrixOperandLane l = matrix_operand_lane(p, in, lane);
    return (MatrixElement){.free = l.row,
                           .k = expr_add(p, expr_mul_i(p, l.part, operand ? in->n_b : in->n_a), v),
                           .block = l.block};
}

/* A pair of columns, the same pair eight rows below, then the next eight columns. A warp of a warp group has
 * 16 rows. */
static MatrixAccLane mma_acc(ExprPool *p, const MatrixInst *in, const Expr *lane, const Expr *v)
{
    const Expr *pair = expr_div_i(p, v, 2), *in_warp = expr_mod_i(p, lane, WARP);
    int eights = in->m * WARP / in->lanes / EIGHT;
    const Expr *row =
        expr_add(p, expr_div_i(p, in_warp, GROUP), expr_mul_i(p, expr_mod_i(p, pair, eights), EIGHT));
    const Expr *col = expr_add(p, expr_mul_i(p, expr_mod_i(p, in_warp, GROUP), 2), expr_mod_i(p, v, 2));
    return (MatrixAccLane){.row = expr_add(p, expr_mul_i(p, expr_div_i(p, lane, WARP), EIGHT * eights), row),
                           .col = expr_add(p, col, expr_mul_i(p, expr_div_i(p, pair, eights), EIGHT)),
                           .block = expr_const(p, 0)};
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
        return mma_acc(p, in, lane, v);
    }
    a.col = expr_mod_i(p, lane, in->m);
    return a;
}
