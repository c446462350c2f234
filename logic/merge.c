/* Merges two logic files in memory. merge.h describes the policies. */
#include "logic/merge.h"

#include <stdlib.h>
#include <string.h>

#include "logic/merge_internal.h"
#include "space/naming.h"

typedef struct {
    const MergeOptions *o;
    MergeReport *r;
    Buf *text;
    Logic *original, *increment;
    MergeRows a, b, out;
    RowTable table; /* of a; MERGE_BEST: of out */
    SolutionPool pool;
    size_t n_original; /* MERGE_BEST: rows of out that are the original's */
} Merge;

static bool better(const MergeRow *row, const MergeRow *old, bool force)
{
    return force || row->speed > old->speed;
}

static void say(Merge *m, int level, const char *what, const MergeRow *row, const MergeRow *old)
{
    if (m->o->verbosity < level) return;
    merge_say(m->text, what, row);
    if (old)
        buf_printf(m->text, ": %.10g -> %.10g\n", old->speed, row->speed);
    else
        buf_printf(m->text, ": %.10g\n", row->speed);
}

/* The i-th solution of the result is list[i]; of[j] is the number of the solution of row j. */
static Err make_result(Arena *arena, const Merge *m, const LogicSolution *const *list, size_t n,
                       const size_t *of, Logic *out)
{
    *out = *m->original;
    TRY_ALLOC(out->solution = ARENA_ARRAY(arena, n, LogicSolution));
    TRY_ALLOC(out->row = ARENA_ARRAY(arena, m->out.n, LogicRow));
    out->n_solutions = n;
    out->n_rows = m->out.n;
    out->n_kept = out->n_duplicates = 0;
    for (size_t i = 0; i < n; i++) {
        LogicSolution *s = &out->solution[i];
        *s = *list[i];
        logic_solution_number(s, (int32_t)i);
        out->n_kept += s->n_kept;
    }
    for (size_t i = 0; i < m->out.n; i++) {
        const MergeRow *r = &m->out.v[i];
        out->row[i] = (LogicRow){
            .size = r->size, .n = r->n, .solution = (int32_t)of[i], .speed = r->speed, .line = r->line};
    }
    return ERR_OK;
}

/* ---- Tensile ---- */

static bool is_forced(const Merge *m)
{
    if (m->o->force != FORCE_BY_NAME) return m->o->force == FORCE_ALWAYS;
    return strstr(m->increment->path, "arcturus") == NULL;
}

/* Whether the table already has a faster row of the same size with a more general tag. */
static bool is_beaten(const Merge *m, const MergeRow *row)
{
    unsigned tag[8];
    int n = merge_general_tags(row->tag, tag);
    for (int i = 0; i < n; i++) {
        MergeRow key = *row;
        key.tag = tag[i];
        size_t at = row_table_find(&m->table, &m->a, &key);
        if (at != SIZE_MAX && m->a.v[at].speed > row->speed) return true;
    }
    return false;
}

/* Puts the used solutions of the original into the pool in their order, duplicates included. */
static Err pool_original(Merge *m)
{
    Logic *l = m->original;
    bool *used = calloc(l->n_solutions + 1, sizeof *used);
    Err e = used ? ERR_OK : err_set(ERR_FAILED, "out of memory for %zu solutions", l->n_solutions);
    for (size_t i = 0; !e && i < m->a.n; i++) used[m->a.v[i].solution - l->solution] = true;
    for (size_t i = 0; !e && i < l->n_solutions; i++)
        if (used[i]) e = solution_pool_append(&m->pool, &l->solution[i]);
    free(used);
    return e;
}

static Err take_tensile(Merge *m, const MergeRow *row, bool force)
{
    size_t at = row_table_find(&m->table, &m->a, row), unused;
    const MergeRow *old = at == SIZE_MAX ? NULL : &m->a.v[at];
    if (old ? !better(row, old, force) : m->o->tags && is_beaten(m, row)) {
        m->r->n_kept++;
        say(m, 2, "  kept    ", row, old);
        return ERR_OK;
    }
    MergeRow taken = *row;
    TRY(solution_pool_add(&m->pool, row->solution, &unused));
    taken.solution = m->pool.list.v[unused];
    if (old) {
        m->r->n_replaced++;
        m->out.v[at].solution = taken.solution;
        m->out.v[at].speed = taken.speed;
        say(m, 1, "  replaced", row, old);
        return ERR_OK;
    }
    m->r->n_added++;
    say(m, 2, "  added   ", row, NULL);
    if (!VEC_PUSH(&m->out, taken)) FAIL(ERR_FAILED, "out of memory for %zu sizes", m->out.n);
    return ERR_OK;
}

/* Position of a solution in the pool, by address. */
typedef struct {
    const LogicSolution *s;
    size_t at;
} Place;

static int by_address(const void *x, const void *y)
{
    const Place *a = x, *b = y;
    return (a->s > b->s) - (a->s < b->s);
}

static size_t place_of(const Place *p, size_t n, const LogicSolution *s)
{
    Place key = {s, 0};
    const Place *found = bsearch(&key, p, n, sizeof *p, by_address);
    return found ? found->at : 0;
}

