/* Reading, printing and help of GlobalParameters from the table globals.def. */
#include "space/globals.h"

#include <string.h>

static const GlobalKey keys[] = {
#define G(kind, field, def, legal, use, help)                                                                \
    {#field, legal, help, offsetof(Globals, field), GLOBAL_##kind, GLOBAL_##use},
#include "space/globals.def"
#undef G
};

#define VALUE_BOOL(x) x
#define VALUE_INT(x) x
#define VALUE_REAL(x) x
#define VALUE_ENUM(x) x
#define VALUE_STR(x)                                                                                         \
    {                                                                                                        \
        x, sizeof(x) - 1                                                                                     \
    }
static const Globals defaults = {
#define G(kind, field, def, legal, use, help) .field = VALUE_##kind(def),
#include "space/globals.def"
#undef G
};

const GlobalKey *global_key_at(size_t i) { return i < sizeof keys / sizeof *keys ? &keys[i] : NULL; }

const GlobalKey *global_key_find(Str name)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_eq_c(name, keys[i].name)) return &keys[i];
    return NULL;
}

const char *global_nearest(Str name)
{
    const char *best = NULL;
    unsigned least = (unsigned)(name.n / 2 + 2);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const unsigned d = str_distance(name, str_from(keys[i].name));
        if (d >= least) continue;
        least = d;
        best = keys[i].name;
    }
    return best;
}

void globals_init(Globals *g) { *g = defaults; }

static void *field_of(const GlobalKey *k, Globals *g) { return (char *)g + k->offset; }

/* True when v is in one of the ranges "-1..20", "0..7 16..20", "0 1"; an empty text allows any value. */
static bool in_ranges(const char *legal, double v)
{
    if (!*legal) return true;
    Str rest = str_from(legal), part;
    while (str_split(&rest, ' ', &part)) {
        double low, high;
        size_t dots = str_find(part, '.', 0);
        const bool range = dots + 1 < part.n && part.s[dots + 1] == '.';
        if (!str_to_f64(range ? str_sub(part, 0, dots) : part, &low)) continue;
        high = low;
        if (range && !str_to_f64(str_sub(part, dots + 2, part.n), &high)) continue;
        if (v >= low && v <= high) return true;
    }
    return false;
}

static int enum_position(const char *legal, Str name)
{
    Str rest = str_from(legal), part;
    for (int i = 0; str_split(&rest, ' ', &part); i++)
        if (str_eq_nocase(part, name)) return i;
    return -1;
}

static Err illegal(const char *file, const GlobalKey *k, const Node *n)
{
    FAIL(ERR_INPUT, "%s:%d: %s: '%.*s' is not legal (legal: %s)", file, n->line, k->name,
         (int)(n->text.n < 64 ? n->text.n : 64), n->text.s ? n->text.s : "", k->legal);
}

static Err read_number(const char *file, const GlobalKey *k, const Node *n, void *field)
{
    double real;
    int64_t integer;
    if (k->kind == GLOBAL_REAL) {
        TRY(node_real(n, file, k->name, &real));
        if (!in_ranges(k->legal, real)) return illegal(file, k, n);
        *(double *)field = real;
        return 0;
    }
    if (n->kind == NODE_BOOL) /* Python: True is 1 */
        integer = n->boolean;
    else
        TRY(node_int(n, file, k->name, INT64_MIN, INT64_MAX, &integer));
    if (!in_ranges(k->legal, (double)integer)) return illegal(file, k, n);
    *(int64_t *)field = integer;
    return 0;
}

enum { TEXT_MAX = 4096 };

