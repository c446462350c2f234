/* tuner-logic diff: the command line, and directories. Files of the same schedule, architecture and problem
 * type are compared, whatever their names. Where a directory has several of them, pairs are made first of
 * files that also agree in CU count, metric, kind of library, Fp16AltImpl and path, then of files that differ
 * only in path, then in the order of their paths. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/vec.h"
#include "logic/diff.h"
#include "logic/logic.h"
#include "logic/show.h"

/* A file of a directory. Files are compared in pairs with the same subject. */
typedef struct {
    Str path, name; /* name: below the directory */
    Str subject;    /* "SCHEDULE, ARCHITECTURE, PROBLEM TYPE" */
    Str properties; /* CU count, metric and what else distinguishes files of a subject */
    size_t partner; /* in the other directory, + 1; 0: none */
} DiffFile;

typedef struct {
    Arena a;
    const char *path[2];
    VEC(DiffFile) side[2];
    bool summary, exit_code;
} DiffCommand;

/* ---- directories ---- */

static Err read_head(DiffCommand *d, DiffFile *f)
{
    Arena a;
    Logic l;
    Buf subject, properties;
    arena_init(&a, 0);
    buf_init(&subject);
    buf_init(&properties);
    Err e = logic_read(&a, f->path.s, NULL, &l);
    if (!e) {
        buf_printf(&subject, "%.*s, %.*s, ", STR_ARG(l.schedule), STR_ARG(l.arch));
        problem_type_name(l.pt, &subject);
        buf_printf(&properties, "%d %d %.*s %.*s %.*s %.*s", l.cu_count, l.is_apu, STR_ARG(logic_metric(&l)),
                   STR_ARG(logic_distance(&l)), STR_ARG(l.fp16_alt), STR_ARG(l.fp16_alt_round));
        f->subject = arena_dup(&d->a, buf_view(&subject));
        f->properties = arena_dup(&d->a, buf_view(&properties));
        e = buf_check(&subject) ? buf_check(&subject) : buf_check(&properties);
        if (!e && (!f->subject.s || !f->properties.s))
            e = err_set(ERR_FAILED, "%s: out of memory", f->path.s);
    }
    buf_fini(&subject);
    buf_fini(&properties);
    arena_fini(&a);
    return e;
}

static Err list(DiffCommand *d, int side)
{
    static const char *const suffixes[] = {".yaml", ".yml"};
    for (int i = 0; i < 2; i++) {
        Str *name = NULL;
        size_t n = 0;
        TRY(dir_list(&d->a, d->path[side], suffixes[i], true, &name, &n));
        for (size_t j = 0; j < n; j++) {
            DiffFile f = {.name = name[j], .path = path_join(&d->a, d->path[side], name[j].s)};
            TRY_ALLOC(f.path.s);
            if (interrupted()) FAIL(ERR_FAILED, "interrupted");
            TRY(read_head(d, &f));
            if (!VEC_PUSH(&d->side[side], f)) FAIL(ERR_FAILED, "out of memory for %zu files", n);
        }
    }
    if (d->side[side].n == 0) FAIL(ERR_INPUT, "%s: no logic files", d->path[side]);
    return ERR_OK;
}

/* Pairs files of one subject that have no partner yet. strictness 2: if their properties and names are equal;
 * 1: if their properties are; 0: all. */
static void pair(DiffCommand *d, int strictness)
{
    for (size_t i = 0; i < d->side[0].n; i++) {
        DiffFile *x = &d->side[0].v[i];
        for (size_t j = 0; j < d->side[1].n && !x->partner; j++) {
            DiffFile *y = &d->side[1].v[j];
            if (y->partner || !str_eq(x->subject, y->subject)) continue;
            if (strictness > 0 && !str_eq(x->properties, y->properties)) continue;
            if (strictness > 1 && !str_eq(x->name, y->name)) continue;
            x->partner = j + 1, y->partner = i + 1;
        }
    }
}

