/* tuner-logic check: derives every solution of a logic file from its own parameters and prints the values
 * that differ from the file: key, derived value, value of the file. A solution that today's rules reject is
 * printed with the reason. Differences that files of older Tensiles are known to have (known.def) are counted
 * separately: exit code 3 instead of 1.
 */
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "logic/derive.h"
#include "logic/known.h"
#include "logic/show.h"
#include "problem/target.h"

typedef struct {
    size_t n_solutions, n_values, n_rejected;
} Count;

typedef struct {
    LogicKeys keys;
    Deriver deriver;
    Buf ours, theirs;
    bool strict, summary; /* summary: no line per value */
    size_t n_equal;
    Count older, other;      /* with differences that are all in known.def; with others */
    size_t known[KNOWN_MAX]; /* differences by row of known.def */
    size_t n_values;         /* differences of the current solution that are not in known.def */
    size_t n_older;          /* those that are */
    uint64_t differs[PARAM_WORDS];
} Check;

static const Target *target_of(const Logic *l)
{
    const Target *t = target_find(l->arch);
    return t ? t : target_find(STR("gfx900")); /* fallback, gfx000: Source kernels alone */
}

/* Not compared are names and numbers, which depend on the other solutions of a file, parameters of old
 * versions, which are no longer derived, and flags of the progress of Tensile's derivation. */
static bool is_compared(const Param *p)
{
    if (p->id == PARAM_AssignedDerivedParameters ||
        p->id == PARAM_AssignedProblemIndependentDerivedParameters)
        return false;
    return p->group != GROUP_OLD && p->group != GROUP_HOST && p->group != GROUP_NV &&
           p->id != PARAM_SolutionIndex && p->id != PARAM_SolutionNameMin && p->id != PARAM_CodeObjectVersion;
}

static bool is_lost(const Param *p, const Solution *ours)
{
    return p->group == GROUP_STATE && !solution_has(ours, (ParamId)p->id);
}

static bool has(const uint64_t *set, ParamId id) { return set[(unsigned)id >> 6] >> ((unsigned)id & 63) & 1; }

static void note_known(Check *c, const Known *k)
{
    if (k)
        c->known[known_index(k)]++, c->n_older++;
    else
        c->n_values++;
}

static const Known *known_value(const Check *c, const Logic *l, const Param *p)
{
    const Known *k = known_find(str_from(p->name), l->version);
    if (!k || !*k->follows) return k;
    ParamId root = logic_keys_find(&c->keys, str_from(k->follows));
    return has(c->differs, root) ? k : NULL;
}

static void print_value(Check *c, const Logic *l, size_t i, const Param *p, const Solution *ours)
{
    const LogicSolution *s = &l->solution[i];
    const Known *k = known_value(c, l, p);
    note_known(c, k);
    if (c->summary) return;
    buf_reset(&c->ours);
    buf_reset(&c->theirs);
    param_print(p, &s->s, &c->theirs);
    if (is_lost(p, ours))
        buf_puts(&c->ours, "no such key");
    else
        param_print(p, ours, &c->ours);
    printf("%s:%d: solution %zu: %s: ours %s, theirs %s%s%s\n", l->path, s->line, i, p->name,
           buf_cstr(&c->ours), buf_cstr(&c->theirs), k ? ", known up to " : "", k ? k->last : "");
}

static void check_values(Check *c, const Logic *l, size_t i, const Solution *ours)
{
    const LogicSolution *s = &l->solution[i];
    memset(c->differs, 0, sizeof c->differs);
    for (int id = 0; id < PARAM_COUNT; id++) {
        const Param *p = param_at((ParamId)id);
        if (!is_compared(p) || !solution_has(&s->s, (ParamId)id)) continue;
        if (is_lost(p, ours) || !param_equal(p, ours, &s->s))
            c->differs[(unsigned)id >> 6] |= UINT64_C(1) << ((unsigned)id & 63);
    }
    for (size_t j = 0; j < PARAM_COUNT; j++)
        if (has(c->differs, c->keys.order[j])) print_value(c, l, i, param_at(c->keys.order[j]), ours);
}

static void print_type(Check *c, const Logic *l, size_t i, const ProblemType *pt)
{
    const PtKey *key;
    for (size_t j = 0; (key = problem_key_at(j)); j++) {
        buf_reset(&c->ours);
        buf_reset(&c->theirs);
        problem_key_print(key, l->pt, &c->ours);
        problem_key_print(key, pt, &c->theirs);
        if (str_eq(buf_view(&c->ours), buf_view(&c->theirs))) continue;
        if (!c->summary)
            printf("%s:%d: solution %zu: ProblemType %s: that of the file %s, of the solution %s\n", l->path,
                   l->solution[i].line, i, key->name, buf_cstr(&c->ours), buf_cstr(&c->theirs));
        c->n_values++;
    }
}

