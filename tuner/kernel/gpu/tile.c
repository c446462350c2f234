/* What all threads of a work-group share: struct @Tile, and where the tile's rows and columns are when it
 * overhangs D. */
#include "kernel/gpu/gather.h"
#include "kernel/gpu/gpu.h"

/* The names of a side, M or N. */
typedef struct {
    const Expr *origin, *size, *r;
    int shift;
} Side;

static Side open_side(const GpuPlan *p, Stmts *s, int i, const char *name)
{
    stmt_function(s, (Function){.result = "unsigned",
                                .name = name,
                                STMT_PARAMS({"const @Tile &", "t"}, {"unsigned", "r"})});
    return (Side){gpu_size(s, i ? "t.n0" : "t.m0"), gpu_size(s, i ? "t.n" : "t.m"),
                  expr_var(&s->pool, "r", 0, 0, p->mt[i] - 1), p->op[i].shift};
}

/* Opens a condition on tile position r: its vector straddles the edge, and was read from the edge back
 * (GpuOperand.shift). Returns the row or column that it has then. */
static const Expr *if_shifted(Stmts *s, const Side *x, const Expr **vector)
{
    ExprPool *pool = &s->pool;
    const Expr *in_tile = expr_mul_i(pool, expr_div_i(pool, x->r, x->shift), x->shift);
    *vector = stmt_let(s, "vector", expr_add(pool, x->origin, in_tile));
    const Expr *before_last = expr_add_i(pool, x->size, -x->shift);
    const Expr *last = stmt_let(s, "last", expr_within(pool, before_last, 0, INT32_MAX));
    const Value *fast = value_op(s, VALUE_NOT, value_reg(s, "t.slow"), NULL);
    const Value *begins = value_op(s, VALUE_LT, value_expr(s, *vector), value_expr(s, x->size));
    const Value *straddles = value_op(s, VALUE_GT, value_expr(s, *vector), value_expr(s, last));
    stmt_if(s, value_op(s, VALUE_BOTH, value_op(s, VALUE_BOTH, fast, begins), straddles));
    return expr_add(pool, last, expr_mod_i(pool, x->r, x->shift));
}

/* Returns x if that is so. */
static void return_if(Stmts *s, const Expr *x, ValueOp op, const Expr *y, const Value *otherwise)
{
    const Value *is = value_op(s, op, value_expr(s, x), value_expr(s, y));
    stmt_return(s, value_select(s, is, value_expr(s, x), otherwise));
}

static void near(const GpuPlan *p, Stmts *s, int i)
{
    ExprPool *pool = &s->pool;
    const Side x = open_side(p, s, i, i ? "@near_col" : "@near_row");
    const Expr *vector, *at = expr_add(pool, x.origin, x.r);
    if (x.shift > 1) {
        stmt_return(s, value_expr(s, if_shifted(s, &x, &vector)));
        stmt_end(s);
    }
    const Expr *last = expr_within(pool, expr_add_i(pool, x.size, -1), 0, INT32_MAX);
    return_if(s, at, VALUE_LT, x.size, value_expr(s, last));
    stmt_end(s);
}

static void edge(const GpuPlan *p, Stmts *s, int i)
{
    ExprPool *pool = &s->pool;
    const Side x = open_side(p, s, i, i ? "@edge_col" : "@edge_row");
    const Expr *vector, *at = expr_add(pool, x.origin, x.r);
    const Value *none = value_literal(s, "~0u");
    if (x.shift > 1) {
        const Expr *shifted = if_shifted(s, &x, &vector);
        return_if(s, shifted, VALUE_GE, vector, none);
        stmt_end(s);
    }
    return_if(s, at, VALUE_LT, x.size, none);
    stmt_end(s);
}

void gpu_tile(const GpuPlan *p, Buf *out)
{
    Stmts s;
    stmts_init(&s, GPU_STMTS_BYTES);
    if (p->indices) gpu_dims_struct(p, &s);
    stmt_file(&s, p->indices ? "gpu/tile_dims.h" : "gpu/tile.h");
    for (int i = 0; i < 2; i++) {
        near(p, &s, i);
        edge(p, &s, i);
    }
    gpu_put(p, &s, out);
}
