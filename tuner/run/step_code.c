/* Makes the code objects of a size-group, the files that a device loads, from the objects of its kernels,
 * below 00_Final/source/library.
 *
 * Host objects are linked, which gives the kernels their names; AMD objects are linked; NVIDIA objects are
 * not linked (build/toolchain_rows.c says why): one file per kernel, named by kernel_file_base. See run.h.
 */
#include "run/run.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "space/naming.h"

static const size_t OBJECT_BYTES_MAX = (size_t)256 << 20;

/* A kernel's object with its name and its symbol in it. */
typedef struct {
    Str *object;
    LinkName *name;
    size_t n, n_kernels; /* helpers follow the kernels */
} Objects;

/* Objects of the kernels that were built, each once, then of the helpers. */
static Err objects_of(Run *r, const Group *g, Objects *out)
{
    *out = (Objects){.object = ARENA_ARRAY(&r->arena, g->n_columns + g->n_helpers, Str),
                     .name = ARENA_ARRAY(&r->arena, g->n_columns + g->n_helpers, LinkName)};
    if (!out->object || !out->name) FAIL(ERR_FAILED, "out of memory for %zu kernels", g->n_columns);
    for (size_t i = 0; i < g->n_columns; i++) {
        const Variant *v = &g->variant[g->column[i]];
        if (v->shares) continue;
        out->object[out->n] = v->object;
        out->name[out->n++] = (LinkName){v->kernel_name, v->symbol};
    }
    out->n_kernels = out->n;
    for (size_t i = 0; i < g->n_helpers; i++) {
        out->object[out->n] = g->helper[i].object;
        out->name[out->n++] = (LinkName){g->helper[i].h.symbol, g->helper[i].h.symbol};
    }
    return 0;
}

static Err link_all(Run *r, Group *g, Str dir)
{
    bool named = !target_family(r->target)->is_gpu;
    Objects all;
    Str *out = ARENA_NEW(&r->arena, Str);
    TRY_ALLOC(out);
    TRY(objects_of(r, g, &all));
    *out = arena_printf(&r->arena, "%s/TensileLibrary_%s%s", dir.s, r->target->name, named ? ".so" : ".co");
    TRY_ALLOC(out->s);
    g->code_object = out;
    g->n_code_objects = 1;
    return build_link(&r->toolchain, all.object, all.n, all.name, named ? all.n_kernels : 0, out->s);
}

/* Whether the folder of the group's code objects is below OUTDIR. Elsewhere (BenchmarkProblemsPath may be
 * absolute or begin with "..") no file is removed. */
static bool is_own_dir(Run *r, const Group *g)
{
    Str below = arena_printf(&r->arena, "%.*s/%.*s/00_Final/source/library",
                             STR_ARG(r->config->globals.BenchmarkProblemsPath), STR_ARG(g->name));
    return below.s && path_is_below(r->outdir, below);
}

/* The object under another name: the same file where the file system can, else a copy. */
static Err object_place(const char *from, const char *to, bool own)
{
    if (own && unlink(to) && errno != ENOENT)
        FAIL(ERR_FAILED, "cannot replace '%s': %s", to, strerror(errno));
    return link(from, to) == 0 ? 0 : file_copy(from, to, OBJECT_BYTES_MAX);
}

static Err place(Run *r, Str dir, bool own, Str symbol, Str object, Str *out)
{
    Buf name;
    buf_init(&name);
    kernel_file_base(symbol, (size_t)r->config->globals.MaxFileName, &name);
    buf_puts(&name, target_code_suffix(r->target));
    Err e = buf_check(&name);
    if (!e) *out = path_join(&r->arena, dir.s, buf_cstr(&name));
    buf_fini(&name);
    TRY(e);
    TRY_ALLOC(out->s);
    return object_place(object.s, out->s, own);
}

static Err place_all(Run *r, Group *g, Str dir, bool own)
{
    Objects all;
    TRY(objects_of(r, g, &all));
    TRY_ALLOC(g->code_object = ARENA_ARRAY(&r->arena, all.n, Str));
    for (size_t i = 0; i < all.n; i++)
        TRY(place(r, dir, own, all.name[i].name, all.object[i], &g->code_object[i]));
    g->n_code_objects = all.n;
    return 0;
}

/* Removes kernels of an earlier version of the config: files with names of kernels of this problem type. */
static Err old_remove(Run *r, const Group *g, Str dir)
{
    Str *name, type = str_sub(g->name, 0, g->name.n > 3 ? g->name.n - 3 : 0); /* without "_00" */
    size_t n = 0;
    TRY(dir_list(&r->arena, dir.s, target_code_suffix(r->target), false, &name, &n));
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        Str path = path_join(&r->arena, dir.s, name[i].s);
        TRY_ALLOC(path.s);
        bool ours =
            str_eq(str_sub(name[i], 0, type.n), type) && lstat(path.s, &st) == 0 && S_ISREG(st.st_mode);
        if (ours && unlink(path.s) && errno != ENOENT)
            FAIL(ERR_FAILED, "cannot remove '%s': %s", path.s, strerror(errno));
    }
    return 0;
}

Err group_code_objects(Run *r, Group *g)
{
    Str dir;
    TRY(run_path(r, &dir, "%.*s/%.*s/00_Final/source/library",
                 STR_ARG(r->config->globals.BenchmarkProblemsPath), STR_ARG(g->name)));
    TRY(dir_make(dir.s));
    if (r->toolchain.linker) return link_all(r, g, dir);
    bool own = is_own_dir(r, g);
    if (own) TRY(old_remove(r, g, dir));
    return place_all(r, g, dir, own);
}
