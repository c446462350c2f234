/* Command lines in logs: words, and options with their values. */
#ifndef FMT_COMMAND_H
#define FMT_COMMAND_H

#include "base/str.h"

/* Takes the next word; blanks and quotes separate words. Empty at the end. */
Str command_word(Str *rest);
/* "-m" or "--name"; a number like -1 is none. */
bool command_is_option(Str word);
/* Splits "--name=value", "-mvalue" and "--name value"; a next word that is an option itself is no value.
 * Returns the name without dashes. */
Str command_option(Str word, Str *rest, Str *value);

#endif
