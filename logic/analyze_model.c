/* Analyze, what the performance model adds to a logic. See AnalyzeModel. */
#include "base/map.h"
#include "logic/analyze_internal.h"
#include "logic/logic_internal.h"

#include <stdlib.h>
#include <string.h>

static Err add_numbers(Analysis *an, Logic *l, const AnalyzeColumn *column)
{
    const AnalyzeModel *m = &an->o->model;
    for (size_t i = 0; m->numbers && i < l->n_solutions; i++) {
        const double *v = NULL;
        size_t n = 0;
        TRY(m->numbers(m->ctx, an->a, &column[i], &v, &n));
        if (n) TRY(logic_solution_numbers(an->a, &l->solution[i], LOGIC_MODEL_KEY, v, n));
    }
    return ERR_OK;
}

/* Lists the sizes of each solution's rows from the first one on in its key PredictedSizes. */
static Err mark_predicted(Analysis *an, Logic *l, size_t first, size_t n_dims)
{
    int64_t *v = ARENA_ARRAY(an->a, (l->n_rows - first) * n_dims + 1, int64_t);
    TRY_ALLOC(v);
    for (size_t s = 0; s < l->n_solutions; s++) {
        size_t n = 0;
        for (size_t i = first; i < l->n_rows; i++)
            if (l->row[i].solution == (int32_t)s)
                memcpy(&v[n++ * n_dims], l->row[i].size, n_dims * sizeof *v);
        if (n) TRY(logic_solution_lists(an->a, &l->solution[s], LOGIC_PREDICTED_KEY, v, n, n_dims));
    }
    return ERR_OK;
}

/* Appends rows of sizes that the logic does not have; *n_measured: those of measured sizes, which come first.
 * l->row has room for them. */
static Err rows_append(Logic *l, const AnalyzeRow *row, size_t n, size_t n_dims, Map *has, size_t *n_measured)
{
    *n_measured = 0;
    for (size_t i = 0; i < l->n_rows; i++)
        if (!map_put(has, size_key(l->row[i].size, n_dims), NULL))
            FAIL(ERR_FAILED, "out of memory for %zu rows", l->n_rows);
    for (size_t i = 0; i < n; i++) {
        bool added;
        if (!map_put(has, size_key(row[i].size, n_dims), &added))
            FAIL(ERR_FAILED, "out of memory for %zu rows", n);
        if (!added) continue;
        *n_measured += row[i].is_measured;
        l->row[l->n_rows++] = (LogicRow){.size = row[i].size,
                                         .n = (int32_t)n_dims,
                                         .solution = (int32_t)row[i].solution,
                                         .speed = row[i].speed};
    }
    return ERR_OK;
}

static Err add_rows(Analysis *an, Logic *l, const AnalyzeColumn *column, size_t n_dims)
{
    const AnalyzeModel *m = &an->o->model;
    const AnalyzeRow *row = NULL;
    size_t n = 0, n_measured;
    const size_t n_own = l->n_rows;
    Map has;
    if (!m->rows) return ERR_OK;
    TRY(m->rows(m->ctx, an->a, column, l->n_solutions, &row, &n));
    LogicRow *all = ARENA_ARRAY(an->a, n_own + n + 1, LogicRow);
    TRY_ALLOC(all);
    if (n_own) memcpy(all, l->row, n_own * sizeof *all);
    l->row = all;
    map_init(&has);
    const Err e = rows_append(l, row, n, n_dims, &has, &n_measured);
    map_fini(&has);
    TRY(e);
    return mark_predicted(an, l, n_own + n_measured, n_dims);
}

Err analysis_add_model(Analysis *an, Logic *l, const AnalyzeColumn *column, size_t n_dims)
{
    const AnalyzeModel *m = &an->o->model;
    Str distance = m->distance ? m->distance(m->ctx, an->group[0].stem) : STR_NULL;
    int32_t dim[SIZE_KEY_MAX];
    if (size_key_strides(l->pt, dim)) distance = STR("Ratio"); /* strides and sizes are of any magnitude */
    if (distance.s) {
        l->distance = distance;
        if (l->n_elements <= LOGIC_AT_DISTANCE) l->n_elements = LOGIC_AT_DISTANCE + 1;
    }
    TRY(add_numbers(an, l, column));
    size_t n_measured = l->n_rows;
    TRY(add_rows(an, l, column, n_dims));
    return analysis_make_trees(an, l, column, n_measured);
}
