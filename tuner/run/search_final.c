/* The finalists of a search: the candidates that are measured once more, side by side and on all sizes, so
 * that a size's winner is not the luckiest of many. See search_group.h. */
#include <math.h>
#include <stdlib.h>

#include "base/ranked.h"
#include "measure/cover.h"
#include "measure/rounds.h"
#include "run/held_out.h"
#include "run/search_group.h"

/* Finalists are all winners, or, where there are more than FINALISTS, a subset that keeps every size within
 * COVER of its best (COVER_LATE where time is short). Up to FINALISTS in all, candidates within CLOSE of a
 * size's best are added, OF_SIZE for each size, as in the last stage of a race. */
static const double CLOSE = 0.03, COVER = 0.005, COVER_LATE = 0.02;
enum { FINALISTS = 48, OF_SIZE = 3 };

static bool lacks_results(const SearchGroup *x)
{
    for (size_t z = 0; z < x->n_own; z++)
        if (x->search.best[z] == UINT32_MAX) return true;
    return false;
}

/* Marks the winners. */
static size_t winners_mark(const SearchGroup *x, bool *kept)
{
    const Search *s = &x->search;
    size_t n = 0;
    for (size_t z = 0; z < x->n_own; z++) {
        if (s->best[z] == UINT32_MAX || kept[s->best[z]]) continue;
        kept[s->best[z]] = true;
        n++;
    }
    return n;
}

/* Marks the fewest candidates that cover all sizes. A size without any result is covered by predictions. */
static Err cover_mark(SearchGroup *x, Arena *a, double loss, bool *kept, size_t *n_kept)
{
    Search *s = &x->search;
    const size_t n = s->known.n;
    double *ns = ARENA_ARRAY(a, n * x->n_own, double);
    Cover cover;
    TRY_ALLOC(ns);
    TRY(search_learn(s));
    for (uint32_t z = 0; z < x->n_own; z++)
        for (uint32_t c = 0; c < n; c++) {
            const bool use = search_value(s, c, z) > 0 || s->best[z] == UINT32_MAX;
            ns[z * n + c] = use && !s->known.v[c].failed ? search_expected(s, c, z) : (double)INFINITY;
        }
    TRY(cover_make(a, &(CoverTimes){x->n_own, n, ns}, loss, &cover));
    for (size_t c = 0; c < n; c++) kept[c] = cover.kept[c];
    *n_kept = cover.n_kept;
    return 0;
}

/* The fastest candidate of a size that is close to its best and not yet marked; UINT32_MAX: none. */
static uint32_t next_close(const Search *s, uint32_t z, const bool *kept)
{
    uint32_t next = UINT32_MAX;
    if (s->best[z] == UINT32_MAX) return next;
    const double limit = search_value(s, s->best[z], z) * (1 + CLOSE);
    for (uint32_t c = 0; c < s->known.n; c++) {
        const double v = search_value(s, c, z);
        if (kept[c] || s->known.v[c].failed || !(v > 0) || v > limit) continue;
        if (next == UINT32_MAX || v < search_value(s, next, z)) next = c;
    }
    return next;
}

/* Adds the best candidates by prediction of sizes that have no result, because the time was over, as
 * finalists. */
static Err predicted_add(SearchGroup *x)
{
    Search *s = &x->search;
    const SearchMethod method = s->o.method;
    s->o.method = SEARCH_MODEL;
    Err e = search_next(s, &(SearchQuota){SIZE_MAX, OF_SIZE, 1, 1, 0, 1, false}, NULL, &x->now.batch);
    s->o.method = method;
    return e;
}

static Err finalists_mark(SearchGroup *x, Arena *a, size_t most, bool *kept)
{
    const Search *s = &x->search;
    size_t n = winners_mark(x, kept);
    if (most > FINALISTS) most = FINALISTS;
    if (n > most || lacks_results(x)) TRY(cover_mark(x, a, COVER, kept, &n));
    if (n > most) TRY(cover_mark(x, a, COVER_LATE, kept, &n));
    for (int place = 1; place < OF_SIZE; place++)
        for (uint32_t z = 0; z < x->n_own && n < most; z++) {
            const uint32_t next = next_close(s, z, kept);
            if (next == UINT32_MAX) continue;
            kept[next] = true;
            n++;
        }
    return 0;
}

Err search_group_finalists(SearchGroup *x, size_t most)
{
    Arena a;
    size_t n = 0;
    arena_init(&a, 0);
    Err e = lacks_results(x) && !x->r->stopped ? predicted_add(x) : 0;
    const size_t n_known = x->search.known.n;
    bool *kept = ARENA_ARRAY(&a, n_known, bool);
    uint32_t *list = ARENA_ARRAY(&x->r->arena, n_known, uint32_t);
    if (!e && (!kept || !list)) e = err_set(ERR_FAILED, "out of memory for %zu candidates", n_known);
    if (!e) e = finalists_mark(x, &a, most, kept);
    for (uint32_t c = 0; !e && c < n_known; c++) {
        if (!kept[c]) continue;
        e = search_group_make(x, c);
        if (!e && !x->search.known.v[c].failed) list[n++] = c;
    }
    arena_fini(&a);
    TRY(e);
    x->g->round = 0;
    x->g->wanted = NULL;
    return search_group_variants(x, x->g, list, n);
}

