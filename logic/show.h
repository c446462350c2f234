/* The commands of tuner-logic. argv holds what stands behind the command's name. Only logic/main.c calls
 * them. */
#ifndef LOGIC_SHOW_H
#define LOGIC_SHOW_H

#include "base/err.h"

Err logic_show_command(int argc, char **argv);
Err logic_analyze_command(int argc, char **argv);
Err logic_merge_command(int argc, char **argv);
Err logic_diff_command(int argc, char **argv);
Err logic_check_command(int argc, char **argv);
Err logic_convert_command(int argc, char **argv);

#endif
