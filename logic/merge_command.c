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
    {.name = "notrim", FIELD(keep_long), .help = "sizes keep their leading dimensions"},
    {.name = "add_solution_tags",
     .alias = "add-solution-tags",
     FIELD(tags),
     .help = "a size may stay once per kind of solution"},
    {.name = "same-units",
     FIELD(same_units),
     .help = "speeds have the same unit: do not guess it from their size"},
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
                                    .option = options,
                                    .n_options = sizeof options / sizeof *options};

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

Err logic_merge_command(int argc, char **argv)
{
    MergeArgs a = {.o = {.policy = MERGE_BEST, .verbosity = 1}};
    MergeDirsReport r;
    Buf text;
    CliLine line;
    TRY(cli_options(&logic_program, &logic_merge_cli, &a, argc, argv, &line));
    if (line.done) return ERR_OK;
    TRY(settle(&a));
    interrupt_init();
    buf_init(&text);
    Err e = merge_dirs(line.operand[0], line.operand[1], line.operand[2], &a.o, &r, &text);
    if (!e || e == ERR_PARTIAL) {
        fwrite(text.s, 1, text.n, stdout);
        printf("%zu files merged, %zu copied, %zu left out; sizes: %zu added, %zu replaced\n", r.n_merged,
               r.n_copied, r.n_ignored, r.total.n_added, r.total.n_replaced);
    }
    buf_fini(&text);
    return e;
}
