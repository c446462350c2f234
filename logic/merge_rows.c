/* The rows of one file for a merge: computes tags, shortens sizes, and sets the stagger parameters of
 * solutions with StaggerU 0 to 0. Also checks whether two files may be merged. */
#include "logic/merge_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void merge_say(Buf *text, const char *what, const MergeRow *row)
{
    buf_printf(text, "%s [", what);
    for (int32_t i = 0; i < row->n; i++) buf_printf(text, i ? ", %lld" : "%lld", (long long)row->size[i]);
    buf_puts(text, "]");
}

/* ---- tags ---- */

static bool given(const LogicSolution *s, ParamId id, int32_t value)
{
    return solution_has(&s->s, id) && value != 0;
}

/* Tensile's script treats false as 0, so that only an absent key is Any. */
static Err scalar_tag(const Logic *l, const LogicSolution *s, ParamId id, int32_t value, bool tensile,
                      unsigned *tag)
{
    *tag = SCALAR_TAG_ANY;
    if (!solution_has(&s->s, id)) return ERR_OK;
    if (value == 0)
        *tag = tensile ? SCALAR_TAG_ZERO : SCALAR_TAG_ANY;
    else if (value == 1 || value == -1)
        *tag = value == 1 ? SCALAR_TAG_ONE : SCALAR_TAG_NEG_ONE;
    else
        FAIL(ERR_INPUT, "%s:%d: %s %d, expected false, 0, 1 or -1", l->path, s->line, param_at(id)->name,
             value);
    return ERR_OK;
}

static Err solution_tag(const Logic *l, const LogicSolution *s, bool tensile, bool unit, unsigned *tag)
{
    unsigned alpha, beta;
    bool mfma = given(s, PARAM_EnableMatrixInstruction, s->s.EnableMatrixInstruction) ||
                given(s, PARAM_MatrixInstruction, s->s.MatrixInstruction.n);
    TRY(scalar_tag(l, s, PARAM_AssertAlphaValue, s->s.AssertAlphaValue, tensile, &alpha));
    TRY(scalar_tag(l, s, PARAM_AssertBetaValue, s->s.AssertBetaValue, tensile, &beta));
    *tag = (unsigned)(unit && mfma) * TAG_MFMA + alpha * TAG_ALPHA + beta * TAG_BETA +
           (unsigned)!given(s, PARAM_AssertCEqualsD, s->s.AssertCEqualsD) * TAG_C_NEQ_D;
    return ERR_OK;
}

int merge_general_tags(unsigned tag, unsigned out[8])
{
    static const unsigned masks[] = {TAG_ALPHA * 3, TAG_BETA * 3};
    int n = 1;
    out[0] = tag;
    for (int i = 0; i < 2; i++) {
        int before = n;
        for (int j = 0; j < before && (tag & masks[i]); j++) out[n++] = out[j] & ~masks[i];
    }
    int before = n;
    for (int j = 0; j < before && !(tag & TAG_C_NEQ_D); j++) out[n++] = out[j] | TAG_C_NEQ_D;
    for (int i = 1; i < n; i++) out[i - 1] = out[i];
    return n - 1;
}

/* ---- solutions ---- */

static void set_zero(LogicSolution *s, ParamId id, int32_t *field)
{
    *field = 0;
    s->flipped[(unsigned)id >> 6] &= ~(UINT64_C(1) << ((unsigned)id & 63));
    solution_mark(&s->s, id);
}

static void drop_kept(LogicSolution *s, const char *key)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_kept; i++)
        if (!str_eq_c(s->kept[i].key, key)) s->kept[n++] = s->kept[i];
    s->n_kept = n;
}

/* With StaggerU 0 the other stagger parameters have no effect and are set to 0, so that equal kernels are
 * equal maps. */
static void sanitize(Logic *l)
{
    for (size_t i = 0; i < l->n_solutions; i++) {
        LogicSolution *s = &l->solution[i];
        drop_kept(s, "SolutionIndex");
        if (!solution_has(&s->s, PARAM_StaggerU) || s->s.StaggerU != 0) continue;
        drop_kept(s, "StaggerUMapping");
        drop_kept(s, "StaggerUStride");
        drop_kept(s, "_staggerStrideShift");
        set_zero(s, PARAM_StaggerUMapping, &s->s.StaggerUMapping);
        set_zero(s, PARAM_StaggerUStride, &s->s.StaggerUStride);
        set_zero(s, PARAM_StaggerStrideShift, &s->s.StaggerStrideShift);
    }
}