static Err read_text(const char *file, const GlobalKey *k, const Node *n, void *field)
{
    Str text;
    if (n->kind == NODE_NULL) {
        *(Str *)field = STR("");
        return 0;
    }
    TRY(node_str(n, file, k->name, &text));
    if (text.n > TEXT_MAX)
        FAIL(ERR_INPUT, "%s:%d: %s: %zu characters, at most %d are allowed", file, n->line, k->name, text.n,
             TEXT_MAX);
    if (*k->legal && enum_position(k->legal, text) < 0) return illegal(file, k, n);
    *(Str *)field = str_eq_c(text, "None") ? STR("") : text;
    double seconds;
    if (k->offset == offsetof(Globals, TimeBudget) && !time_parse(*(Str *)field, &seconds))
        FAIL(ERR_INPUT, "%s:%d: %s: '%.*s' is no time, expected seconds or a number with s, m or h: 600, 10m",
             file, n->line, k->name, STR_ARG(text));
    return 0;
}

static Err read_value(const char *file, const GlobalKey *k, const Node *n, Globals *g)
{
    void *field = field_of(k, g);
    Str text;
    switch ((GlobalKind)k->kind) {
    case GLOBAL_BOOL:
        return node_bool(n, file, k->name, field);
    case GLOBAL_INT:
    case GLOBAL_REAL:
        return read_number(file, k, n, field);
    case GLOBAL_STR:
        return read_text(file, k, n, field);
    case GLOBAL_ENUM:
        TRY(node_str(n, file, k->name, &text));
        if (enum_position(k->legal, text) < 0) return illegal(file, k, n);
        *(int *)field = enum_position(k->legal, text);
        return 0;
    }
    return 0;
}

static bool is_default(const GlobalKey *k, const Globals *g)
{
    Buf have, want;
    buf_init(&have);
    buf_init(&want);
    global_print(k, g, &have);
    global_print(k, &defaults, &want);
    const bool same = str_eq(buf_view(&have), buf_view(&want));
    buf_fini(&have);
    buf_fini(&want);
    return same;
}

bool time_parse(Str text, double *seconds)
{
    static const struct {
        const char *suffix;
        double seconds;
    } unit[] = {{"s", 1}, {"m", 60}, {"h", 3600}};
    double factor = 1;
    Str t = str_trim(text);
    *seconds = 0;
    if (!t.n) return true;
    for (size_t i = 0; i < sizeof unit / sizeof *unit; i++)
        if (str_ends(t, unit[i].suffix)) {
            factor = unit[i].seconds;
            t.n--;
            break;
        }
    if (!str_to_f64(t, seconds) || !(*seconds > 0)) return false;
    *seconds *= factor;
    return *seconds <= 1e7;
}

static bool number(Str text, int *out)
{
    int64_t v;
    if (!str_to_i64(text, &v) || v < 0 || v > 1000000) return false;
    *out = (int)v;
    return true;
}

Err tensile_version_check(Str version)
{
    Str rest = version, major, minor, patch;
    int a = 0, b = 0, c = 0;
    if (!str_split(&rest, '.', &major) || !str_split(&rest, '.', &minor) || !str_split(&rest, '.', &patch) ||
        rest.s || !number(major, &a) || !number(minor, &b) || !number(patch, &c))
        FAIL(ERR_INPUT, "MinimumRequiredVersion '%.*s' is not major.minor.patch",
             (int)(version.n < 64 ? version.n : 64), version.s);
    if (a == 0 && b == 0 && c == 0) return 0;
    if (a != TENSILE_MAJOR || b > TENSILE_MINOR || (b == TENSILE_MINOR && c > TENSILE_PATCH))
        FAIL(ERR_INPUT,
             "MinimumRequiredVersion %d.%d.%d: files that need Tensile %d.0.0 to %d.%d.%d are read", a, b, c,
             TENSILE_MAJOR, TENSILE_MAJOR, TENSILE_MINOR, TENSILE_PATCH);
    return 0;
}

/* Notices for keys that are no parameters of a file, or no longer are. */
static const struct {
    const char *name, *notice;
} removed[] = {
    {"NewClient", "NewClient is no longer a parameter: there is one client"},
    {"LegacyComponents", "LegacyComponents is no longer a parameter"},
    {"SupportedISA", "SupportedISA has no effect here: architectures are a table (tuner --help)"},
    {"LogicPath", "LogicPath is an operand of tuner-createlib, not a parameter"},
    {"OutputPath", "OutputPath is an operand, not a parameter"},
};