/* Makes the result from the solutions of the pool that rows use, in their order. */
static Err finish_tensile(Arena *arena, Merge *m, Logic *out)
{
    size_t n_pool = m->pool.list.n, n = 0;
    size_t *of = ARENA_ARRAY(arena, m->out.n, size_t), *number = ARENA_ARRAY(arena, n_pool, size_t);
    Place *place = ARENA_ARRAY(arena, n_pool, Place);
    const LogicSolution **list = ARENA_ARRAY(arena, n_pool, const LogicSolution *);
    if (!of || !number || !place || !list) FAIL(ERR_FAILED, "out of memory for %zu solutions", n_pool);
    for (size_t i = 0; i < n_pool; i++) place[i] = (Place){m->pool.list.v[i], i};
    qsort(place, n_pool, sizeof *place, by_address);
    for (size_t i = 0; i < m->out.n; i++) number[of[i] = place_of(place, n_pool, m->out.v[i].solution)] = 1;
    for (size_t i = 0; i < n_pool; i++) {
        if (!number[i]) continue;
        list[n] = m->pool.list.v[i];
        number[i] = n++;
    }
    for (size_t i = 0; i < m->out.n; i++) of[i] = number[of[i]];
    return make_result(arena, m, list, n, of, out);
}

static Err merge_tensile(Arena *arena, Merge *m, Logic *out)
{
    bool force = is_forced(m);
    m->pool.with_type = true;
    TRY(merge_rows_tensile(m->original, m->o, &m->a));
    TRY(merge_rows_tensile(m->increment, m->o, &m->b));
    TRY(pool_original(m));
    size_t n_used = m->pool.list.n;
    for (size_t i = 0; i < m->a.n; i++) {
        TRY(row_table_put(&m->table, &m->a, i));
        if (!VEC_PUSH(&m->out, m->a.v[i])) FAIL(ERR_FAILED, "out of memory for %zu sizes", m->a.n);
    }
    m->r->n_dropped = m->original->n_rows - m->a.n;
    for (size_t i = 0; i < m->b.n; i++) TRY(take_tensile(m, &m->b.v[i], force));
    TRY(finish_tensile(arena, m, out));
    m->r->changed = true;
    m->r->n_solutions_added = m->pool.list.n - n_used;
    m->r->n_solutions_removed = m->original->n_solutions + m->r->n_solutions_added - out->n_solutions;
    return ERR_OK;
}

/* ---- best and newer ---- */

static Err take_best(Merge *m, const MergeRow *row)
{
    size_t at = row_table_find(&m->table, &m->out, row);
    if (at == SIZE_MAX) {
        m->r->n_added++;
        say(m, 2, "  added   ", row, NULL);
        if (!VEC_PUSH(&m->out, *row)) FAIL(ERR_FAILED, "out of memory for %zu sizes", m->out.n);
        return row_table_put(&m->table, &m->out, m->out.n - 1);
    }
    MergeRow *old = &m->out.v[at];
    bool same = old->speed == row->speed && logic_solution_equal(old->solution, row->solution);
    if (same || !better(row, old, m->o->policy == MERGE_NEWER)) {
        m->r->n_kept++;
        say(m, 2, "  kept    ", row, old);
        return ERR_OK;
    }
    m->r->n_replaced++;
    m->r->changed = true;
    say(m, 1, "  replaced", row, old);
    *old = *row;
    return ERR_OK;
}

/* Marks rows for fewer problems if a row of the same size for more problems is faster. */
static void mark_beaten(Merge *m)
{
    for (size_t i = 0; i < m->out.n; i++) {
        unsigned tag[8];
        MergeRow row = m->out.v[i], key = row;
        const MergeRow *by = NULL;
        int n_tags = merge_general_tags(row.tag, tag);
        for (int j = 0; j < n_tags && !by; j++) {
            key.tag = tag[j];
            size_t at = row_table_find(&m->table, &m->out, &key);
            if (at != SIZE_MAX && m->out.v[at].speed > row.speed) by = &m->out.v[at];
        }
        m->out.v[i].line = by ? -1 : row.line; /* -1: dropped by group_rows */
        if (!by) continue;
        m->r->n_dropped++;
        m->r->n_added -= i >= m->n_original;
        m->r->changed |= i < m->n_original;
        if (m->o->verbosity < 1) continue;
        merge_say(m->text, "  dropped ", &row);
        buf_printf(m->text, ": %.10g, a solution for more problems has %.10g\n", row.speed, by->speed);
    }
}

typedef struct {
    size_t size; /* number of the size, by its first row */
    MergeRow row;
} Grouped;

static int by_size_and_tag(const void *x, const void *y)
{
    const Grouped *a = x, *b = y;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return (a->row.tag > b->row.tag) - (a->row.tag < b->row.tag);
}

/* Drops the marked rows and groups rows of one size at the position of its first row, so that a row that was
 * dropped and is added by a later merge gets the same position. */
