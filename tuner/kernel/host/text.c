/* Integers, addresses, kernel arguments and the frame of a host kernel's text. See text.h. */
#include "kernel/host/text.h"

#include "kernel/host/host.h"
#include "kernel/text.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/version.h"

/* A limit far above the memory that the largest register tile needs for its statements. */
enum { STMTS_BYTES = 256 << 20 };

Err host_text_init(HostText *t, const HostPlan *p, const View view[4])
{
    *t = (HostText){.p = p, .indices = p->indices};
    for (int i = 0; i < 4 && !p->indices; i++) {
        const Expr *length;
        t->view[i] = view[i];
        if (!view_is_matrix(&view[i]))
            FAIL(ERR_INPUT, "host kernels walk matrices; the view of %c is none", "ABCD"[i]);
        Expr node[8];
        ExprPool pool;
        expr_pool_fixed(&pool, node, 8);
        int d = view_contiguous(&pool, &view[i], &length), top[VIEW_MAX_DIMS];
        view_top(&view[i], top);
        if (d != top[0] && d != top[1])
            FAIL(ERR_INPUT, "host kernels need rows or columns in one piece; the view of %c has none",
                 "ABCD"[i]);
        t->contiguous[i] = d == top[1];
    }
    stmts_init(&t->s, STMTS_BYTES);
    return ERR_OK;
}

void host_text_fini(HostText *t) { stmts_fini(&t->s); }

/* ---- integers ---- */

/* The bound of variables: wide enough for every count of elements, so that their expressions are int64_t. */
static const int64_t INT_MOST = INT64_C(1) << 40;

const Expr *host_int(HostText *t, const char *name)
{
    return expr_var(&t->s.pool, name, 0, -INT_MOST, INT_MOST);
}

const Expr *host_number(HostText *t, int64_t n) { return expr_const(&t->s.pool, n); }

const Expr *host_address(HostText *t, HostOperand o, const char *ld, const Expr *row, const Expr *column)
{
    const Expr *coord[] = {row, column};
    const Expr *e = view_address_by(&t->s.pool, &t->view[o], coord, host_int(t, ld));
    return expr_mul_i(&t->s.pool, e, t->p->parts);
}

const Expr *host_address_k(HostText *t, HostOperand o, const char *ld, const Expr *side, const Expr *k)
{
    return o == HOST_A ? host_address(t, o, ld, side, k) : host_address(t, o, ld, k, side);
}

/* ---- values ---- */

const Value *host_plus(HostText *t, const char *pointer, const Expr *offset)
{
    const Value *base = value_reg(&t->s, pointer);
    return expr_is(offset, 0) ? base : value_op(&t->s, VALUE_ADD, base, value_expr(&t->s, offset));
}

const Value *host_element(HostText *t, const char *pointer, const Expr *offset)
{
    return value_at(&t->s, value_reg(&t->s, pointer), offset);
}

void host_pointer(HostText *t, const char *type, const char *name, const char *base, const Expr *offset)
{
    stmt_var(&t->s, type, name, host_plus(t, base, offset));
}

const Value *host_matrix(HostText *t, char name, const char *type, bool is_const, bool strided, const char *z)
{
    Stmts *s = &t->s;
    const char *what = is_const ? "const " : "";
    const Value *x = value_named(s, "g->%c", name);
    if (!strided) {
        x = value_cast(s, stmts_name(s, "%s%s *const *", what, type), x);
        const Expr *start = host_int(t, stmts_name(s, "g->off%c", name));
        return value_op(s, VALUE_ADD, value_at(s, x, host_int(t, z)),
                        value_expr(s, expr_mul_i(&s->pool, start, t->p->parts)));
    }
    const Expr *start = expr_mul(&s->pool, host_int(t, z), host_int(t, stmts_name(s, "g->batch%c", name)));
    return value_op(s, VALUE_ADD, value_cast(s, stmts_name(s, "%s%s *", what, type), x),
                    value_expr(s, expr_mul_i(&s->pool, start, t->p->parts)));
}

void host_unused(HostText *t, int n, const char *const *names)
{
    for (int i = 0; i < n; i++) stmt_do(&t->s, value_cast(&t->s, "void", value_reg(&t->s, names[i])));
}

