/* Contractions that are no GEMM: arguments, packing by offsets, results by offsets. A panel's rows have their
 * offsets in a table, so that an index is taken apart once for each row of a panel and once for each element
 * of K, not for each element. */
#include "kernel/host/text.h"

static ContractNames names(HostText *t) { return (ContractNames){&t->s, "x->"}; }

static const Expr *address(HostText *t, HostOperand o, const Expr *row, const Expr *column, const Expr *z)
{
    const ContractNames of = names(t);
    const Expr *const coord[CONTRACT_COORDS] = {row, column, z};
    return expr_mul_i(&t->s.pool, contract_address(t->indices, (int)o, &of, coord), t->p->parts);
}

/* A coordinate: never negative, below 2^31. */
static const Expr *coordinate(HostText *t, const Expr *e) { return expr_within(&t->s.pool, e, 0, INT32_MAX); }

/* ---- arguments ---- */

void host_dims_struct(HostText *t)
{
    Stmts *s = &t->s;
    ContractArg arg[CONTRACT_ARGS_MAX];
    const int n = contract_args(t->indices, t->p->gsu > 1, arg);
    stmt_struct(s, "@Dims", 0);
    stmt_var(s, "@Args", "args", NULL);
    for (int i = 0; i < n; i++)
        if (!arg[i].is_unused) stmt_var(s, "int64_t", stmts_name(s, "%s", arg[i].name), NULL);
    stmt_end(s);
}

void host_dims_open(HostText *t)
{
    Stmts *s = &t->s;
    stmt_var(s, "const struct @Dims *const", "x", value_cast(s, "const struct @Dims *", value_reg(s, "g")));
}

void host_dims_args(HostText *t)
{
    static const char *const size[INDICES_GROUPS] = {"g->m", "g->n", "g->batch", "g->k"};
    Stmts *s = &t->s;
    ContractArg arg[CONTRACT_ARGS_MAX];
    const int n = contract_args(t->indices, t->p->gsu > 1, arg);
    for (int i = 0; i < n; i++)
        host_arg_to(t, arg[i].is_unused ? NULL : stmts_name(s, "args.%s", arg[i].name), 4);
    const ContractNames of = {s, "args."};
    for (int g = 0; g < INDICES_GROUPS; g++)
        stmt_set(s, value_reg(s, size[g]), value_expr(s, contract_size(t->indices, (IndexGroup)g, &of)));
}

const Expr *host_dims_matrix(HostText *t, HostOperand o, const char *z)
{
    const Expr *zero = host_number(t, 0);
    return address(t, o, zero, zero, coordinate(t, host_int(t, z)));
}

/* ---- packing ---- */

/* Offset of a row of a panel (side) or an element of K; the other coordinate is 0. The zero padding in front
 * is in the matrix's offset. */
static const Expr *along(HostText *t, HostOperand o, const Expr *side, const Expr *k)
{
    const bool a = o == HOST_A;
    const ContractNames of = names(t);
    const Expr *const coord[CONTRACT_COORDS] = {a ? side : k, a ? k : side, host_number(t, 0)};
    return expr_mul_i(&t->s.pool, contract_offset(t->indices, (int)o, &of, coord), t->p->parts);
}

/* The elements of row `q` of a panel: those inside the zero padding, converted. */
static void pack_elements(HostText *t, HostOperand o, int width)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const HostPlan *p = t->p;
    const ContractNames of = names(t);
    const Expr *i = host_loop(t, "i", host_int(t, "w"), 1);
    const Expr *side = coordinate(t, expr_add(pool, host_int(t, "first"), i));
    const Expr *k = coordinate(t, expr_add(pool, host_int(t, "k0"), host_int(t, "q")));
    const Expr *inside =
        contract_inside(t->indices, (int)o, &of, o == HOST_A ? side : k, o == HOST_A ? k : side);
    const Expr *at = expr_add(pool, host_int(t, "row[i]"), host_int(t, "at_k"));
    for (int part = 0; part < p->parts; part++) {
        const Expr *to = o == HOST_B ? expr_add_i(pool, expr_mul_i(pool, i, p->parts), part)
                                     : expr_add_i(pool, i, (int64_t)part * width);
        if (!expr_is(inside, 1)) {
            stmt_set(s, host_element(t, "o", to), value_int(s, 0));
            stmt_if_expr(s, inside);
        }
        const Value *v = host_element(t, "p", expr_add_i(pool, at, part));
        if (p->parts == 1) v = value_call(s, "@in", v);
        if (part && p->conj[o]) v = value_op(s, VALUE_NEG, v, NULL);
        stmt_set(s, host_element(t, "o", to), v);
        if (!expr_is(inside, 1)) stmt_end(s);
    }
    stmt_end(s);
    stmt_loop(
        s, (Loop){.var = "i", .type = "int64_t", .start = host_int(t, "w"), .limit = host_number(t, width)});
    for (int part = 0; part < p->parts; part++)
        stmt_set(s,
                 host_element(t, "o",
                              o == HOST_B ? expr_add_i(pool, expr_mul_i(pool, i, p->parts), part)
                                          : expr_add_i(pool, i, (int64_t)part * width)),
                 value_int(s, 0));
    stmt_end(s);
}

