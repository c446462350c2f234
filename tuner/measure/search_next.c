/* Chooses the next batch of a search. See search.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/search_work.h"

/* TOP: candidates of the pool that are remembered for each size; FAMILIES: families whose best is; SCORES:
 * predictions of one scan of the pool, at most (a second or two); NEAR: neighbouring sizes. */
enum { TOP = 48, FAMILIES = 24, SCORES = 4 << 20, NEAR = 3 };
/* Shares of the first batch of a size: the rest has the least predicted times. */
static const double SHARE_FAMILIES = 0.2, SHARE_RANDOM = 0.1;
/* Expected gains, as shares of the best time, below which a candidate is not worth measuring: of the pool,
 * and of the best one's neighbours, of which nearly all are measured. */
static const double WORTH_POOL = 1e-3, WORTH_STEP = 2e-4;

/* A candidate that may be measured on a size. */
typedef struct {
    int64_t permutation;
    double gain, time; /* expected gain over the best; expected logarithm of its time */
    uint64_t family;
} Offer;

typedef struct {
    Offer v[TOP];
    size_t n;
} Offers;

typedef struct SearchWork {
    Offers *top;    /* of each size */
    Offers *family; /* of each size: the best one of each family */
    Offers step;    /* of the current size: neighbours of its best */
    int64_t *near;  /* permutations */
    size_t n_near_max;
    unsigned char *chosen; /* of the pairs of this batch: bit of each size, by candidate */
    size_t n_chosen;
} SearchWork;

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
        offer_insert(list, FAMILIES, x);
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

/* Kernels of one family are built alike: instruction, schedule, split of K, size of the tile. */
static uint64_t family_of(const Solution *s)
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
    const uint64_t family = family_of(solution);
    for (size_t z = 0; z < s->o.n_sizes; z++) {
        const double seconds = s->o.model.seconds(s->o.model.ctx, z);
        if (!(seconds > 0) || is_measured(s, hash, (uint32_t)z)) continue;
        Offer x = offer_of(s, permutation, choice, z, log(seconds));
        x.family = family;
        offer_insert(&w->top[z], TOP, &x);
        if (s->n_batches == 0) family_insert(&w->family[z], &x);
    }
}

/* Scores the pool, or as many of it, drawn at random, as SCORES predictions allow. */
static Err scan(Search *s, uint32_t *choice)
{
    const Pool *p = s->o.pool;
    Solution solution;
    size_t n = p->n, most = SCORES / (s->o.n_sizes ? s->o.n_sizes : 1) + 1;
    for (size_t z = 0; z < s->o.n_sizes; z++) s->work->top[z].n = s->work->family[z].n = 0;
    if (n > most) n = most;
    for (size_t i = 0; i < n; i++) {
        const size_t at = n == p->n ? i : (size_t)pool_shuffle((int64_t)i, (int64_t)p->n, s->n_batches + 2);
        scan_one(s, p->item[at], &solution, choice);
        if (s->o.check && (i & 0xff) == 0) TRY(s->o.check());
    }
    return 0;
}

/* The one-step neighbours of the size's best that were not measured, the most promising first. */
static void neighbours_offer(Search *s, uint32_t z, uint32_t *choice)
{
    SearchWork *w = s->work;
    w->step.n = 0;
    if (s->best[z] == UINT32_MAX) return;
    const size_t n = pool_neighbours(s->o.pool, s->known.v[s->best[z]].permutation, w->near, w->n_near_max);
    for (size_t i = 0; i < n; i++) {
        Solution solution;
        Hash128 hash;
        if (!pool_get(s->o.pool, w->near[i], &solution, &hash) || is_measured(s, hash, z)) continue;
        if (!s->o.model.kernel(s->o.model.ctx, &solution)) continue;
        const double seconds = s->o.model.seconds(s->o.model.ctx, z);
        if (!(seconds > 0)) continue;
        pool_choices(s->o.pool, w->near[i], choice);
        Offer x = offer_of(s, w->near[i], choice, z, log(seconds));
        if (x.gain < WORTH_STEP)
            s->n_hopeless++;
        else
            offer_insert(&w->step, TOP, &x);
    }
}

/* ---- the batch ---- */

/* Adds a pair unless the batch has it or it is measured. *n counts the added ones. */
static Err take(Search *s, SearchBatch *out, uint32_t c, uint32_t z, size_t *n)
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

/* Only candidates of a batch become known, so that a search that is repeated numbers them alike. */
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
    return take(s, out, c, z, n);
}

/* Takes offers until *n reaches max. worth: least gain. */
static Err take_offers(Search *s, SearchBatch *out, const Offers *list, uint32_t z, double worth, size_t max,
                       size_t *n)
{
    for (size_t i = 0; i < list->n && *n < max; i++)
        if (list->v[i].gain >= worth) TRY(take_permutation(s, out, list->v[i].permutation, z, n));
    return 0;
}

/* Families whose best one is not among the first of the list. */
static Err take_families(Search *s, SearchBatch *out, uint32_t z, size_t max, size_t *n)
{
    const Offers *top = &s->work->top[z], *family = &s->work->family[z];
    size_t had = *n;
    for (size_t i = 0; i < family->n && *n < max; i++) {
        bool there = false;
        for (size_t k = 0; k < had && k < top->n; k++) there |= top->v[k].family == family->v[i].family;
        if (!there) TRY(take_permutation(s, out, family->v[i].permutation, z, n));
    }
    return 0;
}

