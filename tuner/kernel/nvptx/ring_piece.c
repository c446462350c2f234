/* See ring_piece.h. */
#include "kernel/nvptx/ring_piece.h"

#include <string.h>

/* ---- places ---- */

const Expr *piece_field(const RingCopy *c, const char *name, int64_t hi)
{
    return expr_var(&c->s->pool, name, 0, 0, hi);
}

/* The row and the piece of a row of the thread's first piece; declare_place has declared both. */
static const Expr *of_row(const RingCopy *c) { return piece_field(c, "row", c->pass_rows - 1); }
static const Expr *of_col(const RingCopy *c) { return piece_field(c, "col", c->pass_cols - 1); }
void piece_declare(const RingCopy *c)
{
    stmt_define(c->s, "@u32", "row", value_reg(c->s, "x.r"));
    stmt_define(c->s, "@u32", "col", value_reg(c->s, "x.col"));
}

const Expr *piece_left(const RingCopy *c, const Expr *n)
{
    ExprPool *pool = &c->s->pool;
    const Expr *left = expr_var(pool, "x.left", 0, INT32_MIN, INT32_MAX);
    return expr_within(pool, expr_sub(pool, left, n), INT32_MIN, INT32_MAX);
}

const Value *piece_int(const RingCopy *c, const Expr *e)
{
    return value_cast(c->s, "int", value_expr(c->s, e));
}

/* Rows of global memory between this thread's first piece and piece i, and the number of its pass. */
static const Expr *rows_to(const RingCopy *c, const Expr *i)
{
    return expr_mul_i(&c->s->pool, expr_div_i(&c->s->pool, i, c->passes), c->pass_rows);
}
static const Expr *pass_of(const RingCopy *c, const Expr *i) { return expr_mod_i(&c->s->pool, i, c->passes); }

const Expr *piece_row(const RingCopy *c, const Expr *i)
{
    return expr_add(&c->s->pool, of_row(c), rows_to(c, i));
}
const Expr *piece_col(const RingCopy *c, const Expr *i)
{
    return expr_add(&c->s->pool, of_col(c), expr_mul_i(&c->s->pool, pass_of(c, i), c->pass_cols));
}

const Expr *piece_in_tile(const RingCopy *c, const Expr *i)
{
    if (!c->partly) return NULL;
    return expr_op(&c->s->pool, EXPR_LT, piece_row(c, i), expr_const(&c->s->pool, c->mr));
}

const Expr *piece_both(const RingCopy *c, const Expr *x, const Expr *y)
{
    return x && y ? expr_op(&c->s->pool, EXPR_BOTH, x, y) : x ? x : y;
}

/* The byte of a stage's tile that a piece at (row, piece of the row) of global memory begins with. */
static const Expr *shared_at(const RingCopy *c, const Expr *row, const Expr *col)
{
    ExprPool *pool = &c->s->pool;
    const RingTile *t = &c->tile;
    row = expr_within(pool, row, 0, c->mr - 1);
    if (t->transposed) {
        const Expr *swizzled = expr_op(pool, EXPR_XOR, row, ring_element_swizzle(pool, t, col));
        return expr_add(pool, expr_mul_i(pool, col, t->row_bytes), expr_mul_i(pool, swizzled, c->bpe));
    }
    return ring_at(pool, t, row, expr_mul_i(pool, col, c->cw));
}

/* The same of piece i, from the address of the thread's first piece where the layout repeats itself. */
static const Expr *shared_offset(const RingCopy *c, const Expr *i)
{
    ExprPool *pool = &c->s->pool;
    const RingTile *t = &c->tile;
    const Expr *first = piece_field(c, "x.s0", t->bytes), *rows = rows_to(c, i);
    if (c->p->ring.shifts) {
        const Expr *passes = expr_mul_i(pool, pass_of(c, i), c->pass_cols * 16);
        return expr_add(pool, expr_add(pool, first, expr_mul_i(pool, rows, t->row_bytes)), passes);
    }
    if (t->transposed && c->passes == 1 && c->pass_rows % 4 == 0)
        return expr_add(pool, first, expr_mul_i(pool, rows, c->bpe));
    if (!t->transposed && c->passes == 1 && c->pass_rows % 16 == 0)
        return expr_add(pool, first, ring_row(pool, t, rows));
    return shared_at(c, piece_row(c, i), piece_col(c, i));
}

const Expr *piece_first(const RingCopy *c) { return shared_at(c, of_row(c), of_col(c)); }

/* ---- accesses ---- */

const char *ring_copy_name(Stmts *s, const char *name, char operand)
{
    const size_t n = strlen(name);
    char *to = arena_alloc(&s->arena, n + 4);
    if (!to) return stmts_name(s, "%s", ""); /* and remembers that there is no memory */
    to[0] = '@', memcpy(to + 1, name, n);
    to[n + 1] = '_', to[n + 2] = operand, to[n + 3] = 0;
    return to;
}

const char *piece_function(const RingCopy *c, const char *name)
{
    return ring_copy_name(c->s, name, c->x->name);
}

Access piece_to_stage(const RingCopy *c, const Expr *i, int width)
{
    return access_window(reg(c, "stage"), shared_offset(c, i), width);
}

Access piece_from(const Value *base, const Expr *offset, int width)
{
    return access_at(SPACE_GLOBAL, "char", width, base, offset);
}

