/* Reads tuner-client's ini file and command line into Options. See options.h; the table is options.def. */
#include "client/options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/vec.h"
#include "fmt/ini.h"

typedef enum {
    OPT_TEXT,
    OPT_INT,
    OPT_REAL,
    OPT_BOOL,
    OPT_LIST,
    OPT_TYPE,
    OPT_INIT,
    OPT_BOUNDS,
    OPT_LEVEL,
    OPT_METRIC,
    OPT_NONE
} Kind;

typedef struct {
    const char *name, *def, *help;
    Kind kind;
    size_t offset;
} Row;

#define OFFSET_NONE(f) 0
#define OFFSET_TEXT(f) offsetof(Options, f)
#define OFFSET_INT(f) offsetof(Options, f)
#define OFFSET_REAL(f) offsetof(Options, f)
#define OFFSET_BOOL(f) offsetof(Options, f)
#define OFFSET_LIST(f) offsetof(Options, f)
#define OFFSET_TYPE(f) offsetof(Options, f)
#define OFFSET_INIT(f) offsetof(Options, f)
#define OFFSET_BOUNDS(f) offsetof(Options, f)
#define OFFSET_LEVEL(f) offsetof(Options, f)
#define OFFSET_METRIC(f) offsetof(Options, f)

static const Row rows[] = {
#define OPT(name, kind, field, def, help) {name, def, help, OPT_##kind, OFFSET_##kind(field)},
#include "client/options.def"
#undef OPT
};
enum { N_ROWS = sizeof rows / sizeof *rows, VALUES_MAX = 1 << 20 };

static const char *const bounds_names[] = {"Disable", "NaN", "GuardPageFront", "GuardPageBack",
                                           "GuardPageAll"};
static const char *const level_names[] = {"Error", "Terse", "Normal", "Verbose", "Debug"};
static const char *const metric_names[] = {"DeviceEfficiency", "CUEfficiency"};

/* A value as given; where is "file:line: " or "". Lists keep all of one source, others the last. */
typedef struct {
    const Row *row;
    Str value;
    const char *where;
} Given;

typedef struct {
    Arena *a;
    Options *o;
    VEC(Given) given;
} Reader;

static const Row *row_find(Str name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (str_eq_c(name, rows[i].name)) return &rows[i];
    return NULL;
}

static Err unknown_option(const char *where, Str name)
{
    const Row *best = &rows[0];
    for (size_t i = 1; i < N_ROWS; i++)
        if (str_distance(name, str_from(rows[i].name)) < str_distance(name, str_from(best->name)))
            best = &rows[i];
    FAIL(ERR_INPUT, "%sunknown option '%.*s' (did you mean '%s'?)", where, STR_ARG(name), best->name);
}

static Err one_of(const Row *row, Str value, const char *const *names, size_t n, int *out)
{
    int64_t number;
    for (size_t i = 0; i < n; i++)
        if (str_eq_nocase(value, str_from(names[i]))) {
            *out = (int)i;
            return 0;
        }
    if (str_to_i64(value, &number) && number >= 0 && number < (int64_t)n) {
        *out = (int)number;
        return 0;
    }
    Buf all;
    buf_init(&all);
    for (size_t i = 0; i < n; i++) buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    err_set(ERR_INPUT, "%s: '%.*s' is none of %s", row->name, STR_ARG(value), buf_cstr(&all));
    buf_fini(&all);
    return ERR_INPUT;
}

static Err read_bool(const Row *row, Str value, bool *out)
{
    static const char *const yes[] = {"True", "1", "yes", "on"}, *const no[] = {"False", "0", "no", "off"};
    for (size_t i = 0; i < 4; i++)
        if (str_eq_nocase(value, str_from(yes[i])) || str_eq_nocase(value, str_from(no[i]))) {
            *out = str_eq_nocase(value, str_from(yes[i]));
            return 0;
        }
    FAIL(ERR_INPUT, "%s: '%.*s' is neither True nor False", row->name, STR_ARG(value));
}

