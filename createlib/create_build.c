/* createlib, third step: text of the kernels and compilation through the cache; create_files.c makes files of
 * them. When a kernel cannot be built, only its solutions are left out of the library. */
#include "createlib/create_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "build/build.h"
#include "build/facts.h"
#include "kernel/helper.h"
#include "kernel/kernel.h"

static Err emit_text(Create *c, CreateUnit *u, Buf *out)
{
    const Target *t = target_find(str_from(u->target->name)); /* without a setting */
    char symbol[KERNEL_SYMBOL_BYTES];
    Solution shared;
    const Solution *s = u->s && solution_shares_kernel(u->s, &shared) ? &shared : u->s;
    u->linked = u->symbol;
    if (u->s && target_family(u->target)->is_gpu) return kernel_emit(s, t, u->symbol, out);
    if (u->s) {
        TRY(kernel_emit_unnamed(s, t, out, symbol));
        u->linked = arena_dup(&c->a, str_from(symbol));
        TRY_ALLOC(u->linked.s);
        return ERR_OK;
    }
    return kernel_emit_helper(u->pt, t, &u->helper, out);
}

Err create_fail_unit(Create *c, CreateUnit *u, Str why)
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
            e = create_fail_unit(c, u, str_from(err_message()));
            err_clear();
            continue;
        }
        u->source = arena_dup(&c->a, buf_view(&text));
        if (!u->source.s) e = err_set(ERR_FAILED, "out of memory for the text of %zu kernels", c->unit.n);
    }
    buf_fini(&text);
    return e;
}

/* The kernel of solution i for t, or for t with a setting of xnack; NULL: none was planned. */
static const CreateUnit *unit_for(const Create *c, const CreateLogic *l, size_t i, const Target *t)
{
    Buf key;
    const CreateUnit *found = NULL;
    buf_init(&key);
    for (size_t v = 0; v <= c->variant.n && !(found && !found->why.n); v++) {
        const Target *one = v ? c->variant.v[v - 1] : t;
        if (v && target_find(str_from(one->name)) != t) continue;
        buf_reset(&key);
        buf_printf(&key, "%.*s %s", STR_ARG(l->part.solution[i].kernel), one->name);
        const int64_t *at = buf_check(&key) ? NULL : map_get(&c->by_symbol, buf_view(&key));
        if (at && *at) found = &c->unit.v[*at - 1];
    }
    buf_fini(&key);
    return found;
}

/* A solution is kept if its kernel was built for at least one of its architectures. *missing: it is missing
 * for another one. */
static void leave_out_one(const Create *c, CreateLogic *l, size_t i, bool *missing)
{
    bool any = false;
    Str why = STR_NULL;
    if (l->solution[i].why.n) return;
    for (size_t t = 0; t < l->n_targets; t++) {
        const CreateUnit *u = unit_for(c, l, i, l->target[t]);
        any |= u && !u->why.n;
        if (u && u->why.n && !why.n) why = u->why;
    }
    if (!any) l->solution[i].why = why;
    *missing = any && why.n;
}

static void leave_out(Create *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n_logic; i++)
        for (size_t j = 0; j < c->logic[i].logic.n_solutions; j++) {
            bool missing = false;
            leave_out_one(c, &c->logic[i], j, &missing);
            n += missing;
        }
    if (n) warning("%zu solutions of fallback logic have kernels for some of the architectures only", n);
    for (size_t i = 0, n_warned = 0; n && i < c->unit.n && n_warned < 8; i++) {
        const CreateUnit *u = &c->unit.v[i];
        if (!u->s || !u->why.n) continue;
        warning("no kernel '%.*s' for %s: %.*s", STR_ARG(u->symbol), u->target->name, STR_ARG(u->why));
        n_warned++;
    }
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
        static const char *const suffixes[] = {
            [TARGET_AMDGCN] = ".hip", [TARGET_NVPTX] = ".cu", [TARGET_HOST] = ".c"};
        Str path = arena_printf(&c->a, "%s/%s_%s%s", dir.s, buf_cstr(&base), u->target->name,
                                suffixes[u->target->family]);
        buf_fini(&base);
        TRY_ALLOC(path.s);
        TRY(file_write(path.s, u->source));
        c->r->n_files++;
    }
    leave_out(c);
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
    return create_fail_unit(c, u, job->why);
}

