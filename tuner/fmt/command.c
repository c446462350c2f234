/* Words of command lines. See command.h. */
#include "fmt/command.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '"' || c == '\''; }

Str command_word(Str *rest)
{
    size_t from = 0, to;
    while (from < rest->n && is_blank(rest->s[from])) from++;
    for (to = from; to < rest->n && !is_blank(rest->s[to]); to++) continue;
    Str word = str_sub(*rest, from, to);
    *rest = str_sub(*rest, to, rest->n);
    return word;
}

bool command_is_option(Str word)
{
    return word.n > 1 && word.s[0] == '-' && !(word.s[1] >= '0' && word.s[1] <= '9') && word.s[1] != '.';
}

Str command_option(Str word, Str *rest, Str *value)
{
    bool is_long = str_starts(word, "--");
    Str name = str_sub(word, is_long ? 2 : 1, word.n), ahead = *rest;
    size_t eq = str_find(name, '=', 0);
    *value = STR_NULL;
    if (eq < name.n) {
        *value = str_sub(name, eq + 1, name.n);
        return str_sub(name, 0, eq);
    }
    if (!is_long && name.n > 1) {
        *value = str_sub(name, 1, name.n);
        return str_sub(name, 0, 1);
    }
    Str next = command_word(&ahead);
    if (!command_is_option(next)) *value = next, *rest = ahead;
    return name;
}
