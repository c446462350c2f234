/* Step: writes kernel sources and compiles them to objects; step_code.c makes code objects.
 *
 * Kernels of all groups go through one queue, so that no compiler waits for the last kernel of a group.
 * Every compile is recorded in the store. A kernel on which this compiler failed before is not tried
 * again; one that was compiled before is taken from the object cache (OUT/0_Build/cache). See run.h.
 */
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"
#include "kernel/kernel.h"
#include "run/building.h"
#include "run/forecast.h"
#include "space/naming.h"

enum { CHUNK = 1024, LOG_BYTES_MAX = 256 << 10 };

/* The kernels of one build, and their texts. The next ones follow when it is done. */
typedef struct Building {
    Run *r;
    Group *const *group;
    size_t n_groups, at_group, at; /* the next kernel: a variant of the group, after these a helper */
    Group *g;                      /* whose kernels' texts are being made */
    Build *build;                  /* NULL: none runs */
    Arena arena;
    BuildJob job[CHUNK];
    struct {
        Variant *variant; /* NULL: the job is a helper */
        GroupHelper *helper;
    } made[CHUNK]; /* of each job */
    size_t n, done_before;
    bool again; /* second try of kernels whose compiler was killed */
    bool aside; /* runs while a client measures: draws no progress, uses one core fewer for each device */
    bool done;
    uint64_t started_ns, done_ns;
    Progress progress;
    size_t n_failed, n_spilled, total;
    Str cache_dir, source_dir;
    BuildOptions options;
} Chunk;

static bool killed(const BuildJob *job) { return job->outcome == BUILD_KILLED; }

static Err log_of(Chunk *c, const BuildJob *job, Str *log)
{
    *log = job->why.s ? job->why : STR("");
    if (!job->status || !job->log_path.s || !file_exists(job->log_path.s)) return 0;
    Str text;
    if (file_read(&c->arena, job->log_path.s, SIZE_MAX / 2, &text)) return 0; /* the log keeps its one line */
    *log = str_sub(text, 0, LOG_BYTES_MAX);
    return 0;
}

static Err helper_done(Chunk *c, const BuildJob *job, GroupHelper *h)
{
    if (job->status)
        FAIL(ERR_FAILED, "helper kernel '%.*s' cannot be compiled: %.*s", STR_ARG(job->symbol),
             STR_ARG(job->why));
    h->object = arena_dup(&c->r->arena, job->object_path);
    TRY_ALLOC(h->object.s);
    return 0;
}

static Err variant_done(Chunk *c, BuildJob *job, Variant *v)
{
    if (!job->status) TRY(variant_facts(c->r, v, job->object_path, &c->arena, &job->why));
    if (!job->status && job->why.n) job->outcome = BUILD_REFUSED;
    Compile known, fact = {.kernel = v->kernel,
                           .environment = c->r->environment,
                           .outcome = job->outcome,
                           .ns = job->compile_ns};
    bool found;
    TRY(store_compile_get(&c->r->store, &c->arena, v->kernel, c->r->environment, &known, &found));
    if (!found || !job->cached || known.outcome != fact.outcome) {
        TRY(log_of(c, job, &fact.log));
        TRY(store_compile_add(&c->r->store, &fact));
    }
    if (job->outcome != BUILD_OK) {
        c->n_failed++;
        verbose("%.*s: %.*s", STR_ARG(v->name), STR_ARG(job->why));
    } else {
        v->object = arena_dup(&c->r->arena, job->object_path);
        TRY_ALLOC(v->object.s);
    }
    return 0;
}

static Err compile_done(void *user, BuildJob *job, size_t n_done)
{
    Chunk *c = user;
    size_t i = (size_t)(job - c->job);
    if (killed(job) && !c->again) return 0;
    if (c->made[i].helper)
        TRY(helper_done(c, job, c->made[i].helper));
    else
        TRY(variant_done(c, job, c->made[i].variant));
    c->progress.done = c->done_before + n_done;
    if (!c->aside) progress_step(&c->progress, c->done_before + n_done, "%zu failed", c->n_failed);
    return 0;
}

/* Writes SOURCE/<file base>.c for people to read; the compiler gets the same text. */
static Err source_write(Chunk *c, Str symbol, Str text)
{
    Buf name;
    buf_init(&name);
    kernel_file_base(symbol, (size_t)c->r->config->globals.MaxFileName, &name);
    buf_puts(&name, c->r->toolchain.source_suffix);
    Str path = path_join(&c->arena, c->source_dir.s, buf_cstr(&name));
    Err e = buf_check(&name);
    if (!e && !path.s) e = err_set(ERR_FAILED, "out of memory");
    if (!e) e = path_no_link(path.s);
    if (!e) e = file_write_unsynced(path.s, text); /* the text can be made again */
    buf_fini(&name);
    return e;
}

