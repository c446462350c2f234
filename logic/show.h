/* The commands of tuner-logic. Each has a table of its options (base/cli.h) and a function; argv has the
 * words after the command's name and is reordered. */
#ifndef LOGIC_SHOW_H
#define LOGIC_SHOW_H

#include "base/cli.h"

typedef Err LogicCommand(int argc, char **argv);

LogicCommand logic_show_command, logic_analyze_command, logic_merge_command;
LogicCommand logic_diff_command, logic_check_command, logic_convert_command;
LogicCommand logic_massage_command;

extern const CliCommand logic_show_cli, logic_analyze_cli, logic_merge_cli;
extern const CliCommand logic_diff_cli, logic_check_cli, logic_convert_cli, logic_massage_cli;

extern const CliProgram logic_program;
/* The functions of logic_program's commands, in their order. */
extern LogicCommand *const logic_commands[];

#endif
