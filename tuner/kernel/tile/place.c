/* Which elements of a tile a work-item has, as expressions of its number: by wg_map and sg_map, or by a lane
 * map of a matrix instruction. See plan.h. */
#include "base/integer.h"
#include "index/matrix_lanes.h"
#include "kernel/tile/plan.h"

enum { VECTOR_BYTES = 16 };

static const Expr *subgroup(ExprPool *pool, const TilePlan *plan, int tile, int side, const Expr *tid)
{
    const int32_t along = plan->tile[tile].wg.layout[1];
    const Expr *group = expr_div_i(pool, tid, plan->n_lanes);
    return side ? expr_mod_i(pool, group, along) : expr_div_i(pool, group, along);
}

static const Expr *lane(ExprPool *pool, const TilePlan *plan, const Expr *tid)
{
    return expr_mod_i(pool, tid, plan->n_lanes);
}

/* First row or column of the subtile that the subgroup has in that round. */
static const Expr *subtile(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                           const Expr *tid, const Expr *round)
{
    const TilePlace *x = &plan->tile[tile];
    const int32_t n = distribute_subtiles(p->tile[tile].size[side], x->wg.data[side]);
    const Expr *c = subgroup(pool, plan, tile, side, tid);
    return expr_mul_i(pool, distribute_subtile(pool, n, x->wg.layout[side], c, round), x->wg.data[side]);
}

const Expr *tile_element(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                         const Expr *tid, const Expr *i)
{
    const TilePlace *x = &plan->tile[tile];
    const int32_t data = x->wg.data[side], block = x->sg.data[side], along = x->sg.layout[1];
    const Expr *at = expr_mod_i(pool, i, block), *turn = expr_div_i(pool, i, block);
    const Expr *round = expr_div_i(pool, turn, x->turns[side]), *in_group = lane(pool, plan, tid);
    const Expr *c = side ? expr_mod_i(pool, in_group, along) : expr_div_i(pool, in_group, along);
    turn = expr_mod_i(pool, turn, x->turns[side]);
    const Expr *part =
        distribute_subtile(pool, distribute_subtiles(data, block), x->sg.layout[side], c, turn);
    return expr_add(pool, subtile(pool, p, plan, tile, side, tid, round),
                    expr_add(pool, expr_mul_i(pool, part, block), at));
}

static int instruction_side(const MatrixInst *in, int side) { return side ? in->n : in->m; }

int tile_instructions(const TilePlan *plan, int tile, int side)
{
    const TilePlace *x = &plan->tile[tile];
    return x->rounds[side] * (x->wg.data[side] / instruction_side(x->inst, side));
}

const Expr *tile_instruction(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                             const Expr *tid, const Expr *i)
{
    const TilePlace *x = &plan->tile[tile];
    const int32_t size = instruction_side(x->inst, side), in_subtile = x->wg.data[side] / size;
    const Expr *first = subtile(pool, p, plan, tile, side, tid, expr_div_i(pool, i, in_subtile));
    return expr_add(pool, first, expr_mul_i(pool, expr_mod_i(pool, i, in_subtile), size));
}

const Expr *tile_held(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, int side,
                      const Expr *tid, const Expr *e)
{
    const TilePlace *x = &plan->tile[tile];
    if (!x->inst) {
        const Expr *i = side ? expr_mod_i(pool, e, x->per[1]) : expr_div_i(pool, e, x->per[1]);
        return tile_element(pool, p, plan, tile, side, tid, i);
    }
    const int along = tile_instructions(plan, tile, 1);
    const Expr *number = expr_div_i(pool, e, x->inst->n_acc), *v = expr_mod_i(pool, e, x->inst->n_acc);
    const Expr *i = side ? expr_mod_i(pool, number, along) : expr_div_i(pool, number, along);
    MatrixAccLane l = matrix_acc_lane(pool, x->inst, lane(pool, plan, tid), v);
    return expr_add(pool, tile_instruction(pool, p, plan, tile, side, tid, i), side ? l.col : l.row);
}

const Expr *tile_writes(ExprPool *pool, const Program *p, const TilePlan *plan, int tile, const Expr *tid)
{
    const TilePlace *x = &plan->tile[tile];
    const Expr *both[2];
    for (int i = 0; i < 2; i++)
        both[i] = distribute_writes(pool, distribute_subtiles(p->tile[tile].size[i], x->wg.data[i]),
                                    x->wg.layout[i], subgroup(pool, plan, tile, i, tid));
    return expr_op(pool, EXPR_BOTH, both[0], both[1]);
}

int tile_run(const Program *p, const TilePlan *plan, int tile, int side)
{
    const TilePlace *x = &plan->tile[tile];
    if (x->inst) return side && x->inst->layout == LANES_MMA ? 2 : 1;
    return int_pow2_in(x->sg.data[side], VECTOR_BYTES / type_bytes(p->tile[tile].type));
}

int tile_fragment_run(const MatrixInst *in, int operand)
{
    const int bytes = type_bytes(in->a), n = operand ? in->n_b : in->n_a;
    return int_pow2_in(n, (in->layout == LANES_MMA ? 4 : VECTOR_BYTES) / bytes);
}

int tile_copy_bytes(const Program *p, const TilePlan *plan, const Op *load)
{
    const int tile = load->tile[0], side = load->hand->transpose ? 0 : 1, n = tile_run(p, plan, tile, side);
    const TilePlace *x = &plan->tile[tile];
    Expr nodes[256];
    ExprPool pool;
    const Expr *at[2];
    expr_pool_fixed(&pool, nodes, 256);
    const Expr *tid = expr_var(&pool, "tid", 0, 0, plan->n_threads - 1);
    for (int i = 0; i < 2; i++) {
        const int step = i == side ? n : 1;
        const Expr *run = expr_var(&pool, i ? "j" : "i", 1 + i, 0, x->per[i] / step - 1);
        at[i] = tile_element(&pool, p, plan, tile, i, tid, expr_mul_i(&pool, run, step));
    }
    const bool vector = tile_local_is_vector(&pool, x, at[0], at[1], side, n) && !pool.failed;
    return (vector ? n : 1) * type_bytes(p->tile[tile].type);
}

const Expr *tile_local(ExprPool *pool, const TilePlace *x, const Expr *row, const Expr *col)
{
    return layout_at(pool, &x->layout, x->columns_first ? col : row, x->columns_first ? row : col);
}

bool tile_local_is_vector(ExprPool *pool, const TilePlace *x, const Expr *row, const Expr *col, int side,
                          int n)
{
    const Expr *line = x->columns_first ? col : row, *at = x->columns_first ? row : col;
    if (n == 1) return true;
    return side == (x->columns_first ? 0 : 1) && layout_is_run(pool, &x->layout, line, at, n) &&
           layout_at(pool, &x->layout, line, at)->factor % (n * x->layout.bytes) == 0;
}
