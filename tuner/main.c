/* tuner: one config in, a tuned library out. This file is the list of what happens; each step is a module of
 * its own: options.c the command line, run.c the run, list.c and dump.c what looks at a config only, report.c
 * and explain.c what was found.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "run/dump.h"
#include "run/list.h"
#include "space/globals.h"
#include "run/options.h"
#include "report/report.h"
#include "run/run.h"

typedef struct {
    const char *name;
    Err (*run)(const Options *o);
    int min_operands, max_operands;
    const char *usage, *help;
} Command;

static Err run_command(const Options *o) { return run_pipeline(o); }
static Err status_command(const Options *o) { return report_status(o->operand[0], stdout); }
static Err explain_command(const Options *o) { return report_explain(o->operand[0], o->operand[1], stdout); }
static Err log_command(const Options *o) { return report_log(o->operand[0], o->operand[1], stdout); }

static const Command commands[] = {
    {"run", run_command, 2, MAX_CONFIGS + 1, "[run] CONFIG.yaml... OUTDIR",
     "tune, and write everything below OUTDIR"},
    {"status", status_command, 1, 1, "status OUTDIR", "what is done, what failed and why, what remains"},
    {"explain", explain_command, 2, 2, "explain OUTDIR M,N,BATCH,K", "why a size has its winner"},
    {"log", log_command, 2, 2, "log OUTDIR KERNEL",
     "compiler output and faults of kernels with that in their name"},
};

enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void help(void)
{
    puts("tuner: tunes GEMM kernels for a device and makes a library of the winners\n\nusage:");
    for (int i = 0; i < N_COMMANDS; i++) printf("  tuner %-36s %s\n", commands[i].usage, commands[i].help);
    puts("\noptions:");
    cli_options_help(stdout);
    puts("\nexit codes: 0 ok, 1 failed or interrupted (run the same command again to continue), 2 usage or "
         "bad input,\n"
         "3 partial result, 4 no such device");
}

static const Command *command_find(const char *name)
{
    for (int i = 0; i < N_COMMANDS; i++)
        if (!strcmp(name, commands[i].name)) return &commands[i];
    return NULL;
}

static Err dispatch(int argc, char **argv)
{
    Options o;
    const Command *command = argc > 1 ? command_find(argv[1]) : NULL;
    int skip = command ? 1 : 0;
    if (!command) command = &commands[0];
    TRY(cli_options_parse(&o, argc - skip, argv + skip));
    if (o.help) return help(), 0;
    if (o.version) return puts("tuner 0.1.0 (Tensile formats 4.44.0)"), 0;
    if (o.help_params) return params_help(stdout), 0;
    if (o.help_globals) return globals_help(stdout), 0;
    if (o.list_targets) return list_targets(stdout);
    if (o.list_solutions || o.dump) {
        if (o.n_operands < 1)
            FAIL(ERR_INPUT, "usage: tuner %s CONFIG.yaml", o.dump ? "--dump-program" : "--list-solutions");
        return o.dump ? dump_programs(&o, stdout) : list_solutions(&o, stdout);
    }
    if (o.n_operands < command->min_operands || o.n_operands > command->max_operands)
        FAIL(ERR_INPUT, "usage: tuner %s (see tuner --help)", command->usage);
    return command->run(&o);
}

int main(int argc, char **argv)
{
    log_init("tuner", LOG_NORMAL);
    interrupt_init();
    Err e = dispatch(argc, argv);
    bool written = fflush(stdout) == 0 || errno == EPIPE; /* 'tuner ... | head' is no error */
    if (!written && !e) e = err_set(ERR_FAILED, "cannot write to standard output: %s", strerror(errno));
    return e ? error_report(e) : 0;
}
