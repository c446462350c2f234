/* A batch by the model: collects candidates, computes their expected times, and lets search_gain.h choose.
 * See search.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/spread.h"
#include "measure/search_cost.h"
#include "measure/search_gain.h"
#include "measure/search_work.h"
#include "problem/model.h"
#include "problem/problem.h"

/* The most candidates that a batch considers, and the most entries of its [candidate][size] tables. */
enum { CANDIDATES = 9000, NUMBERS = 1 << 24 };
/* Expected gains, as shares of the best time, below which a candidate is not worth measuring: of the pool,
 * and of the best one's neighbours, of which nearly all are measured. */
static const double WORTH_POOL = 1e-3, WORTH_STEP = 2e-4;
/* Before a size has a result, candidates are compared with this multiple of the least expected time. */
static const double FIRST_OF_LEAST = 1.5;
/* Candidates in a batch for a size without any result, of all classes and of each; some may not compile. */
enum { LEAST_OF_SIZE = 3, LEAST_OF_CLASS = 2 };
/* Where the best kernel of a class on a size takes at most CLASS_CLOSE times the best time, its neighbours
 * are considered. */
static const double CLASS_CLOSE = 1.25;
/* Ratios of variances: of the error that a kernel has on all sizes to that of its pairs. */
static const double KERNEL_OVER_PAIR = 1.7, PAIR_PART = 0.35;

typedef struct {
    Search *s;
    const SearchBatch *in_flight; /* may be NULL */
    GainPairs flight;             /* the same, by the candidates of this batch */
    Map seen;                     /* kernels, by hash */
    Map twins;                    /* the first candidate of those that differ in their order alone */
    size_t max;
    VEC(int64_t) permutation;
    VEC(uint64_t) kernel; /* its twins */
    VEC(uint32_t) first;  /* of its twins */
    VEC(uint64_t) family;
    VEC(int32_t) class;
    VEC(double) worth;
    bool *compiled;   /* of each candidate */
    float *mean, *sd; /* [candidate][size] */
    double *best, *weight, *size_s, *pair_s;
    bool *has_none;
    uint32_t *choice;
} Batch;

/* Adds a candidate unless it is there. */
static Err offer(Batch *b, int64_t permutation, double worth)
{
    Solution solution;
    Hash128 hash;
    bool added;
    Search *s = b->s;
    if (b->permutation.n >= b->max || !pool_get(s->o.pool, permutation, &solution, &hash)) return ERR_OK;
    int64_t *at = map_put(&b->seen, (Str){(const char *)&hash, sizeof hash}, &added);
    if (!at) FAIL(ERR_FAILED, "out of memory for %zu candidates", b->seen.n);
    if (!added) {
        if (*at < (int64_t)b->worth.n && worth < b->worth.v[*at]) b->worth.v[*at] = worth;
        return ERR_OK;
    }
    *at = INT64_MAX;
    const int64_t *known = map_get(&s->by_hash, (Str){(const char *)&hash, sizeof hash});
    if (known && s->known.v[*known].failed) return ERR_OK;
    if (!s->o.model.kernel(s->o.model.ctx, &solution)) return ERR_OK;
    *at = (int64_t)b->permutation.n;
    const uint64_t twins = search_twins(&solution);
    int64_t *first = map_put(&b->twins, (Str){(const char *)&twins, sizeof twins}, &added);
    if (!first) FAIL(ERR_FAILED, "out of memory for %zu candidates", b->seen.n);
    if (added) *first = *at;
    const int class = s->o.model.class ? s->o.model.class(s->o.model.ctx) : 0;
    if (!VEC_PUSH(&b->permutation, permutation) || !VEC_PUSH(&b->class, (int32_t) class) ||
        !VEC_PUSH(&b->kernel, twins) || !VEC_PUSH(&b->first, (uint32_t)*first) ||
        !VEC_PUSH(&b->family, search_family(&solution)) || !VEC_PUSH(&b->worth, worth))
        FAIL(ERR_FAILED, "out of memory for %zu candidates", b->permutation.n);
    return ERR_OK;
}

/* The fastest measured kernel of a class on a size; UINT32_MAX: none that is close to the size's best. */
static uint32_t best_of_class(const Search *s, uint32_t z, int class)
{
    uint32_t best = UINT32_MAX;
    if (s->best[z] == UINT32_MAX) return best;
    const double limit = CLASS_CLOSE * search_value(s, s->best[z], z);
    for (uint32_t c = 0; c < s->known.n; c++) {
        const double v = search_value(s, c, z);
        if (!(v > 0) || v > limit || s->traits.v[c].class != class) continue;
        if (best == UINT32_MAX || v < search_value(s, best, z)) best = c;
    }
    return best;
}

