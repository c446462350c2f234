/* Searches in the store. See store_search.h. */
#include "measure/store_search.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "measure/db.h"

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS search(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, grp TEXT NOT NULL,"
    " method TEXT NOT NULL, permutations INTEGER NOT NULL, candidates INTEGER NOT NULL, sizes INTEGER NOT "
    "NULL, sampled INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS search_round(search INTEGER NOT NULL REFERENCES search, i INTEGER NOT NULL,"
    " pairs TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY(search, i)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS search_spent(search INTEGER NOT NULL REFERENCES search, session INTEGER NOT "
    "NULL REFERENCES session, seconds REAL NOT NULL, PRIMARY KEY(search, session)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS search_end(search INTEGER NOT NULL REFERENCES search, session INTEGER NOT "
    "NULL REFERENCES session, reason TEXT NOT NULL, rounds INTEGER NOT NULL, candidates INTEGER NOT NULL,"
    " pairs INTEGER NOT NULL, finalists INTEGER NOT NULL, hope REAL, seconds REAL NOT NULL,"
    " PRIMARY KEY(search, session)) WITHOUT ROWID",
};

Err store_search_tables(Store *s) { return db_exec_all(s->db, tables, sizeof tables / sizeof *tables); }

Err store_search(Store *s, SearchRecord *r)
{
    TRY(db_exec(s->db,
                "INSERT INTO search(key, grp, method, permutations, candidates, sizes, sampled)"
                " VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                "sssiiii", r->key, r->group, r->method, r->n_permutations, r->n_candidates, r->n_sizes,
                (int64_t)r->sampled));
    return db_int(s->db, &r->id, NULL, "SELECT id FROM search WHERE key=?", "s", r->key);
}

Err store_search_round_add(Store *s, int64_t search, int64_t round, const SearchRound *r)
{
    return db_exec(s->db, "INSERT INTO search_round VALUES(?, ?, ?, ?)", "iisr", search, round, r->pairs,
                   r->seconds);
}

typedef struct {
    Store *s;
    Arena *a;
    VEC(SearchRound) list;
} Rounds;

static Err round_row(void *ctx, const DbRow *row)
{
    Rounds *r = ctx;
    SearchRound x = {.pairs = row_dup(row, 1, r->a), .seconds = row_real(row, 2)};
    TRY_ALLOC(x.pairs.s);
    if (row_int(row, 0) != (int64_t)r->list.n || r->list.n >= SEARCH_ROUNDS_MAX)
        FAIL(ERR_INPUT, "'%s' is damaged: round %" PRId64 " of a search where %zu was expected",
             db_path(r->s->db), row_int(row, 0), r->list.n);
    if (!VEC_PUSH(&r->list, x)) FAIL(ERR_FAILED, "out of memory for %zu rounds", r->list.n);
    return 0;
}

Err store_search_rounds(Store *s, Arena *a, int64_t search, SearchRound **out, size_t *n)
{
    Rounds r = {.s = s, .a = a};
    Err e = db_each(s->db, round_row, &r,
                    "SELECT i, pairs, seconds FROM search_round WHERE search=? ORDER BY i", "i", search);
    *n = r.list.n;
    *out = e ? NULL : ARENA_ARRAY(a, r.list.n, SearchRound);
    if (!e && !*out) e = err_set(ERR_FAILED, "out of memory for %zu rounds", r.list.n);
    for (size_t i = 0; !e && i < r.list.n; i++) (*out)[i] = r.list.v[i];
    VEC_FINI(&r.list);
    return e;
}

Err store_search_spent_set(Store *s, int64_t search, int64_t session, double seconds)
{
    return db_exec(s->db, "INSERT OR REPLACE INTO search_spent VALUES(?, ?, ?)", "iir", search, session,
                   seconds);
}

static Err real_row(void *ctx, const DbRow *row)
{
    double x = row_real(row, 0);
    *(double *)ctx = isnan(x) ? 0 : x;
    return 0;
}