static Err set_list(Reader *r, StrList *list, Str value)
{
    /* Grown by doubling inside the arena: old blocks stay behind, twice the memory at most. */
    if ((list->n & (list->n - 1)) == 0) {
        if (list->n >= VALUES_MAX) FAIL(ERR_INPUT, "more than %d values", VALUES_MAX);
        Str *v = ARENA_ARRAY(r->a, list->n ? 2 * list->n : 1, Str);
        TRY_ALLOC(v);
        if (list->n) memcpy(v, list->v, list->n * sizeof *v);
        list->v = v;
    }
    list->v[list->n++] = value;
    return 0;
}

static Err set_type(const Row *row, Str value, DataType *out)
{
    if (type_find(value, out)) return 0;
    const char *near = type_nearest(value);
    FAIL(ERR_INPUT, "%s: unknown data type '%.*s'%s%s%s", row->name, STR_ARG(value),
         near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static Err set_value(Reader *r, const Row *row, Str value)
{
    void *field = (char *)r->o + row->offset;
    int choice = 0;
    switch (row->kind) {
    case OPT_TEXT: {
        Str copy = arena_dup(r->a, value);
        TRY_ALLOC(copy.s);
        *(const char **)field = copy.s;
        return 0;
    }
    case OPT_INT:
        if (!str_to_i64(value, field))
            FAIL(ERR_INPUT, "%s: '%.*s' is not an integer", row->name, STR_ARG(value));
        return 0;
    case OPT_REAL:
        if (!str_to_f64(value, field))
            FAIL(ERR_INPUT, "%s: '%.*s' is not a number", row->name, STR_ARG(value));
        return 0;
    case OPT_BOOL:
        return read_bool(row, value, field);
    case OPT_LIST:
        return value.n ? set_list(r, field, value) : 0;
    case OPT_TYPE:
        return set_type(row, value, field);
    case OPT_INIT:
        return init_find(value, field) ? err_context(ERR_INPUT, "%s: ", row->name) : 0;
    case OPT_BOUNDS:
        TRY(one_of(row, value, bounds_names, 5, &choice));
        *(BoundsCheck *)field = (BoundsCheck)choice;
        return 0;
    case OPT_LEVEL:
        TRY(one_of(row, value, level_names, 5, &choice));
        *(LogLevel *)field = (LogLevel)choice;
        return 0;
    case OPT_METRIC:
        TRY(one_of(row, value, metric_names, 2, &choice));
        *(bool *)field = choice == 1;
        return 0;
    case OPT_NONE:
        return 0;
    }
    return 0;
}

/* 'type' stands for the six types where they are not given themselves, so it goes first. */
static Err set_all_types(Options *o)
{
    o->a_type = o->b_type = o->c_type = o->d_type = o->alpha_type = o->beta_type = o->all_types;
    return 0;
}

static Err apply(Reader *r, bool types_pass)
{
    for (size_t i = 0; i < r->given.n; i++) {
        const Given *g = &r->given.v[i];
        bool is_type = str_eq_c(str_from(g->row->name), "type");
        if (is_type != types_pass) continue;
        Err e = set_value(r, g->row, g->value);
        if (!e && is_type) e = set_all_types(r->o);
        if (e) return g->where[0] ? err_context(e, "%s", g->where) : e;
    }
    return 0;
}

static Err give(Reader *r, const Row *row, Str value, const char *where)
{
    if (!VEC_PUSH(&r->given, ((Given){row, value, where}))) FAIL(ERR_FAILED, "out of memory for options");
    return 0;
}

static Err read_ini(Reader *r, const char *path)
{
    Str text;
    Ini ini;
    TRY(file_read(r->a, path, 256 << 20, &text));
    TRY(ini_parse(r->a, path, text, &ini));
    for (size_t i = 0; i < ini.n; i++) {
        const IniLine *l = &ini.line[i];
        Str where = arena_printf(r->a, "%s:%d: ", path, l->line);
        TRY_ALLOC(where.s);
        const Row *row = row_find(l->key);
        if (!row) return unknown_option(where.s, l->key);
        TRY(give(r, row, l->value, where.s));
    }
    return 0;
}

/* The command line's value of a list replaces the file's: else one could not run a single problem of an ini.
 */
static void drop_lists(Reader *r, const Row *row, size_t n_from_files)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->given.n; i++)
        if (!(i < n_from_files && r->given.v[i].row == row)) r->given.v[kept++] = r->given.v[i];
    r->given.n = kept;
}

typedef struct {
    Str name, value;
    bool has_value;
} Arg;

