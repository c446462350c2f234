/* Analyze, the outer part: finds the data files, groups them by problem type, and writes a logic file for
 * each. */
#include "logic/analyze_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/log.h"
#include "space/naming.h"

void analyze_options_init(AnalyzeOptions *o)
{
    *o = (AnalyzeOptions){.schedule = "Tensile",
                          .arch = "gfx000",
                          .is_apu = -1,
                          .solution_importance_min = 0.01,
                          .solution_selection_alg = 1,
                          .expand_ranges = true};
}

static Err declare_size(AnalyzeGroup *g, const ProblemSize *s, int how)
{
    int64_t *v = map_put(&g->declared, size_key(s->v, (size_t)s->n), NULL);
    TRY_ALLOC(v);
    *v |= how;
    return ERR_OK;
}

static Err declare_sizes(AnalyzeGroup *g)
{
    SizeIter it;
    ProblemSize s;
    map_init(&g->declared);
    if (g->bench.sizes.count > LOGIC_MAX_ROWS)
        FAIL(ERR_INPUT, "%s: %lld sizes, at most %d", g->bench.path, (long long)g->bench.sizes.count,
             LOGIC_MAX_ROWS);
    ProblemSizes ranges = g->bench.sizes;
    ranges.n_exacts = 0;
    size_iter_init(&it, &ranges);
    while (size_iter_next(&it, &s)) TRY(declare_size(g, &s, DECLARED_RANGE));
    for (size_t i = 0; i < g->bench.sizes.n_exacts; i++)
        TRY(declare_size(g, &g->bench.sizes.exact[i], DECLARED_EXACT));
    return ERR_OK;
}

static Err group_read(Arena *a, const char *dir, Str csv_name, AnalyzeGroup *g)
{
    Str csv = path_join(a, dir, csv_name.s), stem = path_stem(csv_name),
        yaml = arena_printf(a, "%s/%.*s.yaml", dir, STR_ARG(stem));
    TRY_ALLOC(csv.s);
    TRY_ALLOC(yaml.s);
    g->stem = stem;
    if (!file_exists(yaml.s)) FAIL(ERR_INPUT, "%s: no such file; %s needs it", yaml.s, csv.s);
    TRY(bench_solutions_read(a, yaml.s, &g->bench));
    size_t n_dims = (size_t)size_key_length(g->bench.pt);
    TRY(bench_table_read(a, csv.s, n_dims, g->bench.n_solutions, &g->table));
    if (!g->table.metric_known)
        warning("%s:1: the first column is neither GFlops nor GFlopsPerCU: taken as GFlops", csv.s);
    return declare_sizes(g);
}

static void take_order(const ProblemType *pt, Logic *l)
{
    for (int32_t i = 0; i < pt->TotalIndices; i++)
        if (i != pt->IndexUnroll && i != pt->Index0 && i != pt->Index1)
            l->index_order[l->n_index_order++] = i;
    l->index_order[l->n_index_order++] = pt->IndexUnroll;
    l->index_order[l->n_index_order++] = pt->Index0;
    l->index_order[l->n_index_order++] = pt->Index1;
}

/* Copies the kept solutions in their order, numbered again; number[] maps merged numbers to positions. */
static Err take_solutions(Analysis *an, Logic *l, int32_t *number)
{
    const AnalyzeGroup *last = &an->group[an->n_groups - 1];
    Namer *namer = ARENA_NEW(an->a, Namer);
    TRY_ALLOC(namer);
    TRY(namer_init(namer, l->pt));
    for (size_t i = 0; i < last->bench.n_solutions; i++) namer_note(namer, &last->bench.solution[i].s);
    TRY_ALLOC(l->solution = ARENA_ARRAY(an->a, an->n_solutions, LogicSolution));
    for (size_t i = 0; i < an->n_solutions; i++) {
        if (!an->keep[i]) continue;
        LogicSolution *s = &l->solution[l->n_solutions];
        Buf name;
        *s = *an->solution[i];
        buf_init(&name);
        solution_name(namer, &s->s, NAME_SOLUTION, &name);
        s->s.SolutionNameMin = arena_dup(an->a, buf_view(&name));
        buf_fini(&name);
        TRY_ALLOC(s->s.SolutionNameMin.s);
        s->s.SolutionIndex = (int32_t)l->n_solutions;
        solution_mark(&s->s, PARAM_SolutionIndex);
        solution_mark(&s->s, PARAM_SolutionNameMin);
        number[i] = (int32_t)l->n_solutions++;
    }
    return ERR_OK;
}