static Err tag_rows(const Logic *l, bool tensile, bool unit, bool none, MergeRows *rows)
{
    for (size_t i = 0; i < l->n_rows; i++) {
        const LogicRow *r = &l->row[i];
        MergeRow row = {.size = r->size, .n = r->n, .line = r->line, .speed = r->speed};
        row.solution = &l->solution[r->solution];
        if (!none) TRY(solution_tag(l, row.solution, tensile, unit, &row.tag));
        if (!VEC_PUSH(rows, row)) FAIL(ERR_FAILED, "out of memory for %zu sizes", l->n_rows);
    }
    return ERR_OK;
}

/* ---- short sizes ---- */

/* A tag counts as one more integer. */
static bool too_long(const MergeRow *r, bool tags) { return r->n + tags >= 8; }

static Err trim_tensile(MergeRows *rows, bool tags, RowTable *t)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (!too_long(&rows->v[i], tags)) TRY(row_table_put(t, rows, i));
    for (size_t i = 0; i < rows->n; i++) {
        MergeRow r = rows->v[i];
        if (too_long(&r, tags)) {
            r.n -= 4;
            if (row_table_find(t, rows, &r) != SIZE_MAX) {
                rows->v[i].n = 0; /* dropped, below */
                continue;
            }
            rows->v[i] = r;
            TRY(row_table_put(t, rows, i));
        }
    }
    for (size_t i = 0; i < rows->n; i++)
        if (rows->v[i].n) rows->v[n++] = rows->v[i];
    rows->n = n;
    return ERR_OK;
}

Err merge_rows_tensile(Logic *l, const MergeOptions *o, MergeRows *rows)
{
    RowTable t = {0};
    Err e = tag_rows(l, true, true, !o->tags, rows);
    if (!e && !o->keep_long) e = trim_tensile(rows, o->tags, &t);
    row_table_fini(&t);
    sanitize(l);
    return e;
}

static void say_double(Buf *text, const MergeOptions *o, const MergeRow *slow, const MergeRow *fast)
{
    if (o->verbosity < 1) return;
    merge_say(text, "  dropped ", slow);
    buf_printf(text, " of line %d: %.10g, line %d has %.10g\n", slow->line, slow->speed, fast->line,
               fast->speed);
}

static Err fastest(MergeRows *rows, const MergeOptions *o, RowTable *t, MergeReport *r, Buf *text)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++) {
        MergeRow row = rows->v[i];
        size_t at = row_table_find(t, rows, &row);
        if (at == SIZE_MAX) {
            rows->v[n] = row;
            TRY(row_table_put(t, rows, n++));
            continue;
        }
        bool better = row.speed > rows->v[at].speed;
        r->n_dropped++;
        r->changed = true;
        say_double(text, o, better ? &rows->v[at] : &row, better ? &row : &rows->v[at]);
        if (better) rows->v[at] = row;
    }
    rows->n = n;
    return ERR_OK;
}

Err merge_rows_best(Logic *l, const MergeOptions *o, MergeRows *rows, MergeReport *r, Buf *text)
{
    RowTable t = {0};
    TRY(tag_rows(l, false, o->tags, false, rows));
    for (size_t i = 0; i < rows->n && !o->keep_long; i++) {
        if (!l->pt->NumIndicesLD || rows->v[i].n <= l->pt->TotalIndices) continue;
        rows->v[i].n = l->pt->TotalIndices;
        r->changed = true;
    }
    Err e = fastest(rows, o, &t, r, text);
    row_table_fini(&t);
    sanitize(l);
    return e;
}

/* ---- one way of writing ---- */

static Err means_the_same(const Logic *original, const LogicSolution *s, bool *same)
{
    Arena a;
    ProblemType pt;
    *same = !s->problem_type || s->problem_type == original->pt_node;
    if (*same) return ERR_OK;
    arena_init(&a, 0);
    Err e = problem_type_from_node(&a, original->path, s->problem_type, &pt);
    *same = !e && problem_type_equal(&pt, original->pt);
    arena_fini(&a);
    return e;
}

