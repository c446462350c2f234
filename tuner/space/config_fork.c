/* Reads the parameters of a size-group: BenchmarkCommonParameters, ForkParameters and its Groups. Every name
 * and value is checked against params.def here, so that enumeration needs no checks. Order: see SizeGroup in
 * config.h. */
#include <string.h>

#include "base/vec.h"
#include "space/config_read.h"

enum { ALIASES_MAX = 16 };

/* The last list of values of a parameter; list NULL: none. */
typedef struct {
    const Node *list;
    const char *section;
    int line;
    size_t order; /* of its first occurrence */
} Slot;

/* An old name that was split into two parameters: both get the same value, so it is one dimension. */
typedef struct {
    const ParamAlias *alias;
    const Node *list;
} Paired;

typedef struct {
    ConfigReader *r;
    const char *section;
    Slot slot[PARAM_COUNT];
    Paired paired[ALIASES_MAX];
    size_t n_paired, n_mentioned, n_values;
    const Node *groups;
    Solution scratch;
} ForkReader;

static Err unknown_parameter(const ForkReader *f, const Node *key, Str name)
{
    const Param *near = param_nearest(name);
    const char *why = param_foreign(name);
    if (why)
        FAIL(ERR_INPUT, "%s:%d: unknown parameter '%.*s' in %s: %s", f->r->file, key->line, STR_ARG(name),
             f->section, why);
    FAIL(ERR_INPUT, "%s:%d: unknown parameter '%.*s' in %s%s%s%s", f->r->file, key->line,
         (int)(name.n < 64 ? name.n : 64), name.s, f->section, near ? " (did you mean '" : "",
         near ? near->name : "", near ? "'?)" : "");
}

static Err check_value(ForkReader *f, const Param *p, const Node *v)
{
    if (++f->n_values > CONFIG_VALUES_MAX)
        FAIL(ERR_INPUT, "%s:%d: more than %d candidate values of parameters in one size-group", f->r->file,
             v->line, CONFIG_VALUES_MAX);
    Err err = param_parse_value(p, v, &f->scratch);
    if (!err) err = param_legal(p, &f->scratch);
    if (err) return err_context(err, "%s:%d: %s: ", f->r->file, v->line, f->section);
    uint64_t *noted = &f->r->noted[(unsigned)p->id >> 6], bit = UINT64_C(1) << ((unsigned)p->id & 63);
    if (param_is_bool_alias(p, v) && !(*noted & bit)) {
        *noted |= bit;
        notices_add(f->r->notices, "%s:%d: '%s' now takes numbers: true is 1, false is 0", f->r->file,
                    v->line, p->name);
    }
    return 0;
}

/* The parameter of that name; ERR_INPUT when it is unknown or derived. */
static Err settable(const ForkReader *f, const Node *key, Str name, const Param **out)
{
    *out = param_find(name);
    if (!*out) return unknown_parameter(f, key, name);
    if ((*out)->group == GROUP_STATE || (*out)->group == GROUP_OLD)
        FAIL(ERR_INPUT, "%s:%d: '%s' in %s is derived from other parameters and cannot be set", f->r->file,
             key->line, (*out)->name, f->section);
    return 0;
}

static Err set_list(ForkReader *f, const Node *key, Str name, const Node *list)
{
    const Param *p;
    TRY(settable(f, key, name, &p));
    for (size_t i = 0; i < list->n; i++) TRY(check_value(f, p, &list->item[i]));
    Slot *s = &f->slot[p->id];
    if (s->section == f->section && s->line != key->line)
        notices_add(f->r->notices, "%s:%d: '%s' takes the place of that of line %d", f->r->file, key->line,
                    p->name, s->line);
    if (!s->list) s->order = f->n_mentioned++;
    s->list = list;
    s->line = key->line;
    s->section = f->section;
    return 0;
}

/* Several values for a pair of parameters become a group, which is one dimension. */
static Err set_pair(ForkReader *f, const Node *key, const ParamAlias *alias, const Node *list)
{
    size_t i = 0;
    for (int j = 0; j < 2; j++) TRY(set_list(f, key, str_from(alias->new_names[j]), list));
    while (i < f->n_paired && f->paired[i].alias != alias) i++;
    if (i == ALIASES_MAX) FAIL(ERR_INPUT, "%s:%d: too many old parameter names", f->r->file, key->line);
    f->paired[i] = (Paired){alias, list};
    if (i == f->n_paired) f->n_paired++;
    return 0;
}

