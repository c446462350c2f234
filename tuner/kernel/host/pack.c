/* Packing: copies a block of A or B into panels as wide as the register tile, converting to the compute type,
 * with zeros behind the edge; panel after panel, and in a panel one row of width elements per k (complex A:
 * real parts, then imaginary parts; complex B: pairs). This is the host's load_tile from global into local
 * memory.
 */
#include "kernel/host/text.h"

typedef struct {
    HostText *t;
    HostOperand operand;
    int width;  /* of a panel */
    bool along; /* the panel's side is contiguous in memory, else k is */
} Pack;

/* Returns the offset of element x of a panel's row. */
static const Expr *packed_at(const Pack *k, const Expr *x, int part)
{
    ExprPool *pool = &k->t->s.pool;
    if (k->operand == HOST_B) return expr_add_i(pool, expr_mul_i(pool, x, k->t->p->parts), part);
    return expr_add_i(pool, x, (int64_t)part * k->width);
}

/* Stores element x of the current row from from[at]; from == NULL: zero. */
static void pack_element(const Pack *k, const Expr *x, const char *from, const Expr *at)
{
    HostText *t = k->t;
    Stmts *s = &t->s;
    for (int part = 0; part < t->p->parts; part++) {
        const Value *v = from ? host_element(t, from, expr_add_i(&s->pool, at, part)) : value_int(s, 0);
        if (from && t->p->parts == 1) v = value_call(s, "@in", v);
        if (from && part && t->p->conj[k->operand]) v = value_op(s, VALUE_NEG, v, NULL);
        stmt_set(s, host_element(t, "o", packed_at(k, x, part)), v);
    }
}

static const Expr *address(const Pack *k, const Expr *x, const Expr *q)
{
    return host_address_k(k->t, k->operand, "ld", x, q);
}

/* Opens the loop over the rows of a panel. */
static const Expr *open_rows(const Pack *k)
{
    HostText *t = k->t;
    return host_loop(t, "q", host_int(t, "k"), 1);
}

static void close_rows(const Pack *k)
{
    Stmts *s = &k->t->s;
    stmt_update(s, VALUE_ADD, value_reg(s, "o"), value_int(s, k->width * k->t->p->parts));
    stmt_end(s);
}

static void full_along(const Pack *k)
{
    HostText *t = k->t;
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    const Expr *zero = host_number(t, 0), *q = open_rows(k);
    host_pointer(t, "const @TI *", "r", "p", address(k, zero, q));
    if (p->parts == 1 && k->width % p->vl == 0) {
        for (int x = 0; x < k->width; x += p->vl) {
            const Expr *at = host_number(t, x);
            stmt_call(s, "@store", host_plus(t, "o", at), value_call(s, "@load_in", host_plus(t, "r", at)));
        }
    } else {
        const Expr *x = host_loop(t, "x", host_number(t, k->width), 1);
        pack_element(k, x, "r", address(k, x, zero));
        stmt_end(s);
    }
    close_rows(k);
}

/* Packs a panel where k is contiguous in memory. STRIPE rows of memory are read side by side, which limits
 * the number of streams that the prefetcher must follow. */
static void full_across(const Pack *k)
{
    enum { STRIPE = 8 };
    HostText *t = k->t;
    Stmts *s = &t->s;
    const Expr *zero = host_number(t, 0);
    stmt_var(s, "@TC *const", "first", value_reg(s, "o"));
    for (int from = 0; from < k->width; from += STRIPE) {
        stmt_block(s);
        stmt_set(s, value_reg(s, "o"), value_reg(s, "first"));
        host_pointer(t, "const @TI *", "r", "p", address(k, host_number(t, from), zero));
        const Expr *q = open_rows(k);
        for (int x = from; x < from + STRIPE && x < k->width; x++)
            pack_element(k, host_number(t, x), "r", address(k, host_number(t, x - from), q));
        close_rows(k);
        stmt_end(s);
    }
}

static void partial_panel(const Pack *k)
{
    HostText *t = k->t;
    const Expr *q = open_rows(k), *x = host_loop(t, "x", host_int(t, "w"), 1);
    pack_element(k, x, "p", address(k, x, q));
    stmt_end(&t->s);
    stmt_loop(
        &t->s,
        (Loop){.var = "x", .type = "int64_t", .start = host_int(t, "w"), .limit = host_number(t, k->width)});
    pack_element(k, x, NULL, NULL);
    stmt_end(&t->s);
    close_rows(k);
}

static void pack(HostText *t, HostOperand operand)
{
    static const char *const names[] = {"@pack_a", "@pack_b"};
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    Pack k = {t, operand, operand == HOST_B ? p->nr : p->mr, t->contiguous[operand] == (operand == HOST_B)};
    stmt_gap(s);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = names[operand],
                                STMT_PARAMS({"const @TI *", "s"}, {"int64_t", "ld"}, {"int64_t", "n"},
                                            {"int64_t", "k"}, {"@TC *restrict", "o"})});
    const Expr *zero = host_number(t, 0), *i = host_loop(t, "i", host_int(t, "n"), k.width);
    stmt_let(s, "w", expr_sub(&s->pool, host_int(t, "n"), i));
    host_pointer(t, "const @TI *", "p", "s", address(&k, i, zero));
    stmt_if_expr(s, expr_op(&s->pool, EXPR_LE, host_number(t, k.width), host_int(t, "w")));
    if (k.along)
        full_along(&k);
    else
        full_across(&k);
    stmt_else(s);
    partial_panel(&k);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

void host_packs(HostText *t)
{
    if (t->indices) {
        host_dims_packs(t);
        return;
    }
    if (t->p->pack[0]) pack(t, HOST_A);
    if (t->p->pack[1]) pack(t, HOST_B);
}
