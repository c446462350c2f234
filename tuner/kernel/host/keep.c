/* HostKeepB: blocks of B stay packed in local memory from one work-group of a thread to the next
 * (text/keep_b.h). Images of a batch and rows of tiles share the blocks of a filter, or of a matrix of
 * weights. */
#include "kernel/host/text.h"

void host_keep_text(HostText *t)
{
    Stmts *s = &t->s;
    if (!t->p->keep_b) return;
    stmt_constant(s, "int", "@KEPT_BLOCKS", t->p->keep_b);
    stmt_constant(s, "int", "@BLOCK_B", host_plan_block_b(t->p));
    stmt_file(s, "host/keep_b.h");
}

const char *host_keep_buffer(const HostText *t) { return t->p->keep_b ? "block_b" : "lb"; }

void host_keep_open(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Expr *k = expr_var(pool, "g->k", 0, 0, UINT32_MAX);
    const Expr *chunks = expr_ceil_div(pool, k, host_number(t, t->p->kc));
    const Expr *columns = expr_within(pool, host_int(t, "n0"), 0, UINT32_MAX);
    const Expr *before = expr_mul(pool, expr_div_i(pool, columns, t->p->nc), chunks);
    const Expr *place = expr_add(pool, host_int(t, "chunk"), before);
    const Expr *column = expr_add(pool, host_int(t, "n1"), host_int(t, "n0"));
    stmt_define(s, "@Kept", "block",
                value_list(s, value_reg(s, "B"), value_expr(s, column), value_reg(s, "k0"),
                           value_reg(s, "nc"), value_reg(s, "kc")));
    stmt_var(s, "int", "is_packed", value_int(s, 0));
    stmt_var(s, "@TC *", "block_b",
             value_call(s, "@keep_b", value_reg(s, "lb"),
                        value_op(s, VALUE_ADDRESS, value_reg(s, "block"), NULL), value_expr(s, place),
                        value_op(s, VALUE_ADDRESS, value_reg(s, "is_packed"), NULL)));
    stmt_if(s, value_op(s, VALUE_EQ, value_reg(s, "is_packed"), value_int(s, 0)));
}
