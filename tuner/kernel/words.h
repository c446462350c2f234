/* Words of the programs' text, by the enums of program.h; dump.c writes them, parse.c reads them. */
#ifndef KERNEL_WORDS_H
#define KERNEL_WORDS_H

#include "kernel/program.h"

extern const char *const program_dims[3], *const program_spaces[3], *const program_levels[4],
                                                                        *const program_phases[4];
/* OpKind of that name; -1. */
int program_op_named(Str name);

#endif
