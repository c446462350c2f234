/* Chooses the next batch of a search. See search.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ranked.h"
#include "measure/search_cost.h"
#include "measure/search_work.h"

Err search_take(Search *s, SearchBatch *out, uint32_t c, uint32_t z, size_t *n)
{
    SearchWork *w = s->work;
    const size_t at = (size_t)c * s->o.n_sizes + z;
    if (s->known.v[c].failed || search_value(s, c, z) != 0 || isnan(s->predicted.v[at])) return 0;
    if (at / 8 >= w->n_chosen) {
        const size_t more = at / 4 + 64;
        unsigned char *grown = realloc(w->chosen, more);
        if (!grown) FAIL(ERR_FAILED, "out of memory for %zu pairs", out->n);
        memset(grown + w->n_chosen, 0, more - w->n_chosen);
        w->chosen = grown;
        w->n_chosen = more;
    }
    if (w->chosen[at / 8] >> (at % 8) & 1) return 0;
    w->chosen[at / 8] |= (unsigned char)(1u << (at % 8));
    SearchPair pair = {c, z, false};
    if (!VEC_PUSH(out, pair)) FAIL(ERR_FAILED, "out of memory for %zu pairs", out->n);
    ++*n;
    return 0;
}

/* Only candidates of a batch become known, so that a repeated search gives them the same numbers. */
static Err take_permutation(Search *s, SearchBatch *out, int64_t permutation, uint32_t z, size_t *n)
{
    Solution solution;
    Hash128 hash;
    const SearchModel *m = &s->o.model;
    if (!pool_get(s->o.pool, permutation, &solution, &hash)) return 0;
    const int64_t *known = map_get(&s->by_hash, (Str){(const char *)&hash, sizeof hash});
    if (!known && !(m->kernel(m->ctx, &solution) && m->seconds(m->ctx, z) > 0)) return 0;
    uint32_t c;
    TRY(search_known_add(s, permutation, &solution, hash, &c));
    return search_take(s, out, c, z, n);
}

/* The i-th candidate of a search in order. */
static int64_t in_order(const Search *s, size_t i)
{
    const Pool *p = s->o.pool;
    return p
        ->item[s->o.method == SEARCH_RANDOM ? (size_t)pool_shuffle((int64_t)i, (int64_t)p->n, s->o.seed) : i];
}

/* The next candidates in order, all on all sizes that they take. */
static Err next_in_order(Search *s, const SearchQuota *q, SearchBatch *out)
{
    const size_t most = q->per_size < q->kernels ? q->per_size : q->kernels;
    for (size_t k = 0; k < most && s->next < s->o.pool->n; s->next++) {
        size_t n = 0;
        for (uint32_t z = 0; z < s->o.n_sizes; z++)
            TRY(take_permutation(s, out, in_order(s, s->next), z, &n));
        k += n > 0;
    }
    return 0;
}

static Err next_by_model(Search *s, const SearchQuota *q, const SearchBatch *flight, SearchBatch *out)
{
    TRY(search_learn(s));
    TRY(search_scan(s));
    return search_batch(s, q, flight, out);
}

void search_wait(Search *s, const SearchBatch *batch)
{
    for (size_t z = 0; z < s->o.n_sizes; z++) s->waited[z]++;
    for (size_t i = 0; i < batch->n; i++) s->waited[batch->v[i].size] = 0;
}

Err search_next(Search *s, const SearchQuota *q, const SearchBatch *flight, SearchBatch *out)
{
    SearchWork *w = s->work;
    SearchQuota quota = *q;
    out->n = 0;
    if (w->chosen) memset(w->chosen, 0, w->n_chosen);
    if (quota.kernels < 1) quota.kernels = 1;
    if (quota.per_size < 1) quota.per_size = 1;
    TRY(s->o.method == SEARCH_MODEL ? next_by_model(s, &quota, flight, out) : next_in_order(s, &quota, out));
    s->o.n_first = 0;
    s->n_batches += out->n > 0; /* a batch that is not recorded does not count */
    if (out->n) search_wait(s, out);
    return 0;
}

Err search_order(const Search *s, const SearchBatch *batch, uint32_t *order)
{
    const size_t n = s->o.n_sizes;
    Ranked *p = malloc((n + 1) * sizeof *p); /* sizes by the expected gain per second */
    TRY_ALLOC(p);
    for (uint32_t z = 0; z < n; z++) p[z] = (Ranked){search_cost_size(s, z), z};
    for (size_t i = 0; i < batch->n; i++) p[batch->v[i].size].value += search_cost_pair(s, batch->v[i].size);
    for (size_t z = 0; z < n; z++) p[z].value = s->promise[z] / p[z].value;
    qsort(p, n, sizeof *p, ranked_falling);
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)p[i].index;
    free(p);
    return ERR_OK;
}

void search_replay(Search *s, const SearchBatch *batch)
{
    s->n_batches++;
    s->o.n_first = 0;
    search_wait(s, batch);
    if (s->o.method == SEARCH_MODEL || !batch->n) return;
    const int64_t last = s->known.v[batch->v[batch->n - 1].candidate].permutation;
    while (s->next < s->o.pool->n && in_order(s, s->next++) != last) continue;
}
