/* Helper kernels of GlobalSplitU: beta-only (before the main kernel) and PostGSU (after it). A work-group is
 * 256 work-items; argument order and names are those of tensile-formats 8.4.
 */
#include "kernel/host/host.h"

#include "kernel/helper.h"
#include "kernel/host/text.h"
#include "problem/helper_name.h"

/* Returns the C type of the workspace's elements. */
static const char *workspace_type(const HostPlan *p) { return p->scalar.bytes == 2 ? "@TI" : "@TC"; }

static void offsets(HostText *t)
{
    if (t->p->strided) return;
    host_arg(t, "offd", 8);
    host_arg(t, "offc", 8);
}

/* Opens the loops over the elements of the work-groups, by columns: column j of matrix z of the batch. */
static void open_columns(HostText *t, int64_t per_group)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const Expr *m = host_int(t, "g->m"), *n = host_int(t, "g->n"), *batch = host_int(t, "g->batch");
    const Expr *all = expr_mul(pool, expr_mul(pool, m, n), batch);
    const Expr *from = host_int(t, "from"), *end = host_int(t, "end"),
               *to = expr_op(pool, EXPR_MIN, end, all);
    const Value *group = value_int(s, per_group);
    stmt_define(s, "int64_t", "from", value_op(s, VALUE_MUL, value_reg(s, "first"), group));
    stmt_define(s, "int64_t", "end", value_op(s, VALUE_MUL, value_reg(s, "last"), group));
    to = stmt_let(s, "to", to);
    stmt_if_expr(s, expr_op(pool, EXPR_LE, to, from));
    stmt_return(s, NULL);
    stmt_end(s);
    const Expr *column = host_int(t, "column"), *before = expr_mul(pool, column, m);
    stmt_loop(s, (Loop){.var = "column",
                        .type = "int64_t",
                        .start = expr_div(pool, from, m),
                        .condition = value_expr(s, expr_op(pool, EXPR_LT, before, to))});
    stmt_let(s, "j", expr_mod(pool, column, n));
    stmt_let(s, "z", expr_div(pool, column, n));
}

/* Opens the loop over those elements of the column that belong to the work-groups. */
static const Expr *open_rows(HostText *t)
{
    ExprPool *pool = &t->s.pool;
    const Expr *m = host_int(t, "g->m"), *before = expr_mul(pool, host_int(t, "column"), m);
    const Expr *i = expr_sub(pool, host_int(t, "from"), before),
               *stop = expr_sub(pool, host_int(t, "to"), before);
    stmt_loop(&t->s, (Loop){.var = "i",
                            .type = "int64_t",
                            .start = expr_op(pool, EXPR_MAX, i, host_number(t, 0)),
                            .limit = stmt_let(&t->s, "stop", expr_op(pool, EXPR_MIN, stop, m))});
    return host_int(t, "i");
}

/* Declares a pointer to column j of a tensor. pointer: its name in the text; like: the operand that has the
 * same view. */
static void column_of(HostText *t, const char *pointer, char field, HostOperand like, const char *type,
                      bool array)
{
    Stmts *s = &t->s;
    const Value *base = host_matrix(t, field, type, field != 'd', !array, "z");
    const Expr *at =
        host_address(t, like, stmts_name(s, "g->ld%c", field), host_number(t, 0), host_int(t, "j"));
    stmt_var(s, stmts_name(s, "%s%s *", field == 'd' ? "" : "const ", type), pointer,
             value_op(s, VALUE_ADD, base, value_expr(s, at)));
}

/* Returns the offset of element i in a column. The parts of complex numbers follow each other. */
static const Expr *row_at(HostText *t, HostOperand like, const Expr *i)
{
    return host_address(t, like, like == HOST_C ? "g->ldc" : "g->ldd", i, host_number(t, 0));
}

/* Stores what the ops make of a sum; with beta 0, C is not read. sum[1]: the imaginary part. */
static void store(HostText *t, const Expr *i, const Value *const sum[2], const char *to)
{
    Stmts *s = &t->s;
    const Expr *d = row_at(t, HOST_D, i);
    const Value *ab = value_reg(s, "g->ab"), *c = host_plus(t, "cp", row_at(t, HOST_C, i));
    if (t->p->parts == 2) {
        stmt_call(s, "@store_result", host_plus(t, "dp", d), ab, sum[0], sum[1], c);
        return;
    }
    const Value *const arg[] = {ab,
                                sum[0],
                                c,
                                value_cast(s, "const @Fused *", value_reg(s, "g")),
                                value_expr(s, i),
                                value_reg(s, "j"),
                                value_reg(s, "z")};
    const Value *v = value_call_n(s, "@result", fused_any(&t->p->fused) ? 7 : 3, arg);
    stmt_set(s, host_element(t, "dp", d), to ? value_call(s, to, v) : v);
}

