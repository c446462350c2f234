/* createlib: the files of kernels. The host's and AMD's are linked of the kernels' objects; NVIDIA's are
 * compiled of the kernels' texts as one, which gives each of them the code that it has alone
 * (build/toolchain_rows.c), or are the object of their only kernel. */
#include "createlib/create_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "build/build.h"

static const size_t OBJECT_BYTES_MAX = (size_t)1 << 30;
static const uint64_t KERNEL_TIMEOUT_NS = 60000000000u, MERGE_BYTES = (uint64_t)8 << 30;

static int str_order(const void *x, const void *y) { return str_cmp(*(const Str *)x, *(const Str *)y); }

static const Toolchain *toolchain_of(const Create *c, const Target *t)
{
    for (size_t i = 0; i < c->tool.n; i++)
        if (c->tool.v[i].target == t) return &c->tool.v[i].toolchain;
    return NULL;
}

/* The kernels of a file that were built. */
static Err units_of(Create *c, const CreateObject *o, CreateUnit ***unit, size_t *n)
{
    *n = 0;
    TRY_ALLOC(*unit = ARENA_ARRAY(&c->a, o->unit.n, CreateUnit *));
    for (size_t i = 0; i < o->unit.n; i++)
        if (c->unit.v[o->unit.v[i]].object_path.s) (*unit)[(*n)++] = &c->unit.v[o->unit.v[i]];
    return ERR_OK;
}

static Err link_file(Create *c, CreateObject *o, const Toolchain *tc)
{
    size_t n = 0;
    CreateUnit **unit;
    TRY(units_of(c, o, &unit, &n));
    o->none = n == 0;
    if (n == 0) return ERR_OK;
    Str *path = ARENA_ARRAY(&c->a, n, Str);
    LinkName *name = ARENA_ARRAY(&c->a, n, LinkName);
    TRY_ALLOC(path);
    TRY_ALLOC(name);
    for (size_t i = 0; i < n; i++) {
        name[i] = (LinkName){unit[i]->symbol, unit[i]->linked};
        path[i] = unit[i]->object_path;
    }
    qsort(path, n, sizeof *path, str_order);
    Str out = path_join(&c->a, c->library_dir.s, o->file.s);
    TRY_ALLOC(out.s);
    TRY(build_link(tc, path, n, name, !target_family(o->target)->is_gpu ? n : 0, out.s));
    c->r->n_files++;
    return ERR_OK;
}

/* ---- files that are compiled as a whole ---- */

static Err text_of(Create *c, CreateUnit **unit, size_t n, Str *out)
{
    Buf text;
    buf_init(&text);
    for (size_t i = 0; i < n; i++) {
        buf_str(&text, unit[i]->source);
        buf_putc(&text, '\n');
    }
    Err e = buf_check(&text);
    if (!e) *out = arena_dup(&c->a, buf_view(&text));
    buf_fini(&text);
    TRY(e);
    TRY_ALLOC(out->s);
    return ERR_OK;
}

/* A file with one kernel is its object; the kernels of other files are compiled together, with several
 * threads if the compiler supports that. */
static Err compile_whole(Create *c, const Target *t, const Toolchain *alone, BuildJob *job, size_t n,
                         size_t most)
{
    static const char *const threads[] = {"-split-compile=16", NULL}; /* the bytes depend on the number */
    Toolchain split;
    bool can = create_toolchain(c, t, threads, &split) == ERR_OK;
    if (!can) err_clear();
    Str cache = create_cache(c);
    TRY_ALLOC(cache.s);
    BuildOptions o = {.toolchain = can ? &split : alone,
                      .cache_dir = cache.s,
                      .jobs = can ? 1 : c->o->jobs,
                      .batch = 1,
                      .timeout_ns = KERNEL_TIMEOUT_NS * most,
                      .memory_bytes = MERGE_BYTES};
    return build_run(&c->a, &o, job, n, NULL);
}

static Err place(Create *c, Str object, Str file)
{
    Str out = path_join(&c->a, c->library_dir.s, file.s);
    TRY_ALLOC(out.s);
    TRY(file_copy(object.s, out.s, OBJECT_BYTES_MAX));
    c->r->n_files++;
    return ERR_OK;
}

/* Puts each kernel into a file of its own, as without --merge-files, after compiling them together failed. */
static Err place_separately(Create *c, const Target *t, CreateUnit **unit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CreateObject o = {.target = t};
        TRY(create_unmerged_file(c, unit[i]->symbol, t, &o.file));
        TRY(place(c, unit[i]->object_path, o.file));
        if (!VEC_PUSH(&c->object, o)) FAIL(ERR_FAILED, "out of memory for %zu files", c->object.n);
    }
    return ERR_OK;
}

static Err whole_done(Create *c, CreateObject *o, const BuildJob *job, CreateUnit **unit, size_t n)
{
    if (!job->finished) FAIL(ERR_FAILED, "interrupted; the same command continues with what is compiled");
    o->none = job->status;
    if (!job->status) return place(c, job->object_path, o->file);
    warning("%.*s: %zu kernels cannot be compiled together (%.*s): they get files of their own",
            STR_ARG(o->file), n, STR_ARG(job->why));
    return place_separately(c, o->target, unit, n);
}

static Err whole_files(Create *c, const Target *t, const Toolchain *tc)
{
    size_t n_jobs = 0, most = 1, n_objects = c->object.n;
    BuildJob *job = ARENA_ARRAY(&c->a, c->object.n, BuildJob);
    size_t *of = ARENA_ARRAY(&c->a, c->object.n, size_t), n;
    CreateUnit **unit;
    TRY_ALLOC(job);
    TRY_ALLOC(of);
    for (size_t i = 0; i < n_objects; i++) {
        if (c->object.v[i].target != t) continue;
        TRY(units_of(c, &c->object.v[i], &unit, &n));
        c->object.v[i].none = n == 0;
        if (n == 0) continue;
        if (n == 1) {
            BuildJob done = {.finished = true, .object_path = unit[0]->object_path};
            TRY(whole_done(c, &c->object.v[i], &done, unit, n));
            continue;
        }
        if (n > most) most = n;
        job[n_jobs] = (BuildJob){.symbol = c->object.v[i].file};
        TRY(text_of(c, unit, n, &job[n_jobs].source));
        of[n_jobs++] = i;
    }
    if (n_jobs) TRY(compile_whole(c, t, tc, job, n_jobs, most));
    for (size_t k = 0; k < n_jobs; k++) {
        TRY(units_of(c, &c->object.v[of[k]], &unit, &n));
        TRY(whole_done(c, &c->object.v[of[k]], &job[k], unit, n));
    }
    return ERR_OK;
}

Err create_files(Create *c)
{
    for (size_t i = 0; i < c->object.n; i++) {
        CreateObject *o = &c->object.v[i];
        const Toolchain *tc = toolchain_of(c, o->target);
        o->none = !tc;
        if (tc && tc->linker) TRY(link_file(c, o, tc));
    }
    for (size_t i = 0; i < c->tool.n; i++)
        if (!c->tool.v[i].toolchain.linker) TRY(whole_files(c, c->tool.v[i].target, &c->tool.v[i].toolchain));
    return ERR_OK;
}
