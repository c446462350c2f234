/* Hash tables of merge: rows by size and tag, solutions by content. */
#include "logic/merge_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

static uint64_t row_hash(const MergeRow *r)
{
    uint64_t h = hash64((Str){(const char *)r->size, (size_t)r->n * sizeof *r->size});
    return (h ^ r->tag) * UINT64_C(0x9E3779B97F4A7C15) >> 7;
}

static bool row_same(const MergeRow *a, const MergeRow *b)
{
    return a->n == b->n && a->tag == b->tag && memcmp(a->size, b->size, (size_t)a->n * sizeof *a->size) == 0;
}

void row_table_fini(RowTable *t)
{
    free(t->slot);
    *t = (RowTable){0};
}

static size_t row_slot(const RowTable *t, const MergeRows *rows, const MergeRow *key)
{
    size_t at = row_hash(key) & (t->n_slots - 1);
    while (t->slot[at] && !row_same(&rows->v[t->slot[at] - 1], key)) at = (at + 1) & (t->n_slots - 1);
    return at;
}

size_t row_table_find(const RowTable *t, const MergeRows *rows, const MergeRow *key)
{
    if (!t->n_slots) return SIZE_MAX;
    uint32_t found = t->slot[row_slot(t, rows, key)];
    return found ? found - 1 : SIZE_MAX;
}

static bool row_table_grow(RowTable *t, const MergeRows *rows)
{
    RowTable more = {.n_slots = t->n_slots ? 2 * t->n_slots : 256, .n = t->n};
    more.slot = calloc(more.n_slots, sizeof *more.slot);
    if (!more.slot) return false;
    for (size_t i = 0; i < t->n_slots; i++)
        if (t->slot[i]) more.slot[row_slot(&more, rows, &rows->v[t->slot[i] - 1])] = t->slot[i];
    free(t->slot);
    *t = more;
    return true;
}

Err row_table_put(RowTable *t, const MergeRows *rows, size_t at)
{
    if (2 * (t->n + 1) > t->n_slots && !row_table_grow(t, rows))
        FAIL(ERR_FAILED, "out of memory for %zu sizes", rows->n);
    size_t slot = row_slot(t, rows, &rows->v[at]);
    t->n += t->slot[slot] == 0;
    t->slot[slot] = (uint32_t)at + 1;
    return ERR_OK;
}

/* ---- solutions ---- */

static bool same_type(const Node *a, const Node *b) { return a == b || (a && b && node_equal(a, b)); }

static size_t solution_slot(const SolutionPool *p, const LogicSolution *s)
{
    size_t at = logic_solution_hash(s) & (p->n_slots - 1);
    for (; p->slot[at]; at = (at + 1) & (p->n_slots - 1)) {
        const LogicSolution *other = p->list.v[p->slot[at] - 1];
        if (other == s) break;
        if (logic_solution_equal(other, s) &&
            (!p->with_type || same_type(other->problem_type, s->problem_type)))
            break;
    }
    return at;
}

void solution_pool_fini(SolutionPool *p)
{
    free(p->slot);
    VEC_FINI(&p->list);
    p->slot = NULL;
    p->n_slots = 0;
}

/* Solutions are inserted in order, so that the first of equal ones is found. */
static bool solution_pool_grow(SolutionPool *p)
{
    size_t n_slots = p->n_slots ? 2 * p->n_slots : 256;
    uint32_t *slot = calloc(n_slots, sizeof *slot);
    if (!slot) return false;
    free(p->slot);
    p->slot = slot;
    p->n_slots = n_slots;
    for (size_t i = 0; i < p->list.n; i++) {
        size_t at = solution_slot(p, p->list.v[i]);
        if (!p->slot[at]) p->slot[at] = (uint32_t)i + 1;
    }
    return true;
}

static Err solution_pool_room(SolutionPool *p)
{
    if (2 * (p->list.n + 1) > p->n_slots && !solution_pool_grow(p))
        FAIL(ERR_FAILED, "out of memory for %zu solutions", p->list.n);
    return ERR_OK;
}

static Err solution_pool_put(SolutionPool *p, size_t slot, const LogicSolution *s)
{
    if (!VEC_PUSH(&p->list, s)) FAIL(ERR_FAILED, "out of memory for %zu solutions", p->list.n);
    if (!p->slot[slot]) p->slot[slot] = (uint32_t)p->list.n;
    return ERR_OK;
}

Err solution_pool_add(SolutionPool *p, const LogicSolution *s, size_t *at)
{
    TRY(solution_pool_room(p));
    size_t slot = solution_slot(p, s);
    if (!p->slot[slot]) TRY(solution_pool_put(p, slot, s));
    *at = p->slot[slot] - 1;
    return ERR_OK;
}

Err solution_pool_append(SolutionPool *p, const LogicSolution *s)
{
    TRY(solution_pool_room(p));
    return solution_pool_put(p, solution_slot(p, s), s);
}
