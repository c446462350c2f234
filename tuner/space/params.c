/* The table of parameters: look-up, printing, defaults. What a user may write is in params_legal.c, reading
 * in params_parse.c. */
#include "problem/problem.h"
#include "space/solution.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#define SCOPE_OF_ALL SCOPE_ALL
#define SCOPE_OF_GPU SCOPE_GPU
#define SCOPE_OF_AMD SCOPE_AMD
#define SCOPE_OF_CPU SCOPE_CPU
#define SCOPE_OF_NV SCOPE_NV

static const Param table[PARAM_COUNT] = {
#define P(grp, field, nam, knd, def, leg, scp, hlp)                                                          \
    [PARAM_##field] = {.name = (nam),                                                                        \
                       .legal = (leg),                                                                       \
                       .help = (hlp),                                                                        \
                       .offset = (uint16_t)offsetof(Solution, field),                                        \
                       .id = PARAM_##field,                                                                  \
                       .kind = KIND_##knd,                                                                   \
                       .group = GROUP_##grp,                                                                 \
                       .scope = SCOPE_OF_##scp},
#include "space/params.def"
#undef P
};

#define L0                                                                                                   \
    {                                                                                                        \
        0, { 0 }                                                                                             \
    }
#define L2(a, b)                                                                                             \
    {                                                                                                        \
        2, { (a), (b) }                                                                                      \
    }
#define L3(a, b, c)                                                                                          \
    {                                                                                                        \
        3, { (a), (b), (c) }                                                                                 \
    }
#define M0                                                                                                   \
    {                                                                                                        \
        0, {0}, { 0 }                                                                                        \
    }
#define S(lit)                                                                                               \
    {                                                                                                        \
        (lit), sizeof(lit) - 1                                                                               \
    }
static const Solution defaults = {
#define P(group, field, name, kind, def, legal, scope, help) .field = def,
#include "space/params.def"
#undef P
};

const Param *param_at(ParamId id) { return &table[id]; }

const Param *param_find(Str name)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        if (str_eq_c(name, table[i].name)) return &table[i];
    return NULL;
}

const Param *param_nearest(Str name)
{
    const Param *best = NULL;
    unsigned best_distance = (unsigned)(name.n / 2 + 2); /* no name with more than half its letters wrong */
    for (int i = 0; i < PARAM_COUNT; i++) {
        if (table[i].group == GROUP_STATE || table[i].group == GROUP_OLD) continue;
        unsigned d = str_distance(name, str_from(table[i].name));
        if (d < best_distance) best = &table[i], best_distance = d;
    }
    return best;
}

/* "-" is the empty name; "~X" is a name X that occurs only in files. */
static Str enum_word(Str word)
{
    return word.n && (word.s[0] == '-' || word.s[0] == '~') ? str_sub(word, 1, word.n) : word;
}

int param_enum_value(const Param *p, Str name)
{
    Str rest = str_from(p->legal), part;
    for (int i = 0; str_split(&rest, ' ', &part); i++) {
        if (str_eq(enum_word(part), name)) return i;
    }
    return -1;
}

Str param_enum_name(const Param *p, int value)
{
    Str rest = str_from(p->legal), part;
    for (int i = 0; str_split(&rest, ' ', &part); i++) {
        if (i != value) continue;
        return enum_word(part);
    }
    return STR_NULL;
}

static const ParamAlias aliases[] = {
    {"LdsBlockSizePerPad",
     {"LdsBlockSizePerPadA", "LdsBlockSizePerPadB"},
     "'LdsBlockSizePerPad' is now 'LdsBlockSizePerPadA' and 'LdsBlockSizePerPadB'"},
    {"DirectToLds",
     {"DirectToLdsA", "DirectToLdsB"},
     "'DirectToLds' is now 'DirectToLdsA' and 'DirectToLdsB'"},
    {"LdsPad", {"LdsPadA", "LdsPadB"}, "'LdsPad' is now 'LdsPadA' and 'LdsPadB'"},
    {"ThreadSeparateGlobalRead",
     {"ThreadSeparateGlobalReadA", "ThreadSeparateGlobalReadB"},
     "'ThreadSeparateGlobalRead' is now 'ThreadSeparateGlobalReadA' and 'ThreadSeparateGlobalReadB'"},
    {"SuppresssNoLoadLoop",
     {"SuppressNoLoadLoop", NULL},
     "'SuppresssNoLoadLoop' is now 'SuppressNoLoadLoop'"},
    {"MIUseAccVgpr",
     {NULL, NULL},
     "'MIUseAccVgpr' has no effect any more; 'MIArchVgpr' selects the registers"},
    {"SplitGlobalRead",
     {NULL, NULL},
     "'SplitGlobalRead' has no effect any more; see 'ThreadSeparateGlobalReadA' and "
     "'ThreadSeparateGlobalReadB'"},
    {"MinGlobalWriteVectorWidth", {NULL, NULL}, "'MinGlobalWriteVectorWidth' has no effect any more"},
    {"ScheduleLocalReads", {NULL, NULL}, "'ScheduleLocalReads' has no effect any more"},
};

static const struct {
    const char *name, *why;
} foreign[] = {
    {"GlobalSplitUCoalesced",
     "Tensile 4.44 has no such parameter; MultipleBuffer and MultipleBufferSingleKernel of "
     "GlobalSplitUAlgorithm write the parts of K in whole vectors"},
};