static Err set_aliased(ForkReader *f, const Node *key, const ParamAlias *alias, const Node *list)
{
    notices_add(f->r->notices, "%s:%d: %s", f->r->file, key->line, alias->notice);
    if (!alias->new_names[0]) return 0;
    if (alias->new_names[1]) return set_pair(f, key, alias, list);
    return set_list(f, key, str_from(alias->new_names[0]), list);
}

static Err read_parameter(ForkReader *f, const Node *key, const Node *list)
{
    Str name;
    TRY(node_str(key, f->r->file, f->section, &name));
    if (str_eq_c(name, "Groups") && str_eq_c(STR("ForkParameters"), f->section)) {
        if (f->groups)
            notices_add(f->r->notices, "%s:%d: 'Groups' takes the place of that of line %d", f->r->file,
                        key->line, f->groups->line);
        f->groups = list;
        return 0;
    }
    if (str_eq_c(name, "ProblemSizes")) {
        notices_add(f->r->notices,
                    "%s:%d: ProblemSizes in %s has no effect: it belongs to BenchmarkFinalParameters",
                    f->r->file, key->line, f->section);
        return 0;
    }
    if (list->kind == NODE_NULL)
        FAIL(ERR_INPUT, "%s:%d: '%.*s' in %s has no values", f->r->file, key->line,
             (int)(name.n < 64 ? name.n : 64), name.s, f->section);
    const ParamAlias *alias = param_alias_find(name);
    const Param *p = NULL;
    if (!alias) TRY(settable(f, key, name, &p));
    if (list->kind != NODE_SEQ)
        FAIL(ERR_INPUT, "%s:%d: '%.*s' in %s must be a list of values, like [%.*s]", f->r->file, key->line,
             (int)(name.n < 64 ? name.n : 64), name.s, f->section,
             (int)(list->text.n < 32 ? list->text.n : 32), list->text.s ? list->text.s : "");
    TRY(node_seq(list, f->r->file, alias ? alias->old_name : p->name, 1, CONFIG_VALUES_MAX));
    return alias ? set_aliased(f, key, alias, list) : set_list(f, key, name, list);
}

static Err read_section(ForkReader *f, const char *section, const Node *n)
{
    f->section = section;
    if (!n) return 0;
    TRY(node_seq(n, f->r->file, section, 0, CONFIG_VALUES_MAX));
    for (size_t i = 0; i < n->n; i++) {
        const Node *m = &n->item[i];
        TRY(node_map(m, f->r->file, section));
        for (size_t j = 0; j < m->n; j++) TRY(read_parameter(f, &m->item[2 * j], &m->item[2 * j + 1]));
    }
    return 0;
}

/* ---- groups ---- */

static Err read_entry(ForkReader *f, const Node *n, ForkEntry *out)
{
    TRY(node_map(n, f->r->file, "Groups"));
    ForkAssign *a = ARENA_ARRAY(f->r->arena, 2 * n->n + 1, ForkAssign);
    TRY_ALLOC(a);
    *out = (ForkEntry){.assign = a, .line = n->line};
    for (size_t i = 0; i < n->n; i++) {
        const Node *key = &n->item[2 * i], *value = &n->item[2 * i + 1];
        Str name;
        TRY(node_str(key, f->r->file, "Groups", &name));
        const ParamAlias *alias = param_alias_find(name);
        if (alias) notices_add(f->r->notices, "%s:%d: %s", f->r->file, key->line, alias->notice);
        for (int j = 0; j < (alias ? 2 : 1); j++) {
            const Param *p;
            if (alias && !alias->new_names[j]) break;
            TRY(settable(f, key, alias ? str_from(alias->new_names[j]) : name, &p));
            TRY(check_value(f, p, value));
            a[out->n++] = (ForkAssign){p, value};
        }
    }
    return 0;
}

