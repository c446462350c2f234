/* Contractions that are no GEMM: arguments, packing by offsets, results by offsets. A panel's rows have
 * their offsets and their positions in zero padding in tables, which are counted up digit by digit.
 * Elements of K that differ in the fastest summation index alone (a tap) are packed together: which of the
 * panel's rows are zero is found once for them. */
#include "kernel/host/text.h"

static ContractNames names(HostText *t) { return (ContractNames){&t->s, "x->"}; }

static const Expr *address(HostText *t, HostOperand o, const Expr *row, const Expr *column, const Expr *z)
{
    const ContractNames of = names(t);
    const Expr *const coord[CONTRACT_COORDS] = {row, column, z};
    return expr_mul_i(&t->s.pool, contract_address(t->indices, (int)o, &of, coord), t->p->parts);
}

/* A coordinate: never negative, below 2^31. */
static const Expr *coordinate(HostText *t, const Expr *e) { return expr_u31(&t->s.pool, e); }

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

/* ---- rows ---- */

/* An array of the steps of a group's digits, or of their sizes: `const int64_t name[] = {..}`. */
static void digits_array(HostText *t, const char *name, int n, const Expr *const *e)
{
    Stmts *s = &t->s;
    stmt_array(s, "int64_t", name, DIMS(n));
    for (int d = 0; d < n; d++) stmt_set(s, value_named(s, "%s[%d]", name, d), value_expr(s, e[d]));
}

/* A group without an index has one value. */
int host_dims_digits(const IndexList *l) { return l->n ? l->n : 1; }

void host_dims_sizes(HostText *t, const char *name, const IndexList *l)
{
    const ContractNames of = names(t);
    const Expr *e[INDEX_MAX] = {host_number(t, 1)};
    for (int32_t d = 0; d < l->n; d++) e[d] = contract_extent(&of, l->v[d]);
    digits_array(t, name, host_dims_digits(l), e);
}

/* What an operand's offset grows by with an index; pad >= 0: the position of that zero pad. */
const Expr *host_dims_step(HostText *t, HostOperand o, int32_t index, int pad)
{
    const Indices *x = t->indices;
    const ContractNames of = names(t);
    const Expr *step = contract_index_step(x, (int)o, &of, index);
    if (pad < 0) return expr_mul_i(&t->s.pool, step, t->p->parts);
    if (x->pad[o][pad].free != index && x->pad[o][pad].sum != index) return host_number(t, 0);
    /* positions do not go down */
    return index_list_has(&x->mirror[o], index) ? expr_sub(&t->s.pool, host_number(t, 0), step) : step;
}

/* The steps of a group's indices. */
static void steps_array(HostText *t, const char *name, HostOperand o, const IndexList *l, int pad)
{
    const Expr *e[INDEX_MAX] = {host_number(t, 0)};
    for (int32_t d = 0; d < l->n; d++) e[d] = host_dims_step(t, o, l->v[d], pad);
    digits_array(t, name, host_dims_digits(l), e);
}

/* @rows(digits, size, steps, first, n, to) */
static const Value *rows_call(HostText *t, const IndexList *l, const char *steps, const char *first,
                              const char *n, const char *to)
{
    Stmts *s = &t->s;
    return value_call(s, "@rows", value_int(s, host_dims_digits(l)), value_reg(s, "size"),
                      value_reg(s, steps), value_reg(s, first), value_reg(s, n), value_reg(s, to));
}

/* ---- packing ---- */

