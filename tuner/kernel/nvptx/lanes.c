/* Prints the lane maps of index/matrix_lanes.h as functions of a kernel's text. It does not decide which
 * registers hold the elements, or how they are loaded (text/mma_read_*.cuh). */
#include "kernel/nvptx/lanes.h"

enum { LANE, ELEMENT, NODES = 128 };

typedef struct {
    Expr node[NODES];
    ExprPool pool;
    const Expr *lane, *v;
} Lanes;

static void lanes_init(Lanes *l, int n_lanes, int n_elements)
{
    expr_pool_fixed(&l->pool, l->node, NODES);
    l->lane = expr_var(&l->pool, "lane", LANE, 0, n_lanes - 1);
    l->v = expr_var(&l->pool, "v", ELEMENT, 0, n_elements - 1);
}

static void put(const char *head, const Expr *e, Buf *out)
{
    buf_printf(out, "%s { return ", head);
    expr_print(&expr_gpu_style, e, 0, out);
    buf_puts(out, "; }\n");
}

static void put_either(const char *head, const Expr *x, const Expr *y, Buf *out)
{
    buf_printf(out, "template <bool ROW> %s { return ROW ? ", head);
    expr_print(&expr_gpu_style, x, 0, out);
    buf_puts(out, " : ");
    expr_print(&expr_gpu_style, y, 0, out);
    buf_puts(out, "; }\n");
}

Err nvptx_mma_lanes(const MatrixInst *in, Buf *out)
{
    Lanes l;
    MatrixElement x[2];
    const int n[] = {in->n_a, in->n_b};
    lanes_init(&l, in->lanes, in->n_acc);
    MatrixAccLane acc = matrix_acc_lane(&l.pool, in, l.lane, l.v);
    for (int i = 0; i < 2; i++)
        x[i] = matrix_operand_element(&l.pool, in, i, l.lane, expr_var(&l.pool, "v", ELEMENT, 0, n[i] - 1));
    TRY(expr_pool_check(&l.pool));
    buf_printf(out, "\n/* ---- lanes of m%dn%dk%d ---- */\n\n", in->m, in->n, in->k);
    put_either("@FN @u32 @op_free(@u32 lane, @u32 v)", x[0].free, x[1].free, out);
    put_either("@FN @u32 @op_k(@u32 lane, @u32 v)", x[0].k, x[1].k, out);
    put("@FN @u32 @acc_row(@u32 lane, @u32 v)", acc.row, out);
    put("@FN @u32 @acc_col(@u32 lane, @u32 v)", acc.col, out);
    return ERR_OK;
}

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

Err nvptx_wgmma_lanes(const MatrixInst *in, int columns, bool spread, Buf *out)
{
    Lanes l;
    lanes_init(&l, in->lanes, in->m * columns / in->lanes);
    MatrixAccLane acc = matrix_acc_lane(&l.pool, in, l.lane, l.v);
    if (spread) acc.row = nvptx_spread_row(&l.pool, acc.row);
    TRY(expr_pool_check(&l.pool));
    put("__device__ __forceinline__ unsigned acc_row(unsigned lane, unsigned v)", acc.row, out);
    put("__device__ __forceinline__ unsigned acc_col(unsigned lane, unsigned v)", acc.col, out);
    return ERR_OK;
}
