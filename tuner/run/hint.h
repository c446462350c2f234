/* Command lines that a run prints for its user: words quoted for the shell, programs named so that the line
 * works where the run was started. */
#ifndef TUNER_HINT_H
#define TUNER_HINT_H

#include "base/arena.h"

/* The word as it is where the shell would take it so, else in single quotes. */
void shell_word(Str s, Buf *out);
/* A program that stands beside this one: its name alone when PATH finds that very file, else its path, from
 * the current directory where it is below it. */
Err program_word(Arena *a, const char *name, Buf *out);
/* How to see more of a size of the run in outdir. key: of the size, "Cijk_Ailk_Bljk_SB 64,64,1,64,...". */
Err explain_hint_print(Arena *a, const char *outdir, Str key);

#endif