/* Complex elements of the rows of a tap, real parts and imaginary parts. */
static void pack_complex(HostText *t, HostOperand o, int width)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const HostPlan *p = t->p;
    const Expr *r = host_loop(t, "r", host_int(t, "rows"), 1);
    const Expr *i = host_loop(t, "i", host_number(t, width), 1);
    const Expr *at = expr_add(pool, host_int(t, "row[i]"), expr_mul(pool, r, host_int(t, "step_k")));
    const Expr *v = expr_div_i(pool, i, p->vl), *lane = expr_mod(pool, i, host_number(t, p->vl));
    const Value *bits = value_at(s, value_reg(s, "its"), v);
    const Value *kept =
        value_op(s, VALUE_AND, value_op(s, VALUE_SHR, bits, value_expr(s, lane)), value_int(s, 1));
    for (int part = 0; part < p->parts; part++) {
        const Expr *to = o == HOST_B ? expr_add_i(pool, expr_mul_i(pool, i, p->parts), part)
                                     : expr_add_i(pool, i, (int64_t)part * width);
        const Value *x = host_element(t, "from", expr_add_i(pool, at, part));
        if (part && p->conj[o]) x = value_op(s, VALUE_NEG, x, NULL);
        stmt_set(s, host_element(t, "o", to), value_int(s, 0));
        stmt_if(s, kept);
        stmt_set(s, host_element(t, "o", to), x);
        stmt_end(s);
    }
    stmt_end(s);
    stmt_update(s, VALUE_ADD, value_reg(s, "o"), value_int(s, width * p->parts));
    stmt_end(s);
}

/* The steps of K's digits in an operand: of its offset (pad -1) and of the positions along its zero pads. */
static void sum_steps(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    const IndexList *sums = &t->indices->group[INDICES_K];
    stmt_array(s, "int64_t", "step_sum", DIMS(1 + t->indices->n_pads[o], t->digits));
    for (int pad = -1; pad < t->indices->n_pads[o]; pad++)
        for (int d = 0; d < host_dims_digits(sums); d++) {
            const Expr *step = d < sums->n ? host_dims_step(t, o, sums->v[d], pad) : host_number(t, 0);
            stmt_set(s, value_named(s, "step_sum[%d][%d]", pad + 1, d), value_expr(s, step));
        }
}

/* The zero pad along which the operand's elements of a run lie, so that each of them is inside or outside of
 * its own; -1: none. Backward weights have one: a run is a row of the output. */
static int pad_of_run(const HostText *t, HostOperand o)
{
    const int32_t run = contract_run_index(t->indices, (int)o, o == HOST_A ? CONTRACT_COLUMN : CONTRACT_ROW);
    for (int32_t pad = 0; pad < t->indices->n_pads[o]; pad++)
        if (t->indices->pad[o][pad].sum == run) return pad;
    return -1;
}

void host_dims_taps(HostText *t, HostOperand o, const char *rows)
{
    Stmts *s = &t->s;
    const IndexList *sums = &t->indices->group[INDICES_K];
    const int places = 1 + t->indices->n_pads[o];
    const bool single =
        pad_of_run(t, o) >= 0 && t->p->parts == 2; /* complex elements are packed one by one */
    const Value *most = single ? value_int(s, 1) : value_reg(s, "k"), *part = value_reg(s, "@RUN_PART");
    host_dims_sizes(t, "size_sum", sums);
    sum_steps(t, o);
    if (t->p->runs)
        part = value_call(s, "@part", value_int(s, host_dims_digits(sums)), value_reg(s, "size_sum"));
    stmt_array(s, "int64_t", "tap_at", DIMS(places, t->p->kc));
    stmt_define(s, "int64_t", "taps",
                value_call(s, "@taps", value_int(s, host_dims_digits(sums)), value_reg(s, "size_sum"),
                           value_int(s, places), value_reg(s, "step_sum"), value_reg(s, "k0"),
                           value_reg(s, "k"), part, most, value_reg(s, rows), value_reg(s, "tap_at")));
}

/* Finds the taps of the chunk (text/taps.h), and for each of the zero pads between which positions of the
 * panel's side it is inside: the number of these bounds in a list. Taps share them, for instance those of a
 * row of a filter. */
