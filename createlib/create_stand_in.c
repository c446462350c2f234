/* createlib: solutions whose parameters ask for a kernel that only an assembler or a writer by hand can make.
 * Where such a parameter chooses how the kernel works and not what it computes, an ordinary kernel stands in.
 * It is the kernel of the same solution with those parameters at their defaults. The library must describe it
 * with the same predicates and the same size mapping, so that it is chosen and launched alike. It has a name
 * of its own. Solutions without such a kernel are left out.
 */
#include "createlib/create_internal.h"

#include <string.h>

#include "logic/derive.h"

typedef struct {
    const char *word;
    ParamId id[4];
    int n;
} StandIn;

/* What each parameter chooses, and why it does not change the results:
 *   DirectToVgpr, DirectToLds   the path of A and B to the registers (the latter where no kernel has it)
 *   StoreCInUnroll              when a persistent kernel stores its previous tile
 *   DepthULdsDivisor            the part of a chunk that is in local memory at a time
 *   ThreadSeparateGlobalRead    which lane loads which element
 *   CustomKernelName, ReplacementKernel   a text written by hand for the same arguments */
static const StandIn stand_ins[] = {
    {"DirectToVgpr", {PARAM_DirectToVgprA, PARAM_DirectToVgprB}, 2},
    {"DirectToLds", {PARAM_DirectToLdsA, PARAM_DirectToLdsB}, 2},
    {"StoreCInUnroll",
     {PARAM_StoreCInUnroll, PARAM_StoreCInUnrollInterval, PARAM_StoreCInUnrollExact,
      PARAM_StoreCInUnrollPostLoop},
     4},
    {"DepthULdsDivisor", {PARAM_DepthULdsDivisor}, 1},
    {"ThreadSeparateGlobalRead", {PARAM_ThreadSeparateGlobalReadA, PARAM_ThreadSeparateGlobalReadB}, 2},
    {"CustomKernelName", {PARAM_CustomKernelName}, 1},
    {"ReplacementKernel", {PARAM_ReplacementKernel}, 1},
};
enum { N_STAND_INS = sizeof stand_ins / sizeof *stand_ins };

/* The row of the parameter in the verdict; NULL: no ordinary kernel gives the same results. */
static const StandIn *row_of(const Verdict *v)
{
    static const struct {
        RuleId rule;
        ParamId id;
    } rules[] = {{RULE_CUSTOM_KERNEL, PARAM_CustomKernelName},
                 {RULE_AMD_SEPARATE, PARAM_ThreadSeparateGlobalReadA},
                 {RULE_AMD_DTL_LOAD, PARAM_DirectToLdsA},
                 {RULE_AMD_DTL_CONVERTS, PARAM_DirectToLdsA}};
    const bool names_it = v->rule == RULE_AMD_VALUE || v->rule == RULE_AMD_DTV ||
                          v->rule == RULE_AMD_DTV_REGISTERS || v->rule == RULE_AMD_DIVISOR;
    int64_t id = names_it ? v->arg[0] : -1;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].rule == v->rule) id = rules[i].id;
    for (int i = 0; i < N_STAND_INS; i++)
        for (int j = 0; j < stand_ins[i].n; j++)
            if ((int64_t)stand_ins[i].id[j] == id) return &stand_ins[i];
    return NULL;
}

static void reason(const Verdict *v, Buf *why)
{
    buf_reset(why);
    buf_printf(why, "%s: ", rule_name(v->rule));
    verdict_text(v, why);
}

static Err described(const LibrarySolution *like, const Solution *s, Buf *out)
{
    LibrarySolution named = *like;
    named.s = s;
    Emit *e = emit_yaml(out);
    TRY_ALLOC(e);
    Err err = library_emit_solution(e, &named);
    if (!err) err = emit_finish(e);
    emit_free(e);
    return err ? err : buf_check(out);
}

static Err same_description(const LibrarySolution *like, const Solution *x, const Solution *y, bool *same)
{
    Buf one, other;
    buf_init(&one);
    buf_init(&other);
    Err e = described(like, x, &one);
    if (!e) e = described(like, y, &other);
    *same = !e && str_eq(buf_view(&one), buf_view(&other));
    buf_fini(&one);
    buf_fini(&other);
    return e;
}

/* Sets parameters to their defaults until the writer accepts the solution. False: *why says what it still
 * rejects by *rule. */
static bool find_stand_in(const LogicKeys *keys, const LogicSolution *asked, const Deriver *d, Solution *out,
                          Buf *words, Buf *why, RuleId *rule)
{
    Verdict v;
    LogicSolution given = *asked;
    bool used[N_STAND_INS] = {false};
    while (!solution_writable(d, out, &v)) {
        const StandIn *row = row_of(&v);
        reason(&v, why);
        *rule = v.rule;
        if (!row || used[row - stand_ins]) return false;
        used[row - stand_ins] = true;
        buf_printf(words, "%s%s", words->n ? " " : "", row->word);
        for (int i = 0; i < row->n; i++) param_copy(param_at(row->id[i]), &d->defaults, &given.s);
        RuleId again_rule;
        Buf again;
        buf_init(&again);
        Derived derived = logic_solution_derived(keys, &given, d, out, &again, &again_rule);
        if (derived == DERIVED_PARTLY)
            buf_printf(why, "; nor is there an ordinary kernel: %s", buf_cstr(&again));
        buf_fini(&again);
        if (derived == DERIVED_PARTLY) return false;
    }
    return true;
}

Err create_stand_in(Create *c, const LogicKeys *keys, const Deriver *d, CreateLogic *l, size_t i)
{
    Buf words, why;
    bool same = true;
    RuleId rule = RULE_NONE;
    Solution state = l->state[i];
    buf_init(&words);
    buf_init(&why);
    bool found = find_stand_in(keys, &l->logic.solution[i], d, &state, &words, &why, &rule);
    Err e = found ? same_description(&l->part.solution[i], &l->state[i], &state, &same) : ERR_OK;
    if (found && !same) buf_puts(&why, "; the library would describe an ordinary kernel otherwise");
    CreateSolution *s = &l->solution[i];
    if (found && same)
        l->state[i] = state, s->stand_in = arena_dup(&c->a, buf_view(&words));
    else
        s->why = arena_dup(&c->a, buf_view(&why)), s->rule = rule;
    if (!e) e = buf_check(&words) ? buf_check(&words) : buf_check(&why);
    buf_fini(&words);
    buf_fini(&why);
    TRY(e);
    TRY_ALLOC(found && same ? s->stand_in.s : s->why.s);
    return ERR_OK;
}