Err store_search_spent_before(Store *s, int64_t search, int64_t session, double *seconds)
{
    *seconds = 0;
    return db_each(s->db, real_row, seconds,
                   "SELECT sum(seconds) FROM search_spent WHERE search=? AND session<>?", "ii", search,
                   session);
}

Err store_search_end_add(Store *s, int64_t search, int64_t session, const SearchEnd *e)
{
    return db_exec(s->db, "INSERT OR REPLACE INTO search_end VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", "iisiiiirr",
                   search, session, e->reason, e->n_rounds, e->n_candidates, e->n_pairs, e->n_finalists,
                   e->hope, e->seconds);
}

typedef struct {
    Arena *a;
    VEC(SearchView) list;
} Views;

static Err view_row(void *ctx, const DbRow *row)
{
    Views *v = ctx;
    SearchView x = {.search = {.id = row_int(row, 0),
                               .group = row_dup(row, 1, v->a),
                               .method = row_dup(row, 2, v->a),
                               .n_permutations = row_int(row, 3),
                               .n_candidates = row_int(row, 4),
                               .n_sizes = row_int(row, 5),
                               .sampled = row_int(row, 6) != 0},
                    .n_rounds = row_int(row, 7),
                    .ended = row_int(row, 8) != 0,
                    .end = {.reason = row_dup(row, 9, v->a),
                            .n_rounds = row_int(row, 10),
                            .n_candidates = row_int(row, 11),
                            .n_pairs = row_int(row, 12),
                            .n_finalists = row_int(row, 13),
                            .hope = row_real(row, 14),
                            .seconds = row_real(row, 15)}};
    if (!VEC_PUSH(&v->list, x)) FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

Err query_searches(Store *s, Arena *a, SearchView **out, size_t *n)
{
    bool has;
    Views v = {.a = a};
    *out = NULL;
    *n = 0;
    TRY(db_has_table(s->db, "search_end", &has));
    if (!has) return 0;
    Err e = db_each(s->db, view_row, &v,
                    "SELECT q.id, q.grp, q.method, q.permutations, q.candidates, q.sizes, q.sampled,"
                    " (SELECT count(*) FROM search_round WHERE search=q.id), e.search IS NOT NULL, e.reason,"
                    " e.rounds, e.candidates, e.pairs, e.finalists, e.hope, e.seconds"
                    " FROM search_spent t JOIN search q ON q.id=t.search"
                    " LEFT JOIN search_end e ON e.search=t.search AND e.session=t.session"
                    " WHERE t.session=(SELECT max(id) FROM session) ORDER BY q.id",
                    "");
    *n = v.list.n;
    *out = e ? NULL : ARENA_ARRAY(a, v.list.n, SearchView);
    if (!e && !*out) e = err_set(ERR_FAILED, "out of memory reading the store");
    for (size_t i = 0; !e && i < v.list.n; i++) (*out)[i] = v.list.v[i];
    VEC_FINI(&v.list);
    return e;
}

Err store_plan_left_add(Store *s, int64_t plan, int64_t pairs)
{
    TRY(db_exec(s->db,
                "CREATE TABLE IF NOT EXISTS plan_left(plan INTEGER PRIMARY KEY REFERENCES plan, pairs"
                " INTEGER NOT NULL)",
                ""));
    return db_exec(s->db, "INSERT OR REPLACE INTO plan_left VALUES(?, ?)", "ii", plan, pairs);
}

static Err int_row(void *ctx, const DbRow *row)
{
    *(int64_t *)ctx = row_int(row, 0);
    return 0;
}

Err store_plan_left(Store *s, int64_t plan, int64_t *pairs)
{
    bool has;
    *pairs = 0;
    TRY(db_has_table(s->db, "plan_left", &has));
    return has ? db_each(s->db, int_row, pairs, "SELECT pairs FROM plan_left WHERE plan=?", "i", plan) : 0;
}