static Err group_rows(Arena *arena, Merge *m)
{
    RowTable sizes = {0};
    MergeRows plain = {0};
    Grouped *g = ARENA_ARRAY(arena, m->out.n, Grouped);
    TRY_ALLOC(g);
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < m->out.n; i++) {
        MergeRow size = m->out.v[i];
        size.tag = 0;
        g[i] = (Grouped){row_table_find(&sizes, &plain, &size), m->out.v[i]};
        if (g[i].size != SIZE_MAX) continue;
        g[i].size = plain.n;
        e = VEC_PUSH(&plain, size) ? row_table_put(&sizes, &plain, plain.n - 1)
                                   : err_set(ERR_FAILED, "out of memory for %zu sizes", m->out.n);
    }
    size_t n = 0;
    if (!e && plain.n < m->out.n) qsort(g, m->out.n, sizeof *g, by_size_and_tag);
    for (size_t i = 0; i < m->out.n; i++)
        if (g[i].row.line >= 0) m->out.v[n++] = g[i].row;
    m->out.n = n;
    row_table_fini(&sizes);
    VEC_FINI(&plain);
    return e;
}

/* Makes names that depend only on the set of solutions, not on the files from which they came. */
static Err name_solutions(Arena *arena, Logic *l)
{
    Buf name;
    Namer *namer = ARENA_NEW(arena, Namer);
    TRY_ALLOC(namer);
    TRY(namer_init(namer, l->pt));
    for (size_t i = 0; i < l->n_solutions; i++) namer_note(namer, &l->solution[i].s);
    buf_init(&name);
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < l->n_solutions; i++) {
        buf_reset(&name);
        solution_name(namer, &l->solution[i].s, NAME_SOLUTION, &name);
        e = buf_check(&name);
        if (!e) e = logic_solution_rename(arena, &l->solution[i], buf_view(&name));
    }
    buf_fini(&name);
    return e;
}

/* Solutions in the order of the rows that use them first. */
static Err finish_best(Arena *arena, Merge *m, Logic *out)
{
    size_t *of = ARENA_ARRAY(arena, m->out.n, size_t);
    TRY_ALLOC(of);
    for (size_t i = 0; i < m->out.n; i++) TRY(solution_pool_add(&m->pool, m->out.v[i].solution, &of[i]));
    TRY(make_result(arena, m, m->pool.list.v, m->pool.list.n, of, out));
    return name_solutions(arena, out);
}

/* Counts the solutions of the result that are not in the original, and the reverse. */
static Err count_solutions(Merge *m, const Logic *out)
{
    SolutionPool p = {.with_type = true};
    size_t at, n_old = 0;
    Err e = ERR_OK;
    for (size_t i = 0; !e && i < m->original->n_solutions; i++)
        e = solution_pool_add(&p, &m->original->solution[i], &at);
    n_old = p.list.n;
    for (size_t i = 0; !e && i < out->n_solutions; i++) e = solution_pool_add(&p, &out->solution[i], &at);
    m->r->n_solutions_added = p.list.n - n_old;
    m->r->n_solutions_removed = m->original->n_solutions + m->r->n_solutions_added - out->n_solutions;
    solution_pool_fini(&p);
    return e;
}

static Err merge_best(Arena *arena, Merge *m, Logic *out)
{
    MergeReport ignored = {0};
    m->pool.with_type = true;
    TRY(merge_check_same(m->original, m->increment, m->text));
    TRY(merge_unify(m->original, m->original));
    TRY(merge_unify(m->original, m->increment));
    TRY(merge_rows_best(m->original, m->o, &m->out, m->r, m->text));
    TRY(merge_rows_best(m->increment, m->o, &m->b, &ignored, m->text));
    m->r->n_dropped += ignored.n_dropped;
    m->n_original = m->out.n;
    for (size_t i = 0; i < m->out.n; i++) TRY(row_table_put(&m->table, &m->out, i));
    if (!m->o->same_units) TRY(merge_check_units(m->original, m->increment, &m->out, &m->table, &m->b));
    for (size_t i = 0; i < m->b.n; i++) TRY(take_best(m, &m->b.v[i]));
    mark_beaten(m);
    TRY(group_rows(arena, m));
    TRY(finish_best(arena, m, out));
    TRY(count_solutions(m, out));
    m->r->changed |= m->r->n_added > 0 || m->r->n_solutions_removed > 0;
    return ERR_OK;
}

Err logic_merge(Arena *a, Logic *original, Logic *increment, const MergeOptions *o, Logic *out,
                MergeReport *r, Buf *text)
{
    Merge m = {.o = o, .r = r, .text = text, .original = original, .increment = increment};
    *r = (MergeReport){0};
    if (original->trees || increment->trees)
        FAIL(ERR_INPUT, "%s: decision trees, expected a table of sizes",
             (original->trees ? original : increment)->path);
    Err e = o->policy == MERGE_TENSILE ? merge_tensile(a, &m, out) : merge_best(a, &m, out);
    VEC_FINI(&m.a);
    VEC_FINI(&m.b);
    VEC_FINI(&m.out);
    row_table_fini(&m.table);
    solution_pool_fini(&m.pool);
    return e;
}