static Err take_rows(const Analysis *an, Logic *l, const int32_t *number, size_t n_dims)
{
    TRY_ALLOC(l->row = ARENA_ARRAY(an->a, an->winner.n, LogicRow));
    for (size_t i = 0; i < an->winner.n; i++) {
        const AnalyzeWinner *w = &an->winner.v[i];
        if (!w->size) continue;
        l->row[l->n_rows++] = (LogicRow){
            .size = w->size, .n = (int32_t)n_dims, .solution = number[w->solution], .speed = w->speed};
    }
    return ERR_OK;
}

static int64_t column_of(const AnalyzeGroup *g, int32_t merged)
{
    for (size_t c = 0; c < g->bench.n_solutions; c++)
        if (g->merged[c] == merged) return (int64_t)c;
    return -1;
}

/* The first csv that has the solution. */
static AnalyzeColumn column_anywhere(const Analysis *an, int32_t merged)
{
    for (size_t g = 0; g < an->n_groups; g++) {
        int64_t c = column_of(&an->group[g], merged);
        if (c >= 0) return (AnalyzeColumn){an->group[g].stem, (size_t)c};
    }
    return (AnalyzeColumn){an->group[0].stem, 0};
}

static Err analysis_logic(Analysis *an, Logic *l)
{
    const AnalyzeOptions *o = an->o;
    const AnalyzeGroup *first = &an->group[0], *last = &an->group[an->n_groups - 1];
    int32_t *number = ARENA_ARRAY(an->a, an->n_solutions, int32_t);
    TRY_ALLOC(number);
    logic_init(l);
    l->schedule = str_from(o->schedule);
    l->arch = str_from(o->arch);
    l->cu_count = o->cu_count;
    l->is_apu = o->is_apu;
    l->dict = o->dict;
    TRY_ALLOC(l->device = ARENA_ARRAY(an->a, o->device ? o->n_devices : 1, Str));
    l->n_devices = o->device ? o->n_devices : 1;
    if (o->device)
        memcpy(l->device, o->device, o->n_devices * sizeof *o->device);
    else
        l->device[0] = STR("fallback");
    l->pt = first->bench.pt;
    if (last->table.per_cu) l->metric = STR("CUEfficiency");
    take_order(l->pt, l);
    TRY(take_solutions(an, l, number));
    TRY(take_rows(an, l, number, first->table.n_dims));
    AnalyzeColumn *column = ARENA_ARRAY(an->a, l->n_solutions + 1, AnalyzeColumn);
    TRY_ALLOC(column);
    for (size_t i = 0; i < an->n_solutions; i++)
        if (an->keep[i]) column[number[i]] = column_anywhere(an, (int32_t)i);
    return analysis_add_model(an, l, column, first->table.n_dims);
}

static void analysis_fini(Analysis *an)
{
    for (size_t i = 0; i < an->n_groups; i++) map_fini(&an->group[i].declared);
    map_fini(&an->by_size);
    VEC_FINI(&an->winner);
    VEC_FINI(&an->rival);
}

static Err analysis_steps(Analysis *an, Logic *l)
{
    TRY(analysis_merge_solutions(an));
    TRY(analysis_find_winners(an));
    TRY(analysis_decide_ties(an));
    TRY(analysis_select(an));
    return analysis_logic(an, l);
}

