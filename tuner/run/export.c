/* Writes the results CSV from the store. See export.h. */
#include "run/export.h"

#include <inttypes.h>
#include <math.h>

#include "fmt/csv.h"

enum { MAX_INDICES = 16 };

typedef struct {
    double speed; /* GFlops; -1: failed; NAN: not run */
    double time_us;
} Cell;

static void header(const PlanView *p, const ExportOptions *o, Buf *out)
{
    static const char index_chars[] = "IJKLMNOPQRSTUVWXYZ";
    const char *unit = o->per_cu ? "GFlopsPerCU" : "GFlops";
    csv_cell(out, true, str_from(unit));
    for (int i = 0; i < o->n_indices && i < MAX_INDICES; i++)
        csv_cell_f(out, false, "Size%c", index_chars[i]);
    static const char *const leading[] = {"LDD", "LDC", "LDA", "LDB"};
    for (int i = 0; i < o->n_strides; i++) csv_cell_f(out, false, "StrideA%d", i);
    for (int i = 0; i < 4 && !o->n_strides; i++) csv_cell(out, false, str_from(leading[i]));
    csv_cell(out, false, STR("WinnerFreq"));
    if (o->extra_columns) {
        csv_cell_f(out, false, "Winner%s", unit);
        csv_cell(out, false, STR("WinnerTimeUS"));
        csv_cell(out, false, STR("WinnerIdx"));
        csv_cell(out, false, STR("WinnerName"));
    }
    csv_cell(out, false, STR("TotalFlops"));
    csv_cell(out, false, STR("WinnerPower"));
    csv_cell(out, false, STR("WinnerTemperature"));
    for (size_t c = 0; c < o->n_columns; c++) csv_cell(out, false, p->candidate[o->column[c]].name);
    csv_end(out);
}

static Cell cell_of(const PlanView *p, const ExportOptions *o, size_t column, size_t size, const Result *r)
{
    Cell cell = {-1, (double)NAN};
    if (!r->found || str_eq_c(r->status, "SKIPPED")) cell.speed = (double)NAN;
    if (!r->good) return cell;
    cell.time_us = r->mean_ns * 1e-3;
    cell.speed = p->size[size].flops / cell.time_us / 1000;
    if (o->per_cu) cell.speed /= o->cus(o->cus_ctx, o->column[column], size);
    return cell;
}

/* The cells of one size and run. */
static Err cells_get(Store *s, Arena *a, const PlanView *p, const ExportOptions *o, size_t size, int64_t run,
                     Cell *cell)
{
    Result *r = ARENA_ARRAY(a, o->n_columns, Result);
    TRY_ALLOC(r);
    for (size_t c = 0; c < o->n_columns; c++) TRY(result_get(s, a, p, o->column[c], size, run, &r[c]));
    TRY(results_level(a, r, o->n_columns));
    for (size_t c = 0; c < o->n_columns; c++) cell[c] = cell_of(p, o, c, size, &r[c]);
    return 0;
}

static void winner_cells(const PlanView *p, const ExportOptions *o, const Cell *cell, Buf *out)
{
    size_t best = SIZE_MAX;
    double time_us = (double)INFINITY;
    for (size_t c = 0; c < o->n_columns; c++) {
        if (!(cell[c].speed > 0)) continue;
        if (best == SIZE_MAX || cell[c].speed > cell[best].speed) best = c;
        if (cell[c].time_us < time_us) time_us = cell[c].time_us;
    }
    if (best == SIZE_MAX) {
        csv_cell(out, false, STR("-1"));
        csv_cell(out, false, STR("-1"));
        csv_cell(out, false, STR("-1"));
        csv_cell(out, false, STR(""));
        return;
    }
    csv_cell_f(out, false, "%.6g", cell[best].speed);
    csv_cell_f(out, false, "%.6g", time_us);
    csv_cell_f(out, false, "%zu", best);
    csv_cell(out, false, p->candidate[o->column[best]].name);
}

/* Clock, power and temperature are blank: a result may come from several runs. */
static void row_write(const PlanView *p, const ExportOptions *o, size_t size, const Cell *cell, Buf *out)
{
    Str numbers = size_numbers(p->size[size].key), part;
    csv_cell_f(out, true, "%zu", size);
    while (str_split(&numbers, ',', &part)) csv_cell(out, false, part);
    csv_cell(out, false, STR(""));
    if (o->extra_columns) winner_cells(p, o, cell, out);
    csv_cell_f(out, false, "%.0f", p->size[size].flops);
    csv_cell(out, false, STR(""));
    csv_cell(out, false, STR(""));
    for (size_t c = 0; c < o->n_columns; c++) {
        if (isnan(cell[c].speed))
            csv_cell(out, false, STR("nan"));
        else
            csv_cell_f(out, false, "%.6g", cell[c].speed);
    }
    csv_end(out);
}

/* As in Tensile, the larger speed counts, compared as integers. */
static void cell_merge(Cell *into, const Cell *x)
{
    if (isnan(x->speed)) return;
    if (isnan(into->speed) || (int64_t)x->speed > (int64_t)into->speed) *into = *x;
}

static Err rows_write(Store *s, Arena *a, const PlanView *p, const ExportOptions *o, int64_t run,
                      int64_t n_runs, Buf *out)
{
    for (size_t z = 0; z < p->n_sizes; z++) {
        arena_reset(a);
        Cell *cell = ARENA_ARRAY(a, o->n_columns, Cell), *more = ARENA_ARRAY(a, o->n_columns, Cell);
        TRY_ALLOC(cell);
        TRY_ALLOC(more);
        TRY(cells_get(s, a, p, o, z, run, cell));
        for (int64_t r = run + 1; r < run + n_runs; r++) {
            TRY(cells_get(s, a, p, o, z, r, more));
            for (size_t c = 0; c < o->n_columns; c++) cell_merge(&cell[c], &more[c]);
        }
        row_write(p, o, z, cell, out);
    }
    return 0;
}

Err export_csv(Store *s, const PlanView *p, const ExportOptions *o, Buf *out)
{
    Arena a;
    arena_init(&a, 0);
    header(p, o, out);
    Err e = 0;
    if (o->merge)
        e = rows_write(s, &a, p, o, 0, p->n_runs, out);
    else
        for (int64_t r = 0; !e && r < p->n_runs; r++) e = rows_write(s, &a, p, o, r, 1, out);
    arena_fini(&a);
    return e ? e : buf_check(out);
}
