/* Layouts of local memory as expressions; see layout.h. */
#include "index/layout.h"

/* The number of elements before position pos, padding included. */
static const Expr *padded(ExprPool *p, const Layout *l, const Expr *pos)
{
    if (!l->block || !l->pad) return pos;
    return expr_add(p, pos, expr_mul_i(p, expr_div_i(p, pos, l->block), l->pad));
}

static const Expr *exchanged(ExprPool *p, const Layout *l, const Expr *line, const Expr *at)
{
    int piece = 16 / l->bytes;
    const Expr *by = expr_and_i(p, expr_div_i(p, line, l->xor_lines), l->xor_mask);
    const Expr *to = expr_op(p, EXPR_XOR, expr_div_i(p, at, piece), by);
    const Expr *in_line =
        expr_add(p, expr_mul_i(p, to, 16), expr_mul_i(p, expr_mod_i(p, at, piece), l->bytes));
    return expr_add(p, expr_mul_i(p, line, (int64_t)l->line * l->bytes), in_line);
}

/* The number of elements before element `at` of a line, padding of blocks not included. */
static const Expr *position(ExprPool *p, const Layout *l, const Expr *line, const Expr *at)
{
    if (!l->panel) return expr_add(p, expr_mul_i(p, line, l->line), at);
    const int lines = l->panel_lines;
    const Expr *group = expr_mul_i(p, expr_div_i(p, line, lines), (int64_t)lines * l->line);
    const Expr *panel = expr_mul_i(p, expr_div_i(p, at, l->panel), (int64_t)lines * l->panel);
    const Expr *in_panel = expr_mul_i(p, expr_mod_i(p, line, lines), l->panel);
    in_panel = expr_add(p, in_panel, expr_mod_i(p, at, l->panel));
    return expr_add(p, expr_add(p, group, panel), in_panel);
}

/* Multiplies each term of a sum, so that a compiler can fold the constant into the instruction's offset. */
static const Expr *scaled(ExprPool *p, const Expr *e, int64_t by)
{
    if (e->kind != EXPR_ADD) return expr_mul_i(p, e, by);
    return expr_add(p, scaled(p, e->x, by), scaled(p, e->y, by));
}

const Expr *layout_at(ExprPool *p, const Layout *l, const Expr *line, const Expr *at)
{
    if (l->xor_mask) return exchanged(p, l, line, at);
    const Expr *pos = padded(p, l, position(p, l, line, at));
    return l->in_elements ? expr_mul_i(p, pos, l->bytes) : scaled(p, pos, l->bytes);
}

int64_t layout_bytes(const Layout *l, int lines)
{
    Expr node[8];
    ExprPool p;
    expr_pool_fixed(&p, node, 8);
    return padded(&p, l, expr_const(&p, (int64_t)lines * l->line))->lo * l->bytes;
}

bool layout_is_run(ExprPool *p, const Layout *l, const Expr *line, const Expr *at, int n)
{
    int64_t first, c;
    const Expr *base = expr_base(p, layout_at(p, l, line, at), &first);
    for (int i = 1; i < n; i++) {
        const Expr *e = expr_base(p, layout_at(p, l, line, expr_add_i(p, at, i)), &c);
        if (c != first + (int64_t)i * l->bytes || !expr_same(e, base)) return false;
    }
    return true;
}