Err merge_unify(const Logic *original, Logic *l)
{
    for (size_t i = 0; i < l->n_solutions; i++) {
        LogicSolution *s = &l->solution[i];
        bool same = l->pt_node && s->problem_type == l->pt_node; /* the files' are equal */
        if (!same) TRY(means_the_same(original, s, &same));
        if (same) s->problem_type = original->dict ? NULL : original->pt_node;
        if (same) s->s.pt = original->pt;
        memset(s->flipped, 0, sizeof s->flipped);
    }
    return ERR_OK;
}

/* ---- may they be merged ---- */

static Err check_text(const Logic *a, const Logic *b, const char *what, Str x, Str y)
{
    if (str_eq(x, y)) return ERR_OK;
    FAIL(ERR_INPUT, "%s: %s '%.*s', expected that of %s: '%.*s'", b->path, what, STR_ARG(y), a->path,
         STR_ARG(x));
}

Err merge_check_same(const Logic *a, const Logic *b, Buf *text)
{
    TRY(check_text(a, b, "architecture", a->arch, b->arch));
    if (a->cu_count != b->cu_count || a->is_apu != b->is_apu)
        FAIL(ERR_INPUT, "%s: CUCount %d and IsAPU %d, expected those of %s: %d and %d (0, -1: any)", b->path,
             b->cu_count, b->is_apu, a->path, a->cu_count, a->is_apu);
    if (!problem_type_equal(a->pt, b->pt))
        FAIL(ERR_INPUT, "%s: another problem type than that of %s", b->path, a->path);
    if (!str_eq(logic_distance(a), logic_distance(b)))
        buf_printf(text, "  distance %.*s is kept, the increment has %.*s\n", STR_ARG(logic_distance(a)),
                   STR_ARG(logic_distance(b)));
    TRY(check_text(a, b, "Fp16AltImpl", a->fp16_alt, b->fp16_alt));
    TRY(check_text(a, b, "Fp16AltImplRound", a->fp16_alt_round, b->fp16_alt_round));
    if (a->n_index_order != b->n_index_order ||
        memcmp(a->index_order, b->index_order, a->n_index_order * sizeof *a->index_order) != 0)
        FAIL(ERR_INPUT, "%s: another index order than that of %s", b->path, a->path);
    return ERR_OK;
}

static double highest(const MergeRows *rows)
{
    double high = 0;
    for (size_t i = 0; i < rows->n; i++) high = fmax(high, rows->v[i].speed);
    return high;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Files with DeviceEfficiency have GFlops when they come from an analysis and % when they were converted. A
 * percentage is at most 100. So a table with speeds below 100 and one with speeds above it have the same unit
 * only if their common sizes have similar speeds. */
Err merge_check_units(const Logic *a, const Logic *b, const MergeRows *x, const RowTable *table,
                      const MergeRows *y)
{
    enum { FACTOR = 8 }; /* no tuning changes the median by more; GFlops at 100 % are 1e3 or more */
    TRY(check_text(a, b, "speeds are in another unit: metric", logic_metric(a), logic_metric(b)));
    double high_a = highest(x), high_b = highest(y), ratio = 0;
    if (!x->n || !y->n || (high_a > 100) == (high_b > 100)) return ERR_OK;
    double *r = malloc(y->n * sizeof *r);
    size_t n = 0;
    TRY_ALLOC(r);
    for (size_t i = 0; i < y->n; i++) {
        size_t at = row_table_find(table, x, &y->v[i]);
        if (at != SIZE_MAX && x->v[at].speed > 0 && y->v[i].speed > 0)
            r[n++] = y->v[i].speed / x->v[at].speed;
    }
    qsort(r, n, sizeof *r, by_value);
    if (n) ratio = r[n / 2];
    free(r);
    if (n && ratio < FACTOR && ratio > 1.0 / FACTOR) return ERR_OK;
    FAIL(ERR_INPUT,
         "%s: speeds up to %.6g, those of %s up to %.6g: one looks like %%, the other like GFlops; convert "
         "one "
         "(tuner-logic convert), or say --same-units",
         b->path, high_b, a->path, high_a);
}