static void find_taps(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Indices *x = t->indices;
    const ContractNames of = names(t);
    const int n = t->p->kc;
    stmt_array(s, "int64_t", "tap_rows", DIMS(n));
    host_dims_taps(t, o, "tap_rows");
    for (int32_t pad = 0; pad < x->n_pads[o]; pad++) {
        stmt_array(s, "int64_t", stmts_name(s, "tap_bounds_%d", pad), DIMS(n));
        stmt_array(s, "int64_t", stmts_name(s, "from_%d", pad), DIMS(n));
        stmt_array(s, "int64_t", stmts_name(s, "below_%d", pad), DIMS(n));
        stmt_var(s, "int64_t", stmts_name(s, "bounds_%d", pad), value_int(s, 0));
        host_loop(t, "tap", host_int(t, "taps"), 1);
        const Expr *of_k = host_int(t, stmts_name(s, "tap_at[%d][tap]", pad + 1));
        const Expr *first = contract_pad_start(x, (int)o, &of, pad),
                   *edge = contract_pad_edge(x, (int)o, &of, pad);
        stmt_set(s, value_named(s, "tap_bounds_%d[tap]", pad),
                 value_call(s, "@bounds", value_named(s, "from_%d", pad), value_named(s, "below_%d", pad),
                            value_op(s, VALUE_ADDRESS, value_named(s, "bounds_%d", pad), NULL),
                            value_expr(s, expr_sub(pool, first, of_k)),
                            value_expr(s, expr_sub(pool, edge, of_k))));
        stmt_end(s);
    }
}

/* The elements of a panel's vectors that are inside the bounds of a zero padding, as bits: for each of the
 * bounds. */
static void find_inside(HostText *t, int pad, int vectors)
{
    Stmts *s = &t->s;
    const char *bits = stmts_name(s, "inside_%d", pad);
    stmt_array(s, "unsigned", bits, DIMS(t->p->kc * vectors));
    const Expr *b = host_loop(t, "b", host_int(t, stmts_name(s, "bounds_%d", pad)), 1);
    const Expr *v = host_loop(t, "v", host_number(t, vectors), 1);
    const Expr *at = expr_add(&s->pool, expr_mul_i(&s->pool, b, vectors), v);
    stmt_set(s, value_at(s, value_reg(s, bits), at),
             value_call(s, "@between", value_named(s, "at_%d + v * @VL", pad),
                        value_named(s, "from_%d[b]", pad), value_named(s, "below_%d[b]", pad)));
    stmt_end(s);
    stmt_end(s);
}

/* The vectors of a panel whose elements are there and inside the zero padding, as bits: for each tap. */
static void find_kept(HostText *t, HostOperand o, int vectors)
{
    Stmts *s = &t->s;
    stmt_array(s, "unsigned", "kept", DIMS(t->p->kc * vectors));
    const Expr *tap = host_loop(t, "tap", host_int(t, "taps"), 1);
    const Expr *v = host_loop(t, "v", host_number(t, vectors), 1);
    const Value *kept = value_reg(s, "present[v]");
    for (int32_t pad = 0; pad < t->indices->n_pads[o]; pad++) {
        if (pad == pad_of_run(t, o) && t->p->parts == 1) continue; /* @pack_runs looks at it */
        const Value *in = value_named(s, "inside_%d[tap_bounds_%d[tap] * %d + v]", pad, pad, vectors);
        kept = value_op(s, VALUE_AND, kept, in);
    }
    stmt_set(s, value_at(s, value_reg(s, "kept"), expr_add(&s->pool, expr_mul_i(&s->pool, tap, vectors), v)),
             kept);
    stmt_end(s);
    stmt_end(s);
}

