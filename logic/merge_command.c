/* tuner-logic merge: the command line of merge.h. */
#include <stddef.h>
#include <stdio.h>

#include "base/log.h"
#include "base/proc.h"
#include "logic/merge.h"
#include "logic/show.h"

typedef struct {
    MergeOptions o;
    bool policy_given;
    const char *weights; /* path of a log */
} MergeArgs;

/* Tensile requires a value; without one it means true here. */
static Err take_force(void *target, const CliOption *o, const char *value)
{
    static const MergeForce forces[] = {FORCE_BY_NAME, FORCE_ALWAYS, FORCE_NEVER, FORCE_ALWAYS, FORCE_NEVER};
    MergeArgs *a = target;
    int index = 1;
    if (value) TRY(cli_word("--force_merge", str_from(value), o->words, &index));
    a->o.force = forces[index];
    return ERR_OK;
}

static Err take_policy(void *target, const CliOption *o, const char *value)
{
    MergeArgs *a = target;
    int index = 0;
    TRY(cli_word("--policy", str_from(value), o->words, &index));
    a->policy_given = true;
    a->o.policy = (MergePolicy)index;
    return ERR_OK;
}

#define FIELD(f) .offset = offsetof(MergeArgs, o.f)

static const CliOption options[] = {
    {.name = "policy",
     .kind = CLI_CALL,
     .set = take_policy,
     .arg = "POLICY",
     .words = "tensile best newer",
     .help = "best (default): the fastest of every size; newer: the increment's (also --force_merge true); "
             "tensile: as Tensile's merge.py does"},
    {.name = "force_merge",
     .alias = "force-merge",
     .kind = CLI_CALL,
     .set = take_force,
     .takes = CLI_OPTIONAL_WORD,
     .arg = "WHEN",
     .words = "none true false 1 0",
     .help = "none, true (without a value) or false: whether the increment's row replaces a faster one"},
    CLI_ROW("notrim", CLI_FLAG, keep_long, "sizes keep their leading dimensions"),
    {.name = "add_solution_tags",
     .alias = "add-solution-tags",
     FIELD(tags),
     .help = "a size may stay once per kind of solution"},
    CLI_ROW("same-units", CLI_FLAG, same_units, "speeds have the same unit: do not guess it from their size"),
    {.name = "weights",
     .kind = CLI_TEXT,
     .arg = "LOG",
     .offset = offsetof(MergeArgs, weights),
     .help =
         "a log, profile or table that 'tuner sizes' reads: its calls are weights in the report of what the "
         "merge does for them"},
    {.name = "verbosity",
     .letter = 'v',
     .kind = CLI_WORD,
     .arg = "LEVEL",
     .words = "0 1 2",
     FIELD(verbosity),
     .help = "0 totals, 1 every replaced or dropped size (default), 2 every size"},
};

const CliCommand logic_merge_cli = {.name = "merge",
                                    .operands = "ORIGINAL_DIR INCREMENTAL_DIR OUTPUT_DIR",
                                    .help = "what an incremental tuning found into the logic in use",
                                    .min = 3,
                                    .max = 3,
                                    CLI_OPTIONS(options)};

/* Without --policy, --force_merge true means newer and false means best. */
static Err settle(MergeArgs *a)
{
    if (a->o.policy == MERGE_TENSILE) return ERR_OK;
    if (!a->policy_given) {
        if (a->o.force == FORCE_ALWAYS) a->o.policy = MERGE_NEWER;
        return ERR_OK;
    }
    MergeForce not = a->o.policy == MERGE_BEST ? FORCE_ALWAYS : FORCE_NEVER;
    if (a->o.force == not )
        FAIL(ERR_INPUT, "--force_merge %s contradicts --policy %s", not == FORCE_ALWAYS ? "true" : "false",
             a->o.policy == MERGE_BEST ? "best" : "newer");
    return ERR_OK;
}

static Err merge(const CliLine *line, const MergeOptions *o)
{
    MergeDirsReport r;
    Buf text;
    buf_init(&text);
    Err e = merge_dirs(line->operand[0], line->operand[1], line->operand[2], o, &r, &text);
    if (!e || e == ERR_PARTIAL) {
        if (o->weights) merge_weight_print(&r.weight, &text);
        fwrite(text.s, 1, text.n, stdout);
        printf("%zu files merged, %zu copied, %zu left out; sizes: %zu added, %zu replaced\n", r.n_merged,
               r.n_copied, r.n_ignored, r.total.n_added, r.total.n_replaced);
    }
    buf_fini(&text);
    return e;
}

/* Reads the log of --weights and says what of it is no weight. */
static Err weights_read(const char *path, Workload *w)
{
    TRY(workload_read(w, path));
    if (w->call.n == 0) FAIL(ERR_INPUT, "--weights: no line of '%s' is a call of a GEMM", path);
    if (w->n_skipped)
        notice("%s: %lld lines left out, the first at %lld: %.*s", path, (long long)w->n_skipped,
               (long long)w->skip.v[0].line, STR_ARG(w->skip.v[0].reason));
    return ERR_OK;
}

Err logic_merge_command(int argc, char **argv)
{
    MergeArgs a = {.o = {.policy = MERGE_BEST, .verbosity = 1}};
    Workload weights;
    CliLine line;
    TRY(cli_options(&logic_program, &logic_merge_cli, &a, argc, argv, &line));
    if (line.done) return ERR_OK;
    TRY(settle(&a));
    interrupt_init();
    workload_init(&weights);
    Err e = a.weights ? weights_read(a.weights, &weights) : ERR_OK;
    if (a.weights) a.o.weights = &weights;
    if (!e) e = merge(&line, &a.o);
    workload_fini(&weights);
    return e;
}
