/* ini files: 'key=value' lines. Does not know which keys there are. See ini.h. */
#include "fmt/ini.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { MAX_LINES = 10000000 };

typedef VEC(IniLine) Lines;

static Err line_add(const char *name, int number, Str text, Lines *lines)
{
    text = str_trim(text);
    if (text.n == 0 || text.s[0] == '#' || text.s[0] == ';') return 0;
    int shown = (int)(text.n < 60 ? text.n : 60);
    if (text.s[0] == '[')
        FAIL(ERR_INPUT, "%s:%d: sections are not supported: '%.*s'", name, number, shown, text.s);
    size_t at = str_find(text, '=', 0);
    if (at == text.n)
        FAIL(ERR_INPUT, "%s:%d: expected 'key=value', found '%.*s'", name, number, shown, text.s);
    IniLine l = {str_trim(str_sub(text, 0, at)), str_trim(str_sub(text, at + 1, text.n)), number};
    if (l.key.n == 0) FAIL(ERR_INPUT, "%s:%d: no key before '=' in '%.*s'", name, number, shown, text.s);
    if (memchr(text.s, 0, text.n)) FAIL(ERR_INPUT, "%s:%d: a zero byte", name, number);
    if (lines->n >= MAX_LINES) FAIL(ERR_INPUT, "%s:%d: more than %d lines", name, number, MAX_LINES);
    if (!VEC_PUSH(lines, l)) FAIL(ERR_FAILED, "%s:%d: out of memory", name, number);
    return 0;
}

Err ini_parse(Arena *a, const char *name, Str text, Ini *out)
{
    Lines lines = {0};
    Err e = 0;
    *out = (Ini){0};
    if (str_starts(text, "\xef\xbb\xbf")) text = str_sub(text, 3, text.n);
    Str line;
    for (int number = 1; !e && number < INT32_MAX && str_split(&text, '\n', &line); number++)
        e = line_add(name, number, line, &lines);
    if (!e && !(out->line = ARENA_ARRAY(a, lines.n, IniLine)))
        e = err_set(ERR_FAILED, "%s: out of memory for %zu lines", name, lines.n);
    if (!e && lines.n) {
        memcpy(out->line, lines.v, lines.n * sizeof *lines.v);
        out->n = lines.n;
    }
    VEC_FINI(&lines);
    return e;
}