const Expr *host_loop(HostText *t, const char *name, const Expr *limit, int64_t step)
{
    Loop l = {.var = name, .type = "int64_t", .start = host_number(t, 0), .limit = limit, .step = step};
    stmt_loop(&t->s, l);
    return host_int(t, name);
}

/* ---- kernel arguments ---- */

/* Returns p plus the offset of the next argument. */
static const Value *place(HostText *t, int align, int bytes)
{
    t->at = (t->at + align - 1) / align * align;
    const Value *at = host_plus(t, "p", host_number(t, t->at));
    t->at += bytes;
    return at;
}

void host_arg_to(HostText *t, const char *variable, int bytes)
{
    Stmts *s = &t->s;
    const Value *at = place(t, bytes, bytes);
    if (variable) stmt_set(s, value_reg(s, variable), value_call(s, "@word", at, value_int(s, bytes)));
}

void host_arg(HostText *t, const char *field, int bytes)
{
    host_arg_to(t, stmts_name(&t->s, "g->%s", field), bytes);
}

void host_arg_scalar(HostText *t, int first)
{
    Stmts *s = &t->s;
    const int bytes = t->p->scalar.bytes, parts = t->p->parts;
    for (int part = 0; part < parts; part++) {
        const Value *at = place(t, part ? 1 : bytes * parts, bytes), *x = value_call(s, "@real", at);
        if (bytes == 2) x = value_call(s, "@in", value_call(s, "@word", at, value_int(s, bytes)));
        stmt_set(s, value_named(s, "g->ab[%d]", first * parts + part), x);
    }
}

void host_arg_strides(HostText *t, char tensor)
{
    host_arg(t, stmts_name(&t->s, "ld%c", tensor), 4);
    if (t->p->batched) host_arg(t, stmts_name(&t->s, "batch%c", tensor), 4);
}

void host_arg_sizes(HostText *t)
{
    host_arg(t, "m", 4);
    host_arg(t, "n", 4);
    if (t->p->batched) host_arg(t, "batch", 4);
}

/* The two words of the work-group order (problem/mapping.h). */
static void mapping_args(HostText *t)
{
    static const char *const names[] = {"mapping", "mapping_chunk"};
    Stmts *s = &t->s;
    for (int i = 0; i < 2; i++) {
        const Value *word = value_call(s, "@word", place(t, 4, 4), value_int(s, 4));
        stmt_define(s, "uint32_t", names[i], value_cast(s, "uint32_t", word));
    }
}

void host_fused_args(HostText *t)
{
    Stmts *s = &t->s;
    const Fused *f = &t->p->fused;
    for (int i = 0; i < FUSED_OPERANDS; i++) {
        const char *type = i == FUSED_BIAS ? "const @TB *" : "const @TC *";
        if (!fused_has(f, (FusedOperand)i)) continue;
        const Value *at = place(t, 8, 8);
        stmt_set(s, value_named(s, "args.%s", fused_name((FusedOperand)i)),
                 value_cast(s, type, value_call(s, "@word", at, value_int(s, 8))));
    }
    if (f->bias && t->p->batched)
        stmt_set(s, value_reg(s, "args.bias_batch"), value_call(s, "@word", place(t, 4, 4), value_int(s, 4)));
    for (int i = 0; i < activation_numbers(f->activation); i++) {
        const int bytes = t->p->compute.bytes;
        stmt_set(s, value_named(s, "args.number[%d]", i), value_call(s, "@real", place(t, bytes, bytes)));
    }
}

/* The arguments behind the sizes. StaggerU has no effect here, and the grid has the numbers of tiles. */
static void tail_args(HostText *t)
{
    if (t->p->stagger_argument) (void)place(t, 4, 4);
    for (int i = 0; i < 2; i++) (void)place(t, 4, 4); /* tiles along M and N */
    if (t->program->walk.mapping_words) mapping_args(t);
    host_fused_args(t);
}