static void pack(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const int width = o == HOST_B ? t->p->nr : t->p->mr;
    const Expr *zero = host_number(t, 0);
    stmt_gap(s);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = o == HOST_B ? "@pack_b" : "@pack_a",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TI *", "p"}, {"int64_t", "from"},
                                            {"int64_t", "n"}, {"int64_t", "k0"}, {"int64_t", "k"},
                                            {"@TC *restrict", "o"})});
    host_dims_open(t);
    HOST_UNUSED(t, "x");
    const Expr *panel = host_loop(t, "panel", host_int(t, "n"), width);
    stmt_let(s, "first", expr_add(pool, host_int(t, "from"), panel));
    const Expr *left = expr_sub(pool, host_int(t, "n"), panel);
    stmt_let(s, "w", expr_op(pool, EXPR_MIN, left, host_number(t, width)));
    stmt_array(s, "int64_t", "row", DIMS(width));
    const Expr *i = host_loop(t, "i", host_int(t, "w"), 1);
    const Expr *side = coordinate(t, expr_add(pool, host_int(t, "first"), i));
    stmt_set(s, value_reg(s, "row[i]"), value_expr(s, along(t, o, side, zero)));
    stmt_end(s);
    const Expr *q = host_loop(t, "q", host_int(t, "k"), 1);
    stmt_let(s, "at_k", along(t, o, zero, coordinate(t, expr_add(pool, host_int(t, "k0"), q))));
    pack_elements(t, o, width);
    stmt_update(s, VALUE_ADD, value_reg(s, "o"), value_int(s, width * t->p->parts));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}

void host_dims_packs(HostText *t)
{
    pack(t, HOST_A);
    pack(t, HOST_B);
}

/* ---- results ---- */

void host_dims_finish(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const HostPlan *p = t->p;
    const Expr *zero = host_number(t, 0);
    stmt_gap(s);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = "@finish",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TC *", "s"}, {"int64_t", "m"},
                                            {"int64_t", "n"}, {"const @TC *", "ab"}, {"const @TD *", "c"},
                                            {"@TD *", "d"}, {"int64_t", "row"}, {"int64_t", "column"})});
    host_dims_open(t);
    const Expr *j = host_loop(t, "j", host_int(t, "n"), 1);
    const Expr *column = coordinate(t, expr_add(pool, host_int(t, "column"), j));
    stmt_let(s, "column_c", address(t, HOST_C, zero, column, zero));
    stmt_let(s, "column_d", address(t, HOST_D, zero, column, zero));
    const Expr *i = host_loop(t, "i", host_int(t, "m"), 1);
    const Expr *row = coordinate(t, expr_add(pool, host_int(t, "row"), i));
    const Expr *c = expr_add(pool, host_int(t, "column_c"), address(t, HOST_C, row, zero, zero));
    const Expr *d = expr_add(pool, host_int(t, "column_d"), address(t, HOST_D, row, zero, zero));
    const Expr *at = expr_add(pool, expr_mul_i(pool, j, (int64_t)p->mr * p->parts), i);
    stmt_call(s, "@store_result", host_plus(t, "d", d), value_reg(s, "ab"), host_element(t, "s", at),
              host_element(t, "s", expr_add_i(pool, at, (int64_t)p->mr * (p->parts - 1))),
              host_plus(t, "c", c));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}
