/* Massages logic in memory, and the files of a directory. See massage.h. */
#include "logic/massage.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "logic/staging.h"

enum { SIZE_SHORT = 4, ELEMENTS = 9 };

static Err check(const Logic *l)
{
    int32_t highest = -1;
    if (l->dict) FAIL(ERR_INPUT, "%s: the map form, expected the list form", l->path);
    for (size_t i = 0; i < l->n_solutions; i++) {
        const LogicSolution *s = &l->solution[i];
        if (!solution_has(&s->s, PARAM_SolutionIndex))
            FAIL(ERR_INPUT, "%s:%d: a solution without SolutionIndex", l->path, s->line);
        if (s->s.SolutionIndex > highest) highest = s->s.SolutionIndex;
        if (s->s.SolutionIndex < 0)
            FAIL(ERR_INPUT, "%s:%d: SolutionIndex %d, expected 0 or more", l->path, s->line,
                 s->s.SolutionIndex);
    }
    if ((int64_t)highest + 1 != (int64_t)l->n_solutions)
        FAIL(ERR_INPUT, "%s: the highest SolutionIndex is %d, expected %zu: the number of solutions less 1",
             l->path, highest, l->n_solutions - 1);
    return ERR_OK;
}

static bool packs_batches(const LogicSolution *s)
{
    return solution_has(&s->s, PARAM_PackBatchDims) && s->s.PackBatchDims == 1;
}

/* kept: room for the kept keys, which change in the copy alone. */
static void make_copy(const LogicSolution *from, int32_t index, LogicKept *kept, LogicSolution *to)
{
    *to = *from;
    for (size_t i = 0; i < from->n_kept; i++) kept[i] = from->kept[i];
    to->kept = kept;
    logic_solution_own(to, PARAM_LdcEqualsLdd);
    to->s.LdcEqualsLdd = 0;
    if (solution_has(&to->s, PARAM_ReplacementKernel)) {
        logic_solution_own(to, PARAM_ReplacementKernel);
        to->s.ReplacementKernel = 0;
    }
    logic_solution_number(to, index);
}

/* *copy_of: by SolutionIndex, the index of its copy; -1: none. */
static Err copy_solutions(Arena *a, Logic *l, int32_t **copy_of)
{
    size_t n = l->n_solutions, n_all = n;
    LogicSolution *all = ARENA_ARRAY(a, 2 * n, LogicSolution);
    int32_t *of = *copy_of = ARENA_ARRAY(a, n, int32_t);
    if (!all || !of) FAIL(ERR_FAILED, "out of memory for %zu solutions", 2 * n);
    if (2 * n > LOGIC_MAX_SOLUTIONS)
        FAIL(ERR_INPUT, "%s: %zu solutions, at most %d can be copied", l->path, n, LOGIC_MAX_SOLUTIONS / 2);
    for (size_t i = 0; i < n; i++) of[i] = -1;
    for (size_t i = 0; i < n; i++) all[i] = l->solution[i];
    for (size_t i = 0; i < n; i++) {
        if (packs_batches(&all[i])) continue;
        of[all[i].s.SolutionIndex] = (int32_t)n_all;
        LogicKept *kept = ARENA_ARRAY(a, all[i].n_kept + 1, LogicKept);
        TRY_ALLOC(kept);
        make_copy(&all[i], (int32_t)n_all, kept, &all[n_all]);
        l->n_kept += all[n_all++].n_kept;
    }
    l->solution = all;
    l->n_solutions = n_all;
    return ERR_OK;
}

static Err copy_rows(Arena *a, Logic *l, const int32_t *copy_of)
{
    size_t n = l->n_rows, n_all = n;
    LogicRow *all = ARENA_ARRAY(a, 2 * n, LogicRow);
    if (!all) FAIL(ERR_FAILED, "out of memory for %zu sizes", 2 * n);
    for (size_t i = 0; i < n; i++) {
        all[i] = l->row[i];
        if (all[i].n > SIZE_SHORT) all[i].n = SIZE_SHORT;
    }
    for (size_t i = 0; i < n; i++) {
        if (copy_of[all[i].solution] < 0) continue;
        all[n_all] = all[i];
        all[n_all++].solution = copy_of[all[i].solution];
    }
    l->row = all;
    l->n_rows = n_all;
    return ERR_OK;
}

