/* Command lines for the user to paste. See hint.h. */
#include "run/hint.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"

void shell_word(Str s, Buf *out)
{
    bool plain = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        plain &= isalnum((unsigned char)s.s[i]) || (s.s[i] && strchr("_-./,:+@%", s.s[i]));
    if (plain) {
        buf_str(out, s);
        return;
    }
    buf_putc(out, '\'');
    for (size_t i = 0; i < s.n; i++) {
        if (s.s[i] == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, s.s[i]);
    }
    buf_putc(out, '\'');
}

void options_words(const Options *o, Buf *out)
{
    for (int i = 0; i < o->n_given; i++) {
        const CliOption *row = o->given[i].row;
        const char *value = o->given[i].value;
        if (i == 0 || row->takes != CLI_ASSIGNMENTS || o->given[i - 1].row != row)
            buf_printf(out, " --%s", row->name);
        if (!value) continue;
        buf_putc(out, row->takes == CLI_BEHIND_EQUALS ? '=' : ' ');
        size_t key_n = row->takes == CLI_ASSIGNMENTS ? strcspn(value, "=") : 0;
        if (key_n) buf_printf(out, "%.*s=", (int)key_n++, value);
        shell_word(str_from(value + key_n), out);
    }
}

Err program_word(Arena *a, const char *name, Buf *out)
{
    char real[PATH_MAX], found[PATH_MAX], here[PATH_MAX];
    Str dir, which = proc_which(a, name);
    TRY(path_program_dir(a, &dir));
    Str path = path_join(a, dir.s, name);
    TRY_ALLOC(path.s);
    bool same = which.s && realpath(which.s, found) && realpath(path.s, real) && !strcmp(found, real);
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (same)
        buf_puts(out, name);
    else if (n > 1 && path.n > n && !memcmp(path.s, here, n) && path.s[n] == '/')
        shell_word(dir.n == n ? arena_printf(a, "./%s", name) : str_sub(path, n + 1, path.n), out);
    else
        shell_word(path, out);
    return buf_check(out);
}

Err explain_hint_print(Arena *a, const char *outdir, const SizeRow *row)
{
    const Str key = row->key, conv = row->conv;
    Buf tuner, dir;
    buf_init(&tuner);
    buf_init(&dir);
    Err e = program_word(a, "tuner", &tuner);
    shell_word(str_from(outdir), &dir);
    if (!e)
        printf("\nmore about a size, for instance:\n  %s explain %s %.*s\n"
               "what failed and why:\n  %s status %s\n",
               buf_cstr(&tuner), buf_cstr(&dir),
               STR_ARG(conv.n ? conv : str_sub(key, str_find(key, ' ', 0) + 1, key.n)), buf_cstr(&tuner),
               buf_cstr(&dir));
    buf_fini(&tuner);
    buf_fini(&dir);
    return e;
}