static void add(LogicDiff *sum, const LogicDiff *r)
{
    sum->n_gone += r->n_gone;
    sum->n_new += r->n_new;
    sum->n_winner += r->n_winner;
    sum->n_speed += r->n_speed;
    sum->n_same += r->n_same;
    sum->n_sol_gone += r->n_sol_gone;
    sum->n_sol_new += r->n_sol_new;
    sum->differ |= r->differ;
}

static size_t print_alone(const DiffCommand *d, int side)
{
    size_t n = 0;
    for (size_t i = 0; i < d->side[side].n; i++) {
        const DiffFile *f = &d->side[side].v[i];
        if (f->partner) continue;
        printf("%c file %s (%.*s)\n", "-+"[side], f -> path.s, STR_ARG(f->subject));
        n++;
    }
    return n;
}

static Err diff_dirs(DiffCommand *d, bool *differ)
{
    LogicDiff sum = {0};
    size_t n = 0;
    for (int i = 0; i < 2; i++) TRY(list(d, i));
    for (int strictness = 2; strictness >= 0; strictness--) pair(d, strictness);
    for (size_t i = 0; i < d->side[0].n; i++) {
        const DiffFile *x = &d->side[0].v[i];
        LogicDiff one;
        if (!x->partner) continue;
        if (interrupted()) FAIL(ERR_FAILED, "interrupted");
        printf("== %.*s: %s, %s\n", STR_ARG(x->subject), x->path.s, d->side[1].v[x->partner - 1].path.s);
        TRY(logic_diff_files(x->path.s, d->side[1].v[x->partner - 1].path.s, d->summary, &one));
        logic_diff_print(&one);
        add(&sum, &one);
        n++;
    }
    size_t gone = print_alone(d, 0), come = print_alone(d, 1);
    printf("files: %zu compared, %zu gone, %zu new; ", n, gone, come);
    logic_diff_print(&sum);
    *differ = sum.differ || gone + come > 0;
    return ERR_OK;
}

/* ---- the command line ---- */

static Err run(DiffCommand *d)
{
    bool differ = false, dirs = dir_exists(d->path[0]);
    if (dirs != dir_exists(d->path[1]))
        FAIL(ERR_INPUT, "'%s' is a directory and '%s' is none", d->path[!dirs], d->path[dirs]);
    if (dirs) {
        TRY(diff_dirs(d, &differ));
    } else {
        LogicDiff r;
        TRY(logic_diff_files(d->path[0], d->path[1], d->summary, &r));
        logic_diff_print(&r);
        differ = r.differ;
    }
    if (d->exit_code && differ) FAIL(ERR_FAILED, "'%s' and '%s' differ", d->path[0], d->path[1]);
    return ERR_OK;
}

static const CliOption options[] = {
    {.name = "summary", .offset = offsetof(DiffCommand, summary), .help = "numbers only"},
    {.name = "exit-code",
     .offset = offsetof(DiffCommand, exit_code),
     .help = "exit code 1 when anything differs"},
};

const CliCommand logic_diff_cli = {
    .name = "diff",
    .operands = "FILE FILE|DIR DIR",
    .help =
        "sizes that came (+), went (-), changed winner (!) or speed (~), solutions that came and went; of "
        "directories the files of one schedule, architecture and problem type are compared",
    .min = 2,
    .max = 2,
    CLI_OPTIONS(options)};

Err logic_diff_command(int argc, char **argv)
{
    DiffCommand d = {.summary = false};
    CliLine line;
    TRY(cli_options(&logic_program, &logic_diff_cli, &d, argc, argv, &line));
    if (line.done) return ERR_OK;
    for (int i = 0; i < 2; i++) d.path[i] = line.operand[i];
    arena_init(&d.a, 0);
    Err e = run(&d);
    for (int i = 0; i < 2; i++) VEC_FINI(&d.side[i]);
    arena_fini(&d.a);
    return e;
}