/* Collects compiled kernels, the neighbours of each size's best kernel and of the best of other classes, and
 * what the scan found. Sizes alternate, so that each has some where there are too many. */
static Err offers_collect(Batch *b)
{
    Search *s = b->s;
    SearchWork *w = s->work;
    for (size_t i = 0; i < s->o.n_first; i++)
        TRY(offer(b, s->o.first[i].permutation, WORTH_POOL));
    for (size_t i = 0; b->in_flight && i < b->in_flight->n; i++)
        TRY(offer(b, s->known.v[b->in_flight->v[i].candidate].permutation, WORTH_STEP));
    for (size_t c = 0; c < s->known.n && b->permutation.n < b->max / 2; c++)
        if (!s->known.v[c].failed) TRY(offer(b, s->known.v[c].permutation, WORTH_STEP));
    for (uint32_t z = 0; z < s->o.n_sizes; z++)
        for (int class = 0; class < MODEL_CLASSES; class ++) {
            const uint32_t best = best_of_class(s, z, class);
            if (best == UINT32_MAX) continue;
            const size_t n = pool_neighbours(s->o.pool, s->known.v[best].permutation, w->near, w->n_near_max);
            for (size_t i = 0; i < n; i++) TRY(offer(b, w->near[i], WORTH_STEP));
            if (s->o.check) TRY(s->o.check(s->o.check_ctx));
        }
    for (size_t i = 0; i < SEARCH_TOP; i++)
        for (size_t z = 0; z < s->o.n_sizes; z++) {
            if (i < w->top[z].n) TRY(offer(b, w->top[z].v[i].permutation, WORTH_POOL));
            if (i < w->family[z].n) TRY(offer(b, w->family[z].v[i].permutation, WORTH_POOL));
        }
    return ERR_OK;
}

/* The mean of log(measured / expected) over the sizes of a compiled kernel, which was looked at, shrunk
 * towards 0, and their number. */
static double own_error(Batch *b, uint32_t c, size_t *n)
{
    Search *s = b->s;
    double sum = 0;
    *n = 0;
    for (uint32_t z = 0; z < s->o.n_sizes; z++) {
        const double v = search_value(s, c, z), predicted = s->predicted.v[c * s->o.n_sizes + z];
        if (!(v > 0) || isinf(v) || isnan(predicted)) continue;
        sum += log(v * 1e-9) - predicted - search_error(s, z);
        ++*n;
    }
    return sum / ((double)*n + 1 / KERNEL_OVER_PAIR);
}

/* Whether kernels that differ in their order alone differ on a size. */
static bool order_counts(const Search *s, const Solution *x, size_t z)
{
    const double m = (double)size_m(s->o.pt, &s->o.size[z]), n = (double)size_n(s->o.pt, &s->o.size[z]);
    return search_order_counts(x, m, n);
}

/* Fills in the expected times of a candidate on all sizes. Of kernels that differ only in the order of
 * work-groups only the first gets one on sizes where the order does not matter. */
static Err expect(Batch *b, size_t i)
{
    Search *s = b->s;
    Solution solution;
    Hash128 hash;
    Traits traits;
    size_t n_own = 0;
    double own = 0;
    float *mean = &b->mean[i * s->o.n_sizes], *sds = &b->sd[i * s->o.n_sizes];
    for (size_t z = 0; z < s->o.n_sizes; z++) mean[z] = NAN;
    if (!pool_get(s->o.pool, b->permutation.v[i], &solution, &hash) ||
        !s->o.model.kernel(s->o.model.ctx, &solution))
        return ERR_OK;
    const int64_t *known = map_get(&s->by_hash, (Str){(const char *)&hash, sizeof hash});
    pool_choices(s->o.pool, b->permutation.v[i], b->choice);
    search_traits(s, &solution, &traits);
    search_look(s, b->choice, &traits);
    if (known) own = own_error(b, (uint32_t)*known, &n_own);
    b->compiled[i] = n_own > 0;
    const double part = n_own ? PAIR_PART + (1 - PAIR_PART) / (1 + (double)n_own * KERNEL_OVER_PAIR) : 1;
    for (uint32_t z = 0; z < s->o.n_sizes; z++) {
        if (known && search_value(s, (uint32_t)*known, z) != 0) continue;
        if (b->first.v[i] != i && !order_counts(s, &solution, z)) continue;
        const double seconds = s->o.model.seconds(s->o.model.ctx, z);
        if (!(seconds > 0)) continue;
        mean[z] = (float)(log(seconds) + own + search_error(s, z));
        sds[z] = (float)(search_error_sd(s, z) * sqrt(part));
    }
    return ERR_OK;
}

