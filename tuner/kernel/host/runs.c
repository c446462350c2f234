/* HostDirectConv: rows of columns. Columns of N that follow each other along its fastest index, such as the
 * pixels of a row of an image, are packed once for all summation indices that read them, and a register tile
 * takes a piece of a row. The tables that say which rows there are, and where they lie, are in local memory
 * behind the sums (text/runs.h). Vectors lie along the free indices of the other operand, the filter; where D
 * has the columns one behind the other, sums are transposed when they are stored. */
#include "kernel/host/text.h"

/* Places of a row: in B, in its zero pads, in D, in C. */
static int place_of_d(const HostText *t) { return 1 + t->indices->n_pads[HOST_B]; }

static const IndexList *columns(const HostText *t) { return &t->indices->group[INDICES_N]; }

void host_runs_text(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    stmt_constant(s, "int", "@NC", p->nc);
    stmt_constant(s, "int", "@NR", p->nr);
    stmt_constant(s, "int", "@PADS", t->indices->n_pads[HOST_B]);
    stmt_constant(s, "int", "@PLACES", host_run_places(p));
    stmt_constant(s, "int", "@MEMO", HOST_RUN_MEMO);
    stmt_constant(s, "int", "@LIST", HOST_RUN_LIST);
    stmt_macro(s, "@RUNS_BYTES",
               stmts_name(s, "%lld", (long long)(host_plan_local(p).runs * p->compute.bytes)));
    stmt_file(s, "host/runs.h");
}

/* The steps of N's digits at the places of a row. */
static void steps(HostText *t)
{
    Stmts *s = &t->s;
    const IndexList *l = columns(t);
    const int n = host_run_places(t->p), of_d = place_of_d(t);
    stmt_array(s, "int64_t", "step", DIMS(n, t->digits));
    for (int place = 0; place < n; place++)
        for (int d = 0; d < host_dims_digits(l); d++) {
            const HostOperand o = place < of_d ? HOST_B : place == of_d ? HOST_D : HOST_C;
            const bool none = d >= l->n || (o == HOST_C && !t->p->use_beta);
            const Expr *step =
                none ? host_number(t, 0) : host_dims_step(t, o, l->v[d], place < of_d ? place - 1 : -1);
            stmt_set(s, value_named(s, "step[%d][%d]", place, d), value_expr(s, step));
        }
}

/* Where the zero pads of B begin and end, and what its places grow by along K. */
static void bounds(HostText *t)
{
    Stmts *s = &t->s;
    const ContractNames of = {s, "x->"};
    const int n = t->indices->n_pads[HOST_B];
    stmt_array(s, "int64_t", "start", DIMS(n + 1));
    stmt_array(s, "int64_t", "edge", DIMS(n + 1));
    stmt_array(s, "int64_t", "along_k", DIMS(n + 1));
    for (int pad = 0; pad < n; pad++) {
        const Expr *first = contract_pad_start(t->indices, HOST_B, &of, pad),
                   *end = contract_pad_edge(t->indices, HOST_B, &of, pad);
        stmt_set(s, value_named(s, "start[%d]", pad), value_expr(s, first));
        stmt_set(s, value_named(s, "edge[%d]", pad), value_expr(s, end));
    }
    for (int place = 0; place <= n; place++)
        stmt_set(s, value_named(s, "along_k[%d]", place), value_named(s, "step_sum[%d][0]", place));
}

void host_runs_pack(HostText *t)
{
    Stmts *s = &t->s;
    stmt_gap(s);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = "@pack_b",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TI *", "p"},
                                            {"int64_t", "from_column"}, {"int64_t", "n"}, {"int64_t", "k0"},
                                            {"int64_t", "k"}, {"@TC *restrict", "o"}, {"@Runs *", "runs"})});
    host_dims_open(t);
    HOST_UNUSED(t, "x");
    host_dims_sizes(t, "size", columns(t));
    steps(t);
    host_dims_taps(t, HOST_B, "runs->tap_rows");
    stmt_set(s, value_reg(s, "runs->taps"), value_reg(s, "taps"));
    bounds(t);
    stmt_call(s, "@cut", value_reg(s, "runs"), value_int(s, host_dims_digits(columns(t))),
              value_reg(s, "size"), value_reg(s, "step"), value_reg(s, "from_column"), value_reg(s, "n"));
    stmt_call(s, "@share", value_reg(s, "p"), value_reg(s, "runs"), value_reg(s, "tap_at"),
              value_reg(s, "along_k"), value_reg(s, "start"), value_reg(s, "edge"), value_reg(s, "o"));
    const Value *last = value_op(s, VALUE_GE, value_op(s, VALUE_ADD, value_reg(s, "k0"), value_reg(s, "k")),
                                 value_reg(s, "g->k"));
    stmt_call(s, "@fetch_open", value_reg(s, "runs"), last, value_int(s, host_dims_digits(columns(t))),
              value_reg(s, "size"), value_reg(s, "step[0]"), value_reg(s, "from_column"), value_reg(s, "n"),
              value_reg(s, "tap_at[0][0]"));
    stmt_end(s);
}

