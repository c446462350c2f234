/* Reads tuner-client's ini file and command line into ClientOptions. See options.h; the table is
 * options.def. */
#include "client/options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/vec.h"
#include "fmt/ini.h"

static Err take_bool(void *target, const CliOption *o, const char *value);
static Err take_list(void *target, const CliOption *o, const char *value);
static Err take_type(void *target, const CliOption *o, const char *value);
static Err take_init(void *target, const CliOption *o, const char *value);
static Err take_word(void *target, const CliOption *o, const char *value);

#define NEXT .takes = CLI_NOT_AN_OPTION
#define KIND_NONE(f) .arg = "VALUE", .kind = CLI_IGNORED, NEXT
#define KIND_TEXT(f) .arg = "TEXT", .kind = CLI_TEXT, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_FILE(f) .arg = "FILE", .kind = CLI_TEXT, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_INT(f) .arg = "N", .kind = CLI_INT, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_REAL(f) .arg = "X", .kind = CLI_REAL, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_BOOL(f)                                                                                         \
    .arg = "True|False", .kind = CLI_CALL, .set = take_bool, .takes = CLI_OPTIONAL_WORD,                     \
    .offset = offsetof(ClientOptions, f), .words = "True False 1 0 yes no on off"
#define KIND_LIST(f)                                                                                         \
    .arg = "VALUE", .kind = CLI_CALL, .set = take_list, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_TYPE(f)                                                                                         \
    .arg = "TYPE", .kind = CLI_CALL, .set = take_type, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_INIT(f)                                                                                         \
    .arg = "INIT", .kind = CLI_CALL, .set = take_init, NEXT, .offset = offsetof(ClientOptions, f)
#define KIND_BOUNDS(f)                                                                                       \
    .arg = "CHECK", .kind = CLI_CALL, .set = take_word, NEXT, .offset = offsetof(ClientOptions, f),          \
    .words = "Disable NaN GuardPageFront GuardPageBack GuardPageAll"
#define KIND_LEVEL(f)                                                                                        \
    .arg = "LEVEL", .kind = CLI_CALL, .set = take_word, NEXT, .offset = offsetof(ClientOptions, f),          \
    .words = "Error Terse Normal Verbose Debug"
#define KIND_METRIC(f)                                                                                       \
    .arg = "METRIC", .kind = CLI_CALL, .set = take_word, NEXT, .offset = offsetof(ClientOptions, f),         \
    .words = "DeviceEfficiency CUEfficiency"

/* The keys of the ini file, which are options of the command line too. */
static const CliOption rows[] = {
#define OPT(nam, knd, field, def, hlp)                                                                       \
    {.name = nam, .data = def, .help = def[0] ? hlp " [" def "]" : hlp, KIND_##knd(field)},
#include "client/options.def"
#undef OPT
};
enum { N_ROWS = sizeof rows / sizeof *rows, VALUES_MAX = 1 << 20 };

/* A value that was given; where: "file:line: ", or "" for the command line. */
typedef struct {
    const CliOption *row;
    const char *value, *where;
} Given;

typedef VEC(Given) GivenList;

typedef struct {
    ClientOptions o; /* first: rows have offsets in it */
    Arena *a;
    GivenList files, line; /* values of the files, of the command line */
} Reader;

/* ---- values ---- */

static Err take_bool(void *target, const CliOption *o, const char *value)
{
    int index = 0;
    if (value) TRY(cli_word(o->name, str_from(value), o->words, &index));
    *(bool *)((char *)target + o->offset) = index % 2 == 0;
    return ERR_OK;
}

static Err take_list(void *target, const CliOption *o, const char *value)
{
    Reader *r = target;
    StrList *list = (void *)((char *)target + o->offset);
    if (!value[0]) return ERR_OK;
    if (list->n >= VALUES_MAX) FAIL(ERR_INPUT, "%s: more than %d values", o->name, VALUES_MAX);
    TRY_ALLOC(list->v = arena_grow(r->a, list->v, list->n, sizeof *list->v));
    list->v[list->n++] = str_from(value);
    return ERR_OK;
}

/* 'type' sets those of the six types that are not given themselves. */
static Err take_type(void *target, const CliOption *o, const char *value)
{
    Reader *r = target;
    DataType t;
    if (!type_find(str_from(value), &t)) return err_context(type_unknown(str_from(value)), "%s: ", o->name);
    *(DataType *)(void *)((char *)target + o->offset) = t;
    if (o->offset == offsetof(ClientOptions, all_types))
        r->o.a_type = r->o.b_type = r->o.c_type = r->o.d_type = r->o.alpha_type = r->o.beta_type = t;
    return ERR_OK;
}

static Err take_init(void *target, const CliOption *o, const char *value)
{
    Err e = init_find(str_from(value), (void *)((char *)target + o->offset));
    return e ? err_context(e, "%s: ", o->name) : ERR_OK;
}

/* One of the row's words, or its number. */
static Err take_word(void *target, const CliOption *o, const char *value)
{
    int64_t number;
    int index = 0, n_words = 1;
    for (const char *c = o->words; *c; c++) n_words += *c == ' ';
    if (str_to_i64(str_from(value), &number) && number >= 0 && number < n_words)
        index = (int)number;
    else
        TRY(cli_word(o->name, str_from(value), o->words, &index));
    void *field = (char *)target + o->offset;
    if (o->offset == offsetof(ClientOptions, cu_efficiency))
        *(bool *)field = index == 1;
    else
        *(int *)field = index;
    return ERR_OK;
}

/* ---- reading ---- */

static Err keep(GivenList *list, const CliOption *row, const char *value, const char *where)
{
    if (!VEC_PUSH(list, ((Given){row, value, where}))) FAIL(ERR_FAILED, "out of memory for options");
    return ERR_OK;
}

static Err read_ini(Reader *r, const char *path)
{
    const char *names[N_ROWS];
    Str text;
    Ini ini;
    TRY(file_read(r->a, path, 256 << 20, &text));
    TRY(ini_parse(r->a, path, text, &ini));
    for (size_t i = 0; i < N_ROWS; i++) names[i] = rows[i].name;
    for (size_t i = 0; i < ini.n; i++) {
        const IniLine *l = &ini.line[i];
        Str where = arena_printf(r->a, "%s:%d: ", path, l->line), value = arena_dup(r->a, l->value);
        size_t k = 0;
        TRY_ALLOC(where.s && value.s ? value.s : NULL);
        while (k < N_ROWS && !str_eq_c(l->key, rows[k].name)) k++;
        if (k == N_ROWS) {
            Err e = cli_unknown(&client_program, "option", l->key, names, N_ROWS);
            return err_context(e, "%s", where.s);
        }
        TRY(keep(&r->files, &rows[k], value.s, where.s));
    }
    return ERR_OK;
}

static Err take_config_file(void *target, const CliOption *o, const char *value)
{
    Reader *r = target;
    (void)o;
    r->o.config_file = value;
    return read_ini(r, value);
}

/* A list of the command line replaces the file's, so that one can run a single problem of an ini. */
static void drop_list(Reader *r, const CliOption *row)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->files.n; i++)
        if (r->files.v[i].row != row) r->files.v[kept++] = r->files.v[i];
    r->files.n = kept;
}

