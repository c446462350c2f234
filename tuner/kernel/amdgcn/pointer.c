/* Pointers into local memory: addresses of a piece of text that differ by constants share one. */
#include "kernel/amdgcn/amdgcn.h"

static const Value *pointer_new(AmdgcnPointers *q, const Expr *base)
{
    Stmts *s = q->s;
    const Expr *part[2] = {base, expr_const(&s->pool, 0)};
    const Value *at = value_reg(s, q->from);
    if (q->steps_apart) expr_split(&s->pool, base, GPU_STEP, &part[0], &part[1]);
    for (int i = 0; i < 2; i++)
        if (!expr_is(part[i], 0)) at = value_op(s, VALUE_ADD, at, value_expr(s, part[i]));
    const char *name = q->n ? stmts_name(s, "%s_%d", q->name, q->n) : q->name;
    return stmt_define(s, q->is_const ? "const char *" : "char *", name, at);
}

Access amdgcn_access(AmdgcnPointers *q, const char *type, int bytes, const Expr *at)
{
    ExprPool *pool = &q->s->pool;
    int64_t c;
    const Expr *base = expr_base(pool, at, &c);
    int i = 0;
    while (i < q->n && !expr_same(q->base[i], base)) i++;
    if (i == AMDGCN_POINTERS_MAX) q->s->failed = true, i = 0;
    if (i == q->n) {
        q->pointer[i] = pointer_new(q, base);
        q->base[q->n++] = base;
    }
    return access_at(SPACE_LOCAL, type, bytes, q->pointer[i], expr_const(pool, c));
}
