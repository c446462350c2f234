/* The parser of command lines. See cli.h; cli_help.c and cli_shell.c write texts from the same tables. */
#include "base/cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMES_MAX = 256, COMMON_HELP, COMMON_VERSION, COMMON_MAN, COMMON_COMPLETION };

static const CliOption cli_common[] = {
    {.name = "help", .letter = 'h', .help = "print this text", .min = COMMON_HELP},
    {.name = "version", .help = "print the version, and that of Tensile's formats", .min = COMMON_VERSION},
    {.name = "help-man", .help = "print the manual page (troff)", .min = COMMON_MAN},
    {.name = "help-completion",
     .arg = "SHELL",
     .words = "bash zsh",
     .help = "print completions for bash or zsh",
     .min = COMMON_COMPLETION},
};
static const size_t cli_n_common = sizeof cli_common / sizeof *cli_common;

/* The state of reading one command line. */
typedef struct {
    const CliProgram *p;
    const CliCommand *c;
    void *target;
    int argc, at;
    char **argv;
    CliLine *line;
    bool is_named; /* the command line names the command */
} Parser;

/* ---- look-up ---- */

static bool in_words(const char *words, Str word, int *index)
{
    Str rest = str_from(words ? words : ""), part;
    for (int i = 0; words && str_split(&rest, ' ', &part); i++)
        if (str_eq_nocase(part, word)) {
            *index = i;
            return true;
        }
    return false;
}

static bool is_named(const CliOption *o, Str name)
{
    Str rest = str_from(o->alias ? o->alias : ""), part;
    if (o->name && str_eq_c(name, o->name)) return true;
    while (o->alias && str_split(&rest, ' ', &part))
        if (str_eq(part, name)) return true;
    return false;
}

/* The tables in the order in which they are searched: a program's own rows come before the common ones. */
static size_t tables(const CliProgram *p, const CliCommand *c, const CliOption *table[3], size_t n[3])
{
    table[0] = c ? c->option : NULL, n[0] = c ? c->n_options : 0;
    table[1] = p->option, n[1] = p->n_options;
    table[2] = cli_common, n[2] = cli_n_common;
    return 3;
}

static const CliOption *find(const CliProgram *p, const CliCommand *c, Str name, char letter)
{
    const CliOption *table[3];
    size_t n[3], n_tables = tables(p, c, table, n);
    for (size_t t = 0; t < n_tables; t++)
        for (size_t i = 0; i < n[t]; i++)
            if (letter ? table[t][i].letter == letter : is_named(&table[t][i], name)) return &table[t][i];
    return NULL;
}

static bool is_common(const CliOption *o) { return o >= cli_common && o < cli_common + cli_n_common; }

const CliOption *cli_common_at(const CliProgram *p, const CliCommand *c, size_t i)
{
    for (size_t k = 0; k < cli_n_common; k++)
        if (find(p, c, str_from(cli_common[k].name), 0) == &cli_common[k] && i-- == 0) return &cli_common[k];
    return NULL;
}

const char *cli_nearest(Str name, const char *const *names, size_t n)
{
    /* str_distance counts 2 for an edit: three edits, and no more than half of a short name. */
    unsigned limit = name.n < 6 ? (unsigned)name.n : 6, least = (limit > 2 ? limit : 2) + 1;
    const char *best = NULL;
    for (size_t i = 0; i < n; i++) {
        unsigned d = str_distance(name, str_from(names[i]));
        bool begins = name.n >= 3 && strlen(names[i]) > name.n && !memcmp(names[i], name.s, name.n);
        if (begins && d > 3) d = 3; /* "--list-sol" */
        if (d < least) best = names[i], least = d;
    }
    return best;
}

/* The command line of the help that a message refers to; it names the command where that has options of its
 * own, and is not run by default. */
static const char *help_of(const CliProgram *p, const CliCommand *c, char text[64])
{
    bool is_default = p->first_is_default && c == p->command[0];
    bool own = p->n_commands > 1 && c && c->n_options && !is_default;
    snprintf(text, 64, "%s%s%s --help", p->name, own ? " " : "", own ? c->name : "");
    return text;
}

