/* Prints the lane maps of index/matrix_lanes.h as functions of a kernel's text. It does not decide which
 * registers hold the elements, or how they are loaded (mma_read.c). */
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