static Err read_group(ForkReader *f, const Node *n, ForkGroup *out)
{
    TRY(node_seq(n, f->r->file, "Groups", 1, CONFIG_VALUES_MAX));
    ForkEntry *e = ARENA_ARRAY(f->r->arena, n->n, ForkEntry);
    TRY_ALLOC(e);
    *out = (ForkGroup){e, n->n};
    for (size_t i = 0; i < n->n; i++) TRY(read_entry(f, &n->item[i], &e[i]));
    return 0;
}

/* Makes a group with one entry per value of a pair that still has the list of its old name; removes both
 * lists. */
static Err add_pair(ForkReader *f, const Paired *pair, ForkGroup *out)
{
    const Param *p[2] = {param_find(str_from(pair->alias->new_names[0])),
                         param_find(str_from(pair->alias->new_names[1]))};
    if (pair->list->n < 2 || f->slot[p[0]->id].list != pair->list || f->slot[p[1]->id].list != pair->list)
        return 0;
    const size_t n = pair->list->n;
    ForkEntry *e = ARENA_ARRAY(f->r->arena, n, ForkEntry);
    ForkAssign *a = ARENA_ARRAY(f->r->arena, 2 * n, ForkAssign);
    TRY_ALLOC(e);
    TRY_ALLOC(a);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < 2; j++) a[2 * i + (size_t)j] = (ForkAssign){p[j], &pair->list->item[i]};
        e[i] = (ForkEntry){&a[2 * i], 2, pair->list->item[i].line};
    }
    for (int j = 0; j < 2; j++) f->slot[p[j]->id].list = NULL;
    *out = (ForkGroup){e, n};
    return 0;
}

static Err read_groups(ForkReader *f, SizeGroup *out)
{
    const Node *n = f->groups && f->groups->kind != NODE_NULL ? f->groups : NULL;
    f->section = "Groups";
    if (n) TRY(node_seq(n, f->r->file, "Groups", 0, CONFIG_GROUPS_MAX));
    ForkGroup *g = ARENA_ARRAY(f->r->arena, (n ? n->n : 0) + f->n_paired + 1, ForkGroup);
    TRY_ALLOC(g);
    out->group = g;
    for (size_t i = 0; i < f->n_paired; i++) {
        TRY(add_pair(f, &f->paired[i], &g[out->n_groups]));
        if (g[out->n_groups].n) out->n_groups++;
    }
    for (size_t i = 0; n && i < n->n; i++) TRY(read_group(f, &n->item[i], &g[out->n_groups++]));
    return 0;
}

/* ---- the result ---- */

static Err add_param(ForkReader *f, const Param *p, SizeGroup *out, ForkParam *list)
{
    const Slot *s = &f->slot[p->id];
    const Node **value = ARENA_ARRAY(f->r->arena, s->list->n, const Node *);
    TRY_ALLOC(value);
    for (size_t i = 0; i < s->list->n; i++) value[i] = &s->list->item[i];
    list[out->n_params++] = (ForkParam){p, value, s->list->n, s->line};
    return 0;
}

static Err order_params(ForkReader *f, SizeGroup *out)
{
    ForkParam *list = ARENA_ARRAY(f->r->arena, f->n_mentioned + 1, ForkParam);
    TRY_ALLOC(list);
    out->param = list;
    for (int i = 0; i < PARAM_COUNT; i++)
        if (f->slot[i].list && param_at((ParamId)i)->group == GROUP_FORK)
            TRY(add_param(f, param_at((ParamId)i), out, list));
    for (size_t order = 0; order < f->n_mentioned; order++)
        for (int i = 0; i < PARAM_COUNT; i++)
            if (f->slot[i].list && f->slot[i].order == order && param_at((ParamId)i)->group != GROUP_FORK)
                TRY(add_param(f, param_at((ParamId)i), out, list));
    return 0;
}

Err config_read_fork(ConfigReader *r, const Node *common, const Node *fork, SizeGroup *out)
{
    ForkReader *f = ARENA_NEW(r->arena, ForkReader);
    TRY_ALLOC(f);
    f->r = r;
    solution_init(&f->scratch, NULL);
    TRY(read_section(f, "BenchmarkCommonParameters", common));
    TRY(read_section(f, "ForkParameters", fork));
    TRY(read_groups(f, out));
    return order_params(f, out);
}