static Err source_take(Chunk *c, Str symbol, const Buf *text)
{
    TRY(buf_check(text));
    BuildJob *job = &c->job[c->n++];
    *job = (BuildJob){.symbol = symbol, .source = arena_dup(&c->arena, buf_view(text))};
    TRY_ALLOC(job->source.s);
    return source_write(c, symbol, job->source);
}

static Err variant_source(Chunk *c, Variant *v, Buf *text)
{
    Solution shared;
    const Solution *s = solution_shares_kernel(&v->s, &shared) ? &shared : &v->s;
    c->made[c->n].variant = v;
    c->made[c->n].helper = NULL;
    buf_reset(text);
    if (target_family(c->r->target)->is_gpu) {
        v->symbol = v->kernel_name;
        TRY(kernel_emit(s, c->r->target, v->kernel_name, text));
        return source_take(c, v->kernel_name, text);
    }
    char symbol[KERNEL_SYMBOL_BYTES];
    TRY(kernel_emit_unnamed(s, c->r->target, text, symbol));
    v->symbol = arena_dup(&c->r->arena, str_from(symbol));
    TRY_ALLOC(v->symbol.s);
    return source_take(c, v->kernel_name, text);
}

static Err helper_source(Chunk *c, GroupHelper *h, Buf *text)
{
    c->made[c->n].helper = h;
    buf_reset(text);
    TRY(kernel_emit_helper(&c->g->problem->pt, c->r->target, &h->h, text));
    return source_take(c, h->h.symbol, text);
}

/* Keeps only the jobs whose compiler was killed, to run them once more, and returns their number. */
static size_t killed_keep(Chunk *c)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (!killed(&c->job[i])) continue;
        c->made[kept] = c->made[i];
        c->job[kept++] = (BuildJob){.symbol = c->job[i].symbol, .source = c->job[i].source};
    }
    return c->n = kept;
}

/* *failed: this compiler failed on the kernel in an earlier run. */
static Err failed_before(Chunk *c, const Variant *v, bool *failed)
{
    Compile known;
    bool found;
    TRY(store_compile_get(&c->r->store, &c->arena, v->kernel, c->r->environment, &known, &found));
    *failed =
        found && (known.outcome == BUILD_FAILED || known.outcome == BUILD_TIMEOUT) && !c->r->o->no_cache;
    return 0;
}

/* Finds the variants that have the kernel of an earlier one. */
static Err shared_find(Group *g)
{
    Map seen;
    Err e = 0;
    map_init(&seen);
    for (size_t i = 0; !e && i < g->n_variants; i++) {
        bool added;
        int64_t *at = map_put(&seen, g->variant[i].kernel_name, &added);
        if (!at) e = err_set(ERR_FAILED, "out of memory for %zu kernels", g->n_variants);
        if (at && added) *at = (int64_t)i;
        if (at) g->variant[i].shares = added ? 0 : (size_t)*at + 1;
    }
    map_fini(&seen);
    return e;
}

/* Copies the object of the earlier variant to those that share its kernel, and records the compilation for
 * each. */
static Err shared_take(Run *r, Group *g)
{
    for (size_t i = 0; i < g->n_variants; i++) {
        Variant *v = &g->variant[i];
        if (!v->shares) continue;
        const Variant *first = &g->variant[v->shares - 1];
        Compile known;
        bool found;
        TRY(store_compile_get(&r->store, &r->arena, first->kernel, r->environment, &known, &found));
        v->object = first->object, v->symbol = first->symbol, v->facts = first->facts;
        if (!found) continue;
        known.kernel = v->kernel;
        Compile own;
        TRY(store_compile_get(&r->store, &r->arena, v->kernel, r->environment, &own, &found));
        if (!found || own.outcome != known.outcome) TRY(store_compile_add(&r->store, &known));
    }
    return 0;
}

