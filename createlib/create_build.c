/* createlib, third step: text of the kernels, compilation through the cache, one file per group of kernels. A
 * kernel that cannot be had takes its solutions out of the library and nothing else. */
#include "createlib/create_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "build/build.h"
#include "kernel/kernel.h"

static Err emit_text(Create *c, CreateUnit *u, Buf *out)
{
    char symbol[KERNEL_SYMBOL_BYTES];
    u->linked = u->symbol;
    if (u->s) {
        TRY(kernel_emit_unnamed(u->s, u->target, out, symbol));
        u->linked = arena_dup(&c->a, str_from(symbol));
        TRY_ALLOC(u->linked.s);
        return ERR_OK;
    }
    if (u->post_gsu) return kernel_emit_post_gsu(u->pt, u->target, u->symbol, out);
    return kernel_emit_beta_only(u->pt, u->target, u->ga, u->symbol, out);
}

static Err fail_unit(Create *c, CreateUnit *u, Str why)
{
    u->why = arena_dup(&c->a, why.n ? why : STR("failed"));
    TRY_ALLOC(u->why.s);
    return ERR_OK;
}

static Err emit_all(Create *c)
{
    Buf text;
    Err e = ERR_OK;
    buf_init(&text);
    for (size_t i = 0; !e && i < c->unit.n; i++) {
        CreateUnit *u = &c->unit.v[i];
        buf_reset(&text);
        if (emit_text(c, u, &text) || buf_check(&text)) {
            e = fail_unit(c, u, str_from(err_message()));
            err_clear();
            continue;
        }
        u->source = arena_dup(&c->a, buf_view(&text));
        if (!u->source.s) e = err_set(ERR_FAILED, "out of memory for the text of %zu kernels", c->unit.n);
    }
    buf_fini(&text);
    return e;
}

/* ---- sources only ---- */

Err create_sources(Create *c)
{
    TRY(emit_all(c));
    Str dir = path_join(&c->a, c->o->output_path, "Kernels");
    TRY_ALLOC(dir.s);
    TRY(dir_make(dir.s));
    for (size_t i = 0; i < c->unit.n; i++) {
        const CreateUnit *u = &c->unit.v[i];
        if (!u->source.s) continue;
        Buf base;
        buf_init(&base);
        kernel_file_base(u->symbol, 64, &base);
        Str path = arena_printf(&c->a, "%s/%s_%s.c", dir.s, buf_cstr(&base), u->target->name);
        buf_fini(&base);
        TRY_ALLOC(path.s);
        TRY(file_write(path.s, u->source));
        c->r->n_files++;
    }
    return ERR_OK;
}

/* ---- compilation ---- */

typedef struct {
    Progress progress;
    size_t before;
} BuildWatch;

static Err on_done(void *user, BuildJob *job, size_t n_done)
{
    BuildWatch *w = user;
    progress_step(&w->progress, w->before + n_done, "%.*s", STR_ARG(job->symbol));
    return ERR_OK;
}

static Err take_job(Create *c, CreateUnit *u, const BuildJob *job)
{
    if (!job->finished) FAIL(ERR_FAILED, "interrupted; the same command continues with what is compiled");
    if (job->status == ERR_OK) {
        u->object_path = job->object_path;
        return ERR_OK;
    }
    return fail_unit(c, u, job->why);
}

static Err compile_for(Create *c, const Target *t, const Toolchain *tc, BuildWatch *watch)
{
    size_t n = 0;
    const char *cache =
        c->o->cache_dir ? c->o->cache_dir : path_join(&c->a, c->o->output_path, "build_cache").s;
    BuildJob *job = ARENA_ARRAY(&c->a, c->unit.n, BuildJob);
    size_t *of = ARENA_ARRAY(&c->a, c->unit.n, size_t);
    TRY_ALLOC(cache);
    TRY_ALLOC(job);
    TRY_ALLOC(of);
    for (size_t i = 0; i < c->unit.n; i++) {
        const CreateUnit *u = &c->unit.v[i];
        if (u->target != t || !u->source.s) continue;
        job[n] = (BuildJob){.symbol = u->symbol, .source = u->source};
        of[n++] = i;
    }
    BuildReport report = {0};
    /* kernels of one object go into every file that needs one of them, so files of their own need objects of
     * their own */
    size_t batch = c->o->merge_files && !c->o->lazy && c->o->num_merged_files == 1 ? 0 : 1;
    BuildOptions o = {.toolchain = tc,
                      .cache_dir = cache,
                      .jobs = c->o->jobs,
                      .batch = batch,
                      .on_done = on_done,
                      .user = watch};
    TRY(build_run(&c->a, &o, job, n, &report));
    watch->before += n;
    c->r->n_compiled += report.n_compiled;
    c->r->n_cached += report.n_cached;
    for (size_t i = 0; i < n; i++) TRY(take_job(c, &c->unit.v[of[i]], &job[i]));
    return ERR_OK;
}

