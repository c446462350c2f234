/* The table of tuner-logic's commands; the options of each command are in the file of its code. See show.h.
 */
#include "logic/show.h"

/* In the order of logic_commands. */
static const CliCommand *const table[] = {&logic_show_cli,    &logic_analyze_cli, &logic_merge_cli,
                                          &logic_massage_cli, &logic_diff_cli,    &logic_check_cli,
                                          &logic_convert_cli};

LogicCommand *const logic_commands[] = {logic_show_command,    logic_analyze_command, logic_merge_command,
                                        logic_massage_command, logic_diff_command,    logic_check_command,
                                        logic_convert_command};

const CliProgram logic_program = {
    .name = "tuner-logic",
    .summary = "library logic files: solutions, and which is best for which size",
    .command = table,
    .n_commands = sizeof table / sizeof *table,
    .notes = "exit codes: 0 ok, 1 failed, 2 usage or bad input, 3 partial result\n",
};