static Err take_random(Search *s, SearchBatch *out, uint32_t z, size_t max, size_t *n)
{
    const Pool *p = s->o.pool;
    for (size_t i = 0; i < 4 * max && i < p->n && *n < max; i++) {
        const size_t at = (size_t)pool_shuffle((int64_t)((i + z * 7) % p->n), (int64_t)p->n, s->o.seed + 1);
        TRY(take_permutation(s, out, p->item[at], z, n));
    }
    return 0;
}

/* The candidates of a size in the first batch. */
static Err first_of_size(Search *s, size_t quota, uint32_t z, SearchBatch *out)
{
    const size_t families = (size_t)(SHARE_FAMILIES * (double)quota + 0.5),
                 random = (size_t)(SHARE_RANDOM * (double)quota + 0.5);
    size_t n = 0;
    TRY(take_offers(s, out, &s->work->top[z], z, 0, quota - families - random, &n));
    TRY(take_families(s, out, z, n + families, &n));
    TRY(take_offers(s, out, &s->work->top[z], z, 0, quota - random, &n));
    return take_random(s, out, z, quota, &n);
}

static double distance(const Search *s, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (int i = 0; i < SEARCH_EXTENTS; i++)
        sum += fabs(s->place[a * SEARCH_EXTENTS + (size_t)i] - s->place[b * SEARCH_EXTENTS + (size_t)i]);
    return sum;
}

/* The best ones of the nearest sizes. */
static Err take_winners(Search *s, SearchBatch *out, uint32_t z, size_t max, size_t *n)
{
    uint32_t near[NEAR];
    size_t n_near = 0;
    for (uint32_t y = 0; y < s->o.n_sizes; y++) {
        if (y == z || s->best[y] == UINT32_MAX) continue;
        size_t i = n_near < NEAR ? n_near++ : NEAR;
        if (i == NEAR && distance(s, y, z) >= distance(s, near[--i], z)) continue;
        for (; i > 0 && distance(s, y, z) < distance(s, near[i - 1], z); i--) near[i] = near[i - 1];
        near[i] = y;
    }
    for (size_t i = 0; i < n_near && *n < max; i++) TRY(take(s, out, s->best[near[i]], z, n));
    return 0;
}

static Err later_of_size(Search *s, size_t quota, uint32_t z, uint32_t *choice, SearchBatch *out)
{
    const size_t before = out->n;
    size_t n = 0;
    neighbours_offer(s, z, choice);
    const Offers *top = &s->work->top[z], *step = &s->work->step;
    s->hope[z] = fmax(top->n ? top->v[0].gain : 0, step->n ? step->v[0].gain : 0);
    TRY(take_winners(s, out, z, (quota + 3) / 4, &n));
    TRY(take_offers(s, out, step, z, WORTH_STEP, (3 * quota + 3) / 4, &n));
    TRY(take_offers(s, out, top, z, WORTH_POOL, quota, &n));
    TRY(take_offers(s, out, step, z, WORTH_STEP, quota, &n));
    if (out->n == before || s->best[z] == UINT32_MAX) return 0;
    SearchPair again = {s->best[z], z, true};
    if (!VEC_PUSH(out, again)) FAIL(ERR_FAILED, "out of memory for %zu pairs", out->n);
    return 0;
}

static Err next_by_model(Search *s, size_t quota, SearchBatch *out)
{
    uint32_t *choice = calloc(s->n_dims + 1, sizeof *choice);
    TRY_ALLOC(choice);
    search_learn(s);
    Err e = scan(s, choice);
    s->n_hopeless = 0;
    for (uint32_t z = 0; !e && z < s->o.n_sizes; z++)
        e = s->n_batches == 0 ? first_of_size(s, quota, z, out) : later_of_size(s, quota, z, choice, out);
    free(choice);
    return e;
}

/* The i-th candidate of a search in order. */
static int64_t in_order(const Search *s, size_t i)
{
    const Pool *p = s->o.pool;
    return p
        ->item[s->o.method == SEARCH_RANDOM ? (size_t)pool_shuffle((int64_t)i, (int64_t)p->n, s->o.seed) : i];
}

/* The next candidates in order, all on all sizes that they take. */
static Err next_in_order(Search *s, size_t quota, SearchBatch *out)
{
    for (size_t k = 0; k < quota && s->next < s->o.pool->n; s->next++) {
        size_t n = 0;
        for (uint32_t z = 0; z < s->o.n_sizes; z++)
            TRY(take_permutation(s, out, in_order(s, s->next), z, &n));
        k += n > 0;
    }
    return 0;
}

Err search_next(Search *s, size_t quota, SearchBatch *out)
{
    SearchWork *w = s->work;
    out->n = 0;
    if (w->chosen) memset(w->chosen, 0, w->n_chosen);
    if (quota < 1) quota = 1;
    TRY(s->o.method == SEARCH_MODEL ? next_by_model(s, quota, out) : next_in_order(s, quota, out));
    s->n_batches++;
    return 0;
}

void search_replay(Search *s, const SearchBatch *batch)
{
    s->n_batches++;
    if (s->o.method == SEARCH_MODEL || !batch->n) return;
    const int64_t last = s->known.v[batch->v[batch->n - 1].candidate].permutation;
    while (s->next < s->o.pool->n && in_order(s, s->next++) != last) continue;
}