const Value *piece_source(const RingCopy *c, const Expr *i)
{
    ExprPool *pool = &c->s->pool;
    const Expr *step = expr_var(pool, "x.row_step", 0, 0, (int64_t)1 << 40);
    const Expr *rows = expr_mul(pool, expr_div_i(pool, i, c->passes), step);
    const Expr *passes = expr_mul_i(pool, pass_of(c, i), (int64_t)c->pass_cols * c->cw);
    return value_op(c->s, VALUE_ADD, reg(c, "x.p"), value_expr(c->s, expr_add(pool, rows, passes)));
}
const Expr *piece_in_row(const RingCopy *c, const Expr *i)
{
    return expr_mul_i(&c->s->pool, pass_of(c, i), (int64_t)c->pass_cols * c->cw);
}

void piece_next_row(const RingCopy *c, const Expr *i)
{
    Stmts *s = c->s;
    const Expr *last = expr_op(&s->pool, EXPR_EQ, pass_of(c, i), expr_const(&s->pool, c->passes - 1));
    if (c->passes > 1) stmt_if_expr(s, last);
    stmt_update(s, VALUE_ADD, reg(c, "q"), reg(c, "x.row_step"));
    if (c->passes > 1) stmt_end(s);
}

void piece_open(const RingCopy *c, const char *name, bool changes, const StmtParam *more, int n)
{
    StmtParam param[8] = {{stmts_name(c->s, changes ? "@Copy%c &" : "const @Copy%c &", c->upper), "x"}};
    for (int i = 0; i < n; i++) param[i + 1] = more[i];
    stmt_function(c->s, (Function){.name = piece_function(c, name), .param = param, .n_params = n + 1});
}
const Expr *piece_each(const RingCopy *c, Unroll unroll)
{
    return stmt_loop(c->s, (Loop){.var = "i",
                                  .type = "int",
                                  .start = expr_const(&c->s->pool, 0),
                                  .limit = expr_const(&c->s->pool, c->n),
                                  .unroll = unroll});
}

Access piece_or_safe(const RingCopy *c, const Value *n, const Value *from, int width)
{
    return piece_from(value_select(c->s, n, from, reg(c, "x.p_safe")), NULL, width);
}

const Expr *piece_shift(const RingCopy *c)
{
    return expr_and_i(&c->s->pool, piece_field(c, "x.shifts", 15), 3);
}
const Expr *piece_extra_shift(const RingCopy *c)
{
    return expr_div_i(&c->s->pool, piece_field(c, "x.shifts", 15), 4);
}

/* ---- pieces at edges ---- */

void piece_put_valid(const RingCopy *c)
{
    Stmts *s = c->s;
    ExprPool *pool = &s->pool;
    const Expr *i = piece_field(c, "i", c->n - 1);
    const Value *left = reg(c, "x.left"), *k_left = reg(c, "k_left");
    const Value *elements = piece_int(c, expr_mul_i(pool, piece_col(c, i), c->ce));
    stmt_function(s, (Function){.result = "int",
                                .name = piece_function(c, "valid"),
                                STMT_PARAMS({stmts_name(s, "const @Copy%c &", c->upper), "x"}, {"int", "i"},
                                            {"int", "k_left"})});
    piece_declare(c);
    const Value *n = stmt_var(s, "int", "n", value_op(s, VALUE_SUB, c->k_rows ? left : k_left, elements));
    const Value *behind = value_op(s, VALUE_GE, piece_int(c, piece_row(c, i)), c->k_rows ? k_left : left);
    stmt_if(s, value_op(s, VALUE_EITHER, behind, value_op(s, VALUE_LT, n, value_int(s, 0))));
    stmt_set(s, n, value_int(s, 0));
    stmt_end(s);
    const Value *ce = value_int(s, c->ce);
    stmt_return(s, value_select(s, value_op(s, VALUE_GT, n, ce), ce, n));
    stmt_end(s);
}

bool piece_leaves_out(const RingCopy *c) { return c->p->ring.shift_ptr || c->p->lsu > 1; }

void piece_put_needed(const RingCopy *c)
{
    Stmts *s = c->s;
    const Expr *i = piece_field(c, "i", c->n - 1), *inside = piece_in_tile(c, i);
    const Value *left = reg(c, "x.left"), *zero = value_int(s, 0), *ce = value_int(s, c->ce);
    stmt_function(s,
                  (Function){.result = "int",
                             .name = piece_function(c, "needed"),
                             STMT_PARAMS({stmts_name(s, "const @Copy%c &", c->upper), "x"}, {"int", "i"})});
    piece_declare(c);
    if (inside) {
        stmt_if(s, value_op(s, VALUE_NOT, value_expr(s, inside), NULL));
        stmt_return(s, zero);
        stmt_end(s);
    }
    if (c->k_rows) {
        const Value *at = piece_int(c, expr_mul_i(&s->pool, piece_col(c, i), c->ce));
        const Value *n = stmt_define(s, "int", "n", value_op(s, VALUE_SUB, left, at));
        stmt_return(s, value_select(s, value_op(s, VALUE_GT, n, ce), ce, n));
    } else {
        const Value *in = value_op(s, VALUE_LT, piece_int(c, piece_row(c, i)), left);
        stmt_return(s, value_select(s, in, ce, zero));
    }
    stmt_end(s);
}

const Value *piece_want(const RingCopy *c, const Expr *i)
{
    const Value *n = value_int(c->s, c->ce);
    if (piece_leaves_out(c))
        n = value_call(c->s, piece_function(c, "needed"), reg(c, "x"), value_expr(c->s, i));
    return stmt_define(c->s, "int", "want", n);
}

const Expr *piece_guard(const RingCopy *c, const Expr *i)
{
    ExprPool *pool = &c->s->pool;
    if (!piece_leaves_out(c)) return piece_in_tile(c, i);
    (void)piece_want(c, i);
    return expr_op(pool, EXPR_LT, expr_const(pool, 0), expr_var(pool, "want", 0, INT32_MIN, c->ce));
}
