/* Command lines that a run prints for its user: words are quoted for the shell, and programs are named so
 * that the line works in the directory where the run was started. */
#ifndef TUNER_HINT_H
#define TUNER_HINT_H

#include "measure/result.h"
#include "base/arena.h"
#include "run/options.h"

/* Appends the word, in single quotes where the shell needs them. */
void shell_word(Str s, Buf *out);
/* Appends the options of a command line as they were given, each with a blank before it. */
void options_words(const Options *o, Buf *out);
/* Appends the name of a program beside this one: the bare name when PATH finds that file, else its path,
 * which is relative when it is below the current directory. */
Err program_word(Arena *a, const char *name, Buf *out);
/* Prints the command that explains a size of the run in outdir. */
Err explain_hint_print(Arena *a, const char *outdir, const SizeRow *row);

#endif
