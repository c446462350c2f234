/* Analyze, the inner part: merges solutions, finds winners, decides ties and removes unused solutions. */
#include "logic/analyze_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

/* ---- solutions of all groups, equal ones once ---- */

static Err merge_one(Analysis *an, Map *by_hash, int32_t *next, const LogicSolution *s, int32_t *merged)
{
    uint64_t h = logic_solution_hash(s);
    bool added = false;
    int64_t *first = map_put(by_hash, (Str){(const char *)&h, sizeof h}, &added);
    TRY_ALLOC(first);
    if (added) *first = -1;
    for (int64_t i = *first; i >= 0; i = next[i])
        if (logic_solution_equal(an->solution[i], s)) {
            *merged = (int32_t)i;
            return ERR_OK;
        }
    next[an->n_solutions] = (int32_t)*first;
    *first = (int64_t)an->n_solutions;
    *merged = (int32_t)an->n_solutions;
    an->solution[an->n_solutions++] = s;
    return ERR_OK;
}

Err analysis_merge_solutions(Analysis *an)
{
    size_t total = 0;
    Map by_hash;
    Err e = ERR_OK;
    for (size_t g = 0; g < an->n_groups; g++) total += an->group[g].bench.n_solutions;
    TRY_ALLOC(an->solution = ARENA_ARRAY(an->a, total, const LogicSolution *));
    TRY_ALLOC(an->keep = ARENA_ARRAY(an->a, total, bool));
    int32_t *next = ARENA_ARRAY(an->a, total, int32_t);
    TRY_ALLOC(next);
    map_init(&by_hash);
    for (size_t g = 0; !e && g < an->n_groups; g++) {
        AnalyzeGroup *group = &an->group[g];
        group->merged = ARENA_ARRAY(an->a, group->bench.n_solutions, int32_t);
        if (!group->merged) e = err_set(ERR_FAILED, "out of memory for %zu solutions", total);
        for (size_t i = 0; !e && i < group->bench.n_solutions; i++)
            e = merge_one(an, &by_hash, next, &group->bench.solution[i], &group->merged[i]);
    }
    map_fini(&by_hash);
    return e;
}

/* ---- winners ---- */

static Err declared_as(const AnalyzeGroup *g, const BenchRow *row, bool *exact, const AnalyzeOptions *o)
{
    const int64_t *how = map_get(&g->declared, size_key(row->size, g->table.n_dims));
    if (!how) {
        Buf b;
        buf_init(&b);
        for (size_t i = 0; i < g->table.n_dims; i++)
            buf_printf(&b, i ? ", %lld" : "%lld", (long long)row->size[i]);
        Err e = err_set(ERR_INPUT, "%s:%d: size [%s] is not in %s", g->table.path, row->line, buf_cstr(&b),
                        g->bench.path);
        buf_fini(&b);
        return e;
    }
    *exact = o->expand_ranges || (*how & DECLARED_EXACT);
    return ERR_OK;
}

/* Column with the highest speed, the first of equal ones; -1 when nothing is above -1. */
static int64_t best_column(const BenchTable *t, const BenchRow *row)
{
    int64_t best = -1;
    double speed = -1;
    for (size_t i = 0; i < t->n_solutions; i++)
        if (row->speed[i] > speed) {
            best = (int64_t)i;
            speed = row->speed[i];
        }
    return best;
}

static void interval_low(const Analysis *an, const AnalyzeGroup *g, const BenchRow *row, size_t column,
                         AnalyzeWinner *w)
{
    AnalyzeInterval in;
    w->has_low = an->o->samples &&
                 an->o->samples(an->o->samples_ctx, g->stem, (size_t)(row - g->table.row), column, &in) &&
                 in.low <= w->speed;
    w->low = w->has_low ? in.low : w->speed;
}

static Err winner_of_row(Analysis *an, AnalyzeGroup *g, const BenchRow *row)
{
    bool exact = false;
    const AnalyzeModel *m = &an->o->model;
    if (m->held_out && m->held_out(m->ctx, g->stem, row->size, g->table.n_dims)) return ERR_OK;
    TRY(declared_as(g, row, &exact, an->o));
    if (!exact) return ERR_OK;
    int64_t column = best_column(&g->table, row);
    int64_t *at = map_put(&an->by_size, size_key(row->size, g->table.n_dims), NULL);
    TRY_ALLOC(at);
    if (column < 0) return ERR_OK;
    double speed = row->speed[column];
    if (*at && !(speed > an->winner.v[*at - 1].speed)) return ERR_OK;
    AnalyzeWinner w = {.size = row->size, .solution = g->merged[column], .speed = speed};
    interval_low(an, g, row, (size_t)column, &w);
    if (*at) {
        an->winner.v[*at - 1] = w;
        return ERR_OK;
    }
    if (!VEC_PUSH(&an->winner, w)) FAIL(ERR_FAILED, "out of memory for %zu sizes", an->winner.n);
    *at = (int64_t)an->winner.n;
    return ERR_OK;
}