const char *param_foreign(Str name)
{
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (str_eq_c(name, foreign[i].name)) return foreign[i].why;
    return NULL;
}

const ParamAlias *param_alias_find(Str name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_eq_c(name, aliases[i].old_name)) return &aliases[i];
    return NULL;
}

void *solution_field(Solution *s, const Param *p) { return (char *)s + p->offset; }

const void *solution_field_const(const Solution *s, const Param *p) { return (const char *)s + p->offset; }

void solution_init(Solution *s, const ProblemType *pt)
{
    *s = defaults;
    s->pt = pt;
    for (int i = 0; i < PARAM_COUNT && table[i].group == GROUP_FORK; i++) solution_mark(s, (ParamId)i);
}

const int32_t *intmap_get(const IntMap *m, int32_t key)
{
    for (int32_t i = 0; i < m->n; i++)
        if (m->key[i] == key) return &m->v[i];
    return NULL;
}

bool intmap_set(IntMap *m, int32_t key, int32_t value)
{
    for (int32_t i = 0; i < m->n; i++)
        if (m->key[i] == key) return m->v[i] = value, true;
    if (m->n == INTMAP_MAX) return false;
    m->key[m->n] = key;
    m->v[m->n++] = value;
    return true;
}

size_t param_size(const Param *p)
{
    switch (p->kind) {
    case KIND_LIST:
    case KIND_CHARS:
        return sizeof(IntList);
    case KIND_MAP:
        return sizeof(IntMap);
    case KIND_STR:
        return sizeof(Str);
    default:
        return sizeof(int32_t);
    }
}

bool param_is_load_width(const Param *p)
{
    return p->id == PARAM_GlobalLoadVectorWidthA || p->id == PARAM_GlobalLoadVectorWidthB;
}

bool param_equal(const Param *p, const Solution *a, const Solution *b)
{
    const void *x = solution_field_const(a, p), *y = solution_field_const(b, p);
    if (p->kind == KIND_STR) return str_eq(*(const Str *)x, *(const Str *)y);
    return memcmp(x, y, param_size(p)) == 0;
}

void param_copy(const Param *p, const Solution *from, Solution *to)
{
    memcpy(solution_field(to, p), solution_field_const(from, p), param_size(p));
    if (solution_has(from, (ParamId)p->id)) solution_mark(to, (ParamId)p->id);
}

static void print_hundredths(int32_t v, Buf *out)
{
    uint32_t a = v < 0 ? 0u - (uint32_t)v : (uint32_t)v, part = a % 100;
    buf_printf(out, "%s%u", v < 0 ? "-" : "", a / 100);
    if (part % 10)
        buf_printf(out, ".%02u", part);
    else if (part)
        buf_printf(out, ".%u", part / 10);
}

void param_print(const Param *p, const Solution *s, Buf *out)
{
    const void *f = solution_field_const(s, p);
    const IntList *list = f;
    const IntMap *map = f;
    switch ((ParamKind)p->kind) {
    case KIND_BOOL:
        buf_puts(out, *(const int32_t *)f ? "true" : "false");
        break;
    case KIND_INT:
        if (*(const int32_t *)f == 0 && param_is_load_width(p) && s->pt)
            print_hundredths(400 / type_bytes((DataType)s->pt->DataType), out);
        else
            buf_i64(out, *(const int32_t *)f);
        break;
    case KIND_FLOAT:
        print_hundredths(*(const int32_t *)f, out);
        break;
    case KIND_ENUM:
        buf_str(out, param_enum_name(p, *(const int32_t *)f));
        break;
    case KIND_STR:
        buf_str(out, *(const Str *)f);
        break;
    case KIND_LIST:
    case KIND_CHARS:
        buf_putc(out, '[');
        for (int32_t i = 0; i < list->n; i++) {
            if (i) buf_puts(out, ", ");
            if (p->kind == KIND_CHARS)
                buf_putc(out, (char)('I' + list->v[i]));
            else
                buf_i64(out, list->v[i]);
        }
        buf_putc(out, ']');
        break;
    case KIND_MAP:
        buf_putc(out, '{');
        for (int32_t i = 0; i < map->n; i++)
            buf_printf(out, "%s%d: %d", i ? ", " : "", map->key[i], map->v[i]);
        buf_putc(out, '}');
        break;
    }
}

/* Every name of a kernel needs the order: it is made once. */
static ParamId by_name[PARAM_COUNT];
static pthread_once_t sort_once = PTHREAD_ONCE_INIT;

static void sort_rows(void)
{
    ParamId *order = by_name;
    for (int i = 0; i < PARAM_COUNT; i++) {
        int from = 0, to = i; /* its place among those that are sorted */
        while (from < to) {
            const int middle = (from + to) / 2;
            if (strcmp(table[order[middle]].name, table[i].name) > 0)
                to = middle;
            else
                from = middle + 1;
        }
        memmove(order + from + 1, order + from, (size_t)(i - from) * sizeof *order);
        order[from] = (ParamId)i;
    }
}

void params_sorted(ParamId order[PARAM_COUNT])
{
    pthread_once(&sort_once, sort_rows);
    memcpy(order, by_name, sizeof by_name);
}