Err logic_massage(Arena *a, Logic *l, MassageReport *r)
{
    int32_t *copy_of;
    size_t n_solutions = l->n_solutions, n_rows = l->n_rows;
    TRY(check(l));
    TRY(copy_solutions(a, l, &copy_of));
    TRY(copy_rows(a, l, copy_of));
    l->n_elements = ELEMENTS;
    r->n_files++;
    r->n_solutions_added += l->n_solutions - n_solutions;
    r->n_sizes_added += l->n_rows - n_rows;
    return ERR_OK;
}

/* ---- directories ---- */

static Err massage_file(Arena *outer, const char *dir, Str name, const Staging *s, MassageReport *r,
                        Buf *text)
{
    Arena a;
    Logic l;
    Str from = path_join(outer, dir, name.s), to = path_join(outer, s->tree.s, name.s);
    TRY_ALLOC(from.s && to.s ? to.s : NULL);
    if (interrupted()) FAIL(ERR_FAILED, "interrupted: '%s' is as it was", s->output.s);
    arena_init(&a, 0);
    Err e = logic_read(&a, from.s, NULL, &l);
    size_t n_solutions = e ? 0 : l.n_solutions, n_rows = e ? 0 : l.n_rows;
    if (!e) e = logic_massage(&a, &l, r);
    if (!e) e = logic_write(&l, to.s);
    if (!e)
        buf_printf(text, "%.*s: solutions: %zu added to %zu; sizes: %zu added to %zu\n", STR_ARG(name),
                   l.n_solutions - n_solutions, n_solutions, l.n_rows - n_rows, n_rows);
    arena_fini(&a);
    return e;
}

static Err massage_all(Arena *a, const char *input_dir, const Staging *s, Str **name, size_t *n,
                       MassageReport *r, Buf *text)
{
    size_t n_files = 0;
    TRY(dir_list(a, input_dir, ".yaml", false, name, n));
    for (size_t i = 0; i < *n; i++) {
        Str path = path_join(a, input_dir, (*name)[i].s);
        TRY_ALLOC(path.s);
        if (!file_exists(path.s) || dir_exists(path.s)) continue;
        (*name)[n_files++] = (*name)[i];
    }
    *n = 0;
    if (!n_files) FAIL(ERR_INPUT, "%s: no logic file, expected *.yaml", input_dir);
    for (size_t i = 0; i < n_files; i++) {
        Err e = massage_file(a, input_dir, (*name)[i], s, r, text);
        if (e && e != ERR_INPUT) return e;
        if (e)
            warning("%s", err_message());
        else
            (*name)[(*n)++] = (*name)[i];
    }
    r->n_left_out = n_files - *n;
    if (*n == 0) FAIL(ERR_INPUT, "%s: none of %zu files can be massaged", input_dir, n_files);
    return buf_check(text);
}

Err massage_dir(const char *input_dir, const char *output_dir, MassageReport *r, Buf *text)
{
    Arena a;
    Staging s;
    Str *name = NULL;
    size_t n = 0;
    *r = (MassageReport){0};
    arena_init(&a, 0);
    Err e = staging_recover(&a, output_dir);
    if (!e) e = staging_open(&a, output_dir, &s);
    if (!e) {
        e = massage_all(&a, input_dir, &s, &name, &n, r, text);
        if (!e) e = staging_commit(&s, name, n);
        staging_close(&s, e);
    }
    arena_fini(&a);
    if (!e && r->n_left_out)
        FAIL(ERR_PARTIAL, "%zu files of '%s' could not be massaged and are left out", r->n_left_out,
             input_dir);
    return e;
}
