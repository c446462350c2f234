/* The words of the text form of programs, indexed by the enums of program.h. */
#ifndef KERNEL_WORDS_H
#define KERNEL_WORDS_H

#include "kernel/program.h"

extern const char *const program_dims[3], *const program_spaces[3], *const program_levels[4],
                                                                        *const program_phases[4],
                                                                            *const program_scalars[3],
                                                                                *const program_across[4];
/* Returns the OpKind with that name; -1: there is none. */
int program_op_named(Str name);

#endif