static Err unknown(const CliProgram *p, const CliCommand *c, const char *what, const char *dashes, Str name,
                   const char *const *names, size_t n)
{
    char see[64];
    const char *best = cli_nearest(name, names, n);
    if (!best)
        FAIL(ERR_INPUT, "unknown %s '%s%.*s' (see %s)", what, dashes, STR_ARG(name), help_of(p, c, see));
    FAIL(ERR_INPUT, "unknown %s '%s%.*s' (did you mean '%s%s'?)", what, dashes, STR_ARG(name), dashes, best);
}

Err cli_unknown(const CliProgram *p, const char *what, Str name, const char *const *names, size_t n)
{
    return unknown(p, NULL, what, "", name, names, n);
}

static Err unknown_option(const Parser *x, Str name)
{
    const char *names[NAMES_MAX];
    const CliOption *table[3];
    size_t n[3], n_tables = tables(x->p, x->c, table, n), n_names = 0;
    for (size_t t = 0; t < n_tables; t++)
        for (size_t i = 0; i < n[t] && n_names < NAMES_MAX; i++)
            if (table[t][i].name) names[n_names++] = table[t][i].name;
    return unknown(x->p, x->c, "option", "--", name, names, n_names);
}

/* ---- values ---- */

Err cli_word(const char *name, Str value, const char *words, int *out)
{
    Buf all;
    Str rest = str_from(words), part;
    if (in_words(words, value, out)) return ERR_OK;
    buf_init(&all);
    for (bool first = true; str_split(&rest, ' ', &part); first = false)
        buf_printf(&all, "%s%.*s", first ? "" : rest.s ? ", " : " or ", STR_ARG(part));
    err_set(ERR_INPUT, "%s: expected %s, found '%.*s'", name, buf_cstr(&all), STR_ARG(value));
    buf_fini(&all);
    return ERR_INPUT;
}

static Err integer(const char *name, const CliOption *o, const char *value, int64_t *out)
{
    bool any = o->min == 0 && o->max == 0;
    if (str_to_i64(str_from(value), out) && (any || (*out >= o->min && *out <= o->max))) return ERR_OK;
    if (any) FAIL(ERR_INPUT, "%s: expected an integer, found '%s'", name, value);
    if (o->max == INT64_MAX)
        FAIL(ERR_INPUT, "%s: expected an integer from %lld, found '%s'", name, (long long)o->min, value);
    FAIL(ERR_INPUT, "%s: expected an integer from %lld to %lld, found '%s'", name, (long long)o->min,
         (long long)o->max, value);
}

static Err real(const char *name, const CliOption *o, const char *value, double *out)
{
    bool any = o->min == 0 && o->max == 0;
    if (str_to_f64(str_from(value), out) && (any || (*out >= (double)o->min && *out <= (double)o->max)))
        return ERR_OK;
    if (any) FAIL(ERR_INPUT, "%s: expected a number, found '%s'", name, value);
    if (o->max == INT64_MAX)
        FAIL(ERR_INPUT, "%s: expected a number from %lld, found '%s'", name, (long long)o->min, value);
    FAIL(ERR_INPUT, "%s: expected a number from %lld to %lld, found '%s'", name, (long long)o->min,
         (long long)o->max, value);
}

Err cli_value(void *target, const CliOption *o, const char *value)
{
    char name[80];
    int64_t n = 0;
    void *field = (char *)target + o->offset;
    if (o->name)
        snprintf(name, sizeof name, "--%s", o->name);
    else
        snprintf(name, sizeof name, "-%c", o->letter);
    switch (o->kind) {
    case CLI_FLAG:
    case CLI_CLEAR:
        *(bool *)field = o->kind == CLI_FLAG;
        break;
    case CLI_TEXT:
        *(const char **)field = value;
        break;
    case CLI_INT:
        return integer(name, o, value, field);
    case CLI_INT32:
        TRY(integer(name, o, value, &n));
        *(int32_t *)field = (int32_t)n;
        break;
    case CLI_REAL:
        return real(name, o, value, field);
    case CLI_WORD:
        return cli_word(name, str_from(value), o->words, field);
    case CLI_CALL:
        return o->set(target, o, value);
    case CLI_IGNORED:
        return o->set ? o->set(target, o, value) : ERR_OK;
    }
    return ERR_OK;
}

