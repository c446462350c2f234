/* Entry points of kernel.h: program, passes, the family's lowering. */
#include "kernel/kernel.h"

#include <stdio.h>

#include "base/hash.h"
#include "kernel/gpu/gpu.h"
#include "space/custom.h"
#include "kernel/host/host.h"
#include "kernel/nvptx/pack.h"
#include "kernel/nvptx/ring.h"
#include "kernel/parse.h"
#include "kernel/plan.h"
#include "kernel/text.h"
#include "kernel/tile/lower.h"

static Err program_make(Program *p, const Solution *s, const Target *t, Arena *arena)
{
    TRY(program_build(p, s, t, arena));
    for (size_t i = 0; pass_at(i); i++) TRY(pass_at(i)->run(p));
    return ERR_OK;
}

/* The functions of a target family that write kernels. */
typedef struct {
    Err (*lower)(const Program *p, Str symbol, Buf *out);
    Err (*finish)(const Program *p, Str symbol, Str body,
                  Buf *out); /* completes the text of an unnamed kernel */
    Err (*beta_only)(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out);
    Err (*post_gsu)(const ProblemType *pt, const Target *t, Str symbol, Buf *out);
    Err (*flags)(const ProblemType *pt, const Target *t, Str symbol, Buf *out);
    Err (*pack)(const ProblemType *pt, const Target *t, Str symbol, Buf *out); /* NULL: the family has none */
} Family;

static const Family families[] = {
    [TARGET_HOST] = {host_lower, host_finish_program, host_beta_only, host_post_gsu, host_flags, NULL},
    [TARGET_AMDGCN] = {gpu_lower, gpu_finish_program, gpu_beta_only, gpu_post_gsu, gpu_flags, NULL},
    [TARGET_NVPTX] = {nvptx_lower, gpu_finish_program, gpu_beta_only, gpu_post_gsu, gpu_flags, nvptx_pack}};

Err kernel_emit(const Solution *s, const Target *t, Str symbol, Buf *out)
{
    if (s->custom) return kernel_emit_hand(s->custom->text, s->custom->path.s, t, symbol, out);
    Arena arena;
    Program p;
    arena_init(&arena, 0);
    Err e = program_make(&p, s, t, &arena);
    if (!e) e = families[t->family].lower(&p, symbol, out);
    arena_fini(&arena);
    return e;
}

Err kernel_emit_text(Str program, const char *name, Str symbol, Buf *out)
{
    Arena arena;
    Program p;
    arena_init(&arena, 0);
    Err e = program_parse(&p, program, name, &arena);
    if (!e && p.hand) e = err_set(ERR_INPUT, "%s: a program written by hand, expected a generated one", name);
    if (!e) e = families[p.target->family].lower(&p, symbol, out);
    arena_fini(&arena);
    return e;
}

Err kernel_emit_hand(Str program, const char *name, const Target *t, Str symbol, Buf *out)
{
    Arena arena;
    Program p;
    TilePlan plan;
    arena_init(&arena, (size_t)256 << 20);
    Err e = program_parse(&p, program, name, &arena);
    if (!e) e = tile_plan(&p, t, name, &plan);
    if (!e) e = tile_lower(&p, &plan, symbol, out);
    arena_fini(&arena);
    return e;
}

Str kernel_content(Str text)
{
    static const char before[] = "\n * content ";
    Str line;
    for (size_t i = 0; i < text.n; i++) {
        const Str rest = str_sub(text, i, text.n);
        if (!str_starts(rest, before)) continue;
        line = str_sub(rest, sizeof before - 1, rest.n);
        return str_sub(line, 0, CONTENT_HEX < line.n ? CONTENT_HEX : line.n);
    }
    return STR_NULL;
}

/* Completes the text of a kernel that was lowered without a name. */
static Err emit_named(const Program *p, Str body, Str symbol, Buf *out)
{
    Buf named;
    buf_init(&named);
    kernel_text_name(body, symbol, &named);
    Err e = buf_check(&named);
    if (!e) e = families[p->target->family].finish(p, symbol, buf_view(&named), out);
    buf_fini(&named);
    return e;
}

/* Lowers p once and completes the text twice: first to compute its hash, then with the symbol made
 * from it. */
static Err emit_by_hash(const Program *p, Buf *body, Buf *text, Buf *out, char symbol[KERNEL_SYMBOL_BYTES])
{
    char hash[CONTENT_HEX + 1];
    TRY(families[p->target->family].lower(p, KERNEL_UNNAMED, body));
    TRY(emit_named(p, buf_view(body), STR("kernel"), text));
    content_hex(buf_view(text), hash);
    snprintf(symbol, KERNEL_SYMBOL_BYTES, "kernel_%s", hash);
    return emit_named(p, buf_view(body), str_from(symbol), out);
}

/* Does the same for a program written by hand, which is lowered twice. */
static Err custom_unnamed(const Solution *s, const Target *t, Buf *out, char symbol[KERNEL_SYMBOL_BYTES])
{
    char hash[CONTENT_HEX + 1];
    Buf text;
    buf_init(&text);
    Err e = kernel_emit(s, t, STR("kernel"), &text);
    if (!e) e = buf_check(&text);
    content_hex(buf_view(&text), hash);
    buf_fini(&text);
    TRY(e);
    snprintf(symbol, KERNEL_SYMBOL_BYTES, "kernel_%s", hash);
    return kernel_emit(s, t, str_from(symbol), out);
}

