/* Files of 2_BenchmarkData: sizes and solutions (yaml), speeds (csv). */
#include "logic/bench_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/vec.h"
#include "fmt/csv.h"
#include "fmt/write.h"

/* ---- yaml ---- */

static void emit_ints(const int64_t *v, int32_t n, Emit *e)
{
    emit_seq(e, (size_t)n, true);
    for (int32_t i = 0; i < n; i++) emit_int(e, v[i]);
    emit_end(e);
}

static void emit_range(const SizeRange *range, Emit *e)
{
    emit_map(e, 1, false);
    emit_cstr(e, "Range");
    emit_seq(e, (size_t)range->n, false);
    for (int32_t i = 0; i < range->n; i++) {
        const SizeDim *d = &range->dim[i];
        int64_t v[4] = {d->start, d->stride, d->increment, d->end};
        if (d->mapped)
            emit_int(e, d->source);
        else
            emit_ints(v, 4, e);
    }
    emit_end(e);
    emit_end(e);
}

static void emit_exact(const ProblemSize *s, Emit *e)
{
    emit_map(e, 1, false);
    emit_cstr(e, "Exact");
    emit_ints(s->v, s->n, e);
    emit_end(e);
}

static void emit_sizes(const ProblemSizes *sizes, Emit *e)
{
    emit_map(e, 1, false);
    emit_cstr(e, "ProblemSizes");
    emit_seq(e, sizes->n_ranges + sizes->n_exacts, sizes->n_ranges + sizes->n_exacts == 0);
    for (size_t i = 0; i < sizes->n_ranges; i++) emit_range(&sizes->range[i], e);
    for (size_t i = 0; i < sizes->n_exacts; i++) emit_exact(&sizes->exact[i], e);
    emit_end(e);
    emit_end(e);
}

static Err emit_document(const ProblemSizes *sizes, const Solution *const *solutions, size_t n, Emit *e)
{
    LogicKeys keys;
    logic_keys_init(&keys);
    emit_seq(e, n + 2, false);
    emit_map(e, 1, true);
    emit_cstr(e, "MinimumRequiredVersion");
    emit_cstr(e, LOGIC_VERSION);
    emit_end(e);
    emit_sizes(sizes, e);
    for (size_t i = 0; i < n; i++) {
        LogicSolution s = {.s = *solutions[i]};
        TRY(logic_solution_emit(&keys, &s, false, e));
    }
    emit_end(e);
    return emit_finish(e);
}

Err bench_solutions_write(const char *path, const ProblemSizes *sizes, const Solution *const *solutions,
                          size_t n)
{
    Buf b;
    buf_init(&b);
    Emit *e = emit_yaml(&b);
    Err err = e ? emit_document(sizes, solutions, n, e) : err_set(ERR_FAILED, "out of memory for '%s'", path);
    emit_free(e);
    if (!err) err = buf_check(&b);
    if (!err) err = file_write(path, buf_view(&b));
    buf_fini(&b);
    return err;
}

static Err read_head(const Node *root, const char *path)
{
    const Node *first = node_at(root, 0), *version = first ? node_get(first, "MinimumRequiredVersion") : NULL;
    Str found = version ? version->text : STR("nothing");
    if (!version || !str_starts(version->text, "4."))
        FAIL(ERR_INPUT, "%s:%d: expected {MinimumRequiredVersion: 4.x.y} first, found '%.*s'", path,
             root->line, STR_ARG(found));
    return ERR_OK;
}

Err bench_solutions_read(Arena *a, const char *path, BenchSolutions *out)
{
    Node *root = NULL;
    ProblemType *pt = ARENA_NEW(a, ProblemType);
    LogicKeys keys;
    logic_keys_init(&keys);
    TRY_ALLOC(pt);
    *out = (BenchSolutions){.path = path};
    NodeLimits limits = {.max_bytes = LOGIC_MAX_BYTES};
    TRY(yaml_read(a, path, &limits, &root));
    TRY(node_seq(root, path, "solutions file", 2, LOGIC_MAX_SOLUTIONS));
    TRY(read_head(root, path));
    if (root->n < 3) FAIL(ERR_INPUT, "%s:%d: no solutions, expected at least one", path, root->line);
    out->n_solutions = root->n - 2;
    const Node *first = &root->item[2];
    out->pt_node = node_get(first, "ProblemType");
    if (!out->pt_node) FAIL(ERR_INPUT, "%s:%d: a solution without ProblemType", path, first->line);
    TRY(problem_type_from_node(a, path, out->pt_node, pt));
    out->pt = pt;
    const Node *sizes = node_get(&root->item[1], "ProblemSizes");
    if (!sizes) FAIL(ERR_INPUT, "%s:%d: expected ProblemSizes", path, root->item[1].line);
    TRY(problem_sizes_from_node(a, path, sizes, pt, NULL, &out->sizes));
    TRY_ALLOC(out->solution = ARENA_ARRAY(a, out->n_solutions, LogicSolution));
    for (size_t i = 0; i < out->n_solutions; i++) {
        LogicSolution *s = &out->solution[i];
        TRY(logic_solution_parse(a, &keys, path, &root->item[2 + i], pt, s));
        if (s->problem_type && s->problem_type != out->pt_node && !node_equal(s->problem_type, out->pt_node))
            FAIL(ERR_INPUT, "%s:%d: solution %zu has another ProblemType than the first", path, s->line, i);
        s->problem_type = NULL;
    }
    return ERR_OK;
}

