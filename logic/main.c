/* tuner-logic: what can be done with library logic files; one table of commands. */
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "logic/show.h"

typedef struct {
    const char *name;
    Err (*run)(int argc, char **argv);
    const char *usage, *help;
} Command;

static const Command commands[] = {
    {"show", logic_show_command, "show FILE... [--sizes|--solutions|--problem-type] [--strict]",
     "what a logic file holds; --strict refuses repeated sizes"},
    {"analyze", logic_analyze_command,
     "analyze DATA_DIR LOGIC_DIR [--schedule NAME] [--arch NAME] [--cu-count N] [--device NAME]...\n"
     "      [--alg 0|1] [--importance-min X] [--no-expand-ranges] [--dict] [--ties first|fewest]",
     "benchmark data (csv and yaml pairs) to logic files"},
    {"merge", logic_merge_command,
     "merge ORIGINAL_DIR INCREMENTAL_DIR OUTPUT_DIR [--policy best|newer|tensile]\n"
     "      [--force_merge none|true|false] [--notrim] [--add_solution_tags] [--same-units] [-v 0|1|2]",
     "what an incremental tuning found into the logic in use; best (default): the fastest of every size,\n"
     "      newer: the increment's (also --force_merge true), tensile: as Tensile's merge.py does"},
    {"diff", logic_diff_command, "diff FILE FILE|DIR DIR [--summary] [--exit-code]",
     "sizes that came (+), went (-), changed winner (!) or speed (~), solutions that came and went; of\n"
     "      directories the files of one schedule, architecture and problem type are compared;\n"
     "      --exit-code: 1 when anything differs"},
    {"check", logic_check_command, "check [--strict] [--summary] FILE...",
     "derives every solution from its own parameters and prints what differs from the file, or with\n"
     "      --summary what in all; exit code 3 when older Tensiles are known to have written it so, which\n"
     "      --strict makes 1, as other differences are"},
    {"convert", logic_convert_command,
     "convert IN OUT [--to efficiency|gflops --sclk MHZ [--arch NAME] [--part NAME] [--cus N]\n"
     "      [--flops-per-cycle N] [--per-cu] [--mfma|--no-mfma]]\n"
     "      [--filter CONDITIONS] [--remove CONDITIONS] [--trim] [--remove-unused] [--reindex]",
     "speeds in % of the peak or back, fewer sizes (--filter 'm>=1024,k%64==0' keeps them), sizes of 4 "
     "integers,\n"
     "      no solutions without sizes; files or directories"},
};

#define COMMANDS "show, analyze, merge, diff, check, convert"

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void help(void)
{
    puts("tuner-logic: library logic files: solutions, and which is best for which size\n\nusage:");
    for (int i = 0; i < N_COMMANDS; i++)
        printf("  tuner-logic %s\n      %s\n", commands[i].usage, commands[i].help);
    puts("\nexit codes: 0 ok, 1 failed, 2 usage or bad input, 3 partial result");
}

int main(int argc, char **argv)
{
    log_init("tuner-logic", LOG_NORMAL);
    if (argc < 2) return error(ERR_INPUT, "usage: tuner-logic {" COMMANDS "} ... (see --help)");
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return help(), 0;
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        for (int j = 2; j < argc; j++)
            if (!strcmp(argv[j], "--help")) return help(), 0;
        Err e = commands[i].run(argc - 2, argv + 2);
        return e ? error_report(e) : 0;
    }
    return error(ERR_INPUT, "unknown command '%s', expected " COMMANDS, argv[1]);
}
