/* GPU lowering: plans a kernel, puts the pieces of its text together, names it and hashes it. */
#include "base/hash.h"
#include "base/version.h"
#include "kernel/gpu/gpu.h"
#include "kernel/text.h"

/* body with "g_" for every '@', and '@' for "@@". */
static void put_names(Str body, Buf *out)
{
    for (size_t i = 0; i < body.n;) {
        size_t at = str_find(body, '@', i);
        buf_add(out, body.s + i, at - i);
        const bool twice = at + 1 < body.n && body.s[at + 1] == '@';
        if (at < body.n) buf_puts(out, twice ? "@" : "g_");
        i = at + 1 + twice;
    }
}

/* Macros have no namespace: the next kernel of a translation unit may define its own. */
static void put_undefs(Str text, Buf *out)
{
    static const char define[] = "#define g_";
    for (size_t i = 0; (i = str_find(text, '#', i)) < text.n; i++) {
        const Str line = str_sub(text, i, text.n);
        if ((i && text.s[i - 1] != '\n') || !str_starts(line, define)) continue;
        size_t n = sizeof define - 1, end = n;
        while (end < line.n && line.s[end] != ' ' && line.s[end] != '(') end++;
        buf_printf(out, "#undef g_%.*s\n", (int)(end - n), line.s + n);
    }
}

/* The text stands in a namespace named after the content's hash, so that texts can be concatenated. */
Err gpu_finish(const GpuPlan *p, Str title, Str body, Buf *out)
{
    char hex[CONTENT_HEX + 1];
    content_hex(body, hex);
    buf_printf(out, "/* tuner " TUNER_VERSION " %s kernel, format 1\n * %.*s\n * content %s */\n",
               p->dialect->language, STR_ARG(title), hex);
    buf_printf(out, "namespace k%.8s {\n", hex);
    Buf named;
    buf_init(&named);
    put_names(body, &named);
    buf_str(out, buf_view(&named));
    buf_puts(out, "}\n");
    put_undefs(buf_view(&named), out);
    Err e = buf_check(&named);
    buf_fini(&named);
    return e ? e : buf_check(out);
}

Err gpu_finish_program(const Program *program, Str symbol, Str body, Buf *out)
{
    if (kernel_is_unnamed(symbol)) {
        buf_str(out, body);
        return buf_check(out);
    }
    Buf title;
    buf_init(&title);
    buf_printf(&title, "%.*s for %s\n * ", STR_ARG(symbol), program->target->name);
    buf_str(&title, program->title);
    Err e = buf_check(&title);
    if (!e) e = gpu_finish(program->gpu, buf_view(&title), body, out);
    buf_fini(&title);
    return e;
}

void gpu_put(const GpuPlan *p, Stmts *s, Buf *out)
{
    if (stmt_print(s, p->dialect->words, 0, out)) out->failed = true;
    stmts_fini(s);
}

const Expr *gpu_size(Stmts *s, const char *name) { return expr_var(&s->pool, name, 0, 0, INT32_MAX); }

const Expr *gpu_stride(Stmts *s, const char *name) { return expr_var(&s->pool, name, 0, 0, 1ll << 32); }

const Expr *gpu_side(Stmts *s, int i) { return gpu_size(s, i ? "t.n" : "t.m"); }
const Expr *gpu_origin(Stmts *s, int i) { return gpu_size(s, i ? "t.n0" : "t.m0"); }
const Expr *gpu_leading(Stmts *s, int i) { return gpu_stride(s, i ? "t.ldb" : "t.lda"); }
const Value *gpu_operand_start(Stmts *s, int i) { return value_reg(s, i ? "t.b" : "t.a"); }

const Value *gpu_near(Stmts *s, int i, const Value *tile, const Expr *at)
{
    return value_call(s, i ? "@near_col" : "@near_row", tile, value_expr(s, at));
}

const Expr *gpu_any_whole(Stmts *s)
{
    return expr_op(&s->pool, EXPR_LT, expr_const(&s->pool, 0), gpu_size(s, "whole"));
}

void gpu_heading(Stmts *s, const char *text)
{
    stmt_gap(s);
    stmt_comment(s, text);
    stmt_gap(s);
}

/* Compute and copy module, and the steps of a stage of local memory. */
static Err modules(const GpuPlan *p, Buf *out)
{
    Stmts s;
    p->compute->emit(p, out);
    p->copy->emit(p, out);
    stmts_init(&s, GPU_STMTS_BYTES);
    gpu_stage(p, &s);
    Err e = stmt_print(&s, p->dialect->words, 0, out);
    stmts_fini(&s);
    return e;
}

Err gpu_lower(const Program *program, Str symbol, Buf *out)
{
    const GpuPlan *p = program->gpu;
    Buf body;
    buf_init(&body);
    p->dialect->prelude(p, &body);
    gpu_types(p, &body);
    gpu_tile(p, &body);
    Err e = p->direct ? ERR_OK : modules(p, &body);
    if (p->direct) gpu_direct(p, &body);
    gpu_store(p, &body);
    if (!e) e = gpu_kernel(p, program, symbol, &body);
    if (!e) e = gpu_finish_program(program, symbol, buf_view(&body), out);
    buf_fini(&body);
    return e;
}
