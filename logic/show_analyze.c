/* tuner-logic analyze: the command line of analyze.h. */
#include <stddef.h>

#include "base/log.h"
#include "logic/analyze.h"
#include "logic/show.h"

enum { DEVICES_MAX = 256 };

typedef struct {
    AnalyzeOptions o;
    Str device[DEVICES_MAX];
} AnalyzeArgs;

static Err take_device(void *target, const CliOption *o, const char *value)
{
    AnalyzeArgs *a = target;
    if (a->o.n_devices == DEVICES_MAX) FAIL(ERR_INPUT, "--%s: more than %d devices", o->name, DEVICES_MAX);
    a->device[a->o.n_devices++] = str_from(value);
    a->o.device = a->device;
    return ERR_OK;
}

#define FIELD(f) .offset = offsetof(AnalyzeArgs, o.f)

static const CliOption options[] = {
    CLI_VALUE("schedule", CLI_TEXT, "NAME", schedule, "ScheduleName of the files"),
    CLI_VALUE("arch", CLI_TEXT, "NAME", arch, "ArchitectureName"),
    CLI_NUMBER("cu-count", CLI_INT32, "N", 1, 100000, cu_count, "CUCount"),
    {.name = "device",
     .kind = CLI_CALL,
     .set = take_device,
     .arg = "NAME",
     .help = "a DeviceName; repeatable"},
    {.name = "alg",
     .kind = CLI_WORD,
     .arg = "0|1",
     .words = "0 1",
     FIELD(solution_selection_alg),
     .help = "SolutionSelectionAlg"},
    CLI_NUMBER("importance-min", CLI_REAL, "X", 0, INT64_MAX, solution_importance_min,
               "SolutionImportanceMin"),
    CLI_ROW("no-expand-ranges", CLI_CLEAR, expand_ranges, "ExpandRanges: False"),
    CLI_ROW("dict", CLI_FLAG, dict, "write maps, not lists"),
    {.name = "ties",
     .kind = CLI_WORD,
     .arg = "RULE",
     .words = "fewest first",
     FIELD(ties),
     .help =
         "choice among solutions that do not differ significantly: first: the fastest, like Tensile; fewest "
         "(default): the one that wins more other sizes"},
};

const CliCommand logic_analyze_cli = {.name = "analyze",
                                      .operands = "DATA_DIR LOGIC_DIR",
                                      .help = "benchmark data (CSV and YAML pairs) to logic files",
                                      .min = 2,
                                      .max = 2,
                                      CLI_OPTIONS(options)};

Err logic_analyze_command(int argc, char **argv)
{
    AnalyzeReport r;
    AnalyzeArgs a = {.o.dict = false};
    CliLine line;
    analyze_options_init(&a.o);
    TRY(cli_options(&logic_program, &logic_analyze_cli, &a, argc, argv, &line));
    if (line.done) return ERR_OK;
    a.o.data_dir = line.operand[0];
    a.o.logic_dir = line.operand[1];
    TRY(analyze_run(&a.o, &r));
    notice("%zu logic files, %zu sizes, %zu solutions", r.n_files, r.n_sizes, r.n_solutions);
    if (r.n_lost) notice("%zu sizes without a winner: every solution failed or was not run", r.n_lost);
    if (r.n_ties)
        notice("%zu ties: %zu decided for the solution that wins more other sizes, the others stay with the "
               "fastest",
               r.n_ties, r.n_tie_moves);
    return ERR_OK;
}