/* ---- results ---- */

/* The rows of D of a register tile: `row_d`, `row_c`, and `line`: they follow each other in memory. */
static void rows_of_results(HostText *t)
{
    Stmts *s = &t->s;
    const IndexList *side = &t->indices->group[INDICES_M];
    const Value *digits = value_int(s, host_dims_digits(side)), *size = value_reg(s, "size");
    const Value *first = value_reg(s, "row"), *n = value_reg(s, "m");
    host_dims_sizes(t, "size", side);
    for (int i = 0; i < (t->p->use_beta ? 2 : 1); i++) {
        const char *name = i ? "row_c" : "row_d", *step = i ? "step_c" : "step_d";
        stmt_array(s, "int64_t", step, DIMS(host_dims_digits(side)));
        for (int d = 0; d < host_dims_digits(side); d++) {
            const HostOperand o = i ? HOST_C : HOST_D;
            const Expr *by = d < side->n ? host_dims_step(t, o, side->v[d], -1) : host_number(t, 0);
            stmt_set(s, value_named(s, "%s[%d]", step, d), value_expr(s, by));
        }
        stmt_array(s, "int64_t", name, DIMS(t->p->mr));
        const Value *rows =
            value_call(s, "@rows", digits, size, value_reg(s, step), first, n, value_reg(s, name));
        if (i)
            stmt_update(s, VALUE_AND, value_reg(s, "line"), rows);
        else
            stmt_var(s, "int", "line", rows);
    }
}

/* Where D's columns, or else its rows, follow each other, vectors are stored. */
static void store_results(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const HostPlan *p = t->p;
    const Value *line = value_reg(s, "line"), *m = value_reg(s, "m"), *n = value_reg(s, "n"),
                *ab = value_reg(s, "ab");
    const char *of_rows = p->use_beta ? "row_c" : "row_d";
    if (host_dims_stores_lines(p)) {
        stmt_if(s, line);
        const Expr *j = host_loop(t, "j", host_int(t, "n"), 1);
        const Expr *to = expr_add(pool, expr_mul(pool, j, host_int(t, "along_d")), host_int(t, "row_d[0]"));
        stmt_call(s, "@store_line", host_plus(t, "to", to), host_plus(t, "s", expr_mul_i(pool, j, p->mr)), ab,
                  m);
        stmt_end(s);
        stmt_return(s, NULL);
        stmt_end(s);
    }
    HOST_UNUSED(t, "line");
    if (p->turns) {
        const Value *along = value_reg(s, "along_d"), *one = value_op(s, VALUE_EQ, along, value_int(s, 1));
        stmt_if(s, value_op(s, VALUE_EITHER, one, value_op(s, VALUE_EQ, along, value_int(s, 2))));
        stmt_call(s, "@finish_turned", value_reg(s, "s"), m, n, ab, value_reg(s, "to"), value_reg(s, "row_d"),
                  along);
        stmt_return(s, NULL);
        stmt_end(s);
    }
    stmt_call(s, "@finish_each", value_reg(s, "s"), m, n, ab, value_reg(s, "from"), value_reg(s, "to"),
              value_reg(s, of_rows), value_reg(s, "row_d"), value_reg(s, "along_c"), value_reg(s, "along_d"));
}

void host_runs_finish(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const int of_d = place_of_d(t);
    stmt_gap(s);
    stmt_constant(s, "int", "@MR", t->p->mr);
    stmt_macro(s, "@TURNS", t->p->turns ? "1" : "0");
    if (host_dims_stores_lines(t->p)) stmt_file(s, "host/store_line.h");
    stmt_file(s, "host/finish_row.h");
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = "@finish",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TC *", "s"}, {"int64_t", "m"},
                                            {"int64_t", "n"}, {"const @TC *", "ab"}, {"const @TD *", "c"},
                                            {"@TD *", "d"}, {"int64_t", "row"}, {"const @Runs *", "runs"},
                                            {"const @Row *", "its"}, {"int64_t", "first"})});
    host_dims_open(t);
    HOST_UNUSED(t, "x");
    rows_of_results(t);
    for (int i = 0; i < 2; i++) {
        const char *along = i ? "along_c" : "along_d";
        const Expr *by = stmt_let(s, along, host_int(t, stmts_name(s, "runs->along[%d]", of_d + i)));
        const Expr *at = host_int(t, stmts_name(s, "its->at[%d]", of_d + i));
        at = expr_add(pool, at, expr_mul(pool, host_int(t, "first"), by));
        host_pointer(t, i ? "const @TD *" : "@TD *", i ? "from" : "to", i ? "c" : "d", at);
    }
    HOST_UNUSED(t, "from", "along_c");
    store_results(t);
    stmt_end(s);
}