static void note_unknown(const char *file, int line, Str name, Notices *notices)
{
    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++) {
        if (!str_eq_c(name, removed[i].name)) continue;
        notices_add(notices, "%s:%d: %s", file, line, removed[i].notice);
        return;
    }
    const char *near = global_nearest(name);
    notices_add(notices, "%s:%d: unknown global parameter '%.*s' is not used%s%s%s", file, line,
                (int)(name.n < 64 ? name.n : 64), name.s, near ? " (did you mean '" : "", near ? near : "",
                near ? "'?)" : "");
}

static Err read_pair(const char *file, Str name, int line, const Node *value, Notices *notices, Globals *g)
{
    const GlobalKey *k = global_key_find(name);
    if (!k) {
        note_unknown(file, line, name, notices);
        return 0;
    }
    TRY(read_value(file, k, value, g));
    g->given[k - keys] = true;
    if (str_eq_c(name, "MinimumRequiredVersion")) {
        const Err err = tensile_version_check(g->MinimumRequiredVersion);
        if (err) return err_context(err, "%s:%d: ", file, line);
    }
    if (k->use == GLOBAL_NONE && !is_default(k, g))
        notices_add(notices, "%s:%d: %s has no effect here: %s", file, line, k->name, k->help);
    return 0;
}

Err globals_read(const char *file, const Node *node, Notices *notices, Globals *g)
{
    if (!node || node->kind == NODE_NULL) return 0;
    TRY(node_map(node, file, "GlobalParameters"));
    for (size_t i = 0; i < node->n; i++) {
        Str name;
        TRY(node_str(&node->item[2 * i], file, "GlobalParameters", &name));
        TRY(read_pair(file, name, node->item[2 * i].line, &node->item[2 * i + 1], notices, g));
    }
    return 0;
}

Err globals_set(Arena *a, const char *where, Str key, Str value, Notices *notices, Globals *g)
{
    Node *n;
    const NodeLimits limits = {.max_bytes = TEXT_MAX, .max_nodes = 64, .max_depth = 8};
    const Str text = arena_dup(a, value);
    TRY_ALLOC(text.s);
    TRY(yaml_parse(a, where, text, &limits, &n));
    return read_pair(where, key, 1, n, notices, g);
}

void global_print(const GlobalKey *key, const Globals *g, Buf *out)
{
    const void *field = (const char *)g + key->offset;
    Str rest = str_from(key->legal), part = STR_NULL;
    switch ((GlobalKind)key->kind) {
    case GLOBAL_BOOL:
        buf_puts(out, *(const bool *)field ? "true" : "false");
        return;
    case GLOBAL_INT:
        buf_i64(out, *(const int64_t *)field);
        return;
    case GLOBAL_REAL:
        buf_printf(out, "%g", *(const double *)field);
        return;
    case GLOBAL_STR:
        buf_str(out, *(const Str *)field);
        return;
    case GLOBAL_ENUM:
        for (int i = 0; i <= *(const int *)field; i++) str_split(&rest, ' ', &part);
        buf_str(out, part);
        return;
    }
}

void globals_help(FILE *f)
{
    static const char *const kinds[] = {"bool", "int", "real", "text", "one of"};
    Buf def;
    buf_init(&def);
    fputs("GlobalParameters of a config, or --global-parameters key=value. Default in brackets.\n", f);
    for (GlobalUse use = GLOBAL_USED; use <= GLOBAL_NONE; use++) {
        if (use == GLOBAL_NONE) fputs("\nAccepted and without effect here:\n", f);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            const GlobalKey *k = &keys[i];
            if (k->use != use) continue;
            buf_reset(&def);
            global_print(k, &defaults, &def);
            fprintf(f, "  %s [%s] (%s%s%s)\n      %s\n", k->name, buf_cstr(&def), kinds[k->kind],
                    *k->legal ? " " : "", k->legal, k->help);
        }
    }
    buf_fini(&def);
}
