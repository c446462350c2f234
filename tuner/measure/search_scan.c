/* Scores the pool of a search: which candidates promise most on each size. See search.h. */
#include <math.h>
#include <stdlib.h>

#include "measure/search_work.h"

/* Predictions of one scan of the pool, at most (a second or two). */
enum { SCORES = 4 << 20 };

Err search_work_new(const Search *s, SearchWork **out)
{
    SearchWork *w = *out = calloc(1, sizeof *w);
    TRY_ALLOC(w);
    w->n_near_max = pool_neighbours_max(s->o.pool) + 1;
    w->top = calloc(s->o.n_sizes + 1, sizeof *w->top);
    w->family = calloc(s->o.n_sizes + 1, sizeof *w->family);
    w->near = calloc(w->n_near_max, sizeof *w->near);
    if (!w->top || !w->family || !w->near) FAIL(ERR_FAILED, "out of memory for %zu sizes", s->o.n_sizes);
    return 0;
}

void search_work_free(SearchWork *w)
{
    if (!w) return;
    free(w->top);
    free(w->family);
    free(w->near);
    free(w->chosen);
    free(w);
}

static bool better(const Offer *a, const Offer *b)
{
    if (a->gain != b->gain) return a->gain > b->gain;
    if (a->time != b->time) return a->time < b->time;
    return a->permutation < b->permutation;
}

/* Keeps the list sorted, the best first, and drops the last when it is full. */
static void offer_insert(Offers *list, size_t max, const Offer *x)
{
    size_t i = list->n < max ? list->n++ : max;
    if (i == max && !better(x, &list->v[--i])) return;
    for (; i > 0 && better(x, &list->v[i - 1]); i--) list->v[i] = list->v[i - 1];
    list->v[i] = *x;
}

/* Keeps the best of each family. */
static void family_insert(Offers *list, const Offer *x)
{
    size_t i = 0;
    while (i < list->n && list->v[i].family != x->family) i++;
    if (i == list->n) {
        offer_insert(list, SEARCH_FAMILIES, x);
        return;
    }
    if (!better(x, &list->v[i])) return;
    for (; i > 0 && better(x, &list->v[i - 1]); i--) list->v[i] = list->v[i - 1];
    list->v[i] = *x;
}

static unsigned log2_of(int64_t x)
{
    unsigned n = 0;
    while (x > 1) x >>= 1, n++;
    return n;
}

uint64_t search_family(const Solution *s)
{
    const uint64_t part[] = {(uint64_t)s->EnableMatrixInstruction,
                             (uint64_t)s->ConsumerSchedule,
                             (uint64_t)(s->NvRing + 1),
                             (uint64_t)(s->GlobalSplitU > 1),
                             (uint64_t)(s->LocalSplitU > 1),
                             (uint64_t)(s->StreamK > 0),
                             (log2_of(s->MacroTile0) + log2_of(s->MacroTile1)) / 2};
    return hash64((Str){(const char *)part, sizeof part});
}

/* What is expected of a solution that the model has taken, on one size. */
static Offer offer_of(Search *s, int64_t permutation, const uint32_t *choice, size_t z, double log_seconds)
{
    double sd;
    Offer x = {.permutation = permutation};
    x.time = log_seconds + surrogate_predict(&s->surrogate, choice, z, &sd);
    x.gain = 0;
    if (s->best[z] != UINT32_MAX)
        x.gain = expected_gain(x.time - log(1e-9 * search_value(s, s->best[z], (uint32_t)z)), sd);
    return x;
}

static bool is_measured(const Search *s, Hash128 hash, uint32_t z)
{
    const int64_t *c = map_get(&s->by_hash, (Str){(const char *)&hash, sizeof hash});
    return c && search_value(s, (uint32_t)*c, z) != 0;
}

/* Offers one candidate of the pool to all sizes. */
static void scan_one(Search *s, int64_t permutation, Solution *solution, uint32_t *choice)
{
    Hash128 hash;
    SearchWork *w = s->work;
    if (!pool_get(s->o.pool, permutation, solution, &hash)) return;
    if (!s->o.model.kernel(s->o.model.ctx, solution)) return;
    pool_choices(s->o.pool, permutation, choice);
    const uint64_t family = search_family(solution);
    for (size_t z = 0; z < s->o.n_sizes; z++) {
        const double seconds = s->o.model.seconds(s->o.model.ctx, z);
        if (!(seconds > 0) || is_measured(s, hash, (uint32_t)z)) continue;
        Offer x = offer_of(s, permutation, choice, z, log(seconds));
        x.family = family;
        offer_insert(&w->top[z], SEARCH_TOP, &x);
        family_insert(&w->family[z], &x);
    }
}

Err search_scan(Search *s)
{
    const Pool *p = s->o.pool;
    Solution solution;
    uint32_t *choice = calloc(s->n_dims + 1, sizeof *choice);
    TRY_ALLOC(choice);
    Err e = 0;
    size_t n = p->n, most = SCORES / (s->o.n_sizes ? s->o.n_sizes : 1) + 1;
    for (size_t z = 0; z < s->o.n_sizes; z++) s->work->top[z].n = s->work->family[z].n = 0;
    if (n > most) n = most;
    for (size_t i = 0; !e && i < n; i++) {
        const size_t at = n == p->n ? i : (size_t)pool_shuffle((int64_t)i, (int64_t)p->n, s->n_batches + 2);
        scan_one(s, p->item[at], &solution, choice);
        if (s->o.check && (i & 0xff) == 0) e = s->o.check(s->o.check_ctx);
    }
    free(choice);
    return e;
}
