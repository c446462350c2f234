/* tuner-logic: shows, analyses, merges, massages, compares, checks and converts library logic files. */
#include "base/log.h"
#include "logic/show.h"

int main(int argc, char **argv)
{
    CliLine line;
    int skip;
    log_init("tuner-logic", LOG_NORMAL);
    Err e = cli_command(&logic_program, argc, argv, &skip, &line);
    for (size_t i = 0; !e && !line.done && i < logic_program.n_commands; i++)
        if (logic_program.command[i] == line.command) {
            e = logic_commands[i](argc - skip, argv + skip);
            break;
        }
    return e ? error_report(e) : ERR_OK;
}
