/* tuner-logic analyze: the command line of analyze.h. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "logic/analyze.h"
#include "logic/show.h"

enum { DEVICES_MAX = 256 };

typedef struct {
    AnalyzeOptions o;
    Str device[DEVICES_MAX];
    const char *operand[2];
    int n_operands;
} AnalyzeArgs;

static Err number(const char *name, const char *value, int64_t min, int64_t max, int64_t *out)
{
    if (!str_to_i64(str_from(value), out) || *out < min || *out > max)
        FAIL(ERR_INPUT, "%s '%s', expected %lld to %lld", name, value, (long long)min, (long long)max);
    return ERR_OK;
}

/* Options with a value. *known: it is one of them. */
static Err take_value(AnalyzeArgs *a, const char *name, const char *value, bool *known)
{
    int64_t v = 0;
    *known = true;
    if (!strcmp(name, "--schedule")) {
        a->o.schedule = value;
    } else if (!strcmp(name, "--arch")) {
        a->o.arch = value;
    } else if (!strcmp(name, "--cu-count")) {
        TRY(number(name, value, 1, 100000, &v));
        a->o.cu_count = (int32_t)v;
    } else if (!strcmp(name, "--device")) {
        if (a->o.n_devices == DEVICES_MAX) FAIL(ERR_INPUT, "more than %d devices", DEVICES_MAX);
        a->device[a->o.n_devices++] = str_from(value);
        a->o.device = a->device;
    } else if (!strcmp(name, "--alg")) {
        TRY(number(name, value, 0, 1, &v));
        a->o.solution_selection_alg = (int)v;
    } else if (!strcmp(name, "--importance-min")) {
        if (!str_to_f64(str_from(value), &a->o.solution_importance_min) ||
            !(a->o.solution_importance_min >= 0))
            FAIL(ERR_INPUT, "%s '%s', expected a number from 0", name, value);
    } else if (!strcmp(name, "--ties")) {
        if (strcmp(value, "first") && strcmp(value, "fewest"))
            FAIL(ERR_INPUT, "--ties '%s', expected first or fewest", value);
        a->o.ties = strcmp(value, "first") ? TIES_FEWEST : TIES_FIRST;
    } else {
        *known = false;
    }
    return ERR_OK;
}

static Err parse(AnalyzeArgs *a, int argc, char **argv)
{
    analyze_options_init(&a->o);
    for (int i = 0; i < argc; i++) {
        bool known = false;
        if (!strcmp(argv[i], "--no-expand-ranges")) {
            a->o.expand_ranges = false;
        } else if (!strcmp(argv[i], "--dict")) {
            a->o.dict = true;
        } else if (argv[i][0] != '-') {
            if (a->n_operands == 2) FAIL(ERR_INPUT, "unexpected '%s'", argv[i]);
            a->operand[a->n_operands++] = argv[i];
        } else {
            TRY(take_value(a, argv[i], i + 1 < argc ? argv[i + 1] : "", &known));
            if (!known) FAIL(ERR_INPUT, "unknown option '%s' (see tuner-logic --help)", argv[i]);
            if (++i == argc) FAIL(ERR_INPUT, "option '%s' needs a value", argv[i - 1]);
        }
    }
    if (a->n_operands < 2)
        FAIL(ERR_INPUT, "usage: tuner-logic analyze DATA_DIR LOGIC_DIR (see tuner-logic --help)");
    a->o.data_dir = a->operand[0];
    a->o.logic_dir = a->operand[1];
    return ERR_OK;
}

Err logic_analyze_command(int argc, char **argv)
{
    AnalyzeReport r;
    AnalyzeArgs a = {.n_operands = 0};
    TRY(parse(&a, argc, argv));
    TRY(analyze_run(&a.o, &r));
    notice("%zu logic files, %zu sizes, %zu solutions", r.n_files, r.n_sizes, r.n_solutions);
    if (r.n_lost) notice("%zu sizes without a winner: every solution failed or was not run", r.n_lost);
    if (r.n_ties)
        notice("%zu ties: %zu decided for the solution that wins more other sizes, the others stay with the "
               "fastest",
               r.n_ties, r.n_tie_moves);
    return ERR_OK;
}
