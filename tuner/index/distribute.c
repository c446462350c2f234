/* Distribution of tiles over subgroups and work-items. See distribute.h. */
#include "index/distribute.h"

const Expr *distribute_subtile(ExprPool *p, int32_t n, int32_t layout, const Expr *c, const Expr *round)
{
    if (n < layout) return expr_mod_i(p, c, n);
    return expr_add(p, c, expr_mul_i(p, round, layout));
}

int32_t distribute_subtile_at(int32_t n, int32_t layout, int32_t c, int32_t round)
{
    Expr nodes[16];
    ExprPool p;
    int64_t v = 0;
    expr_pool_fixed(&p, nodes, 16);
    const Expr *e = distribute_subtile(&p, n, layout, expr_const(&p, c), expr_const(&p, round));
    (void)expr_eval(e, NULL, &v);
    return (int32_t)v;
}

bool distribute_has(int32_t n, int32_t layout, int32_t c, int32_t s)
{
    for (int32_t i = 0; i < distribute_rounds(n, layout); i++)
        if (distribute_subtile_at(n, layout, c, i) == s) return true;
    return false;
}

const Expr *distribute_writes(ExprPool *p, int32_t n, int32_t layout, const Expr *c)
{
    if (n >= layout) return expr_const(p, 1);
    return expr_op(p, EXPR_LT, c, expr_const(p, n));
}

Err distribute_check(const char *what, int side, int32_t size, int32_t layout, int32_t data)
{
    static const char *const sides[] = {"rows", "columns"};
    int64_t all = (int64_t)layout * data;
    if (size % data)
        FAIL(ERR_INPUT, "%s: %d %s are no multiple of the %d of its data", what, size, sides[side], data);
    if (size % all && all % size)
        FAIL(ERR_INPUT, "%s: of %d %s and layout * data = %d * %d = %lld, neither is a multiple of the other",
             what, size, sides[side], layout, data, (long long)all);
    return ERR_OK;
}

void distribute_dump(const TileMap *m, const int32_t size[2], Buf *out)
{
    int32_t n[2];
    for (int i = 0; i < 2; i++) n[i] = distribute_subtiles(size[i], m->data[i]);
    for (int32_t r = 0; r < n[0]; r++)
        for (int32_t c = 0; c < n[1]; c++) {
            buf_printf(out, "; [%d:%d, %d:%d]", r * m->data[0], (r + 1) * m->data[0] - 1, c * m->data[1],
                       (c + 1) * m->data[1] - 1);
            for (int32_t i = 0; i < m->layout[0]; i++)
                for (int32_t j = 0; j < m->layout[1]; j++)
                    if (distribute_has(n[0], m->layout[0], i, r) && distribute_has(n[1], m->layout[1], j, c))
                        buf_printf(out, " [%d, %d]", i, j);
            buf_putc(out, '\n');
        }
}
