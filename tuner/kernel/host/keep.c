/* HostKeepB: packed blocks of one operand stay in local memory from one work-group to the next (text/keep.h).
 * Images of a batch and rows of tiles share the blocks of a filter, or of a matrix of weights. */
#include "kernel/host/text.h"

typedef struct {
    const char *at, *first, *from, *size, *buffer; /* names in the text */
    int block;                                     /* rows or columns */
} Side;

static Side side_of(const HostText *t, HostOperand o)
{
    static const Side sides[] = {{"m0", "m1", "A", "mc", "la", 0}, {"n0", "n1", "B", "nc", "lb", 0}};
    Side x = sides[o];
    x.block = o == HOST_B ? t->p->nc : t->p->mc;
    return x;
}

bool host_keeps(const HostText *t, HostOperand o)
{
    return o == HOST_B ? t->p->keep_b > 0 : o == HOST_A && t->p->keep_a > 0;
}

void host_keep_text(HostText *t)
{
    Stmts *s = &t->s;
    if (!t->p->keep_a && !t->p->keep_b) return;
    stmt_constant(s, "int", "@KEPT_BLOCKS", t->p->keep_a ? t->p->keep_a : t->p->keep_b);
    stmt_constant(s, "int", "@KEPT_ELEMENTS",
                  t->p->keep_a ? host_plan_block_a(t->p) : host_plan_block_b(t->p));
    stmt_file(s, "host/keep.h");
}

const char *host_keep_buffer(const HostText *t, HostOperand o)
{
    return host_keeps(t, o) ? "kept" : side_of(t, o).buffer;
}

void host_keep_open(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Side x = side_of(t, o);
    const Expr *before =
        expr_mul(pool, expr_div_i(pool, expr_u32(pool, host_int(t, x.at)), x.block), host_chunks(t));
    const Expr *place = expr_add(pool, host_int(t, "chunk"), before);
    const Expr *side = expr_add(pool, host_int(t, x.first), host_int(t, x.at));
    stmt_define(s, "@Kept", "block",
                value_list(s, value_reg(s, x.from), value_expr(s, side), value_reg(s, "k0"),
                           value_reg(s, x.size), value_reg(s, "kc")));
    stmt_var(s, "int", "is_packed", value_int(s, 0));
    stmt_var(s, "@TC *", "kept",
             value_call(s, "@keep", value_reg(s, x.buffer),
                        value_op(s, VALUE_ADDRESS, value_reg(s, "block"), NULL), value_expr(s, place),
                        value_op(s, VALUE_ADDRESS, value_reg(s, "is_packed"), NULL)));
    stmt_if(s, value_op(s, VALUE_EQ, value_reg(s, "is_packed"), value_int(s, 0)));
}