/* Compares the meaning of the problem types, as those of older files lack some keys. */
static void check_type(Check *c, const Logic *l, size_t i)
{
    Arena a;
    ProblemType pt;
    const LogicSolution *s = &l->solution[i];
    if (!s->problem_type || s->problem_type == l->pt_node) return;
    arena_init(&a, 0);
    if (problem_type_from_node(&a, l->path, s->problem_type, &pt)) {
        if (!c->summary) printf("%s\n", err_message());
        c->n_values++;
    } else if (!problem_type_equal(&pt, l->pt)) {
        print_type(c, l, i, &pt);
    }
    arena_fini(&a);
}

/* why: 'rule: text'. */
static void print_rejected(Check *c, const Logic *l, size_t i, Str why)
{
    Str rest = why, rule = STR_NULL;
    (void)str_split(&rest, ':', &rule);
    const Known *k = known_find(rule, l->version);
    note_known(c, k);
    if (!c->summary)
        printf("%s:%d: solution %zu: rejected: %.*s%s%s\n", l->path, l->solution[i].line, i, STR_ARG(why),
               k ? ", known up to " : "", k ? k->last : "");
}

static void check_solution(Check *c, const Logic *l, size_t i)
{
    Solution ours;
    Buf why;
    buf_init(&why);
    c->n_values = c->n_older = 0;
    bool valid = logic_solution_derive(&c->keys, &l->solution[i], &c->deriver, &ours, &why);
    if (valid) {
        check_values(c, l, i, &ours);
        check_type(c, l, i);
    } else {
        print_rejected(c, l, i, buf_view(&why));
    }
    buf_fini(&why);
    c->n_equal += c->n_values + c->n_older == 0;
    if (c->n_values + c->n_older == 0) return;
    Count *n = c->n_values ? &c->other : &c->older;
    n->n_solutions++;
    n->n_rejected += !valid;
    n->n_values += valid ? c->n_values + c->n_older : 0;
}

static Err check_file(Check *c, const char *path)
{
    Arena a;
    Logic l;
    Buf kept;
    arena_init(&a, 0);
    buf_init(&kept);
    Err e = logic_read(&a, path, NULL, &l);
    if (!e) e = deriver_init(&c->deriver, l.pt, target_of(&l), NULL);
    for (size_t i = 0; !e && i < l.n_solutions; i++) check_solution(c, &l, i);
    if (!e) e = logic_report_kept(&l, &kept);
    if (!e && kept.n) printf("%s: not compared, unknown here: %s\n", path, buf_cstr(&kept));
    buf_fini(&kept);
    arena_fini(&a);
    return e;
}

static void print_count(const char *what, const Count *n)
{
    printf("  %s: %zu with other values (%zu), %zu rejected\n", what, n->n_solutions - n->n_rejected,
           n->n_values, n->n_rejected);
}

static Err sum_up(const Check *c, size_t n_bad)
{
    const Known *k;
    size_t n = c->n_equal + c->older.n_solutions + c->other.n_solutions;
    printf("%zu solutions: %zu equal\n", n, c->n_equal);
    print_count("as older Tensiles wrote them", &c->older);
    print_count("not as in the file", &c->other);
    for (int i = 0; (k = known_at(i)); i++)
        if (c->known[i]) printf("    %zu %s: %s\n", c->known[i], k->name, k->text);
    if (n_bad) FAIL(ERR_INPUT, "%zu files could not be read", n_bad);
    if (c->other.n_solutions || (c->strict && c->n_equal < n))
        FAIL(ERR_FAILED, "%zu of %zu solutions are not as in the file", n - c->n_equal, n);
    if (c->n_equal < n)
        FAIL(ERR_PARTIAL, "%zu of %zu solutions are as older Tensiles wrote them (--strict: exit code 1)",
             n - c->n_equal, n);
    return ERR_OK;
}

static const CliOption options[] = {
    {.name = "strict",
     .offset = offsetof(Check, strict),
     .help = "differences that older Tensiles are known to have written make exit code 1, not 3"},
    {.name = "summary", .offset = offsetof(Check, summary), .help = "what differs in all, no line per value"},
};

const CliCommand logic_check_cli = {
    .name = "check",
    .operands = "FILE...",
    .help =
        "derives every solution from its own parameters and prints what differs from the file; exit code 3 "
        "when older Tensiles are known to have written it so, 1 for other differences",
    .min = 1,
    .max = INT_MAX,
    CLI_OPTIONS(options)};

Err logic_check_command(int argc, char **argv)
{
    Check c = {.n_equal = 0};
    CliLine line;
    size_t n_bad = 0;
    TRY(cli_options(&logic_program, &logic_check_cli, &c, argc, argv, &line));
    if (line.done) return ERR_OK;
    logic_keys_init(&c.keys);
    buf_init(&c.ours);
    buf_init(&c.theirs);
    for (int i = 0; i < line.n_operands; i++)
        if (check_file(&c, line.operand[i])) {
            n_bad++;
            if (line.n_operands > 1) error_report(ERR_INPUT);
        }
    buf_fini(&c.ours);
    buf_fini(&c.theirs);
    return line.n_operands == 1 && n_bad ? ERR_INPUT : sum_up(&c, n_bad);
}
