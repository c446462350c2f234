/* Merges directories: pairs their files and writes the results. One pair is read at a time, so that memory is
 * bounded by the largest pair. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fs.h"
#include "base/proc.h"
#include "logic/merge_internal.h"
#include "logic/staging.h"

typedef struct {
    const char *path;
    Str *name; /* sorted */
    size_t n;
} Side;

typedef struct {
    Arena a;
    const MergeOptions *o;
    MergeDirsReport *r;
    Buf *text;
    Side original, increment;
    const char *output;
    Staging staging;
    Str *done; /* names in staging */
    size_t n_done;
} Dirs;

static bool has_suffix(Str name, const char *suffix)
{
    size_t n = strlen(suffix);
    return name.n > n && strncasecmp(name.s + name.n - n, suffix, n) == 0;
}

/* ---- listing ---- */

/* The output's path below dir, ending in '/', if it is there: its files are not inputs. */
static Str output_below(Arena *a, const char *dir, const char *output)
{
    char *in = realpath(dir, NULL), *out = realpath(output, NULL);
    Str below = STR_NULL;
    size_t n = in ? strlen(in) : 0;
    if (in && out && !strncmp(in, out, n) && out[n] == '/') below = arena_printf(a, "%s/", out + n + 1);
    free(in);
    free(out);
    return below;
}

static Err side_list(Dirs *d, const char *path, Side *s)
{
    bool tensile = d->o->policy == MERGE_TENSILE;
    size_t n = 0;
    s->path = path;
    TRY(dir_list(&d->a, path, "", !tensile, &s->name, &s->n));
    Str output = output_below(&d->a, path, d->output);
    for (size_t i = 0; i < s->n; i++) {
        Str full = path_join(&d->a, path, s->name[i].s);
        TRY_ALLOC(full.s);
        if (output.s && str_starts(s->name[i], output.s)) continue;
        if (!file_exists(full.s)) continue;
        if (tensile && !has_suffix(s->name[i], ".yaml")) continue;
        s->name[n++] = s->name[i];
    }
    s->n = n;
    return ERR_OK;
}

/* ---- staging ---- */

static Err staged_path(Dirs *d, Str name, Str *path)
{
    *path = path_join(&d->a, d->staging.tree.s, name.s);
    TRY_ALLOC(path->s);
    d->done[d->n_done++] = name;
    return dir_make(arena_dup(&d->a, path_dir(*path)).s);
}

static Err stage_copy(Dirs *d, const Side *from, Str name)
{
    Str path, source = path_join(&d->a, from->path, name.s);
    TRY_ALLOC(source.s);
    TRY(staged_path(d, name, &path));
    return file_copy(source.s, path.s, LOGIC_MAX_BYTES);
}

/* ---- one name ---- */

static Err alone(Dirs *d, const Side *side, Str name)
{
    bool tensile = d->o->policy == MERGE_TENSILE;
    buf_printf(d->text, "%.*s: in %s alone, %s\n", STR_ARG(name), side->path,
               tensile ? "left out" : "copied");
    d->r->n_ignored += tensile;
    d->r->n_copied += !tensile;
    return tensile ? ERR_OK : stage_copy(d, side, name);
}

static Err conflict(Dirs *d, Str name, const char *what)
{
    buf_printf(d->text, "%.*s: %s: that of %s is kept\n", STR_ARG(name), what, d->original.path);
    d->r->n_conflicts++;
    return stage_copy(d, &d->original, name);
}

static void add_report(MergeReport *sum, const MergeReport *r)
{
    sum->n_added += r->n_added;
    sum->n_replaced += r->n_replaced;
    sum->n_kept += r->n_kept;
    sum->n_dropped += r->n_dropped;
    sum->n_solutions_added += r->n_solutions_added;
    sum->n_solutions_removed += r->n_solutions_removed;
    sum->changed |= r->changed;
}

/* After the merge, whose speeds before it are known. */
static Err weigh(Dirs *d, Arena *a, const MergeSpeeds *before, const Logic *merged)
{
    MergeSpeeds after;
    MergeWeight w;
    TRY(merge_speeds(a, d->o->weights, merged, &after));
    merge_weigh(d->o->weights, before, &after, &w);
    merge_weight_add(&d->r->weight, &w);
    if (w.n_calls) {
        buf_puts(d->text, "  ");
        merge_weight_print(&w, d->text);
    }
    return ERR_OK;
}

static Err merge_pair(Dirs *d, Arena *a, Str name, Logic *original, Logic *increment)
{
    Logic merged;
    MergeReport r;
    Str path;
    Buf sizes;
    MergeSpeeds before = {0};
    if (d->o->weights) TRY(merge_speeds(a, d->o->weights, original, &before));
    buf_init(&sizes);
    Err e = logic_merge(a, original, increment, d->o, &merged, &r, &sizes);
    if (!e) {
        buf_printf(d->text,
                   "%.*s: sizes: %zu added, %zu replaced, %zu kept, %zu dropped; solutions: %zu added, %zu "
                   "removed\n",
                   STR_ARG(name), r.n_added, r.n_replaced, r.n_kept, r.n_dropped, r.n_solutions_added,
                   r.n_solutions_removed);
        buf_str(d->text, buf_view(&sizes));
        add_report(&d->r->total, &r);
        d->r->n_merged++;
    }
    buf_fini(&sizes);
    TRY(e);
    if (d->o->weights) TRY(weigh(d, a, &before, &merged));
    if (!r.changed) return stage_copy(d, &d->original, name);
    TRY(staged_path(d, name, &path));
    return logic_write(&merged, path.s);
}

