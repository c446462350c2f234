/* Derives the state of a logic file's solution: takes its parameters and derives all other values again. Keys
 * that the parameter table cannot represent are checked first, as an unknown value could change the kernel.
 */
#include "logic/logic.h"

#include <string.h>

#include "logic/derive.h"

/* The first known parameter with a value that its field cannot represent and that affects a kernel; NULL:
 * none. */
static const char *unknown_value(const LogicKeys *k, const LogicSolution *s)
{
    for (size_t i = 0; i < s->n_kept; i++) {
        ParamId id = logic_keys_find(k, s->kept[i].key);
        if (id == PARAM_COUNT || id == PARAM_MACInstruction || s->kept[i].value->kind == NODE_NULL) continue;
        const Param *p = param_at(id);
        if (p->group == GROUP_FORK || p->group == GROUP_ORDER || p->group == GROUP_HOST ||
            p->group == GROUP_NV)
            return p->name;
    }
    return NULL;
}

/* Takes derived values too: solution_derive computes them again, but keeps _GlobalAccumulation with
 * _WorkspaceSizePerElemC. */
static void take_state(const LogicSolution *s, const Deriver *d, Solution *out)
{
    solution_init(out, d->pt);
    for (int i = 0; i < PARAM_COUNT; i++) {
        const Param *p = param_at((ParamId)i);
        bool taken = p->group != GROUP_OLD && i != PARAM_ISA && i != PARAM_CodeObjectVersion;
        if (taken && solution_has(&s->s, (ParamId)i)) param_copy(p, &s->s, out);
    }
}

/* Most of Tensile's reasons to reject do not end its derivation, so that the rest is derived all the same. */
static bool derive_rest(const LogicSolution *s, const Deriver *d, Solution *out)
{
    int32_t no_reject = out->NoReject;
    take_state(s, d, out);
    out->NoReject = 1;
    bool whole = solution_derive(d, out, NULL);
    out->NoReject = no_reject;
    out->Valid = 0;
    solution_mark(out, PARAM_ISA);
    solution_mark(out, PARAM_DelayRemainingArguments);
    return whole;
}

Derived logic_solution_derived(const LogicKeys *k, const LogicSolution *s, const Deriver *d, Solution *out,
                               Buf *why, RuleId *rule)
{
    Verdict v;
    *rule = RULE_NONE;
    const char *unknown = unknown_value(k, s);
    take_state(s, d, out);
    bool valid = solution_derive(d, out, &v), whole = valid || derive_rest(s, d, out);
    if (unknown) {
        buf_printf(why, "%s has a value that is not known here", unknown);
        return DERIVED_PARTLY;
    }
    if (valid) return DERIVED_VALID;
    *rule = v.rule;
    buf_printf(why, "%s: ", rule_name(v.rule));
    verdict_text(&v, why);
    return whole ? DERIVED_WHOLE : DERIVED_PARTLY;
}

bool logic_solution_derive(const LogicKeys *k, const LogicSolution *s, const Deriver *d, Solution *out,
                           Buf *why)
{
    RuleId rule;
    return logic_solution_derived(k, s, d, out, why, &rule) == DERIVED_VALID;
}