Err kernel_emit_unnamed(const Solution *s, const Target *t, Buf *out, char symbol[KERNEL_SYMBOL_BYTES])
{
    if (s->custom) return custom_unnamed(s, t, out, symbol);
    Arena arena;
    Program p;
    Buf body, text;
    arena_init(&arena, 0);
    buf_init(&body);
    buf_init(&text);
    Err e = program_make(&p, s, t, &arena);
    if (!e) e = emit_by_hash(&p, &body, &text, out, symbol);
    buf_fini(&text);
    buf_fini(&body);
    arena_fini(&arena);
    return e;
}

Err kernel_emit_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out)
{
    return families[t->family].beta_only(pt, t, ga, symbol, out);
}

Err kernel_emit_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    return families[t->family].post_gsu(pt, t, symbol, out);
}

Err kernel_emit_flags(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    return families[t->family].flags(pt, t, symbol, out);
}

Err kernel_emit_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out)
{
    if (!families[t->family].pack) FAIL(ERR_INPUT, "kernels of %s do not copy operands", t->name);
    return families[t->family].pack(pt, t, symbol, out);
}

static Err dump_after(const Program *p, const char *name, Str pass, bool *shown, Buf *out)
{
    bool all = str_eq_c(pass, "all");
    if (!all && !str_eq_c(pass, name)) return ERR_OK;
    if (all) buf_printf(out, "; after %s\n", name);
    program_dump(p, out);
    *shown = true;
    return ERR_OK;
}

/* Checks that the program's text, read again, gives the same kernel. */
static Err check_text(const Solution *s, const Target *t, Buf *out)
{
    Buf program, kernel, again;
    Buf *const all[] = {&program, &kernel, &again};
    for (int i = 0; i < 3; i++) buf_init(all[i]);
    Err e = kernel_dump(s, t, STR_NULL, &program);
    if (!e) e = kernel_emit(s, t, STR("kernel"), &kernel);
    if (!e) e = kernel_emit_text(buf_view(&program), "program", STR("kernel"), &again);
    for (int i = 0; i < 3 && !e; i++) e = buf_check(all[i]);
    if (!e && !str_eq(buf_view(&kernel), buf_view(&again)))
        e = err_set(ERR_FAILED, "the text of the program gives another kernel than the solution");
    if (!e) buf_puts(out, "the text of the program gives the same kernel\n");
    for (int i = 0; i < 3; i++) buf_fini(all[i]);
    return e;
}

/* Prints a program written by hand as it was read, or its kernel; "check" reads the printed program again and
 * compares the kernels. */
static Err dump_custom(const CustomKernel *k, const Target *t, Str pass, Buf *out)
{
    Arena arena;
    Program p;
    Buf program, text, again;
    Buf *const all[] = {&program, &text, &again};
    for (int i = 0; i < 3; i++) buf_init(all[i]);
    arena_init(&arena, (size_t)256 << 20);
    Err e = program_parse(&p, k->text, k->path.s, &arena);
    if (!e) program_dump(&p, &program);
    if (!e) e = kernel_emit_hand(k->text, k->path.s, t, STR("kernel"), &text);
    if (!e) e = kernel_emit_hand(buf_view(&program), k->path.s, t, STR("kernel"), &again);
    if (!e && !str_eq(buf_view(&text), buf_view(&again)))
        e = err_set(ERR_FAILED, "%s: the printed program gives another kernel", k->path.s);
    if (!e && str_eq(pass, STR("check")))
        buf_puts(out, "the text of the program gives the same kernel\n");
    else if (!e)
        buf_str(out, str_eq(pass, STR("text")) ? buf_view(&text) : buf_view(&program));
    for (int i = 0; i < 3; i++) buf_fini(all[i]);
    arena_fini(&arena);
    return e;
}

Err kernel_dump(const Solution *s, const Target *t, Str pass, Buf *out)
{
    if (s->custom) return dump_custom(s->custom, t, pass, out);
    Arena arena;
    Program p;
    bool shown = false;
    arena_init(&arena, 0);
    Err e = program_build(&p, s, t, &arena);
    if (pass.n == 0)
        for (size_t i = 0; pass_at(i); i++) pass = str_from(pass_at(i)->name);
    if (!e) e = dump_after(&p, "build", pass, &shown, out);
    for (size_t i = 0; !e && pass_at(i); i++) {
        e = pass_at(i)->run(&p);
        if (!e) e = dump_after(&p, pass_at(i)->name, pass, &shown, out);
    }
    arena_fini(&arena);
    TRY(e);
    if (str_eq(pass, STR("text"))) return kernel_emit(s, t, STR("kernel"), out);
    if (str_eq(pass, STR("check"))) return check_text(s, t, out);
    if (!shown)
        FAIL(ERR_INPUT, "no pass '%.*s' (there are build, distribute, pipeline, edges, all, text, check)",
             STR_ARG(pass));
    return ERR_OK;
}