Err analysis_find_winners(Analysis *an)
{
    for (size_t g = 0; g < an->n_groups; g++) {
        AnalyzeGroup *group = &an->group[g];
        for (size_t i = 0; i < group->table.n_rows; i++) TRY(winner_of_row(an, group, &group->table.row[i]));
    }
    for (size_t i = 0; i < an->by_size.n; i++) an->n_lost += an->by_size.entry[i].value == 0;
    return ERR_OK;
}

/* ---- ties ---- */

static Err collect_rivals(Analysis *an, const AnalyzeGroup *g)
{
    for (size_t i = 0; i < g->table.n_rows; i++) {
        const BenchRow *row = &g->table.row[i];
        const int64_t *at = map_get(&an->by_size, size_key(row->size, g->table.n_dims));
        if (!at || !*at) continue;
        const AnalyzeWinner *w = &an->winner.v[*at - 1];
        for (size_t c = 0; c < g->table.n_solutions; c++) {
            if (!(row->speed[c] >= w->low) || row->speed[c] < 0 || g->merged[c] == w->solution) continue;
            AnalyzeRival rival = {(int32_t)(*at - 1), g->merged[c], row->speed[c]};
            if (!VEC_PUSH(&an->rival, rival)) FAIL(ERR_FAILED, "out of memory for %zu ties", an->rival.n);
        }
    }
    return ERR_OK;
}

static int rival_cmp(const void *x, const void *y)
{
    const AnalyzeRival *a = x, *b = y;
    if (a->winner != b->winner) return a->winner < b->winner ? -1 : 1;
    if (a->speed != b->speed) return a->speed > b->speed ? -1 : 1;
    return (a->solution > b->solution) - (a->solution < b->solution);
}

/* The rival that wins most sizes so far; the winner itself unless one wins more. */
static void decide(Analysis *an, size_t from, size_t to, int64_t *wins)
{
    AnalyzeWinner *w = &an->winner.v[an->rival.v[from].winner];
    int64_t most = wins[w->solution];
    const AnalyzeRival *choice = NULL;
    for (size_t i = from; i < to; i++)
        if (wins[an->rival.v[i].solution] > most) {
            choice = &an->rival.v[i];
            most = wins[choice->solution];
        }
    if (choice) {
        w->solution = choice->solution;
        w->speed = choice->speed;
        an->n_tie_moves++;
    }
    wins[w->solution]++;
    an->n_ties++;
}

/* Wins are counted first for sizes without ties, then for the others in their order, each after its decision.
 */
Err analysis_decide_ties(Analysis *an)
{
    if (an->o->ties == TIES_FIRST) return ERR_OK;
    for (size_t g = 0; g < an->n_groups; g++) TRY(collect_rivals(an, &an->group[g]));
    if (an->rival.n == 0) return ERR_OK;
    qsort(an->rival.v, an->rival.n, sizeof *an->rival.v, rival_cmp);
    int64_t *wins = ARENA_ARRAY(an->a, an->n_solutions, int64_t);
    TRY_ALLOC(wins);
    for (size_t i = 0, r = 0; i < an->winner.n; i++) {
        bool tied = r < an->rival.n && (size_t)an->rival.v[r].winner == i;
        while (r < an->rival.n && (size_t)an->rival.v[r].winner == i) r++;
        if (!tied) wins[an->winner.v[i].solution]++;
    }
    for (size_t from = 0, to; from < an->rival.n; from = to) {
        for (to = from; to < an->rival.n && an->rival.v[to].winner == an->rival.v[from].winner;) to++;
        decide(an, from, to, wins);
    }
    return ERR_OK;
}

/* ---- which solutions stay ---- */

/* Best and second best of one range size among the solutions that are still kept. */
typedef struct {
    int32_t best;
    double speed, second;
} RangeBest;