/* The weight of a size on which another library is faster than the best kernel so far: 1 where it is not.
 * A library that is 1.1 times as fast doubles it. */
static double weight_behind(const Search *s, size_t z)
{
    static const double MOST_BEHIND = 4, OF_LOG = 10;
    if (s->best[z] == UINT32_MAX || s->peer[z] <= 0) return 1;
    const double behind = log(search_value(s, s->best[z], (uint32_t)z) / s->peer[z]);
    return fmin(1 + OF_LOG * fmax(behind, 0), MOST_BEHIND);
}

/* Fills in the time with which candidates are compared on each size. */
static void bests_make(Batch *b)
{
    const Search *s = b->s;
    for (size_t z = 0; z < s->o.n_sizes; z++) {
        double least = (double)INFINITY;
        for (size_t i = 0; i < b->permutation.n; i++)
            least = fmin(least, (double)b->mean[i * s->o.n_sizes + z]);
        b->best[z] = s->best[z] == UINT32_MAX ? least + log(FIRST_OF_LEAST)
                                              : log(1e-9 * search_value(s, s->best[z], (uint32_t)z));
        b->weight[z] = (s->o.weight ? s->o.weight[z] : 1) * weight_behind(s, z);
        b->has_none[z] = s->best[z] == UINT32_MAX;
        b->size_s[z] = search_cost_size(s, z);
        b->pair_s[z] = search_cost_pair(s, z);
    }
}

/* Fills in the largest expected gain that a single candidate has on each size. */
static void hopes_make(Batch *b)
{
    Search *s = b->s;
    for (size_t z = 0; z < s->o.n_sizes; z++) {
        s->hope[z] = 0;
        for (size_t i = 0; i < b->permutation.n; i++) {
            const size_t at = i * s->o.n_sizes + z;
            if (isnan(b->mean[at])) continue;
            s->hope[z] = fmax(s->hope[z], expected_gain((double)b->mean[at] - b->best[z], (double)b->sd[at]));
        }
    }
}

/* Candidates that a process takes at once. */
enum { EXPECTED_AT_ONCE = 64 };

static Err expect_part(void *ctx, size_t part)
{
    Batch *b = ctx;
    const size_t from = part * EXPECTED_AT_ONCE;
    for (size_t i = from; i < from + EXPECTED_AT_ONCE && i < b->permutation.n; i++) TRY(expect(b, i));
    return ERR_OK;
}

static size_t table_bytes(const Batch *b)
{
    return (b->permutation.n * b->s->o.n_sizes + 1) * sizeof *b->mean;
}

static Err table_make(Batch *b)
{
    const size_t n = b->permutation.n, nz = b->s->o.n_sizes;
    const Spread spread = {.n = (n + EXPECTED_AT_ONCE - 1) / EXPECTED_AT_ONCE,
                           .least = 4,
                           .part = expect_part,
                           .ctx = b,
                           .idle = b->s->o.check,
                           .idle_ctx = b->s->o.check_ctx};
    b->compiled = spread_alloc(n + 1);
    b->mean = spread_alloc(table_bytes(b));
    b->sd = spread_alloc(table_bytes(b));
    b->best = calloc(nz + 1, sizeof *b->best);
    b->weight = calloc(nz + 1, sizeof *b->weight);
    b->size_s = calloc(nz + 1, sizeof *b->size_s);
    b->pair_s = calloc(nz + 1, sizeof *b->pair_s);
    b->has_none = calloc(nz + 1, sizeof *b->has_none);
    if (!b->compiled || !b->mean || !b->sd || !b->best || !b->weight || !b->size_s || !b->pair_s ||
        !b->has_none)
        FAIL(ERR_FAILED, "out of memory for %zu candidates of a batch", n);
    TRY(spread_run(&spread));
    bests_make(b);
    hopes_make(b);
    return ERR_OK;
}

/* Only candidates of a batch become known, so that a search that is repeated numbers them alike. */
static Err pairs_take(Batch *b, const GainPairs *pairs, SearchBatch *out)
{
    Search *s = b->s;
    for (size_t i = 0; i < pairs->n; i++) {
        Solution solution;
        Hash128 hash;
        uint32_t c;
        size_t n = 0;
        const int64_t permutation = b->permutation.v[pairs->v[i].candidate];
        if (!pool_get(s->o.pool, permutation, &solution, &hash)) continue;
        TRY(search_known_add(s, permutation, &solution, hash, &c));
        TRY(search_take(s, out, c, pairs->v[i].size, &n));
    }
    return ERR_OK;
}