/* Checks the facts of the kernel's code object. Spills are accepted unless no_spills is set. */
static Err check_unit(Create *c, CreateUnit *u)
{
    Arena a;
    Str data;
    CodeFacts facts;
    arena_init(&a, 0);
    Err e = file_read(&a, u->object_path.s, (size_t)256 << 20, &data);
    if (!e) e = code_facts_read(&a, data, u->target, u->symbol, &facts);
    if (!e) e = code_facts_check(&facts, u->target);
    bool spills = !e && code_facts_spill(&facts);
    if (spills) c->n_spills++;
    if (spills && c->o->no_spills && u->s)
        e = err_set(ERR_INPUT, "spills registers: %" PRId64 " bytes of scratch", facts.scratch);
    arena_fini(&a);
    if (e == ERR_INPUT) {
        e = create_fail_unit(c, u, str_from(err_message()));
        u->object_path = STR_NULL;
    }
    return e;
}

Str create_cache(Create *c)
{
    return c->o->cache_dir ? str_from(c->o->cache_dir) : path_join(&c->a, c->o->output_path, "build_cache");
}

static Err compile_for(Create *c, const Target *t, const Toolchain *tc, BuildWatch *watch)
{
    size_t n = 0;
    Str cache = create_cache(c);
    BuildJob *job = ARENA_ARRAY(&c->a, c->unit.n, BuildJob);
    size_t *of = ARENA_ARRAY(&c->a, c->unit.n, size_t);
    TRY_ALLOC(cache.s);
    TRY_ALLOC(job);
    TRY_ALLOC(of);
    for (size_t i = 0; i < c->unit.n; i++) {
        const CreateUnit *u = &c->unit.v[i];
        if (u->target != t || !u->source.s) continue;
        job[n] = (BuildJob){.symbol = u->symbol, .source = u->source};
        of[n++] = i;
    }
    BuildReport report = {0};
    /* an object with several kernels goes into every file that needs one of them, so separate files need
     * separate objects; GPU objects have one kernel each, so that those of a benchmark are found in the cache
     */
    bool one_file = c->o->merge_files && !c->o->lazy && c->o->num_merged_files == 1;
    BuildOptions o = {.toolchain = tc,
                      .cache_dir = cache.s,
                      .jobs = c->o->jobs,
                      .batch = one_file && !target_family(t)->is_gpu ? 0 : 1,
                      .on_done = on_done,
                      .user = watch};
    TRY(build_run(&c->a, &o, job, n, &report));
    watch->before += n;
    c->r->n_compiled += report.n_compiled;
    c->r->n_cached += report.n_cached;
    for (size_t i = 0; i < n; i++) {
        CreateUnit *u = &c->unit.v[of[i]];
        TRY(take_job(c, u, &job[i]));
        if (u->object_path.s && target_family(t)->is_gpu) TRY(check_unit(c, u));
    }
    return ERR_OK;
}

/* If there is no compiler for the target, all its kernels fail with that reason. */
static Err compile_target(Create *c, const Target *t, BuildWatch *watch)
{
    bool any = false;
    for (size_t i = 0; i < c->unit.n; i++) any |= c->unit.v[i].target == t && c->unit.v[i].source.s;
    if (!any) return ERR_OK;
    CreateTool tool = {.target = t};
    if (create_toolchain(c, t, NULL, &tool.toolchain) == ERR_OK) {
        if (!VEC_PUSH(&c->tool, tool)) FAIL(ERR_FAILED, "out of memory for a toolchain");
        if (target_family(t)->is_gpu)
            verbose("compiler for %s: %s (%s)", t->name, tool.toolchain.program, tool.toolchain.version);
        return compile_for(c, t, &tool.toolchain, watch);
    }
    for (size_t i = 0; i < c->unit.n; i++)
        if (c->unit.v[i].target == t && c->unit.v[i].source.s)
            TRY(create_fail_unit(c, &c->unit.v[i], str_from(err_message())));
    warning("%s", err_message());
    err_clear();
    return ERR_OK;
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
    for (size_t i = 0; i < c->variant.n; i++) TRY(compile_target(c, c->variant.v[i], &watch));
    progress_done(&watch.progress, "%zu compiled, %zu cached", c->r->n_compiled, c->r->n_cached);
    if (c->n_spills)
        warning("%zu kernels spill registers%s", c->n_spills, c->o->no_spills ? " and are left out" : "");
    TRY(create_files(c));
    leave_out(c);
    return check_helpers(c);
}