/* ---- texts ---- */

Err cli_print(Buf *text)
{
    Err e = buf_check(text);
    if (!e && (fwrite(text->s, 1, text->n, stdout) != text->n || fflush(stdout)) && errno != EPIPE)
        e = err_set(ERR_FAILED, "cannot write to standard output: %s", strerror(errno));
    buf_fini(text);
    return e;
}

static Err common(Parser *x, const CliOption *o, const char *value)
{
    Buf text;
    int shell = 0;
    buf_init(&text);
    x->line->done = true;
    switch (o->min) {
    case COMMON_HELP:
        cli_help(x->p, x->p->n_commands > 1 && x->is_named ? x->c : NULL, &text);
        break;
    case COMMON_VERSION:
        cli_version(x->p, &text);
        break;
    case COMMON_MAN:
        cli_man(x->p, &text);
        break;
    default:
        TRY(cli_word("--help-completion", str_from(value), o->words, &shell));
        if (shell == 0)
            cli_completion_bash(x->p, &text);
        else
            cli_completion_zsh(x->p, &text);
        break;
    }
    return cli_print(&text);
}

/* ---- words ---- */

/* The row of a word like --arch=host or -d1 (NULL: none), and in *value the rest of the word after the
 * name. */
static const CliOption *option_of(const Parser *x, const char *word, Str *name, const char **value)
{
    const CliOption *o;
    *value = NULL;
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        *name = (Str){word + 2, n};
        if (word[2 + n]) *value = word + 2 + n + 1;
        return find(x->p, x->c, *name, 0);
    }
    o = find(x->p, x->c, STR_NULL, word[1]);
    *name = str_from(word + 1);
    if (o && word[2] && x->p->other) return NULL; /* another program's option that begins with our letter */
    if (o && word[2]) *value = word[2] == '=' ? word + 3 : word + 2;
    return o;
}

/* Does the option take the next word as its value? */
static bool takes_next(const Parser *x, const CliOption *o)
{
    const char *next = x->at + 1 < x->argc ? x->argv[x->at + 1] : NULL;
    int index;
    switch (o->takes) {
    case CLI_BEHIND_EQUALS:
        return false;
    case CLI_OPTIONAL_WORD:
        return next && in_words(o->words, str_from(next), &index);
    case CLI_NOT_AN_OPTION:
        return next && strncmp(next, "--", 2) != 0;
    case CLI_NEEDED:
    case CLI_ASSIGNMENTS:
        break;
    }
    return next != NULL;
}

static Err give(const Parser *x, const CliOption *o, const char *value)
{
    return x->p->given ? x->p->given(x->target, o, value) : cli_value(x->target, o, value);
}

static Err take_option(Parser *x)
{
    const char *word = x->argv[x->at], *value;
    Str name;
    const CliOption *o = option_of(x, word, &name, &value);
    if (!o && x->p->other) return x->p->other(x->target, word);
    if (!o && word[1] != '-') FAIL(ERR_INPUT, "unknown option '%s' (see %s --help)", word, x->p->name);
    if (!o) return unknown_option(x, name);
    if (value && !o->arg) FAIL(ERR_INPUT, "option '%s' takes no value", word);
    bool optional = o->takes == CLI_BEHIND_EQUALS || o->takes == CLI_OPTIONAL_WORD;
    if (o->arg && !value) {
        if (takes_next(x, o))
            value = x->argv[++x->at];
        else if (!optional)
            FAIL(ERR_INPUT, "option '%s' needs a value (%s)", word, o->arg);
    }
    if (is_common(o)) return common(x, o, value);
    TRY(give(x, o, value));
    while (o->takes == CLI_ASSIGNMENTS && x->at + 1 < x->argc && x->argv[x->at + 1][0] != '-' &&
           strchr(x->argv[x->at + 1], '='))
        TRY(give(x, o, x->argv[++x->at]));
    return ERR_OK;
}