void host_args(HostText *t)
{
    Stmts *s = &t->s;
    const HostPlan *p = t->p;
    const bool exchanged = indices_are_exchanged(t->indices);
    const char *const pointers[] = {"d", "c", exchanged ? "b" : "a", exchanged ? "a" : "b"};
    for (int i = 0; i < 4; i++) host_arg(t, pointers[i], 8);
    for (int i = 0; i < 2 && p->joins; i++) {
        const Value *at = place(t, 8, 8);
        stmt_define(s, "uint64_t", i ? "flags" : "slots", value_call(s, "@word", at, value_int(s, 8)));
    }
    for (int i = 0; i < 4 && !p->strided; i++) host_arg(t, stmts_name(s, "off%s", pointers[i]), 8);
    host_arg_scalar(t, 0);
    if (p->use_beta) host_arg_scalar(t, 1);
    if (t->indices) {
        host_dims_args(t);
        tail_args(t);
        return;
    }
    for (int i = 0; i < 4; i++) host_arg_strides(t, *pointers[i]);
    host_arg_sizes(t);
    host_arg(t, "k", 4);
    tail_args(t);
}

/* ---- the frame ---- */

#define EXPORTED "__attribute__((visibility(\"default\"))) "

void host_open_kernel(HostText *t, Str symbol, int64_t local_bytes)
{
    Stmts *s = &t->s;
    const char *name = stmts_name(s, "%.*s", STR_ARG(symbol));
    stmt_gap(s);
    stmt_var(s, EXPORTED "const uint64_t", stmts_name(s, "%s_local_bytes", name), value_int(s, local_bytes));
    stmt_function(s,
                  (Function){.kind = FUNCTION_EXPORTED,
                             .attribute = EXPORTED,
                             .name = name,
                             STMT_PARAMS({"const void *", "kernarg"}, {"const uint32_t", "grid[3]"},
                                         {"uint64_t", "first"}, {"uint64_t", "last"}, {"void *", "local"})});
    HOST_UNUSED(t, "grid", "local");
    stmt_var(s, "const char *", "p", value_reg(s, "kernarg"));
    const bool inner = fused_any(&t->p->fused) || t->indices;
    const Value *zero = value_list(s, value_int(s, 0)), *args = value_reg(s, inner ? "args.args" : "args");
    const char *type = t->indices ? "struct @Dims" : inner ? "@Fused" : "@Args";
    stmt_var(s, type, "args", inner ? value_reg(s, "{.args = {0}}") : zero);
    stmt_var(s, "@Args *const", "g", value_op(s, VALUE_ADDRESS, args, NULL));
    stmt_set(s, value_reg(s, "g->batch"), value_int(s, 1));
}

/* Replaces every '@' by a prefix made from the content's hash, so that texts can be concatenated. */
static Err put_finished(Str title, Str body, Buf *out)
{
    char hex[CONTENT_HEX + 1], prefix[16];
    content_hex(body, hex);
    snprintf(prefix, sizeof prefix, "k%.8s_", hex);
    buf_printf(out, "/* tuner " TUNER_VERSION " host kernel, format 1\n * %.*s\n * content %s */\n",
               STR_ARG(title), hex);
    for (size_t i = 0; i < body.n;) {
        size_t at = str_find(body, '@', i);
        buf_add(out, body.s + i, at - i);
        if (at < body.n) buf_puts(out, prefix);
        i = at + 1;
    }
    return buf_check(out);
}

/* symbol and target, and the solution's name where there is one. */
static Err finish(Str symbol, const Target *target, Str title, Str body, Buf *out)
{
    if (kernel_is_unnamed(symbol)) {
        buf_str(out, body);
        return buf_check(out);
    }
    Buf head;
    buf_init(&head);
    buf_printf(&head, "%.*s for %s", STR_ARG(symbol), target->name);
    if (title.n) buf_printf(&head, "\n * %.*s", STR_ARG(title));
    Err e = buf_check(&head);
    if (!e) e = put_finished(buf_view(&head), body, out);
    buf_fini(&head);
    return e;
}

Err host_finish_program(const Program *p, Str symbol, Str body, Buf *out)
{
    return finish(symbol, p->target, p->title, body, out);
}

Err host_finish(HostText *t, Str symbol, Buf *out)
{
    Buf body;
    buf_init(&body);
    Err e = stmt_print(&t->s, &stmt_words_c, 0, &body);
    if (!e) e = finish(symbol, t->p->target, t->program->title, buf_view(&body), out);
    buf_fini(&body);
    return e;
}
