/* tuner-logic merge: the command line of merge.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "base/proc.h"
#include "logic/merge.h"
#include "logic/show.h"

#define MERGE_USAGE                                                                                          \
    "usage: tuner-logic merge ORIGINAL_DIR INCREMENTAL_DIR OUTPUT_DIR [--policy tensile|best|newer] ..."

typedef struct {
    MergeOptions o;
    bool policy_given;
    const char *operand[3];
    int n_operands;
} MergeArgs;

/* Tensile wants a value; alone it means true. */
static bool force_value(const char *v, MergeForce *out)
{
    static const struct {
        const char *word;
        MergeForce force;
    } words[] = {{"none", FORCE_BY_NAME},
                 {"true", FORCE_ALWAYS},
                 {"1", FORCE_ALWAYS},
                 {"false", FORCE_NEVER},
                 {"0", FORCE_NEVER}};
    for (size_t i = 0; v && i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(v, words[i].word)) return *out = words[i].force, true;
    return false;
}

static Err policy_value(const char *v, MergePolicy *out)
{
    static const char *const names[] = {"tensile", "best", "newer"};
    for (int i = 0; v && i < 3; i++)
        if (!strcmp(v, names[i])) return *out = (MergePolicy)i, ERR_OK;
    FAIL(ERR_INPUT, "--policy '%s', expected tensile, best or newer", v ? v : "");
}

static Err level_value(const char *v, int *out)
{
    int64_t level = 0;
    if (!v || !str_to_i64(str_from(v), &level) || level < 0 || level > 2)
        FAIL(ERR_INPUT, "-v '%s', expected 0, 1 or 2", v ? v : "");
    *out = (int)level;
    return ERR_OK;
}

/* value: behind '=', or the next argument; *used: it was taken. */
static Err take_option(MergeArgs *a, Str name, const char *value, bool own, bool *used)
{
    *used = true;
    if (str_eq_c(name, "--policy")) {
        a->policy_given = true;
        return policy_value(value, &a->o.policy);
    }
    if (str_eq_c(name, "-v") || str_eq_c(name, "--verbosity")) return level_value(value, &a->o.verbosity);
    if (str_eq_c(name, "--force_merge") || str_eq_c(name, "--force-merge")) {
        *used = force_value(value, &a->o.force);
        if (!*used && own) FAIL(ERR_INPUT, "--force_merge '%s', expected none, true or false", value);
        if (!*used) a->o.force = FORCE_ALWAYS;
        return ERR_OK;
    }
    *used = false;
    if (own) FAIL(ERR_INPUT, "option '%.*s' takes no value", STR_ARG(name));
    if (str_eq_c(name, "--notrim"))
        a->o.keep_long = true;
    else if (str_eq_c(name, "--add_solution_tags") || str_eq_c(name, "--add-solution-tags"))
        a->o.tags = true;
    else if (str_eq_c(name, "--same-units"))
        a->o.same_units = true;
    else
        FAIL(ERR_INPUT,
             "unknown option '%.*s', expected --policy, --force_merge, --notrim, --add_solution_tags, "
             "--same-units or -v",
             STR_ARG(name));
    return ERR_OK;
}

/* Without --policy, forcing means newer and not forcing best. */
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

static Err parse(MergeArgs *a, int argc, char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (a->n_operands == 3) FAIL(ERR_INPUT, "unexpected '%s'; " MERGE_USAGE, argv[i]);
            a->operand[a->n_operands++] = argv[i];
            continue;
        }
        const char *equals = strchr(argv[i], '=');
        Str name = equals ? (Str){argv[i], (size_t)(equals - argv[i])} : str_from(argv[i]);
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : NULL;
        bool used = false;
        TRY(take_option(a, name, value, equals != NULL, &used));
        i += used && !equals;
    }
    if (a->n_operands != 3) FAIL(ERR_INPUT, MERGE_USAGE);
    return settle(a);
}

Err logic_merge_command(int argc, char **argv)
{
    MergeArgs a = {.o = {.policy = MERGE_BEST, .verbosity = 1}};
    MergeDirsReport r;
    Buf text;
    TRY(parse(&a, argc, argv));
    interrupt_init();
    buf_init(&text);
    Err e = merge_dirs(a.operand[0], a.operand[1], a.operand[2], &a.o, &r, &text);
    if (!e || e == ERR_PARTIAL) {
        fwrite(text.s, 1, text.n, stdout);
        printf("%zu files merged, %zu copied, %zu left out; sizes: %zu added, %zu replaced\n", r.n_merged,
               r.n_copied, r.n_ignored, r.total.n_added, r.total.n_replaced);
    }
    buf_fini(&text);
    return e;
}