/* Adds the best kernel so far of each size that has new candidates, so that it is measured beside them. */
static Err bests_again(Search *s, SearchBatch *out)
{
    const size_t n = out->n;
    bool *has = calloc(s->o.n_sizes + 1, sizeof *has);
    TRY_ALLOC(has);
    Err e = 0;
    for (size_t i = 0; i < n; i++) has[out->v[i].size] = true;
    for (uint32_t z = 0; !e && z < s->o.n_sizes; z++) {
        SearchPair again = {s->best[z], z, true};
        if (has[z] && s->best[z] != UINT32_MAX && !VEC_PUSH(out, again))
            e = err_set(ERR_FAILED, "out of memory for %zu pairs", out->n);
    }
    free(has);
    return e;
}

/* The pairs in flight that have no results yet. */
static Err flight_find(Batch *b)
{
    const SearchBatch *f = b->in_flight;
    for (size_t i = 0; f && i < f->n; i++) {
        const SearchPair *p = &f->v[i];
        const Hash128 *hash = &b->s->known.v[p->candidate].hash;
        const int64_t *at = map_get(&b->seen, (Str){(const char *)hash, sizeof *hash});
        if (p->again || !at || *at == INT64_MAX) continue;
        GainPair pair = {(uint32_t)*at, p->size};
        if (!VEC_PUSH(&b->flight, pair)) FAIL(ERR_FAILED, "out of memory for %zu pairs", f->n);
    }
    return ERR_OK;
}

/* The pairs with which the batch begins. */
static Err firsts_take(Batch *b, GainPairs *pairs)
{
    const SearchOptions *o = &b->s->o;
    for (size_t i = 0; i < o->n_first; i++) {
        GainPair pair = {0, o->first[i].size};
        while (pair.candidate < b->permutation.n &&
               b->permutation.v[pair.candidate] != o->first[i].permutation)
            pair.candidate++;
        if (pair.candidate < b->permutation.n && !VEC_PUSH(pairs, pair))
            FAIL(ERR_FAILED, "out of memory for %zu pairs", pairs->n);
    }
    return ERR_OK;
}

static Err batch_make(Batch *b, const SearchQuota *q, SearchBatch *out)
{
    GainPairs pairs = {0};
    TRY(offers_collect(b));
    TRY(table_make(b));
    TRY(flight_find(b));
    GainTable t = {.n = b->permutation.n,
                   .n_sizes = b->s->o.n_sizes,
                   .kernel = b->kernel.v,
                   .family = b->family.v,
                   .class = b->class.v,
                   .compiled = b->compiled,
                   .mean = b->mean,
                   .sd = b->sd,
                   .best = b->best,
                   .weight = b->weight,
                   .worth = b->worth.v,
                   .flight = b->flight.v,
                   .n_flight = b->flight.n,
                   .size_s = b->size_s,
                   .pair_s = b->pair_s,
                   .round_s = search_cost_client(),
                   .has_none = b->has_none,
                   .waited = b->s->waited,
                   .least_of_size = LEAST_OF_SIZE,
                   .least_of_class = LEAST_OF_CLASS,
                   .quota = *q,
                   .promise = b->s->promise};
    memset(b->s->promise, 0, b->s->o.n_sizes * sizeof *b->s->promise);
    Err e = firsts_take(b, &pairs);
    if (!e) e = gain_choose(&t, &pairs);
    if (!e) e = pairs_take(b, &pairs, out);
    if (!e) e = bests_again(b->s, out);
    VEC_FINI(&pairs);
    return e;
}

Err search_batch(Search *s, const SearchQuota *q, const SearchBatch *flight, SearchBatch *out)
{
    Batch b = {.s = s,
               .in_flight = flight,
               .max = NUMBERS / (s->o.n_sizes + 1),
               .choice = calloc(s->n_dims + 1, sizeof *b.choice)};
    TRY_ALLOC(b.choice);
    if (b.max > CANDIDATES) b.max = CANDIDATES;
    map_init(&b.seen);
    map_init(&b.twins);
    Err e = batch_make(&b, q, out);
    map_fini(&b.seen);
    map_fini(&b.twins);
    spread_free(b.compiled, b.permutation.n + 1);
    spread_free(b.mean, table_bytes(&b));
    spread_free(b.sd, table_bytes(&b));
    VEC_FINI(&b.flight);
    VEC_FINI(&b.permutation);
    VEC_FINI(&b.kernel);
    VEC_FINI(&b.first);
    VEC_FINI(&b.family);
    VEC_FINI(&b.class);
    VEC_FINI(&b.worth);
    free(b.best);
    free(b.weight);
    free(b.size_s);
    free(b.pair_s);
    free(b.has_none);
    free(b.choice);
    return e;
}