/* Collects the helper kernels of all variants, each once. */
static Err helpers_find(Run *r, Group *g)
{
    VEC(GroupHelper) list = {0};
    Map seen;
    map_init(&seen);
    Err e = 0;
    for (size_t i = 0; !e && i < g->n_variants; i++) {
        HelperKernel h[HELPERS_MAX];
        size_t n = 0;
        e = kernel_helpers(&r->arena, &g->variant[i].s, h, &n);
        for (size_t k = 0; !e && k < n; k++) {
            bool added;
            GroupHelper helper = {.h = h[k]};
            if (!map_put(&seen, h[k].symbol, &added) || (added && !VEC_PUSH(&list, helper)))
                e = err_set(ERR_FAILED, "out of memory for helper kernels");
        }
    }
    g->helper = e ? NULL : ARENA_ARRAY(&r->arena, list.n, GroupHelper);
    for (size_t i = 0; g->helper && i < list.n; i++) g->helper[i] = list.v[i];
    g->n_helpers = g->helper ? list.n : 0;
    map_fini(&seen);
    VEC_FINI(&list);
    return e;
}

static Err columns_make(Run *r, Group *g)
{
    g->column = ARENA_ARRAY(&r->arena, g->n_variants, size_t);
    TRY_ALLOC(g->column);
    g->n_columns = 0;
    for (size_t i = 0; i < g->n_variants; i++)
        if (g->variant[i].object.s) g->column[g->n_columns++] = i;
    if (g->n_columns) return 0;
    if (g->round) {
        g->skip = true; /* the search goes on with other kernels */
        return 0;
    }
    return group_give_up(
        r, g, ERR_FAILED,
        "%.*s: none of the %zu kernels can be compiled and run (tuner log %s Cijk shows why)",
        STR_ARG(g->name), g->n_variants, r->outdir);
}

/* Makes code objects and facts from a group's objects. */
static Err group_finish(Run *r, Group *g)
{
    TRY(shared_take(r, g));
    TRY(columns_make(r, g));
    if (g->skip) return 0;
    TRY(group_code_objects(r, g));
    return group_facts(r, g);
}

/* ---- the queue ---- */

static Err group_begin(Chunk *c)
{
    TRY(shared_find(c->g));
    TRY(run_path(c->r, &c->source_dir, "%.*s/%.*s/00_Final/source/build_tmp/SOURCE",
                 STR_ARG(c->r->config->globals.BenchmarkProblemsPath), STR_ARG(c->g->name)));
    return dir_make(c->source_dir.s);
}

/* Adds the next kernel of the group to the build, unless it has its object elsewhere, or failed before. */
static Err next_queue(Chunk *c, Buf *text)
{
    Group *g = c->g;
    const size_t i = c->at++;
    bool failed = false;
    if (i >= g->n_variants) return helper_source(c, &g->helper[i - g->n_variants], text);
    if (!g->variant[i].shares) TRY(failed_before(c, &g->variant[i], &failed));
    if (!failed && !g->variant[i].shares) return variant_source(c, &g->variant[i], text);
    c->done_before++;
    c->n_failed += failed;
    return ERR_OK;
}

/* Queues kernels of one group after the other, so that no compiler waits for the last kernel of a group. */
static Err chunk_fill(Chunk *c)
{
    Buf text;
    Err e = 0;
    buf_init(&text);
    while (!e && c->n < CHUNK && c->at_group < c->n_groups) {
        c->g = c->group[c->at_group];
        if (c->at == 0) e = group_begin(c);
        if (!e && c->at == c->g->n_variants + c->g->n_helpers) {
            c->at_group++;
            c->at = 0;
            continue;
        }
        if (!e) e = run_check();
        if (!e) e = next_queue(c, &text);
        run_aside(c->r); /* another build may be at work */
    }
    buf_fini(&text);
    return e;
}

static Err chunk_start(Chunk *c)
{
    if (c->r->config->globals.GenerateSourcesAndExit || !c->n) return ERR_OK;
    return build_begin(&c->arena, &c->options, c->job, c->n, &c->build);
}

/* After a build: the kernels whose compiler was killed once more, else the next ones. */
static Err chunk_next(Chunk *c)
{
    const size_t n = c->n;
    if (!c->again && killed_keep(c)) {
        c->again = true;
        c->done_before += n - c->n;
    } else {
        c->done_before += n;
        c->again = false;
        c->n = 0;
        arena_reset(&c->arena);
        TRY(chunk_fill(c));
    }
    return chunk_start(c);
}

static Err building_step(Chunk *c, uint64_t wait_ns)
{
    bool done = true;
    if (c->done) return ERR_OK;
    if (!c->started_ns) {
        c->started_ns = clock_ns();
        TRY(chunk_start(c));
    }
    if (c->build) TRY(build_step(c->build, wait_ns, &done));
    if (!done) return ERR_OK;
    Build *b = c->build;
    c->build = NULL;
    if (b) TRY(build_end(b, NULL));
    TRY(run_check());
    c->done = c->n == 0;
    c->done_ns = clock_ns();
    return c->done ? ERR_OK : chunk_next(c);
}