static Err both_texts(Dirs *d, Arena *a, Str name, Str path[2], Str text[2])
{
    path[0] = path_join(a, d->original.path, name.s);
    path[1] = path_join(a, d->increment.path, name.s);
    TRY_ALLOC(path[0].s && path[1].s ? path[0].s : NULL);
    for (int i = 0; i < 2; i++) TRY(file_read(a, path[i].s, LOGIC_MAX_BYTES, &text[i]));
    return ERR_OK;
}

static Err both_in(Dirs *d, Arena *a, Str name)
{
    Str path[2], text[2];
    Logic l[2];
    TRY(both_texts(d, a, name, path, text));
    if (!has_suffix(name, ".yaml") && !has_suffix(name, ".yml")) {
        if (!str_eq(text[0], text[1])) return conflict(d, name, "no logic file, and not the same in both");
        d->r->n_copied++;
        return stage_copy(d, &d->original, name);
    }
    for (int i = 0; i < 2; i++) TRY(logic_parse(a, path[i].s, text[i], NULL, &l[i]));
    if (d->o->policy != MERGE_TENSILE && l[0].trees && l[1].trees) {
        if (!str_eq(text[0], text[1])) return conflict(d, name, "decision trees, and not the same in both");
        d->r->n_copied++;
        return stage_copy(d, &d->original, name);
    }
    return merge_pair(d, a, name, &l[0], &l[1]);
}

static Err both(Dirs *d, Str name)
{
    Arena a;
    if (interrupted()) FAIL(ERR_FAILED, "interrupted: '%s' is as it was", d->output);
    arena_init(&a, 0);
    Err e = both_in(d, &a, name);
    arena_fini(&a);
    return e;
}

/* Processes the names of both directories in sorted order. */
static Err walk(Dirs *d)
{
    const Side *x = &d->original, *y = &d->increment;
    size_t i = 0, j = 0;
    while (i < x->n || j < y->n) {
        int c = i == x->n ? 1 : j == y->n ? -1 : str_cmp(x->name[i], y->name[j]);
        if (c < 0)
            TRY(alone(d, x, x->name[i++]));
        else if (c > 0)
            TRY(alone(d, y, y->name[j++]));
        else
            TRY(both(d, (j++, x->name[i++])));
    }
    return ERR_OK;
}

/* Like in Tensile, the decision for the first file applies to all. */
static MergeForce force_of_first(const Dirs *d)
{
    size_t j = 0;
    if (d->o->force != FORCE_BY_NAME) return d->o->force;
    for (size_t i = 0; i < d->original.n; i++) {
        while (j < d->increment.n && str_cmp(d->increment.name[j], d->original.name[i]) < 0) j++;
        if (j == d->increment.n || !str_eq(d->increment.name[j], d->original.name[i])) continue;
        bool no = strstr(d->increment.path, "arcturus") || strstr(d->increment.name[j].s, "arcturus");
        return no ? FORCE_NEVER : FORCE_ALWAYS;
    }
    return FORCE_BY_NAME;
}

static Err run(Dirs *d)
{
    TRY_ALLOC(d->done = ARENA_ARRAY(&d->a, d->original.n + d->increment.n, Str));
    MergeOptions o = *d->o;
    o.force = force_of_first(d);
    d->o = &o;
    TRY(walk(d));
    TRY(buf_check(d->text));
    if (interrupted()) FAIL(ERR_FAILED, "interrupted: '%s' is as it was", d->output);
    return staging_commit(&d->staging, d->done, d->n_done);
}

Err merge_dirs(const char *original_dir, const char *incremental_dir, const char *output_dir,
               const MergeOptions *o, MergeDirsReport *r, Buf *text)
{
    Dirs d = {.o = o, .r = r, .text = text, .output = output_dir};
    *r = (MergeDirsReport){0};
    arena_init(&d.a, 0);
    Err e = staging_recover(&d.a, output_dir); /* first: an input may be the output */
    if (!e) e = side_list(&d, original_dir, &d.original);
    if (!e) e = side_list(&d, incremental_dir, &d.increment);
    if (!e) e = staging_open(&d.a, output_dir, &d.staging);
    if (!e) {
        e = run(&d);
        staging_close(&d.staging, e);
    }
    arena_fini(&d.a);
    if (!e && r->n_conflicts)
        FAIL(ERR_PARTIAL, "%zu files could not be merged, those of '%s' are kept", r->n_conflicts,
             original_dir);
    return e;
}