static RangeBest range_best(const Analysis *an, const AnalyzeGroup *g, const BenchRow *row)
{
    RangeBest b = {-1, -1e6, -1e9};
    for (size_t c = 0; c < g->table.n_solutions; c++) {
        if (!an->keep[g->merged[c]]) continue;
        if (row->speed[c] > b.speed) {
            b.second = b.speed;
            b.speed = row->speed[c];
            b.best = g->merged[c];
        } else if (row->speed[c] > b.second) {
            b.second = row->speed[c];
        }
    }
    return b;
}

typedef struct {
    double saved_ms;
    int64_t wins;
    bool only; /* it is the only solution that ran for some size */
} Importance;

static double row_flops(const AnalyzeGroup *g, const BenchRow *row)
{
    double flops = 2;
    for (int32_t i = 0; i < g->bench.pt->TotalIndices; i++) flops *= (double)row->size[i];
    return flops;
}

static double weigh(const Analysis *an, Importance *imp)
{
    double total = 0;
    memset(imp, 0, an->n_solutions * sizeof *imp);
    for (size_t g = 0; g < an->n_groups; g++) {
        const AnalyzeGroup *group = &an->group[g];
        for (size_t i = 0; i < group->table.n_rows; i++) {
            const BenchRow *row = &group->table.row[i];
            const int64_t *how = map_get(&group->declared, size_key(row->size, group->table.n_dims));
            if (an->o->expand_ranges || !how || (*how & DECLARED_EXACT)) continue;
            RangeBest b = range_best(an, group, row);
            if (b.best < 0 || b.speed <= 0) continue;
            Importance *im = &imp[b.best];
            double flops = row_flops(group, row) / 1e6;
            im->wins++;
            im->only |= b.second <= 0;
            if (b.second > 0) {
                im->saved_ms += flops / b.second - flops / b.speed;
                total += flops / b.second - flops / b.speed;
            }
        }
    }
    return total > 1 ? total : 1; /* Tensile's floor */
}

/* SolutionSelectionAlg 0: drops the least important solution until what it saves counts. */
static Err drop_unimportant(Analysis *an, const bool *exact)
{
    Importance *imp = ARENA_ARRAY(an->a, an->n_solutions, Importance);
    TRY_ALLOC(imp);
    for (size_t left = an->n_solutions; left > 1; left--) {
        double total = weigh(an, imp);
        int64_t least = -1;
        for (size_t i = 0; i < an->n_solutions; i++)
            if (an->keep[i] && !imp[i].only && !exact[i] &&
                (least < 0 || imp[i].saved_ms < imp[least].saved_ms))
                least = (int64_t)i;
        if (least < 0) break;
        if (imp[least].saved_ms / total >= an->o->solution_importance_min && imp[least].wins > 0) break;
        an->keep[least] = false;
    }
    return ERR_OK;
}

/* Solutions for sizes that nobody measured. */
static void keep_for_others(Analysis *an)
{
    const AnalyzeModel *m = &an->o->model;
    for (size_t g = 0; m->keeps && g < an->n_groups; g++)
        for (size_t c = 0; c < an->group[g].bench.n_solutions; c++) {
            const AnalyzeColumn column = {an->group[g].stem, c};
            if (m->keeps(m->ctx, &column)) an->keep[an->group[g].merged[c]] = true;
        }
}

Err analysis_select(Analysis *an)
{
    bool *exact = ARENA_ARRAY(an->a, an->n_solutions, bool);
    TRY_ALLOC(exact);
    for (size_t i = 0; i < an->winner.n; i++) exact[an->winner.v[i].solution] = true;
    if (an->o->solution_selection_alg == 0) {
        memset(an->keep, true, an->n_solutions * sizeof *an->keep);
        TRY(drop_unimportant(an, exact));
        keep_for_others(an);
        return ERR_OK;
    }
    memcpy(an->keep, exact, an->n_solutions * sizeof *exact);
    for (size_t g = 0; !an->o->expand_ranges && g < an->n_groups; g++) {
        const AnalyzeGroup *group = &an->group[g];
        if (group->bench.sizes.n_ranges)
            notice(
                "%s: ExpandRanges is off: its range sizes keep their solutions, but no entry of the logic's "
                "table names them",
                group->bench.path);
        for (size_t i = 0; i < group->table.n_rows; i++) {
            const int64_t *how =
                map_get(&group->declared, size_key(group->table.row[i].size, group->table.n_dims));
            int64_t column =
                how && !(*how & DECLARED_EXACT) ? best_column(&group->table, &group->table.row[i]) : -1;
            if (column >= 0) an->keep[group->merged[column]] = true;
        }
    }
    keep_for_others(an);
    return ERR_OK;
}
