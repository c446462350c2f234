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
    return (Side){gpu_origin(s, i), gpu_side(s, i), expr_var(&s->pool, "r", 0, 0, p->mt[i] - 1),
                  p->op[i].shift};
}

/* A vector of loads that straddles the edge, and was read from the edge back (GpuOperand.shift). */
typedef struct {
    const Expr *vector, *last; /* first row or column of the vector of position r; where it was read from */
    const Value *is;           /* whether that is so */
} Shift;

/* Declares `vector` and `last`. both: VALUE_BOTH, or VALUE_AND, of which clang makes no branches. */
static Shift shift_of(Stmts *s, const Side *x, ValueOp both)
{
    ExprPool *pool = &s->pool;
    const Expr *in_tile = expr_mul_i(pool, expr_div_i(pool, x->r, x->shift), x->shift);
    const Expr *vector = stmt_let(s, "vector", expr_add(pool, x->origin, in_tile));
    const Expr *before_last = expr_add_i(pool, x->size, -x->shift);
    const Expr *last = stmt_let(s, "last", expr_u31(pool, before_last));
    const Value *fast = value_op(s, VALUE_NOT, value_reg(s, "t.slow"), NULL);
    const Value *begins = value_op(s, VALUE_LT, value_expr(s, vector), value_expr(s, x->size));
    const Value *straddles = value_op(s, VALUE_GT, value_expr(s, vector), value_expr(s, last));
    return (Shift){vector, last, value_op(s, both, value_op(s, both, fast, begins), straddles)};
}

/* Prints @near_row or @near_col. */
static void near(const GpuPlan *p, Stmts *s, int i)
{
    ExprPool *pool = &s->pool;
    const Side x = open_side(p, s, i, i ? "@near_col" : "@near_row");
    if (x.shift > 1) {
        const Shift shift = shift_of(s, &x, VALUE_BOTH);
        stmt_if(s, shift.is);
        stmt_return(s, value_expr(s, expr_add(pool, shift.last, expr_mod_i(pool, x.r, x.shift))));
        stmt_end(s);
    }
    const Expr *at = expr_add(pool, x.origin, x.r);
    const Expr *last = expr_u31(pool, expr_add_i(pool, x.size, -1));
    const Value *inside = value_op(s, VALUE_LT, value_expr(s, at), value_expr(s, x.size));
    stmt_return(s, value_select(s, inside, value_expr(s, at), value_expr(s, last)));
    stmt_end(s);
}

/* Prints @edge_row or @edge_col without branches: stores call them for each accumulator, and LLVM spent a
 * tenth of a kernel's compilation on removing the branches. */
static void edge(const GpuPlan *p, Stmts *s, int i)
{
    ExprPool *pool = &s->pool;
    const Side x = open_side(p, s, i, i ? "@edge_col" : "@edge_row");
    const Value *at = value_expr(s, expr_add(pool, x.origin, x.r)), *begins = NULL;
    if (x.shift > 1) {
        const Shift shift = shift_of(s, &x, VALUE_AND);
        const Value *shifted = stmt_define(s, "bool", "shifted", shift.is),
                    *vector = value_expr(s, shift.vector);
        const Value *from = value_select(s, shifted, value_expr(s, shift.last), vector);
        at = value_op(s, VALUE_ADD, from, value_expr(s, expr_mod_i(pool, x.r, x.shift)));
        at = stmt_define(s, "unsigned", "at", at);
        begins = value_op(s, VALUE_GE, at, vector);
    }
    const Value *inside = value_op(s, VALUE_LT, at, value_expr(s, x.size));
    if (begins) inside = stmt_define(s, "bool", "inside", value_op(s, VALUE_AND, begins, inside));
    stmt_return(s, value_select(s, inside, at, value_literal(s, "~0u")));
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
