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

/* ---- packing ----
 *
 * text/pack_dims.h packs; here are the functions with the operand's addresses that it calls. */

static int coord_of(HostOperand o, bool side)
{
    return (o == HOST_A) == side ? CONTRACT_ROW : CONTRACT_COLUMN;
}

/* Offset of a row of a panel (side) or an element of K; the other coordinate is 0. The zero padding in front
 * is in the matrix's offset. */
static const Expr *along(HostText *t, HostOperand o, bool side, const Expr *at)
{
    const ContractNames of = names(t);
    const Expr *coord[CONTRACT_COORDS] = {host_number(t, 0), host_number(t, 0), host_number(t, 0)};
    coord[coord_of(o, side)] = at;
    return expr_mul_i(&t->s.pool, contract_offset(t->indices, (int)o, &of, coord), t->p->parts);
}

/* void @side_a(x, at, offset, place): the offset of row `at`, and its position along each zero pad, counted
 * from where the tensor begins; @sum_a: of element `at` of K. */
static void coordinate_function(HostText *t, HostOperand o, bool side)
{
    Stmts *s = &t->s;
    const ContractNames of = names(t);
    const Expr *at = coordinate(t, host_int(t, "at"));
    stmt_gap(s);
    stmt_function(s,
                  (Function){.name = stmts_name(s, "@%s_%c", side ? "side" : "sum", o == HOST_A ? 'a' : 'b'),
                             STMT_PARAMS({"const struct @Dims *", "x"}, {"int64_t", "at"},
                                         {"int64_t *", "offset"}, {"int64_t *", "place"})});
    HOST_UNUSED(t, "x", "place");
    stmt_set(s, value_reg(s, "*offset"), value_expr(s, along(t, o, side, at)));
    for (int i = 0; i < t->indices->n_pads[o]; i++) {
        const Expr *here = contract_pad_position(t->indices, (int)o, &of, i, coord_of(o, side), at);
        if (side) here = expr_sub(&s->pool, here, contract_pad_start(t->indices, (int)o, &of, i));
        stmt_set(s, value_named(s, "place[%d]", i), value_expr(s, here));
    }
    stmt_end(s);
}

/* @run_a(x, at, run): the run of K that begins at element `at`: its elements, the step of the offset and
 * those of the positions; where the tensor ends along each zero pad. */
static void run_function(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const ContractNames of = names(t);
    const int k = coord_of(o, false);
    const Expr *step = contract_run_step(t->indices, (int)o, &of, k);
    stmt_gap(s);
    stmt_function(s, (Function){.name = o == HOST_A ? "@run_a" : "@run_b",
                                STMT_PARAMS({"const struct @Dims *", "x"}, {"int64_t", "at"},
                                            {"struct @Run *", "run"})});
    HOST_UNUSED(t, "x", "at");
    const Expr *at = coordinate(t, host_int(t, "at"));
    stmt_set(s, value_reg(s, "run->n"), value_expr(s, contract_run(t->indices, (int)o, &of, k, at)));
    stmt_set(s, value_reg(s, "run->step"), value_expr(s, expr_mul_i(pool, step, t->p->parts)));
    for (int i = 0; i < t->indices->n_pads[o]; i++) {
        const bool moves = t->indices->pad[o][i].sum == contract_run_index(t->indices, (int)o, k);
        const Expr *edge = contract_pad_edge(t->indices, (int)o, &of, i);
        edge = expr_sub(pool, edge, contract_pad_start(t->indices, (int)o, &of, i));
        stmt_set(s, value_named(s, "run->moves[%d]", i), moves ? value_expr(s, step) : value_int(s, 0));
        stmt_set(s, value_named(s, "run->edge[%d]", i), value_expr(s, edge));
    }
    stmt_end(s);
}

/* Is K contiguous in memory, so that a run of it is? Else a panel's rows may be. */
static bool runs_along_k(HostText *t, HostOperand o)
{
    const IndexList *l = &t->indices->tensor[o];
    return l->n && l->v[0] == contract_run_index(t->indices, (int)o, coord_of(o, false));
}

static void pack(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    const bool b = o == HOST_B;
    const HostPlan *p = t->p;
    coordinate_function(t, o, true);
    coordinate_function(t, o, false);
    run_function(t, o);
    stmt_gap(s);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = b ? "@pack_b" : "@pack_a",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TI *", "p"}, {"int64_t", "from"},
                                            {"int64_t", "n"}, {"int64_t", "k0"}, {"int64_t", "k"},
                                            {"@TC *restrict", "o"})});
    host_dims_open(t);
    const char *form = p->parts == 2        ? b ? "@pack_pairs" : "@pack_parts"
                       : runs_along_k(t, o) ? "@pack_runs"
                                            : "@pack_rows";
    const Value *sign = value_int(s, p->conj[o] ? -1 : 1);
    const Value *const arg[] = {value_reg(s, "x"),
                                value_reg(s, "p"),
                                value_reg(s, "from"),
                                value_reg(s, "n"),
                                value_reg(s, "k0"),
                                value_reg(s, "k"),
                                value_reg(s, "o"),
                                value_int(s, b ? p->nr : p->mr),
                                value_int(s, t->indices->n_pads[o]),
                                value_reg(s, b ? "@side_b" : "@side_a"),
                                value_reg(s, b ? "@sum_b" : "@sum_a"),
                                value_reg(s, b ? "@run_b" : "@run_a"),
                                sign};
    stmt_do(s, value_call_n(s, form, (int)(sizeof arg / sizeof *arg) - (p->parts == 1), arg));
    stmt_end(s);
}

void host_dims_packs(HostText *t)
{
    Stmts *s = &t->s;
    stmt_constant(s, "int", "@ROWS_MAX", t->p->mr > t->p->nr ? t->p->mr : t->p->nr);
    stmt_constant(s, "int", "@RUN_MAX", t->p->kc);
    stmt_file(s, t->p->parts == 2 ? "host/pack_dims_complex.h" : "host/pack_dims.h");
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
    stmt_array(s, "int64_t", "at_c", DIMS(p->mr));
    stmt_array(s, "int64_t", "at_d", DIMS(p->mr));
    const Expr *e = host_loop(t, "e", host_int(t, "m"), 1);
    const Expr *row = coordinate(t, expr_add(pool, host_int(t, "row"), e));
    stmt_set(s, value_at(s, value_reg(s, "at_c"), e), value_expr(s, address(t, HOST_C, row, zero, zero)));
    stmt_set(s, value_at(s, value_reg(s, "at_d"), e), value_expr(s, address(t, HOST_D, row, zero, zero)));
    stmt_end(s);
    const Expr *j = host_loop(t, "j", host_int(t, "n"), 1);
    const Expr *column = coordinate(t, expr_add(pool, host_int(t, "column"), j));
    stmt_let(s, "column_c", address(t, HOST_C, zero, column, zero));
    stmt_let(s, "column_d", address(t, HOST_D, zero, column, zero));
    const Expr *i = host_loop(t, "i", host_int(t, "m"), 1);
    const Expr *c = expr_add(pool, host_int(t, "column_c"), host_int(t, "at_c[i]"));
    const Expr *d = expr_add(pool, host_int(t, "column_d"), host_int(t, "at_d[i]"));
    const Expr *at = expr_add(pool, expr_mul_i(pool, j, (int64_t)p->mr * p->parts), i);
    stmt_call(s, "@store_result", host_plus(t, "d", d), value_reg(s, "ab"), host_element(t, "s", at),
              host_element(t, "s", expr_add_i(pool, at, (int64_t)p->mr * (p->parts - 1))),
              host_plus(t, "c", c));
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}