static const char *forced_compiler(const Create *c, const Target *t)
{
    return t->family == TARGET_HOST ? c->o->c_compiler : c->o->cxx_compiler;
}

/* Without a compiler for a target all its kernels fail with that reason. */
static Err compile_target(Create *c, const Target *t, BuildWatch *watch)
{
    bool any = false;
    Toolchain tc;
    for (size_t i = 0; i < c->unit.n; i++) any |= c->unit.v[i].target == t && c->unit.v[i].source.s;
    if (!any) return ERR_OK;
    if (toolchain_find(&c->a, t, forced_compiler(c, t), NULL, &tc) == ERR_OK)
        return compile_for(c, t, &tc, watch);
    for (size_t i = 0; i < c->unit.n; i++)
        if (c->unit.v[i].target == t && c->unit.v[i].source.s)
            TRY(fail_unit(c, &c->unit.v[i], str_from(err_message())));
    warning("%s", err_message());
    err_clear();
    return ERR_OK;
}

/* ---- files ---- */

static int str_order(const void *x, const void *y) { return str_cmp(*(const Str *)x, *(const Str *)y); }

static Err link_object(Create *c, CreateObject *o)
{
    size_t n = 0;
    Toolchain tc;
    Str *path = ARENA_ARRAY(&c->a, o->unit.n, Str);
    LinkName *name = ARENA_ARRAY(&c->a, o->unit.n, LinkName);
    TRY_ALLOC(path);
    TRY_ALLOC(name);
    for (size_t i = 0; i < o->unit.n; i++) {
        const CreateUnit *u = &c->unit.v[o->unit.v[i]];
        if (!u->object_path.s) continue;
        name[n] = (LinkName){u->symbol, u->linked};
        path[n++] = u->object_path;
    }
    if (n == 0) return ERR_OK;
    qsort(path, n, sizeof *path, str_order);
    Str out = path_join(&c->a, c->library_dir.s, o->file.s);
    TRY_ALLOC(out.s);
    TRY(toolchain_find(&c->a, o->target, forced_compiler(c, o->target), NULL, &tc));
    TRY(build_link(&tc, path, n, name, n, out.s));
    c->r->n_files++;
    return ERR_OK;
}

/* A solution stays when its kernel is there for at least one of its architectures. */
static void leave_out(Create *c)
{
    for (size_t i = 0; i < c->n_logic; i++) {
        CreateLogic *l = &c->logic[i];
        for (size_t j = 0; j < l->logic.n_solutions; j++) {
            if (l->solution[j].why.n) continue;
            const CreateUnit *u = &c->unit.v[l->solution[j].unit];
            if (u->why.n) l->solution[j].why = u->why;
        }
    }
}

static Err check_helpers(const Create *c)
{
    for (size_t i = 0; i < c->unit.n; i++) {
        const CreateUnit *u = &c->unit.v[i];
        if (!u->s && u->why.n)
            warning("helper kernel '%.*s' for %s: %.*s", STR_ARG(u->symbol), u->target->name,
                    STR_ARG(u->why));
    }
    return ERR_OK;
}

Err create_build(Create *c)
{
    BuildWatch watch = {.before = 0};
    TRY(emit_all(c));
    progress_init(&watch.progress, "compile", c->unit.n, 0);
    for (size_t i = 0; target_at(i); i++) TRY(compile_target(c, target_at(i), &watch));
    progress_done(&watch.progress, "%zu compiled, %zu cached", c->r->n_compiled, c->r->n_cached);
    for (size_t i = 0; i < c->object.n; i++) TRY(link_object(c, &c->object.v[i]));
    leave_out(c);
    return check_helpers(c);
}