/* Values are stored after the whole command line was read, because it wins over files that it names later. */
static Err given(void *target, const CliOption *o, const char *value)
{
    Reader *r = target;
    if (o >= rows && o < rows + N_ROWS) return keep(&r->line, o, value, "");
    return cli_value(target, o, value);
}

static Err apply(Reader *r, const GivenList *list, bool types)
{
    for (size_t i = 0; i < list->n; i++) {
        const Given *g = &list->v[i];
        if ((g->row->offset == offsetof(ClientOptions, all_types) && g->row->kind == CLI_CALL) != types)
            continue;
        Err e = cli_value(r, g->row, g->value);
        if (!e || !g->where[0]) {
            TRY(e);
            continue;
        }
        char why[1024];
        const char *message = err_message();
        snprintf(why, sizeof why, "%s", message + (strncmp(message, "--", 2) ? 0 : 2));
        FAIL(e, "%s%s", g->where, why);
    }
    return ERR_OK;
}

static Err apply_all(Reader *r)
{
    for (size_t i = 0; i < r->line.n; i++)
        if (r->line.v[i].row->set == take_list) drop_list(r, r->line.v[i].row);
    for (int types = 1; types >= 0; types--) {
        TRY(apply(r, &r->files, types));
        TRY(apply(r, &r->line, types));
    }
    return ERR_OK;
}

/* ---- the program ---- */

static const CliOption own[] = {
    {.name = "config-file",
     .kind = CLI_CALL,
     .set = take_config_file,
     .takes = CLI_NOT_AN_OPTION,
     .arg = "FILE",
     .help = "ini file of options (key=value); the command line wins; repeatable"},
    {.name = "list-devices",
     .kind = CLI_FLAG,
     .offset = offsetof(ClientOptions, list_devices),
     .help = "what there is to run on, and why the rest is absent"},
    {.name = "check-peer",
     .kind = CLI_FLAG,
     .offset = offsetof(ClientOptions, check_peer),
     .help = "only open the device and the peer, and print the peer's version"},
};

static const CliCommand command = {
    .operands = "--config-file FILE",
    .help =
        "runs the solutions of a library on the problems of an ini file, validates and times them; the log "
        "is a CSV on stdout, the results are a CSV file; the options are also the keys of the ini file; "
        "defaults stand in brackets",
    CLI_OPTIONS(own),
};
static const CliCommand *const commands[] = {&command};

const CliProgram client_program = {
    .name = "tuner-client",
    .summary = "runs, validates and times the solutions of a library",
    .command = commands,
    .n_commands = 1,
    .option = rows,
    .n_options = N_ROWS,
    .given = given,
    .notes =
        "exit codes: the number of failed solutions, 255 at most; before anything runs 2 for wrong usage or "
        "input, 4 for no device\n",
};

Err options_read(Arena *a, int argc, char **argv, ClientOptions *out, bool *done)
{
    Reader r = {.a = a, .o.config_file = ""};
    CliLine line;
    Err e = ERR_OK;
    for (size_t i = 0; i < N_ROWS && !e; i++)
        if (rows[i].kind != CLI_IGNORED && rows[i].set != take_list)
            e = cli_value(&r, &rows[i], rows[i].data);
    if (!e) e = cli_parse(&client_program, &r, argc, argv, &line);
    if (!e) e = apply_all(&r);
    *out = r.o;
    *done = !e && line.done;
    VEC_FINI(&r.files);
    VEC_FINI(&r.line);
    return e;
}