/* Calls the caller's function with the chosen solution of every size. */
static Err report_chosen(const Analysis *an)
{
    const AnalyzeOptions *o = an->o;
    for (size_t i = 0; o->chosen && i < an->n_groups; i++) {
        const AnalyzeGroup *g = &an->group[i];
        for (size_t k = 0; k < g->table.n_rows; k++) {
            const int64_t *size = g->table.row[k].size;
            const int64_t *at = map_get(&an->by_size, size_key(size, g->table.n_dims));
            if (!at || !*at) continue;
            int64_t column = column_of(g, an->winner.v[*at - 1].solution);
            TRY(o->chosen(o->chosen_ctx, g->stem, size, g->table.n_dims, column));
        }
    }
    return ERR_OK;
}

/* <logic_dir>/<schedule>_<problem type><suffix>.yaml */
static Err file_put(const Analysis *an, const Logic *l, const char *suffix)
{
    Buf name;
    buf_init(&name);
    buf_printf(&name, "%s/%s_", an->o->logic_dir, an->o->schedule);
    problem_type_name(l->pt, &name);
    buf_printf(&name, "%s.yaml", suffix);
    Err e = buf_check(&name);
    if (!e) e = logic_write(l, buf_cstr(&name));
    if (!e && an->o->written) e = an->o->written(an->o->written_ctx, path_base(buf_view(&name)));
    buf_fini(&name);
    return e;
}

static Err analysis_write(Analysis *an, AnalyzeReport *r)
{
    Logic l;
    TRY(analysis_steps(an, &l));
    TRY(report_chosen(an));
    TRY(file_put(an, &l, ""));
    if (an->equality) TRY(file_put(an, an->equality, "_equality"));
    if (an->trees) TRY(file_put(an, an->trees, "_dtree"));
    r->n_files++;
    r->n_sizes += l.n_rows;
    r->n_lost += an->n_lost;
    r->n_solutions += l.n_solutions;
    r->n_ties += an->n_ties;
    r->n_tie_moves += an->n_tie_moves;
    return ERR_OK;
}

/* Keeps only the names that the caller accepts. */
static size_t names_taken(const AnalyzeOptions *o, Str *name, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!o->takes || o->takes(o->takes_ctx, name[i])) name[kept++] = name[i];
    return kept;
}

/* Moves the groups with the problem type of group[at] to the positions from at on, in order; returns their
 * number. */
static size_t gather(AnalyzeGroup *group, size_t at, size_t n)
{
    size_t count = 1;
    for (size_t i = at + 1; i < n; i++) {
        if (!problem_type_equal(group[at].bench.pt, group[i].bench.pt)) continue;
        AnalyzeGroup g = group[i];
        memmove(&group[at + count + 1], &group[at + count], (i - at - count) * sizeof *group);
        group[at + count++] = g;
    }
    return count;
}

Err analyze_run(const AnalyzeOptions *o, AnalyzeReport *r)
{
    Arena a;
    Str *name = NULL;
    size_t n = 0, done = 0, n_read = 0;
    arena_init(&a, 0);
    *r = (AnalyzeReport){0};
    Err e = dir_list(&a, o->data_dir, ".csv", false, &name, &n);
    n = names_taken(o, name, n);
    if (!e && n == 0)
        e = err_set(ERR_INPUT, "%s: no csv files, expected <ProblemType>_00.csv and .yaml", o->data_dir);
    AnalyzeGroup *group = e ? NULL : ARENA_ARRAY(&a, n, AnalyzeGroup);
    if (!e && !group) e = err_set(ERR_FAILED, "out of memory for %zu files", n);
    for (; !e && n_read < n; n_read++) e = group_read(&a, o->data_dir, name[n_read], &group[n_read]);
    if (!e) e = dir_make(o->logic_dir);
    while (!e && done < n) {
        Analysis an = {.a = &a, .o = o, .group = group + done, .n_groups = gather(group, done, n)};
        map_init(&an.by_size);
        e = analysis_write(&an, r);
        done += an.n_groups;
        analysis_fini(&an);
    }
    for (size_t i = done; i < n_read; i++) map_fini(&group[i].declared);
    arena_fini(&a);
    return e;
}