/* "--name=value", "--name value" or "--flag". */
static Err next_arg(int argc, char **argv, int *i, Arg *out)
{
    Str text = str_from(argv[*i]);
    if (!str_starts(text, "--") && !str_eq_c(text, "-h"))
        FAIL(ERR_INPUT, "unexpected argument '%s' (options begin with --; see --help)", argv[*i]);
    size_t eq = str_find(text, '=', 0);
    *out = (Arg){.name = str_sub(text, text.n > 1 && text.s[1] == '-' ? 2 : 1, eq), .has_value = eq < text.n};
    if (out->has_value) out->value = str_sub(text, eq + 1, text.n);
    const Row *row = row_find(out->name);
    bool file = str_eq_c(out->name, "config-file");
    if (out->has_value || (!row && !file)) return 0;
    bool next_is_value = *i + 1 < argc && strncmp(argv[*i + 1], "--", 2) != 0;
    if (row && row->kind == OPT_BOOL && !next_is_value)
        out->value = STR("True");
    else if (!next_is_value)
        FAIL(ERR_INPUT, "--%.*s needs a value", STR_ARG(out->name));
    else
        out->value = str_from(argv[++*i]);
    out->has_value = true;
    return 0;
}

static Err read_command_line(Reader *r, int argc, char **argv, bool files)
{
    size_t n_from_files = r->given.n;
    for (int i = 1; i < argc; i++) {
        Arg arg;
        TRY(next_arg(argc, argv, &i, &arg));
        const Row *row = row_find(arg.name);
        if (str_eq_c(arg.name, "config-file")) {
            Str path = arena_dup(r->a, arg.value);
            TRY_ALLOC(path.s);
            r->o->config_file = path.s;
            if (files) TRY(read_ini(r, path.s));
        } else if (str_eq_c(arg.name, "help") || str_eq_c(arg.name, "h")) {
            r->o->help = true;
        } else if (str_eq_c(arg.name, "version")) {
            r->o->version = true;
        } else if (str_eq_c(arg.name, "list-devices")) {
            r->o->list_devices = true;
        } else if (!row) {
            return unknown_option("", arg.name);
        } else if (!files) {
            size_t before = r->given.n;
            if (row->kind == OPT_LIST) drop_lists(r, row, n_from_files);
            n_from_files -= before - r->given.n;
            TRY(give(r, row, arg.value, ""));
        }
    }
    return 0;
}

Err options_read(Arena *a, int argc, char **argv, Options *out)
{
    *out = (Options){.config_file = ""};
    Reader r = {.a = a, .o = out};
    Err e = 0;
    for (size_t i = 0; i < N_ROWS && !e; i++)
        if (rows[i].kind != OPT_NONE && rows[i].kind != OPT_LIST)
            e = set_value(&r, &rows[i], str_from(rows[i].def));
    if (!e) e = read_command_line(&r, argc, argv, true);
    if (!e) e = read_command_line(&r, argc, argv, false);
    if (!e) e = apply(&r, true);
    if (!e) e = apply(&r, false);
    VEC_FINI(&r.given);
    return e;
}

void client_options_help(Buf *out)
{
    buf_puts(out, "usage: tuner-client --config-file FILE [--OPTION VALUE]...\n"
                  "Runs the solutions of a library on the problems of an ini file, validates and times them. "
                  "The log is a "
                  "CSV on\nstdout, the results a CSV file; the exit code is the number of failed solutions, "
                  "255 at most "
                  "(before that: 2\nwrong usage or input, 4 no device).\n\n"
                  "  --config-file FILE        ini file of options (key=value); the command line wins\n"
                  "  --list-devices            what there is to run on, and why the rest is absent\n"
                  "  --help, --version\n");
    for (int none = 0; none < 2; none++) {
        buf_puts(out, none ? "\nAccepted, without a meaning here:\n"
                           : "\nOptions, also keys of the file [default]:\n");
        for (size_t i = 0; i < N_ROWS; i++)
            if ((rows[i].kind == OPT_NONE) == none)
                buf_printf(out, "  --%-26s %s%s%s%s\n", rows[i].name, rows[i].help,
                           rows[i].def[0] ? " [" : "", rows[i].def, rows[i].def[0] ? "]" : "");
    }
}