/* Packs a tap whose elements lie along a zero pad. */
static void pack_runs(HostText *t, HostOperand o, int width)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const int pad = pad_of_run(t, o);
    const ContractNames of = names(t);
    const Expr *before = host_int(t, stmts_name(s, "tap_at[%d][tap]", pad + 1));
    const Expr *first = expr_sub(pool, contract_pad_start(t->indices, (int)o, &of, pad), before);
    const Expr *edge = expr_sub(pool, contract_pad_edge(t->indices, (int)o, &of, pad), before);
    stmt_define(s, "@Pad", "pad",
                value_list(s, value_named(s, "at_%d", pad), value_expr(s, first), value_expr(s, edge),
                           value_named(s, "step_sum[%d][0]", pad + 1)));
    stmt_call(s, "@pack_runs", value_reg(s, "from"), value_reg(s, "row"), value_reg(s, "its"),
              value_op(s, VALUE_ADDRESS, value_reg(s, "pad"), NULL), value_int(s, width),
              value_reg(s, "step_k"), value_reg(s, "rows"), value_reg(s, "o"));
}

/* Packs the taps one by one. */
static void pack_taps(HostText *t, HostOperand o, int width, int vectors)
{
    Stmts *s = &t->s;
    host_loop(t, "tap", host_int(t, "taps"), 1);
    host_pointer(t, "const @TI *", "from", "p", host_int(t, "tap_at[0][tap]"));
    stmt_let(s, "rows", host_int(t, "tap_rows[tap]"));
    stmt_var(s, "const unsigned *", "its", value_named(s, "kept + tap * %d", vectors));
    if (t->p->parts == 2) {
        pack_complex(t, o, width);
    } else {
        if (pad_of_run(t, o) >= 0)
            pack_runs(t, o, width);
        else
            stmt_call(s, "@pack_each", value_reg(s, "from"), value_reg(s, "row"), value_reg(s, "its"),
                      value_int(s, width), value_reg(s, "step_k"), value_reg(s, "rows"), value_reg(s, "o"));
        stmt_update(s, VALUE_ADD, value_reg(s, "o"),
                    value_expr(s, expr_mul_i(&s->pool, host_int(t, "rows"), width)));
    }
    stmt_end(s);
}

/* Packs a panel: vector by vector where it has whole ones. */
static void pack_panel(HostText *t, HostOperand o, int width)
{
    Stmts *s = &t->s;
    const int vectors = (width + t->p->vl - 1) / t->p->vl;
    find_kept(t, o, vectors);
    if (o == HOST_B || width % t->p->vl || t->p->parts == 2 || pad_of_run(t, o) >= 0) {
        pack_taps(t, o, width, vectors);
        return;
    }
    stmt_define(s, "@Taps", "all",
                value_list(s, value_reg(s, "taps"), value_reg(s, "step_k"), value_reg(s, "tap_rows"),
                           value_reg(s, "tap_at[0]"), value_reg(s, "kept")));
    stmt_call(s, "@pack_vectors", value_reg(s, "p"), value_op(s, VALUE_ADDRESS, value_reg(s, "all"), NULL),
              value_reg(s, "row"), value_reg(s, "line"), value_int(s, width), value_reg(s, "o"));
    stmt_update(s, VALUE_ADD, value_reg(s, "o"),
                value_expr(s, expr_mul_i(&s->pool, host_int(t, "k"), width)));
}

/* Offsets of a panel's rows, and their positions in zero padding. */
static void panel_rows(HostText *t, HostOperand o, const IndexList *side, int vectors)
{
    Stmts *s = &t->s;
    const int n = vectors * t->p->vl;
    stmt_array(s, "int64_t", "row", DIMS(n));
    stmt_array(s, "unsigned", "present", DIMS(vectors));
    stmt_array(s, "@Line", "line", DIMS(vectors));
    stmt_do(s, rows_call(t, side, "step", "first", "w", "row"));
    stmt_call(s, "@panel", value_int(s, vectors), value_reg(s, "w"), value_reg(s, "row"),
              value_reg(s, "present"), value_reg(s, "line"));
    for (int32_t pad = 0; pad < t->indices->n_pads[o]; pad++) {
        const char *at = stmts_name(s, "at_%d", pad);
        stmt_var(s, "int64_t", stmts_name(s, "%s[%d]", at, n), value_named(s, "{0}"));
        stmt_do(s, rows_call(t, side, stmts_name(s, "pad_%d", pad), "first", "w", at));
        find_inside(t, pad, vectors);
    }
}