/* What a helper kernel is made of, and its text. */
typedef struct {
    HostText text;
    HostPlan plan;
    Program program; /* the ops on a sum */
    Arena arena;
} HostHelper;

/* fused: it does the fused operations. */
static Err helper_init(HostHelper *h, const ProblemType *pt, const Target *target, bool fused)
{
    HostPlan *p = &h->plan;
    View view[4];
    for (int i = 0; i < 4; i++) program_view(&view[i], i, false);
    host_plan_types(p, pt, target);
    if (!p->in.c || !p->compute.c || !p->out.c)
        FAIL(ERR_INPUT, "host kernels have no data types '%s', '%s', '%s'",
             type_letter((DataType)pt->DataType), type_letter((DataType)pt->DestDataType),
             type_letter((DataType)pt->ComputeDataType));
    if (!fused) p->fused = (Fused){0};
    arena_init(&h->arena, 0);
    p->epilogue = epilogue_of_sums(&h->program, &h->arena, p->compute.type, p->dest, &p->fused);
    Err e = p->epilogue ? host_text_init(&h->text, p, view)
                        : err_set(ERR_FAILED, "out of memory for a helper kernel");
    if (e) {
        arena_fini(&h->arena);
        return e;
    }
    h->text.program = &h->program;
    host_scalars(&h->text);
    return ERR_OK;
}

/* Closes `blocks` blocks and writes the text. */
static Err helper_finish(HostHelper *h, int blocks, Str symbol, Buf *out)
{
    while (blocks--) stmt_end(&h->text.s);
    Err e = host_finish(&h->text, symbol, out);
    host_text_fini(&h->text);
    arena_fini(&h->arena);
    return e;
}

Err host_beta_only(const ProblemType *pt, const Target *target, bool ga, Str symbol, Buf *out)
{
    HostHelper h;
    TRY(helper_init(&h, pt, target, false));
    HostText *t = &h.text;
    const HostPlan *p = &h.plan;
    host_open_kernel(t, symbol, 0);
    host_arg(t, "d", 8);
    host_arg(t, "c", 8);
    offsets(t);
    host_arg_strides(t, 'd');
    host_arg_strides(t, 'c');
    host_arg_sizes(t);
    host_arg_scalar(t, 1);
    open_columns(t, KERNEL_HELPER_GROUP);
    column_of(t, "dp", 'd', HOST_D, ga ? workspace_type(p) : "@TD", !p->strided && !ga);
    column_of(t, "cp", 'c', HOST_C, "@TD", !p->strided);
    const Value *zero = value_int(&t->s, 0);
    store(t, open_rows(t), (const Value *const[]){zero, zero}, ga && p->scalar.bytes != 2 ? NULL : "@to");
    return helper_finish(&h, 3, symbol, out);
}

/* ---- PostGSU ---- */

/* Declares the sum of the parts of one element. They are added in order, so that results do not depend on the
 * number of threads. */
static void sum_parts(HostText *t, const Expr *i, bool both)
{
    Stmts *s = &t->s;
    ExprPool *pool = &s->pool;
    const HostPlan *p = t->p;
    const char *in = both ? "@from" : p->scalar.bytes == 2 ? "@in" : NULL;
    static const char *const names[] = {"s", "si"};
    const Value *from_float =
        value_select(s, value_reg(s, "is_float"), host_element(t, "fp", i), value_int(s, 0));
    for (int part = 0; part < p->parts; part++)
        stmt_var(s, "@TC", names[part], both ? from_float : value_int(s, 0));
    const Expr *all =
        expr_mul(pool, expr_mul(pool, host_int(t, "g->m"), host_int(t, "g->n")), host_int(t, "g->batch"));
    const Expr *first =
        expr_mul_i(pool, expr_mul(pool, host_loop(t, "part", host_int(t, "g->gsu"), 1), all), p->parts);
    for (int part = 0; part < p->parts; part++) {
        const Expr *at = expr_add_i(pool, expr_add(pool, first, row_at(t, HOST_D, i)), part);
        const Value *x = host_element(t, "wp", at);
        stmt_update(s, VALUE_ADD, value_reg(s, names[part]), in ? value_call(s, in, x) : x);
    }
    stmt_end(s);
}

