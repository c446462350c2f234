/* tuner: makes a tuned library from a config. This file calls the commands; each is a module of its own:
 * run/options.c reads the command line, run/run.c does a run, run/list.c and run/dump.c print what a config
 * means, report/ prints the results of a run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/proc.h"
#include "run/dump.h"
#include "run/gather.h"
#include "run/gridwise.h"
#include "run/list.h"
#include "run/report_files.h"
#include "run/sizes.h"
#include "run/tile.h"
#include "run/traffic.h"
#include "space/globals.h"
#include "run/options.h"
#include "report/report.h"
#include "run/run.h"
#include "run/shard_plan.h"
#include "run/shard_run.h"

static Err run_command(const Options *o) { return run_pipeline(o); }
static Err status_command(const Options *o)
{
    return o->json ? report_query_json(REPORT_STATUS, o->operand[0], NULL, stdout)
                   : report_status(o->operand[0], stdout);
}
static Err explain_command(const Options *o)
{
    return o->json ? report_query_json(REPORT_EXPLAIN, o->operand[0], o->operand[1], stdout)
                   : report_explain(o->operand[0], o->operand[1], stdout);
}
static Err log_command(const Options *o)
{
    return o->json ? report_query_json(REPORT_LOG, o->operand[0], o->operand[1], stdout)
                   : report_log(o->operand[0], o->operand[1], stdout);
}
static Err diff_command(const Options *o)
{
    return report_diff((const char *const[]){o->operand[0], o->operand[1]}, o->margin, stdout);
}
static Err tile_command(const Options *o) { return tile_file(o, stdout); }
static Err report_command(const Options *o) { return report_files(o); }
static Err sizes_of_logs(const Options *o) { return sizes_command(o, stdout); }
static Err traffic(const Options *o) { return traffic_command(o, stdout); }
static Err gridwise(const Options *o) { return gridwise_command(o, stdout); }

/* In the order of tuner_program's commands. */
static Err (*const commands[])(const Options *) = {
    run_command,       status_command, explain_command, log_command,    diff_command,
    tile_command,      sizes_of_logs,  traffic,         report_command, shard_command,
    run_shard_command, gather_command, gridwise};

/* Does the options that print tables, devices or a config instead of a run. *done: there was one. */
static Err print_only(const Options *o, const CliLine *line, bool *done)
{
    *done = true;
    if (o->help_params) return params_help(stdout, o->help_markdown), ERR_OK;
    if (o->help_globals) return globals_help(stdout), ERR_OK;
    if (o->list_targets) return list_targets(stdout);
    if (o->list_devices) return list_devices(o, stdout);
    if (o->list_solutions || o->dump) {
        if (o->n_operands < 1)
            FAIL(ERR_INPUT, "usage: tuner %s CONFIG.yaml", o->dump ? "--dump-program" : "--list-solutions");
        return o->dump ? dump_programs(o, stdout) : list_solutions(o, stdout);
    }
    *done = false;
    if (o->json && line->command == tuner_program.command[0])
        FAIL(ERR_INPUT, "--json: expected --list-solutions beside it, or a command that prints JSON");
    return line->command == tuner_program.command[0] && o->n_operands < 2
               ? cli_usage(&tuner_program, line->command)
               : ERR_OK;
}

static Err dispatch(int argc, char **argv)
{
    Options o;
    CliLine line;
    bool done;
    TRY(cli_options_parse(&o, argc, argv, &line));
    if (line.done) return ERR_OK;
    TRY(print_only(&o, &line, &done));
    if (done) return ERR_OK;
    for (size_t i = 0; i < tuner_program.n_commands; i++)
        if (tuner_program.command[i] == line.command) return commands[i](&o);
    BUG("the command line has no command");
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