/* ---- the final races ---- */

/* Marks the n of a size's finalists that are expected to be the fastest, and the best that was measured. */
static void raced_mark(SearchGroup *x, uint32_t z, const uint32_t *candidate, size_t n, Ranked *list)
{
    Group *g = x->g;
    bool *raced = &g->searched.raced[z * g->searched.n_variants];
    size_t n_list = 0;
    for (size_t i = 0; i < g->n_variants; i++) {
        const uint32_t c = candidate[i];
        if (c == UINT32_MAX || g->variant[i].for_range) continue;
        raced[i] = c == x->search.best[z];
        list[n_list++] = (Ranked){search_expected(&x->search, c, z), i};
    }
    qsort(list, n_list, sizeof *list, ranked_rising);
    for (size_t i = 0; i < n && i < n_list; i++) raced[list[i].index] = true;
}

Err search_group_races(SearchGroup *x, size_t most)
{
    Group *g = x->g;
    Arena a;
    arena_init(&a, 0);
    uint32_t *candidate = ARENA_ARRAY(&a, g->n_variants + 1, uint32_t);
    Ranked *list = ARENA_ARRAY(&a, g->n_variants + 1, Ranked);
    bool *raced = ARENA_ARRAY(&x->r->arena, x->n_own * g->n_variants + 1, bool);
    Err e = candidate && list && raced ? search_learn(&x->search)
                                       : err_set(ERR_FAILED, "out of memory for %zu sizes", x->n_own);
    for (size_t i = 0; !e && i < g->n_variants; i++) candidate[i] = search_group_candidate(x, &g->variant[i]);
    if (!e) g->searched.raced = raced;
    for (uint32_t z = 0; !e && z < x->n_own; z++) raced_mark(x, z, candidate, most, list);
    arena_fini(&a);
    TRY(e);
    uint32_t *order = ARENA_ARRAY(&x->r->arena, g->n_sizes + 1, uint32_t);
    TRY_ALLOC(order);
    held_out_deal(g->order, g->n_sizes - g->n_held_out, g->n_held_out, order);
    g->order = order;
    return ERR_OK;
}

/* ---- results of the rounds ---- */

Err search_final_measured(Run *r, const Group *g, size_t z, int64_t setting, bool *any)
{
    *any = false;
    for (size_t i = 0; !*any && i < g->n_variants; i++) {
        const MeasureKey key = {g->variant[i].kernel, g->problem_id[z], setting, 0};
        TRY(store_measured(&r->store, &key, any));
    }
    return 0;
}

/* The state of copying a group's results to another setting. */
typedef struct {
    Run *r;
    const Group *g;
    int64_t from, to; /* settings: of the final measurements; of all results together */
    Arena a;
} Keep;

/* Copies a pair's result from a setting, unless there is none, or *found one. */
static Err result_copy(Keep *x, MeasureKey key, int64_t setting, bool *found)
{
    Measurement m;
    if (*found) return 0;
    key.setting = setting;
    TRY(store_measure_get(&x->r->store, &x->a, &key, &m, found));
    if (!*found) return 0;
    m.key.setting = x->to;
    return store_measure_add(&x->r->store, &m);
}

/* The final result of a pair, or that of the last round that has one. */
static Err result_keep(Keep *x, MeasureKey key, bool in_rounds)
{
    const Group *g = x->g;
    bool found;
    key.setting = x->to;
    arena_reset(&x->a);
    TRY(store_measured(&x->r->store, &key, &found));
    TRY(result_copy(x, key, x->from, &found));
    for (size_t i = g->searched.n_settings; in_rounds && key.run == 0 && i-- > 0;)
        TRY(result_copy(x, key, g->searched.setting[i], &found));
    return 0;
}

/* Of kernels that were in no final race of a size, those of the rounds count only where the size had none:
 * the times of a round are less certain. */
static Err size_keep(Keep *x, size_t z)
{
    const Group *g = x->g;
    const int64_t n_runs = x->r->config->globals.NumBenchmarks;
    MeasureKey peer = {.problem = g->problem_id[z]};
    bool has_peer, has_final;
    Str name;
    TRY(search_final_measured(x->r, g, z, x->from, &has_final));
    for (size_t i = 0; i < g->n_variants; i++)
        for (int64_t run = 0; run < n_runs; run++)
            TRY(result_keep(x, (MeasureKey){g->variant[i].kernel, g->problem_id[z], 0, run},
                            has_final ? group_races(g, z, i) : !g->variant[i].for_range));
    arena_reset(&x->a);
    TRY(store_peer_find(&x->r->store, &x->a, peer.problem, x->from, &peer.kernel, &name, &has_peer));
    for (; has_peer && peer.run < n_runs; peer.run++) TRY(result_keep(x, peer, false));
    return 0;
}

Err search_results_keep(Run *r, Group *g)
{
    Keep x = {.r = r, .g = g, .from = g->setting};
    g->round = ROUND_ALL;
    TRY(group_identify(r, g));
    x.to = g->setting;
    arena_init(&x.a, 0);
    Err e = store_begin(&r->store);
    for (size_t z = 0; !e && z < g->n_sizes; z++) e = size_keep(&x, z);
    if (!e) e = store_commit(&r->store);
    arena_fini(&x.a);
    return e;
}
