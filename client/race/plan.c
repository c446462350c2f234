/* Makes the plan of a run. A plan file's lines are 'problem solution validate(0|1)', separated by blanks or
 * tabs. */
#include "client/race/plan.h"

#include <stdlib.h>

#include "base/fs.h"
#include "base/proc.h"
#include "base/vec.h"

static Err add(RunPlan *plan, PlanItem item)
{
    if (!VEC_PUSH(plan, item)) FAIL(ERR_FAILED, "out of memory for %zu runs", plan->n);
    return 0;
}

static bool next_number(Str *rest, int64_t *out)
{
    size_t i = 0;
    while (i < rest->n && (rest->s[i] == ' ' || rest->s[i] == '\t' || rest->s[i] == '\r')) i++;
    size_t from = i;
    while (i < rest->n && rest->s[i] != ' ' && rest->s[i] != '\t' && rest->s[i] != '\r') i++;
    Str word = str_sub(*rest, from, i);
    *rest = str_sub(*rest, i, rest->n);
    return str_to_i64(word, out);
}

static Err take_line(const Session *s, int number, Str line, RunPlan *out)
{
    const char *path = s->o.plan_file;
    int64_t n_solutions = (int64_t)library_n_solutions(s->library), n_problems = (int64_t)s->problems.n;
    Str rest = str_trim(line);
    int64_t p, sol, validate;
    if (!rest.n || rest.s[0] == '#') return 0;
    if (!next_number(&rest, &p) || !next_number(&rest, &sol) || !next_number(&rest, &validate) ||
        str_trim(rest).n)
        FAIL(ERR_INPUT, "%s:%d: '%.*s' is not 'problem solution validate'", path, number,
             STR_ARG(str_trim(line)));
    if (p < 0 || p >= n_problems || sol < 0 || sol >= n_solutions || validate < 0 || validate > 1)
        FAIL(ERR_INPUT, "%s:%d: '%.*s': there are %lld problems and %lld solutions", path, number,
             STR_ARG(str_trim(line)), (long long)n_problems, (long long)n_solutions);
    return add(out, (PlanItem){.p = p,
                               .s = sol,
                               .validate = validate && s->o.n_validate != 0,
                               .s_position = sol,
                               .s_last = n_solutions - 1});
}

static Err read_file(Arena *a, const Session *s, RunPlan *out)
{
    Str text, line;
    TRY(file_read(a, s->o.plan_file, 1 << 30, &text));
    for (int number = 1; str_split(&text, '\n', &line); number++) TRY(take_line(s, number, line, out));
    return 0;
}

bool plan_is_stream(const Session *s) { return s->o.plan_file[0] && file_is_special(s->o.plan_file); }

Err plan_part(const Session *s, FILE *f, RunPlan *out)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n = 0;
    int number = 0;
    Err e = 0;
    out->n = 0;
    while (!e && (n = getline(&line, &room, f)) > 0) {
        Str text = str_trim((Str){line, (size_t)n});
        if (!text.n && out->n) break;
        e = take_line(s, ++number, text, out);
    }
    free(line);
    if (!e && n < 0 && interrupted()) e = err_set(ERR_PARTIAL, "interrupted");
    return e;
}

static Err sweep(const Session *s, RunPlan *out)
{
    const ClientOptions *o = &s->o;
    int64_t np = (int64_t)s->problems.n, ns = (int64_t)library_n_solutions(s->library);
    int64_t p0 = o->problem_start, p1 = o->n_problems < 0 ? np : p0 + o->n_problems;
    int64_t s0 = o->solution_start < 0 ? 0 : o->solution_start,
            s1 = o->n_solutions < 0 ? ns : s0 + o->n_solutions;
    if (p0 < 0 || p0 >= np)
        FAIL(ERR_INPUT, "problem-start-idx %lld: there are %lld problems", (long long)p0, (long long)np);
    if (s0 >= ns)
        FAIL(ERR_INPUT, "solution-start-idx %lld: there are %lld solutions", (long long)s0, (long long)ns);
    if (p1 > np) p1 = np;
    if (s1 > ns) s1 = ns;
    if (o->best_solution || o->selection_only)
        s0 = -1, s1 = 0; /* one per problem, chosen when it is reached */
    for (int64_t b = 0; b < o->n_benchmarks; b++)
        for (int64_t p = p0; p < p1; p++)
            for (int64_t i = s0; i < s1; i++)
                TRY(add(out, (PlanItem){.p = p,
                                        .s = i,
                                        .benchmark = b,
                                        .validate = b == 0 && o->n_validate != 0,
                                        .s_position = i < 0 ? 0 : i,
                                        .s_last = i < 0 ? 0 : s1 - 1}));
    return 0;
}

Err plan_make(Arena *a, const Session *s, RunPlan *out)
{
    *out = (RunPlan){0};
    if (plan_is_stream(s)) return 0;
    Err e = s->o.plan_file[0] ? read_file(a, s, out) : sweep(s, out);
    if (e) plan_free(out);
    return e;
}

void plan_free(RunPlan *p) { VEC_FINI(p); }
