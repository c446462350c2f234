/* tuner-logic show: a summary of logic files, their sizes, solutions or problem type. */
#include "logic/show.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "fmt/write.h"
#include "logic/logic.h"
#include "problem/part.h"

typedef enum { SHOW_SUMMARY, SHOW_SIZES, SHOW_SOLUTIONS, SHOW_PROBLEM_TYPE } ShowWhat;

static void show_sizes(const Logic *l)
{
    for (size_t i = 0; i < l->n_rows; i++) {
        const LogicRow *row = &l->row[i];
        for (int32_t j = 0; j < row->n; j++) printf(j ? ",%lld" : "%lld", (long long)row->size[j]);
        printf(" %d %.10g\n", row->solution, row->speed);
    }
}

static void show_solutions(const Logic *l)
{
    size_t *wins = calloc(l->n_solutions + 1, sizeof *wins);
    if (!wins) return;
    for (size_t i = 0; i < l->n_rows; i++) wins[l->row[i].solution]++;
    for (size_t i = 0; i < l->n_solutions; i++) {
        const Solution *s = &l->solution[i].s;
        Str language = param_enum_name(param_at(PARAM_KernelLanguage), s->KernelLanguage);
        printf("%zu %zu sizes %.*s %.*s\n", i, wins[i], STR_ARG(language), STR_ARG(s->SolutionNameMin));
    }
    free(wins);
}

static Err show_problem_type(const Logic *l)
{
    Buf b;
    buf_init(&b);
    Emit *e = emit_yaml(&b);
    TRY_ALLOC(e);
    logic_problem_type_emit(l->pt, e);
    Err err = emit_finish(e);
    emit_free(e);
    if (!err) fwrite(b.s, 1, b.n, stdout);
    buf_fini(&b);
    return err;
}

static void print_speeds(const Logic *l)
{
    double low = 0, high = 0;
    for (size_t i = 0; i < l->n_rows; i++) {
        if (i == 0 || l->row[i].speed < low) low = l->row[i].speed;
        if (i == 0 || l->row[i].speed > high) high = l->row[i].speed;
    }
    if (l->n_rows) printf("speeds         %.6g to %.6g\n", low, high);
}

static size_t count_assembly(const Logic *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_solutions; i++) n += l->solution[i].s.KernelLanguage == LANG_ASSEMBLY;
    return n;
}

/* Prints the parts of the device names that the table of parts has. */
static void show_parts(const Logic *l)
{
    PartList list;
    Buf b;
    const Target *t = target_find(l->arch);
    if (!t) return;
    parts_of_devices(t, l->device, l->n_devices, &list);
    if (list.n == 0) return;
    buf_init(&b);
    parts_print(&list, &b);
    printf("\nparts and CUs  %s", buf_cstr(&b));
    buf_fini(&b);
}

static Err show_summary(const Logic *l)
{
    Buf b;
    size_t used = 0;
    bool *win = calloc(l->n_solutions + 1, sizeof *win);
    TRY_ALLOC(win);
    for (size_t i = 0; i < l->n_rows; i++) used += !win[l->row[i].solution], win[l->row[i].solution] = true;
    free(win);
    buf_init(&b);
    problem_type_name(l->pt, &b);
    printf("file           %s\n", l->path);
    printf("form           %s, version %.*s\n", l->dict ? "map" : "list", STR_ARG(l->version));
    printf("schedule       %.*s\narchitecture   %.*s", STR_ARG(l->schedule), STR_ARG(l->arch));
    if (l->cu_count) printf(", %d CUs", l->cu_count);
    if (l->is_apu >= 0) printf(", %s", l->is_apu ? "APU" : "no APU");
    printf("\ndevices        ");
    for (size_t i = 0; i < l->n_devices; i++) printf(i ? ", %.*s" : "%.*s", STR_ARG(l->device[i]));
    show_parts(l);
    printf("\nproblem type   %s\n", buf_cstr(&b));
    printf("solutions      %zu (%zu Assembly), %zu in use\n", l->n_solutions, count_assembly(l), used);
    printf("sizes          %zu%s%s\n", l->n_rows, l->range ? ", and range logic" : "",
           l->trees ? ", and decision trees" : "");
    print_speeds(l);
    printf("metric         %.*s\ndistance       %.*s\n", STR_ARG(logic_metric(l)),
           STR_ARG(logic_distance(l)));
    buf_reset(&b);
    Err e = logic_report_kept(l, &b);
    if (!e && b.n) printf("kept unknown   %s\n", buf_cstr(&b));
    buf_fini(&b);
    return e;
}

static Err show_file(const char *path, ShowWhat what, const LogicReadOptions *o)
{
    Arena a;
    Logic l;
    arena_init(&a, 0);
    Err e = logic_read(&a, path, o, &l);
    if (!e) logic_warn(&l);
    if (!e && what == SHOW_SIZES) show_sizes(&l);
    if (!e && what == SHOW_SOLUTIONS) show_solutions(&l);
    if (!e && what == SHOW_PROBLEM_TYPE) e = show_problem_type(&l);
    if (!e && what == SHOW_SUMMARY) e = show_summary(&l);
    arena_fini(&a);
    return e;
}

typedef struct {
    bool sizes, solutions, problem_type;
    LogicReadOptions read;
} ShowArgs;

static const CliOption options[] = {
    {.name = "sizes", .offset = offsetof(ShowArgs, sizes), .help = "every size, its solution and speed"},
    {.name = "solutions", .offset = offsetof(ShowArgs, solutions), .help = "every solution's name"},
    {.name = "problem-type", .offset = offsetof(ShowArgs, problem_type), .help = "the problem type's keys"},
    {.name = "strict",
     .offset = offsetof(ShowArgs, read.refuse_duplicates),
     .help = "refuse files with repeated sizes"},
};

const CliCommand logic_show_cli = {.name = "show",
                                   .operands = "FILE...",
                                   .help = "what a logic file holds",
                                   .min = 1,
                                   .max = INT_MAX,
                                   CLI_OPTIONS(options)};

Err logic_show_command(int argc, char **argv)
{
    ShowArgs a = {.sizes = false};
    CliLine line;
    TRY(cli_options(&logic_program, &logic_show_cli, &a, argc, argv, &line));
    ShowWhat what = a.problem_type ? SHOW_PROBLEM_TYPE
                    : a.solutions  ? SHOW_SOLUTIONS
                    : a.sizes      ? SHOW_SIZES
                                   : SHOW_SUMMARY;
    for (int i = 0; !line.done && i < line.n_operands; i++) TRY(show_file(line.operand[i], what, &a.read));
    return ERR_OK;
}
