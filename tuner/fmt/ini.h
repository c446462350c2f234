/* ini: 'key=value' lines in order, keys repeat, '#' and ';' comments, blank lines, [sections] refused. */
#ifndef FMT_INI_H
#define FMT_INI_H

#include "base/arena.h"

typedef struct {
    Str key, value;
    int line;
} IniLine;

typedef struct {
    IniLine *line;
    size_t n;
} Ini;

Err ini_parse(Arena *a, const char *name, Str text, Ini *out);

#endif
