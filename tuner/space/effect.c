/* What each family of targets does with each parameter: the table effect.def, the rules made from it, and the
 * text of `--help-params`. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "space/derive_internal.h"

enum { N_FAMILIES = 3 };

static const struct {
    unsigned scope;
    const char *name;
} families[N_FAMILIES] = {{SCOPE_AMD, "amdgcn"}, {SCOPE_NV, "nvptx"}, {SCOPE_CPU, "host"}};

#define ONLY(field, where, rule, a, b)
#define ELSEWHERE(field, where, rule, a, b)
#define HINT(field, where, why)
#define NO_EFFECT(field, scp, why) {PARAM_##field, SCOPE_##scp, why},
static const struct {
    ParamId id;
    unsigned families;
    const char *why;
} no_effect[] = {
#include "space/effect.def"
};
#undef HINT
#undef NO_EFFECT

#define NO_EFFECT(field, scp, why)
#define HINT(field, place, why) {PARAM_##field, ONLY_##place, why},
static const struct {
    ParamId id;
    unsigned where;
    const char *why;
} hints[] = {
#include "space/effect.def"
};
#undef ONLY
#undef ELSEWHERE
#undef HINT

#define HINT(field, where, why)
#define ONLY(field, where, rule, a, b) {PARAM_##field, ONLY_##where, RULE_##rule, false, {(a), (b)}},
#define ELSEWHERE(field, where, rule, a, b) {PARAM_##field, ONLY_##where, RULE_##rule, true, {(a), (b)}},
static const ParamOnly only[] = {
#include "space/effect.def"
};
#undef ONLY
#undef ELSEWHERE
#undef HINT
#undef NO_EFFECT

bool check_only(Derive *d, unsigned where)
{
    for (size_t i = 0; i < sizeof only / sizeof *only; i++) {
        const Param *p = param_at(only[i].id);
        if (only[i].where != where || only[i].elsewhere) continue;
        int32_t v = *(const int32_t *)solution_field_const(d->s, p);
        if (v == only[i].value[0] || v == only[i].value[1]) continue;
        if (derive_reject(d, only[i].rule, (const int64_t[5]){0, p->id, v})) return false;
    }
    return true;
}

const ParamOnly *param_only(const Param *p, unsigned where)
{
    for (size_t i = 0; i < sizeof only / sizeof *only; i++)
        if (only[i].id == p->id && only[i].where == where) return &only[i];
    return NULL;
}

const char *param_hint(const Param *p, unsigned where)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (hints[i].id == p->id && hints[i].where == where) return hints[i].why;
    return NULL;
}

const char *param_no_effect(const Param *p, unsigned family)
{
    if (!(p->scope & family)) return "it has no meaning there";
    for (size_t i = 0; i < sizeof no_effect / sizeof *no_effect; i++)
        if (no_effect[i].id == p->id && (no_effect[i].families & family)) return no_effect[i].why;
    return NULL;
}

/* ---- texts ---- */

static void value_print(const Param *p, int32_t v, Buf *out)
{
    Solution s;
    solution_init(&s, NULL);
    if (p->kind == KIND_STR || p->kind == KIND_LIST) { /* the legal value is the default */
        buf_puts(out, p->kind == KIND_STR ? "''" : "[]");
        return;
    }
    *(int32_t *)solution_field(&s, p) = v;
    param_print(p, &s, out);
}

/* Prints "only 0, 1 (nv-value)". */
static void only_print(const Param *p, const ParamOnly *o, Buf *out)
{
    buf_puts(out, "only ");
    value_print(p, o->value[0], out);
    if (o->value[1] != o->value[0]) {
        buf_puts(out, " and ");
        value_print(p, o->value[1], out);
    }
    buf_printf(out, " (%s)", rule_name(o->rule));
}

bool param_has_one_value(const Param *p)
{
    bool number = p->kind == KIND_BOOL || p->kind == KIND_INT;
    return number && p->legal[0] && !strpbrk(p->legal, " .") && strcmp(p->legal, "any") != 0;
}

static bool is_of_family(const Param *p, unsigned family)
{
    return p->group == GROUP_HOST ? family == SCOPE_CPU : p->group == GROUP_NV ? family == SCOPE_NV : true;
}