static Err cache_dir_of(Run *r, Str *out)
{
    return run_path(r, out, "%.*s/cache", STR_ARG(r->config->globals.ClientBuildPath));
}

Err building_prepare(Run *r)
{
    Str dir;
    TRY(cache_dir_of(r, &dir));
    if (!r->config->globals.GenerateSourcesAndExit) pch_begin(&r->pch, &r->toolchain, dir.s);
    return ERR_OK;
}

static Err building_init(Chunk *c)
{
    Run *r = c->r;
    for (size_t i = 0; i < c->n_groups; i++) {
        TRY(helpers_find(r, c->group[i]));
        c->total += c->group[i]->n_variants + c->group[i]->n_helpers;
    }
    progress_init(&c->progress, "build", c->total, 0);
    TRY(cache_dir_of(r, &c->cache_dir));
    if (r->o->no_cache && !r->cache_cleared) TRY(build_cache_clear(c->cache_dir.s));
    r->cache_cleared = true;
    Str logs = path_join(&r->arena, c->cache_dir.s, "failed");
    TRY_ALLOC(logs.s);
    const int64_t jobs = r->o->jobs ? r->o->jobs : r->config->globals.CpuThreads;
    c->options = (BuildOptions){
        .toolchain = &r->toolchain,
        .cache_dir = c->cache_dir.s,
        .log_dir = logs.s,
        .pch = &r->pch,
        .jobs = jobs < 0 ? 0 : (int)jobs,
        .spare = !c->aside   ? 0
                 : r->n_pool ? r->n_pool
                             : 1,
        .batch = 1, /* contents of objects must not depend on where an earlier run was killed */
        .on_done = compile_done,
        .user = c};
    return ERR_OK;
}

Err building_begin(Run *r, Group *const *group, size_t n, bool aside, Building **out)
{
    Chunk *c = *out = calloc(1, sizeof *c);
    TRY_ALLOC(c);
    *c = (Chunk){.r = r, .group = group, .n_groups = n, .aside = aside, .n_spilled = r->n_spilled};
    arena_init(&c->arena, 0);
    Err e = building_init(c);
    if (!e) e = chunk_fill(c);
    if (!e) return ERR_OK;
    building_drop(c);
    *out = NULL;
    return e;
}

Err building_work(Building *c) { return building_step(c, 0); }

void building_drop(Building *c)
{
    if (!c) return;
    if (c->build) build_end(c->build, NULL);
    arena_fini(&c->arena);
    free(c);
}

static void failures_report(const Chunk *c)
{
    const size_t spilled = c->r->n_spilled - c->n_spilled;
    if (c->n_failed > spilled)
        warning("%zu kernels do not compile and are left out (tuner status %s)", c->n_failed - spilled,
                c->r->outdir);
    if (spilled) warning("%zu kernels spill registers and are left out (--allow-spills keeps them)", spilled);
}

static Err groups_finish(Chunk *c)
{
    if (c->r->config->globals.GenerateSourcesAndExit) return ERR_OK;
    for (size_t i = 0; i < c->n_groups; i++) TRY(group_finish(c->r, c->group[i]));
    return ERR_OK;
}

Err building_wait(Building *c, uint64_t *ns)
{
    enum { WAIT_NS = 2000000 };
    Err e = 0;
    c->aside = false;
    while (!e && !c->done) e = building_step(c, WAIT_NS);
    if (ns) *ns = c->done_ns - c->started_ns;
    return e;
}

Err building_end(Building *c)
{
    Err e = groups_finish(c);
    c->progress.done = c->done_before;
    if (!e) progress_done(&c->progress, "%zu failed", c->n_failed);
    if (!e) failures_report(c);
    building_drop(c);
    return e;
}

Err step_build(Run *r)
{
    Building *b;
    size_t n = 0;
    EtaRange measure = {0, -1};
    Group **group = ARENA_ARRAY(&r->arena, r->n_groups + 1, Group *);
    TRY_ALLOC(group);
    for (size_t i = 0; i < r->n_groups; i++)
        if (!r->group[i].skip) group[n++] = &r->group[i];
    TRY(building_begin(r, group, n, false, &b));
    Err e = forecast_measure(r, &measure);
    b->progress.run_lo = measure.lo;
    b->progress.run_hi = measure.hi;
    if (!e) e = building_wait(b, NULL);
    if (!e) return building_end(b);
    building_drop(b);
    return e;
}
