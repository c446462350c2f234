/* Moves files that do not belong to the config to OUTDIR/set_aside. See set_aside.h. */
#include "run/set_aside.h"

#include "base/fs.h"
#include "base/own.h"

enum { NAMED_MAX = 8 };

typedef struct {
    size_t n_moved, n_left;
    Buf moved, left; /* names, the first NAMED_MAX of each */
} Aside;

static void name_add(Buf *list, size_t *n, Str name)
{
    if (*n < NAMED_MAX) buf_printf(list, "%s%.*s", *n ? ", " : "", STR_ARG(name));
    if (*n == NAMED_MAX) buf_puts(list, ", ...");
    ++*n;
}

static Err move(Run *r, const Leftovers *l, Str dir, Str name, Aside *aside)
{
    Str folder = arena_printf(&r->arena, "%.*s/%.*s", STR_ARG(l->below), STR_ARG(path_dir(name)));
    Str from = arena_printf(&r->arena, "%s/%.*s", dir.s, STR_ARG(path_dir(name))), to;
    TRY_ALLOC(folder.s && from.s ? folder.s : NULL);
    if (!path_is_below(r->outdir, folder)) {
        name_add(&aside->left, &aside->n_left, name);
        return 0;
    }
    TRY(run_path(r, &to, "set_aside"));
    TRY(path_no_link(to.s));
    TRY(run_path(r, &to, "set_aside/%.*s", STR_ARG(folder)));
    TRY(file_set_aside(from.s, path_base(name).s, to.s));
    name_add(&aside->moved, &aside->n_moved, name);
    return 0;
}

static bool has_suffix(Str name, const char *const *suffix)
{
    for (; *suffix; suffix++)
        if (str_ends(name, *suffix)) return true;
    return false;
}

static void report(const Run *r, const Leftovers *l, Aside *aside)
{
    if (aside->n_moved)
        warning("%.*s: %zu %s not of this config, moved to %s/set_aside/%.*s: %s", STR_ARG(l->below),
                aside->n_moved, l->what, r->outdir, STR_ARG(l->below), buf_cstr(&aside->moved));
    if (aside->n_left)
        warning("%.*s: %zu %s not of this config, left where they are and not used: %s", STR_ARG(l->below),
                aside->n_left, l->what, buf_cstr(&aside->left));
}

Err set_aside(Run *r, const Leftovers *l)
{
    Str dir, *name;
    size_t n = 0;
    Aside aside = {0};
    TRY(run_path(r, &dir, "%.*s", STR_ARG(l->below)));
    if (!dir_exists(dir.s)) return 0;
    TRY(dir_list(&r->arena, dir.s, "", l->recursive, &name, &n));
    buf_init(&aside.moved);
    buf_init(&aside.left);
    Err e = 0;
    for (size_t i = 0; !e && i < n; i++)
        if (has_suffix(name[i], l->suffix) && !l->keep(l->ctx, name[i])) e = move(r, l, dir, name[i], &aside);
    report(r, l, &aside);
    buf_fini(&aside.moved);
    buf_fini(&aside.left);
    return e;
}
