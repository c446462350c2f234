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

/* Objects of the kernels that were built, then of the helpers. */
static Str *objects_of(Run *r, const Group *g)
{
    Str *object = ARENA_ARRAY(&r->arena, g->n_columns + g->n_helpers, Str);
    for (size_t i = 0; object && i < g->n_columns; i++) object[i] = g->variant[g->column[i]].object;
    for (size_t i = 0; object && i < g->n_helpers; i++) object[g->n_columns + i] = g->helper[i].object;
    return object;
}

static Err link_all(Run *r, Group *g, Str dir)
{
    bool named = !target_family(r->target)->is_gpu;
    Str *object = objects_of(r, g), *out = ARENA_NEW(&r->arena, Str);
    LinkName *name = ARENA_ARRAY(&r->arena, g->n_columns, LinkName);
    if (!object || !out || !name) FAIL(ERR_FAILED, "out of memory for %zu kernels", g->n_columns);
    *out = arena_printf(&r->arena, "%s/TensileLibrary_%s%s", dir.s, r->target->name, named ? ".so" : ".co");
    TRY_ALLOC(out->s);
    for (size_t i = 0; i < g->n_columns; i++) {
        const Variant *v = &g->variant[g->column[i]];
        name[i] = (LinkName){v->name, v->symbol};
    }
    g->code_object = out;
    g->n_code_objects = 1;
    return build_link(&r->toolchain, object, g->n_columns + g->n_helpers, name, named ? g->n_columns : 0,
                      out->s);
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
    size_t n = g->n_columns + g->n_helpers;
    Str *object = objects_of(r, g);
    g->code_object = ARENA_ARRAY(&r->arena, n, Str);
    if (!object || !g->code_object) FAIL(ERR_FAILED, "out of memory for %zu kernels", n);
    for (size_t i = 0; i < n; i++) {
        Str symbol =
            i < g->n_columns ? g->variant[g->column[i]].symbol : g->helper[i - g->n_columns].h.symbol;
        TRY(place(r, dir, own, symbol, object[i], &g->code_object[i]));
    }
    g->n_code_objects = n;
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