static void pack(HostText *t, HostOperand o)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const ContractNames of = names(t);
    const int width = o == HOST_B ? t->p->nr : t->p->mr;
    const IndexList *side = &t->indices->group[o == HOST_B ? INDICES_N : INDICES_M];
    const Expr *step =
        contract_run_step(t->indices, (int)o, &of, o == HOST_A ? CONTRACT_COLUMN : CONTRACT_ROW);
    stmt_gap(s);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = o == HOST_B ? "@pack_b" : "@pack_a",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TI *", "p"},
                                            {"int64_t", "from_row"}, {"int64_t", "n"}, {"int64_t", "k0"},
                                            {"int64_t", "k"}, {"@TC *restrict", "o"})});
    host_dims_open(t);
    HOST_UNUSED(t, "x");
    host_dims_sizes(t, "size", side);
    steps_array(t, "step", o, side, -1);
    for (int32_t pad = 0; pad < t->indices->n_pads[o]; pad++)
        steps_array(t, stmts_name(s, "pad_%d", pad), o, side, pad);
    stmt_let(s, "step_k", expr_mul_i(pool, step, t->p->parts));
    find_taps(t, o);
    const Expr *panel = host_loop(t, "panel", host_int(t, "n"), width);
    stmt_let(s, "first", expr_add(pool, host_int(t, "from_row"), panel));
    const Expr *left = expr_sub(pool, host_int(t, "n"), panel);
    stmt_let(s, "w", expr_op(pool, EXPR_MIN, left, host_number(t, width)));
    panel_rows(t, o, side, (width + t->p->vl - 1) / t->p->vl);
    HOST_UNUSED(t, "line");
    pack_panel(t, o, width);
    stmt_end(s);
    stmt_end(s);
}

void host_dims_packs(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    /* 16 KiB of filter elements of 3x3 for 12 columns; of backward weights, whose runs are rows of pixels, a
     * whole row, since each has its own bounds in the zero padding */
    enum { RUN_PART = 32, RUN_PART_OF_PIXELS = 64 };
    const bool pixels = pad_of_run(t, HOST_A) >= 0;
    t->digits = 1;
    for (int g = 0; g < INDICES_GROUPS; g++)
        if (t->indices->group[g].n > t->digits) t->digits = t->indices->group[g].n;
    stmt_gap(s);
    stmt_constant(s, "int", "@DIGITS", t->digits);
    stmt_constant(s, "int", "@KC", p->kc);
    stmt_constant(s, "int", "@RUN_PART", pixels ? RUN_PART_OF_PIXELS : RUN_PART);
    stmt_file(s, "host/rows.h");
    stmt_file(s, "host/taps.h");
    stmt_file(s, "host/between.h");
    if (p->parts == 1) {
        const bool masks = p->in.type == p->compute.type && p->level >= 4;
        if (masks) stmt_typedef(s, p->vl > 8 ? "__mmask16" : "__mmask8", "@Lanes", NULL);
        stmt_macro(s, "@MASKED_LOADS", masks ? "1" : "0");
        stmt_macro(s, "@SPREAD_LOADS", masks && p->vl * p->compute.bytes == 64 ? "1" : "0"); /* 512 bits */
        /* vectors of 16 floats, which text/turn.h transposes */
        const bool turned = masks && p->vl == 16 && p->compute.type == TYPE_S;
        stmt_macro(s, "@TURNED_LOADS", turned ? "1" : "0");
        if (turned) stmt_file(s, "host/turn.h");
        stmt_file(s, "host/pack_rows.h");
    }
    if (p->runs) host_runs_text(t);
    pack(t, HOST_A);
    if (p->runs)
        host_runs_pack(t);
    else
        pack(t, HOST_B);
}

/* ---- results ---- */

/* Rows that follow each other, of a kernel that does not read C, are stored as vectors. */
bool host_dims_stores_lines(const HostPlan *p) { return p->parts == 1 && !p->use_beta; }