void param_effect_print(const Param *p, unsigned family, Buf *out)
{
    const char *hint = param_no_effect(p, family);
    const ParamOnly *all = param_only(p, family == SCOPE_AMD  ? ONLY_AMD
                                         : family == SCOPE_NV ? ONLY_NV
                                                              : ONLY_CPU);
    if (!is_of_family(p, family)) {
        buf_puts(out, "-");
        return;
    }
    if (all)
        only_print(p, all, out);
    else if (hint)
        buf_printf(out, "hint: %s", hint);
    else if (param_has_one_value(p))
        buf_puts(out, "hint: no other value is legal");
    else
        buf_puts(out, "honoured");
    static const struct {
        unsigned where;
        const char *text;
    } more[] = {{ONLY_RING, "; with the ring "},
                {ONLY_WGMMA, "; by wgmma "},
                {ONLY_DIRECT, "; without local memory "}};
    for (size_t i = 0; i < sizeof more / sizeof *more && family == SCOPE_NV; i++) {
        const ParamOnly *o = param_only(p, more[i].where);
        const char *why = param_hint(p, more[i].where);
        const bool said = !o || (all && all->rule == o->rule);
        if (said && !why) continue;
        buf_puts(out, more[i].text);
        if (!said) only_print(p, o, out);
        if (why) buf_printf(out, "%shint: %s", said ? "" : ", ", why);
    }
}

static const char *const kinds[] = {"true or false", "number", "number", "word",
                                    "list",          "map",    "list",   "text"};

/* Prints lines such as "    honoured: amdgcn, nvptx", one for each treatment. */
static void effects_text(const Param *p, FILE *f)
{
    Buf text[N_FAMILIES];
    for (int i = 0; i < N_FAMILIES; i++) {
        buf_init(&text[i]);
        param_effect_print(p, families[i].scope, &text[i]);
    }
    for (int i = 0; i < N_FAMILIES; i++) {
        bool first = strcmp(buf_cstr(&text[i]), "-") != 0;
        for (int k = 0; k < i; k++) first &= strcmp(buf_cstr(&text[i]), buf_cstr(&text[k])) != 0;
        if (!first) continue;
        fprintf(f, "    %s", families[i].name);
        for (int k = i + 1; k < N_FAMILIES; k++)
            if (!strcmp(buf_cstr(&text[i]), buf_cstr(&text[k]))) fprintf(f, ", %s", families[k].name);
        fprintf(f, ": %s\n", buf_cstr(&text[i]));
    }
    for (int i = 0; i < N_FAMILIES; i++) buf_fini(&text[i]);
}

static void param_text(const Param *p, const Solution *defaults, Buf *b, FILE *f)
{
    buf_reset(b);
    param_print(p, defaults, b);
    fprintf(f, "%s: %s\n    %s, default %s", p->name, p->help, kinds[p->kind], b->n ? buf_cstr(b) : "''");
    if (p->kind != KIND_BOOL) {
        buf_reset(b);
        param_legal_print(p, b);
        fprintf(f, ", legal: %s", buf_cstr(b));
    }
    fputc('\n', f);
    effects_text(p, f);
}

/* Prints a cell of a Markdown table. */
static void cell(FILE *f, const char *text)
{
    fputs(" ", f);
    for (; *text; text++) {
        if (*text == '|' || *text == '*' || *text == '<') fputc('\\', f);
        fputc(*text, f);
    }
    fputs(" |", f);
}

static void param_markdown(const Param *p, const Solution *defaults, Buf *b, FILE *f)
{
    fputs("|", f);
    cell(f, p->name);
    for (int i = 0; i < N_FAMILIES; i++) {
        buf_reset(b);
        param_effect_print(p, families[i].scope, b);
        cell(f, buf_cstr(b));
    }
    buf_reset(b);
    param_print(p, defaults, b);
    cell(f, b->n ? buf_cstr(b) : "''");
    buf_reset(b);
    if (p->kind == KIND_BOOL)
        buf_puts(b, "true, false");
    else
        param_legal_print(p, b);
    cell(f, buf_cstr(b));
    cell(f, p->help);
    fputc('\n', f);
}

static const char page[] =
    "# Solution parameters\n"
    "\n"
    "Made by `tuner --help-params=md`. What each family of targets does with a parameter:\n"
    "\n"
    "- *honoured*: its values make different kernels;\n"
    "- *hint*: every legal value is accepted and none has an effect, for the reason given; solutions that "
    "differ\n"
    "  in hints alone are one candidate;\n"
    "- *only*: other values are rejected, by the rule in parentheses if no other comes first; on amdgcn "
    "where kernels are written, "
    "not\n"
    "  where solutions are counted. *With the ring*: in nvptx kernels with a ring of stages (NvRing);\n"
    "- *-*: the parameter belongs to another family and is left out.\n"
    "\n"
    "Rules may reject further values together with others: `tuner --list-solutions --reasons` counts them.\n"
    "\n"
    "| parameter | amdgcn | nvptx | host | default | legal | meaning |\n"
    "|---|---|---|---|---|---|---|\n";

void params_help(FILE *f, bool markdown)
{
    Solution s;
    Buf b;
    solution_init(&s, NULL);
    buf_init(&b);
    if (markdown) fputs(page, f);
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at((ParamId)i);
        if (p->group == GROUP_STATE || p->group == GROUP_OLD) continue;
        if (markdown)
            param_markdown(p, &s, &b, f);
        else
            param_text(p, &s, &b, f);
    }
    buf_fini(&b);
}
