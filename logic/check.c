/* tuner-logic check: derives every solution of a logic file from its own parameters and prints what comes out
 * otherwise than the file says: key, ours, theirs. A solution that is rejected today is told with the reason.
 */
#include <stdio.h>
#include <string.h>

#include "logic/derive.h"
#include "logic/show.h"
#include "model/target.h"

typedef struct {
    LogicKeys keys;
    Deriver deriver;
    Buf ours, theirs;
    size_t n_equal, n_rejected, n_different, n_values;
} Check;

static const Target *target_of(const Logic *l)
{
    const Target *t = target_find(l->arch);
    return t ? t : target_find(STR("gfx900")); /* fallback, gfx000: Source kernels alone */
}

/* Names and numbers are of the set, not of the solution; old rows are no longer derived; the flags say how
 * far the writer of the file had come. */
static bool is_compared(const Param *p)
{
    if (p->id == PARAM_AssignedDerivedParameters ||
        p->id == PARAM_AssignedProblemIndependentDerivedParameters)
        return false;
    return p->group != GROUP_OLD && p->group != GROUP_HOST && p->id != PARAM_SolutionIndex &&
           p->id != PARAM_SolutionNameMin && p->id != PARAM_CodeObjectVersion;
}

static void check_value(Check *c, const Logic *l, size_t i, const Param *p, const Solution *ours)
{
    const LogicSolution *s = &l->solution[i];
    bool lost = p->group == GROUP_STATE && !solution_has(ours, (ParamId)p->id);
    if (!lost && param_equal(p, ours, &s->s)) return;
    buf_reset(&c->ours);
    buf_reset(&c->theirs);
    param_print(p, &s->s, &c->theirs);
    if (lost)
        buf_puts(&c->ours, "no such key");
    else
        param_print(p, ours, &c->ours);
    printf("%s:%d: solution %zu: %s: ours %s, theirs %s\n", l->path, s->line, i, p->name, buf_cstr(&c->ours),
           buf_cstr(&c->theirs));
    c->n_values++;
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
        printf("%s:%d: solution %zu: ProblemType %s: that of the file %s, of the solution %s\n", l->path,
               l->solution[i].line, i, key->name, buf_cstr(&c->ours), buf_cstr(&c->theirs));
        c->n_values++;
    }
}

/* Older files lack keys in some of their problem types: what matters is what they mean. */
static void check_type(Check *c, const Logic *l, size_t i)
{
    Arena a;
    ProblemType pt;
    const LogicSolution *s = &l->solution[i];
    if (!s->problem_type || s->problem_type == l->pt_node) return;
    arena_init(&a, 0);
    if (problem_type_from_node(&a, l->path, s->problem_type, &pt)) {
        printf("%s\n", err_message());
        c->n_values++;
    } else if (!problem_type_equal(&pt, l->pt)) {
        print_type(c, l, i, &pt);
    }
    arena_fini(&a);
}

static void check_solution(Check *c, const Logic *l, size_t i)
{
    Solution ours;
    Buf why;
    size_t before = c->n_values;
    const LogicSolution *s = &l->solution[i];
    buf_init(&why);
    if (!logic_solution_derive(&c->keys, s, &c->deriver, &ours, &why)) {
        printf("%s:%d: solution %zu: rejected: %s\n", l->path, s->line, i, buf_cstr(&why));
        c->n_rejected++;
        buf_fini(&why);
        return;
    }
    buf_fini(&why);
    for (size_t j = 0; j < PARAM_COUNT; j++) {
        const Param *p = param_at(c->keys.order[j]);
        if (is_compared(p) && solution_has(&s->s, (ParamId)p->id)) check_value(c, l, i, p, &ours);
    }
    check_type(c, l, i);
    if (c->n_values > before)
        c->n_different++;
    else
        c->n_equal++;
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

Err logic_check_command(int argc, char **argv)
{
    Check c = {.n_equal = 0};
    Err e = ERR_OK;
    if (argc == 0) FAIL(ERR_INPUT, "usage: tuner-logic check FILE...");
    for (int i = 0; i < argc; i++)
        if (argv[i][0] == '-') FAIL(ERR_INPUT, "unknown option '%s', expected files", argv[i]);
    logic_keys_init(&c.keys);
    buf_init(&c.ours);
    buf_init(&c.theirs);
    for (int i = 0; !e && i < argc; i++) e = check_file(&c, argv[i]);
    buf_fini(&c.ours);
    buf_fini(&c.theirs);
    TRY(e);
    printf("solutions: %zu equal, %zu with other values (%zu), %zu rejected\n", c.n_equal, c.n_different,
           c.n_values, c.n_rejected);
    if (c.n_different + c.n_rejected)
        FAIL(ERR_FAILED, "%zu of %zu solutions are not as in the file", c.n_different + c.n_rejected,
             c.n_equal + c.n_different + c.n_rejected);
    return ERR_OK;
}