/* Reads the scalars of a kernel that serves two compute types (helper_is_for_both). Those of half are two
 * numbers of 2 bytes, so that the arguments after them lie 4 bytes earlier. Sums in float have one part,
 * which is D. */
static void scalars_of_both(HostText *t)
{
    Stmts *s = &t->s;
    stmt_define(
        s, "int", "is_float",
        value_call(s, "@scalars_of_both", host_plus(t, "p", host_number(t, t->at)), value_reg(s, "g->ab")));
    stmt_update(s, VALUE_ADD, value_reg(s, "p"),
                value_select(s, value_reg(s, "is_float"), value_int(s, 4), value_int(s, 0)));
    t->at += 4;
}

static void post_gsu_args(HostText *t, bool both)
{
    static const char *const pointers[] = {"d", "w", "c"};
    Stmts *s = &t->s;
    for (int i = 0; i < 3; i++) host_arg(t, pointers[i], 8);
    offsets(t);
    if (both) {
        scalars_of_both(t);
    } else {
        host_arg_scalar(t, 0);
        host_arg_scalar(t, 1);
    }
    for (int i = 0; i < 3; i++) host_arg_strides(t, *pointers[i]);
    host_arg_sizes(t);
    if (both) { /* arguments that the launch does not pass are not read */
        stmt_if(s, value_op(s, VALUE_NOT, value_reg(s, "is_float"), NULL));
        host_arg(t, "gsu", 4);
        stmt_end(s);
    } else
        host_arg(t, "gsu", 4);
    host_fused_args(t);
}

static void post_gsu(HostText *t, Str symbol, int64_t per_group, bool both)
{
    const HostPlan *p = t->p;
    Stmts *s = &t->s;
    if (both) stmt_file(s, "host/scalars_of_both.h");
    host_open_kernel(t, symbol, 0);
    post_gsu_args(t, both);
    open_columns(t, per_group);
    column_of(t, "dp", 'd', HOST_D, "@TD", !p->strided);
    column_of(t, "wp", 'w', HOST_D, both ? "@TD" : workspace_type(p), false);
    if (both) column_of(t, "fp", 'w', HOST_D, "float", false);
    column_of(t, "cp", 'c', HOST_C, "@TD", !p->strided);
    const Expr *i = open_rows(t);
    sum_parts(t, i, both);
    store(t, i, (const Value *const[]){value_reg(s, "s"), value_reg(s, "si")}, "@to");
}

Err host_post_gsu(const ProblemType *pt, const Target *target, Str symbol, Buf *out)
{
    HostHelper h;
    int64_t vw = helper_name_width(symbol), reducers = helper_name_reducers(symbol);
    int64_t per_group = KERNEL_HELPER_GROUP * vw / reducers;
    if (vw > 16 || reducers > KERNEL_HELPER_GROUP || per_group < 1)
        FAIL(ERR_INPUT, "'%.*s' names vector width %lld and %lld reducers", STR_ARG(symbol), (long long)vw,
             (long long)reducers);
    TRY(helper_init(&h, pt, target, true));
    post_gsu(&h.text, symbol, per_group, helper_is_for_both(pt, target, symbol));
    return helper_finish(&h, 3, symbol, out);
}

/* ---- flags ---- */

Err host_flags(const ProblemType *pt, const Target *target, Str symbol, Buf *out)
{
    HostHelper h;
    TRY(helper_init(&h, pt, target, false));
    HostText *t = &h.text;
    Stmts *s = &t->s;
    host_open_kernel(t, symbol, 0);
    host_arg(t, "d", 8);
    host_arg(t, "n", 4);
    stmt_var(s, "uint32_t *", "flags", value_cast(s, "uint32_t *", value_reg(s, "g->d")));
    const Expr *group = host_number(t, KERNEL_HELPER_GROUP);
    const Expr *end = expr_mul(&s->pool, host_int(t, "last"), group);
    stmt_loop(s, (Loop){.var = "i",
                        .type = "int64_t",
                        .start = expr_mul(&s->pool, host_int(t, "first"), group),
                        .limit = expr_op(&s->pool, EXPR_MIN, end, host_int(t, "g->n"))});
    stmt_set(s, host_element(t, "flags", host_int(t, "i")), value_int(s, 0));
    return helper_finish(&h, 2, symbol, out);
}