/* ---- csv ---- */

static Err read_speed(const BenchTable *t, int line, Str text, double *out)
{
    text = str_trim(text);
    if (str_eq_nocase(text, STR("nan")) || str_eq_nocase(text, STR("-nan"))) {
        *out = NAN;
        return ERR_OK;
    }
    if (!str_to_f64(text, out) || !isfinite(*out))
        FAIL(ERR_INPUT, "%s:%d: speed '%.*s', expected a number, -1 or nan", t->path, line, STR_ARG(text));
    return ERR_OK;
}

static Err read_row(Arena *a, const BenchTable *t, int line, const Str *cell, size_t n, BenchRow *row)
{
    if (n < 1 + t->n_dims + t->n_solutions)
        FAIL(ERR_INPUT, "%s:%d: %zu cells, expected at least %zu", t->path, line, n,
             1 + t->n_dims + t->n_solutions);
    for (size_t i = 0; i < t->n_dims; i++) {
        Str text = str_trim(cell[1 + i]);
        if (!str_to_i64(text, &row->size[i]) || row->size[i] < 0 || row->size[i] > SIZE_VALUE_LIMIT)
            FAIL(ERR_INPUT, "%s:%d: '%.*s' in a size, expected 0 to %lld", t->path, line, STR_ARG(text),
                 (long long)SIZE_VALUE_LIMIT);
    }
    double *speed = ARENA_ARRAY(a, t->n_solutions, double);
    TRY_ALLOC(speed);
    for (size_t i = 0; i < t->n_solutions; i++)
        TRY(read_speed(t, line, cell[n - t->n_solutions + i], &speed[i]));
    row->speed = speed;
    row->line = line;
    return ERR_OK;
}

typedef VEC(BenchRow) BenchRows;

static Err read_rows(Arena *a, Csv *csv, BenchTable *t, BenchRows *rows)
{
    Arena cells;
    Err e = ERR_OK;
    arena_init(&cells, 0);
    for (;;) {
        Str *cell = NULL;
        size_t n = 0;
        BenchRow row = {{0}, NULL, 0};
        arena_reset(&cells);
        e = csv_row(csv, &cells, &cell, &n);
        if (e || n == 0) break;
        e = read_row(a, t, csv->line, cell, n, &row);
        if (!e && rows->n == LOGIC_MAX_ROWS)
            e = err_set(ERR_INPUT, "%s:%d: too many rows", t->path, csv->line);
        if (!e && !VEC_PUSH(rows, row))
            e = err_set(ERR_FAILED, "%s: out of memory for %zu rows", t->path, rows->n);
        if (e) break;
    }
    arena_fini(&cells);
    return e;
}

Err bench_table_read(Arena *a, const char *path, size_t n_dims, size_t n_solutions, BenchTable *out)
{
    Str text, *cell = NULL;
    size_t n = 0;
    Csv csv;
    BenchRows rows = {NULL, 0, 0};
    if (n_dims > LOGIC_KEY_MAX)
        FAIL(ERR_INPUT, "%s: sizes of %zu integers, at most %d", path, n_dims, LOGIC_KEY_MAX);
    *out = (BenchTable){.path = path, .n_dims = n_dims, .n_solutions = n_solutions};
    TRY(file_read(a, path, (size_t)1 << 30, &text));
    csv_init(&csv, path, text);
    TRY(csv_row(&csv, a, &cell, &n));
    if (n == 0) FAIL(ERR_INPUT, "%s:1: an empty file, expected a header", path);
    if (n < 1 + n_dims + n_solutions)
        FAIL(ERR_INPUT, "%s:1: %zu columns, expected at least %zu: %zu of the size and one a solution", path,
             n, 1 + n_dims + n_solutions, n_dims);
    for (size_t i = 0; i <= n_dims; i++) {
        double number;
        if (str_to_f64(str_trim(cell[i]), &number))
            FAIL(ERR_INPUT,
                 "%s:1: '%.*s' is a number, expected the header: GFlops, then names of sizes and solutions",
                 path, STR_ARG(str_trim(cell[i])));
    }
    Str unit = str_trim(cell[0]);
    out->per_cu = str_eq_c(unit, "GFlopsPerCU");
    out->metric_known = out->per_cu || str_eq_c(unit, "GFlops");
    Err e = read_rows(a, &csv, out, &rows);
    if (!e) out->row = ARENA_ARRAY(a, rows.n, BenchRow);
    if (!e && !out->row) e = err_set(ERR_FAILED, "%s: out of memory for %zu rows", path, rows.n);
    if (!e && rows.n) memcpy(out->row, rows.v, rows.n * sizeof *rows.v);
    out->n_rows = rows.n;
    VEC_FINI(&rows);
    return e;
}