/* ---- work-groups ---- */

const Value *host_runs_tables(HostText *t)
{
    Stmts *s = &t->s;
    const Value *at = host_plus(t, "sums", host_number(t, host_plan_local(t->p).sums));
    return value_cast(s, "@Runs *", value_cast(s, "void *", at));
}

void host_runs_open(HostText *t)
{
    Stmts *s = &t->s;
    const IndexList *sums = &t->indices->group[INDICES_K];
    stmt_var(s, "@Runs *const", "runs", host_runs_tables(t));
    host_dims_sizes(t, "size_sum", sums);
    stmt_define(s, "int64_t", "depth",
                value_call(s, "@depth", value_int(s, host_dims_digits(sums)), value_reg(s, "size_sum")));
}

void host_runs_columns(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Expr *r = host_loop(t, "r", host_int(t, "runs->rows"), 1);
    stmt_var(s, "const @Row *const", "its",
             value_op(s, VALUE_ADD, value_reg(s, "runs->row"), value_expr(s, r)));
    const Expr *n = expr_within(pool, host_int(t, "its->n"), 1, INT32_MAX);
    const Expr *pieces = stmt_let(s, "pieces", expr_ceil_div(pool, n, host_number(t, t->p->nr)));
    const Expr *piece = stmt_let(s, "piece", expr_ceil_div(pool, n, expr_within(pool, pieces, 1, INT32_MAX)));
    stmt_loop(
        s, (Loop){.var = "j", .type = "int64_t", .start = host_number(t, 0), .limit = n, .step_by = piece});
    const Expr *left = expr_sub(pool, n, host_int(t, "j"));
    stmt_let(s, "nr", expr_op(pool, EXPR_MIN, left, piece));
    stmt_call(s, "@fetch", value_reg(s, "runs"));
}

/* Returns the place in local memory of a piece's sums: columns lie one behind the other, with all rows. */
static const Expr *kept_sums(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const HostPlan *p = t->p;
    const Expr *rows =
        expr_mul_i(pool, expr_div_i(pool, expr_add_i(pool, host_int(t, "mt"), p->mr - 1), p->mr), p->mr);
    const Expr *column = expr_add(pool, host_int(t, "its->column"), host_int(t, "j"));
    return expr_add(pool, expr_mul(pool, column, rows), expr_mul(pool, host_tile_row(t), host_int(t, "nr")));
}

void host_runs_tile(HostText *t)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Value *left = value_reg(s, "left"), *sums = value_reg(s, "s");
    const Expr *slots = expr_mul(pool, host_int(t, "r"), host_int(t, "runs->taps"));
    host_pointer(t, "const @TC *", "ap", host_keep_buffer(t, HOST_A), host_panel_of_a(t));
    host_pointer(t, "const @TC *", "bp", "lb", host_int(t, "j"));
    host_pointer(t, "@TC *", "s", "sums", kept_sums(t));
    stmt_call(s, "@tiles[nr - 1]", value_reg(s, "runs"), host_plus(t, "runs->slot", slots),
              value_reg(s, "ap"), value_reg(s, "bp"), value_reg(s, "its->pitch"), sums,
              value_op(s, VALUE_LT, left, value_reg(s, "count")));
    stmt_if(s, value_op(s, VALUE_LE, left, value_int(s, 1)));
    stmt_call(s, "@finish", value_reg(s, "g"), sums, value_reg(s, "mr"), value_reg(s, "nr"),
              value_reg(s, "ab"), value_reg(s, "C"), value_reg(s, "D"),
              value_expr(s, expr_add(pool, host_int(t, "m1"), host_tile_row(t))), value_reg(s, "runs"),
              value_reg(s, "its"), value_reg(s, "j"));
    stmt_end(s);
}

/* ---- register tiles ---- */

void host_runs_taps_open(HostText *t)
{
    Stmts *s = &t->s;
    const Expr *tap = host_loop(t, "tap", host_int(t, "runs->taps"), 1);
    stmt_var(s, "int64_t", "k", value_at(s, value_reg(s, "runs->tap_rows"), tap));
    stmt_if(s, value_op(s, VALUE_LT, value_at(s, value_reg(s, "slot"), tap), value_int(s, 0)));
    stmt_update(s, VALUE_ADD, value_reg(s, "a"),
                value_expr(s, expr_mul_i(&s->pool, host_int(t, "k"), t->p->mr)));
    stmt_next(s);
    stmt_end(s);
    stmt_var(s, "const @TC *", "b",
             value_op(s, VALUE_ADD, value_reg(s, "packed"), value_at(s, value_reg(s, "slot"), tap)));
}

void host_runs_taps_close(HostText *t) { stmt_end(&t->s); }