Err cli_usage(const CliProgram *p, const CliCommand *c)
{
    bool in_brackets = c->name && p->first_is_default && c == p->command[0];
    char see[64];
    FAIL(ERR_INPUT, "usage: %s%s%s%s%s%s (see %s)", p->name, c->name ? " " : "", in_brackets ? "[" : "",
         c->name ? c->name : "", in_brackets ? "] " : " ", c->operands, help_of(p, c, see));
}

static Err options_read(Parser *x)
{
    bool only_operands = false;
    for (; x->at < x->argc && !x->line->done; x->at++) {
        char *word = x->argv[x->at];
        if (only_operands || word[0] != '-' || !word[1])
            x->argv[x->line->n_operands++] = word;
        else if (!strcmp(word, "--"))
            only_operands = true;
        else
            TRY(take_option(x));
    }
    return ERR_OK;
}

static Err command_read(Parser *x, CliLine *out)
{
    const CliCommand *c = x->c;
    *out = (CliLine){.command = c, .operand = x->argv};
    x->line = out;
    TRY(options_read(x));
    if (out->done) return ERR_OK;
    if (c->max == 0 && out->n_operands)
        FAIL(ERR_INPUT, "unexpected argument '%s' (see %s --help)", out->operand[0], x->p->name);
    if (out->n_operands < c->min || out->n_operands > c->max) return cli_usage(x->p, c);
    return ERR_OK;
}

Err cli_options(const CliProgram *p, const CliCommand *c, void *target, int argc, char **argv, CliLine *out)
{
    Parser x = {.p = p, .c = c, .target = target, .argc = argc, .argv = argv, .is_named = true};
    return command_read(&x, out);
}

/* A first word that is no command is an operand of the default one, unless it looks like a command's name
 * written wrongly: such a word has no dot and no slash, and there is no such file. */
static Err command_unknown(const CliProgram *p, const char *word)
{
    const char *names[NAMES_MAX];
    size_t n = 0;
    for (; n < p->n_commands && n < NAMES_MAX; n++) names[n] = p->command[n]->name;
    if (!p->first_is_default) return cli_unknown(p, "command", str_from(word), names, n);
    if (strpbrk(word, "./") || access(word, F_OK) == 0 || !cli_nearest(str_from(word), names, n))
        return ERR_OK;
    return cli_unknown(p, "command", str_from(word), names, n);
}

Err cli_command(const CliProgram *p, int argc, char **argv, int *skip, CliLine *out)
{
    *out = (CliLine){.command = p->command[0]};
    *skip = argc > 0 ? 1 : 0;
    if (!p->command[0]->name) return ERR_OK;
    const char *word = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < p->n_commands; i++)
        if (!strcmp(word, p->command[i]->name)) {
            out->command = p->command[i];
            *skip = 2;
            return ERR_OK;
        }
    if (word[0] && word[0] != '-') return command_unknown(p, word);
    if (p->first_is_default) return ERR_OK;
    Parser x = {.p = p, .argc = argc, .at = 1, .argv = argv, .line = out};
    Str name;
    const char *value;
    const CliOption *o = word[0] ? option_of(&x, word, &name, &value) : NULL;
    /* Other options have fields in the target of a command, which is not known. */
    if (word[0] && (!o || is_common(o))) TRY(take_option(&x));
    if (!out->done) FAIL(ERR_INPUT, "usage: %s COMMAND ... (see %s --help)", p->name, p->name);
    return ERR_OK;
}

Err cli_parse(const CliProgram *p, void *target, int argc, char **argv, CliLine *out)
{
    int skip;
    TRY(cli_command(p, argc, argv, &skip, out));
    if (out->done) return ERR_OK;
    /* Also in programs where --version takes a value, as TensileCreateLibrary's does. */
    const CliOption *version = find(p, out->command, STR("version"), 0);
    bool no_flag = version->arg || version == &cli_common[1];
    if (argc == 2 && !strcmp(argv[1], "--version") && no_flag) {
        Parser x = {.p = p, .line = out};
        return common(&x, &cli_common[1], NULL);
    }
    Parser x = {.p = p, .c = out->command, .target = target, .is_named = skip == 2};
    x.argc = argc - skip;
    x.argv = argv + skip;
    return command_read(&x, out);
}
