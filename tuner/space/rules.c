/* Names, texts and counts of rules.def. */
#include "space/rules.h"

#include <stdlib.h>
#include <string.h>

#include "space/solution.h"

#define FAMILIES_ALL RULE_ALL
#define FAMILIES_GPU RULE_GPU
#define FAMILIES_AMD RULE_AMD
#define FAMILIES_CPU RULE_CPU
#define FAMILIES_NV RULE_NV

static const struct {
    const char *name, *text;
    unsigned families;
} rules[RULE_COUNT] = {
    [RULE_NONE] = {"valid", "valid", RULE_ALL},
#define RULE(id, name, families, text) [RULE_##id] = {name, text, FAMILIES_##families},
#include "space/rules.def"
#undef RULE
};

const char *rule_name(RuleId id) { return rules[id].name; }

unsigned rule_families(RuleId id) { return rules[id].families; }

void verdict_text(const Verdict *v, Buf *out)
{
    for (const char *t = rules[v->rule].text; *t; t++) {
        if (t[0] != '{' || !t[1] || t[2] != '}') {
            buf_putc(out, *t);
            continue;
        }
        if (t[1] == 'T')
            buf_putc(out, v->arg[0] ? 'B' : 'A');
        else if (t[1] == 'P')
            buf_puts(out, param_at((ParamId)v->arg[0])->name);
        else
            buf_i64(out, v->arg[t[1] - '0']);
        t += 2;
    }
}

int rule_counts_sorted(const RuleCounts *c, int order[RULE_COUNT])
{
    int n = 0;
    for (int i = 1; i < RULE_COUNT; i++) {
        if (!c->n[i]) continue;
        int j = n++;
        for (; j > 0 && c->n[order[j - 1]] < c->n[i]; j--) order[j] = order[j - 1];
        order[j] = i;
    }
    return n;
}

void rule_cases_add(RuleCases *c, const Verdict *v)
{
    const bool by_parameter = strstr(rules[v->rule].text, "{P}");
    int i = 0, same_rule = -1;
    for (; i < c->n; i++) {
        if (c->of[i].first.rule != v->rule) continue;
        if (same_rule < 0) same_rule = i;
        if (!by_parameter || c->of[i].first.arg[0] == v->arg[0]) break;
    }
    if (i == RULE_CASES_MAX) i = same_rule < 0 ? 0 : same_rule;
    if (i == c->n) c->of[c->n++] = (RuleCase){.first = *v};
    c->of[i].n++;
}

void rule_cases_sort(RuleCases *c)
{
    for (int i = 1; i < c->n; i++) {
        const RuleCase x = c->of[i];
        int j = i;
        for (; j > 0 && c->of[j - 1].n < x.n; j--) c->of[j] = c->of[j - 1];
        c->of[j] = x;
    }
}

void rule_counts_summary(const RuleCounts *c, Buf *out)
{
    int order[RULE_COUNT], n = rule_counts_sorted(c, order);
    buf_printf(out, "%llu valid", (unsigned long long)c->n[RULE_NONE]);
    for (int i = 0; i < n; i++)
        buf_printf(out, ", %llu %s", (unsigned long long)c->n[order[i]], rules[order[i]].name);
}
