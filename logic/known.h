/* Known differences between the files of older Tensiles and the values that 4.44 derives. */
#ifndef LOGIC_KNOWN_H
#define LOGIC_KNOWN_H

#include <stdbool.h>

#include "base/str.h"

typedef struct {
    const char *name;    /* key of a solution or name of a rule */
    const char *follows; /* key that must differ too; "": none */
    const char *last;    /* newest version of a file that may have it */
    const char *text;
} Known;

enum { KNOWN_MAX = 64 };

/* The row of name, if a file of that version may have it; NULL otherwise. */
const Known *known_find(Str name, Str version);
const Known *known_at(int i); /* NULL after the last one */
int known_index(const Known *k);

#endif