/* Stores the sums of a column; line: C and D have its rows one behind the other. A kernel without beta does
 * not read C. */
static void store_column(HostText *t, bool line)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const HostPlan *p = t->p;
    const Expr *column = expr_mul_i(pool, host_int(t, "j"), (int64_t)p->mr * p->parts);
    if (line && host_dims_stores_lines(p)) {
        const Expr *to = expr_add(pool, host_int(t, "column_d"), host_int(t, "row_d[0]"));
        stmt_call(s, "@store_line", host_plus(t, "d", to), host_plus(t, "s", column), value_reg(s, "ab"),
                  value_reg(s, "m"));
        return;
    }
    const Expr *i = host_loop(t, "i", host_int(t, "m"), 1);
    const Expr *along_line = expr_mul_i(pool, i, p->parts);
    const Expr *row_d = line ? expr_add(pool, host_int(t, "row_d[0]"), along_line) : host_int(t, "row_d[i]");
    const Expr *row_c = line ? expr_add(pool, host_int(t, "row_c[0]"), along_line) : host_int(t, "row_c[i]");
    const Expr *d = expr_add(pool, host_int(t, "column_d"), row_d);
    const Expr *c = p->use_beta ? expr_add(pool, host_int(t, "column_c"), row_c) : host_number(t, 0);
    const Expr *at = expr_add(pool, column, i);
    stmt_call(s, "@store_result", host_plus(t, "d", d), value_reg(s, "ab"), host_element(t, "s", at),
              host_element(t, "s", expr_add_i(pool, at, (int64_t)p->mr * (p->parts - 1))),
              host_plus(t, "c", c));
    stmt_end(s);
}

/* Emits the text that stores lines, where the kernel does, and @MR. */
static void line_text(HostText *t)
{
    Stmts *s = &t->s;
    stmt_gap(s);
    if (!host_dims_stores_lines(t->p)) return;
    stmt_constant(s, "int", "@MR", t->p->mr);
    stmt_file(s, "host/store_line.h");
}

void host_dims_finish(HostText *t)
{
    Stmts *s = &t->s;
    const bool has_c = t->p->use_beta;
    const IndexList *side = &t->indices->group[INDICES_M];
    const Expr *zero = host_number(t, 0);
    line_text(t);
    stmt_function(s, (Function){.kind = FUNCTION_STATIC,
                                .name = "@finish",
                                STMT_PARAMS({"const @Args *", "g"}, {"const @TC *", "s"}, {"int64_t", "m"},
                                            {"int64_t", "n"}, {"const @TC *", "ab"}, {"const @TD *", "c"},
                                            {"@TD *", "d"}, {"int64_t", "row"}, {"int64_t", "column"})});
    host_dims_open(t);
    host_dims_sizes(t, "size", side);
    steps_array(t, "step_d", HOST_D, side, -1);
    stmt_array(s, "int64_t", "row_d", DIMS(t->p->mr));
    stmt_var(s, "int", "line", rows_call(t, side, "step_d", "row", "m", "row_d"));
    if (has_c) {
        steps_array(t, "step_c", HOST_C, side, -1);
        stmt_array(s, "int64_t", "row_c", DIMS(t->p->mr));
        stmt_update(s, VALUE_AND, value_reg(s, "line"), rows_call(t, side, "step_c", "row", "m", "row_c"));
    }
    const Expr *j = host_loop(t, "j", host_int(t, "n"), 1);
    const Expr *column = coordinate(t, expr_add(&s->pool, host_int(t, "column"), j));
    if (has_c) stmt_let(s, "column_c", address(t, HOST_C, zero, column, zero));
    stmt_let(s, "column_d", address(t, HOST_D, zero, column, zero));
    stmt_if(s, value_reg(s, "line"));
    store_column(t, true);
    stmt_else(s);
    store_column(t, false);
    stmt_end(s);
    stmt_end(s);
    stmt_end(s);
}
