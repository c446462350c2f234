/* Scores the pool of a search: finds the candidates with the largest expected gain on each size. See
 * search.h. */
#include <math.h>
#include <stdlib.h>

#include "base/spread.h"
#include "measure/search_work.h"

/* Predictions of one scan of the pool, at most (a few seconds of one processor). */
enum { SCORES = 8 << 20 };

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

/* The place of a family in a list that has the best of each; list->n: it is not there. */
static size_t family_at(const Offers *list, uint64_t family)
{
    size_t i = 0;
    while (i < list->n && list->v[i].family != family) i++;
    return i;
}

/* Keeps the best of each family. */
static void family_insert(Offers *list, const Offer *x)
{
    size_t i = family_at(list, x->family);
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
                             (uint64_t)(s->NvRing + 1 + 2 * (s->KeepWindow > 0)),
                             (uint64_t)(s->GlobalSplitU > 1),
                             (uint64_t)(s->LocalSplitU > 1),
                             (uint64_t)(s->StreamK > 0),
                             (uint64_t)(s->ClusterM * s->ClusterN > 1),
                             (uint64_t)(s->ClusterK > 1),
                             (uint64_t)(s->PackOperands > 0),
                             (uint64_t)s->HostDirectConv,
                             (log2_of(s->MacroTile0) + log2_of(s->MacroTile1)) / 2};
    return hash64((Str){(const char *)part, sizeof part});
}

uint64_t search_twins(const Solution *s)
{
    Solution x = *s;
    x.WorkGroupMapping = x.WorkGroupMappingXCC = 1;
    x.WorkGroupMappingXCCGroup = x.WorkGroupMappingXCCChunk = 0;
    x.WorkGroupMappingDim = -1;
    x.WorkGroupMappingType = WGMT_B;
    return solution_hash(&x).lo;
}

bool search_order_counts(const Solution *s, double m, double n)
{
    return m > (double)s->MacroTile0 && n > (double)s->MacroTile1;
}

static float doublings(int64_t x) { return log2f(x > 1 ? (float)x : 1); }

void search_traits(const Search *s, const Solution *x, Traits *out)
{
    const SearchModel *m = &s->o.model;
    *out = (Traits){.class = m->class ? m->class(m->ctx) : 0,
                    .twins = search_twins(x),
                    .v = {doublings(x->MacroTile0),
                          doublings(x->MacroTile1),
                          0.5F * doublings(x->DepthU),
                          0.5F * doublings(x->RingStages),
                          0.5F * doublings(x->PrefetchGlobalRead + 1),
                          doublings(x->GlobalSplitU),
                          doublings(x->LocalSplitU),
                          0.5F * doublings(x->NumThreads),
                          0.7F * doublings(x->ClusterM),
                          0.7F * doublings(x->ClusterN),
                          doublings(x->ClusterK),
                          doublings(x->GlobalLoadVectorWidthA),
                          doublings(x->GlobalLoadVectorWidthB),
                          0.1F * (float)x->WorkGroupMapping / 8,
                          (float)x->ConsumerSchedule,
                          2.0F * (float)x->PackOperands / 3,
                          2.0F * (float)x->HostDirectConv,
                          0.5F * (float)x->EngineStore,
                          0.3F * (float)x->DependentLaunch,
                          0.5F * (float)x->SourceSwap,
                          (float)(x->StreamK > 0) + 0.5F * (float)(x->PersistentKernel > 0)}};
}

static bool is_measured(const Search *s, Hash128 hash, uint32_t z)
{
    const int64_t *c = map_get(&s->by_hash, (Str){(const char *)&hash, sizeof hash});
    return c && search_value(s, (uint32_t)*c, z) != 0;
}

/* The lists of all parts of the pool and of all sizes, in memory that the processes share. */
typedef struct {
    Search *s;
    size_t n, each; /* candidates that are scored; of a part */
    Offers *lists;  /* [part][size][top, family] */
} Scan;

static Offers *lists_of(const Scan *x, size_t part) { return &x->lists[part * x->s->o.n_sizes * 2]; }

/* Whether the lists of a size (top, family) would take an offer; what they have decides the rest. */
static bool may_enter(const Offers *lists, const Offer *x)
{
    const Offers *top = &lists[0], *family = &lists[1];
    if (top->n < SEARCH_TOP || better(x, &top->v[top->n - 1])) return true;
    size_t i = family_at(family, x->family);
    if (i == family->n && i == SEARCH_FAMILIES) i--;
    return i == family->n || better(x, &family->v[i]);
}

/* Offers a candidate, at which search_look looks, to the lists of one size. One whose predicted time is FAR
 * above the best has no gain; its errors are not computed. The standard deviation is not computed of one that
 * the lists would not take if it had the largest. */
static void offer_to(Search *s, Offers *lists, size_t z, double log_seconds, Offer x)
{
    static const double FAR = 3;
    const bool has_best = s->best[z] != UINT32_MAX;
    const double best = has_best ? log(1e-9 * search_value(s, s->best[z], (uint32_t)z)) : (double)INFINITY;
    x.time = log_seconds + search_error_choice(s, z);
    if (!(x.time > best + FAR * size_errors_sd_max(&s->errors, z))) {
        x.time = log_seconds + search_error(s, z);
        if (has_best) x.gain = expected_gain(x.time - best, search_error_sd_max(s, z));
        if (!may_enter(lists, &x)) return;
        if (has_best) x.gain = expected_gain(x.time - best, search_error_sd(s, z));
    }
    offer_insert(&lists[0], SEARCH_TOP, &x);
    family_insert(&lists[1], &x);
}

/* Offers one candidate of the pool to all sizes. */
static void scan_one(Search *s, Offers *lists, int64_t permutation, uint32_t *choice)
{
    Solution solution;
    Hash128 hash;
    Traits traits;
    if (!pool_get(s->o.pool, permutation, &solution, &hash)) return;
    if (!s->o.model.kernel(s->o.model.ctx, &solution)) return;
    pool_choices(s->o.pool, permutation, choice);
    search_traits(s, &solution, &traits);
    search_look(s, choice, &traits);
    const Offer x = {.permutation = permutation, .family = search_family(&solution)};
    const bool is_known = map_get(&s->by_hash, (Str){(const char *)&hash, sizeof hash}) != NULL;
    for (size_t z = 0; z < s->o.n_sizes; z++) {
        const double seconds = s->o.model.seconds(s->o.model.ctx, z);
        if (!(seconds > 0) || (is_known && is_measured(s, hash, (uint32_t)z))) continue;
        offer_to(s, &lists[2 * z], z, log(seconds), x);
    }
}

static Err scan_part(void *ctx, size_t part)
{
    const Scan *x = ctx;
    const Pool *p = x->s->o.pool;
    const size_t from = part * x->each, to = from + x->each < x->n ? from + x->each : x->n;
    Offers *lists = lists_of(x, part);
    uint32_t *choice = calloc(x->s->n_dims + 1, sizeof *choice);
    TRY_ALLOC(choice);
    for (size_t z = 0; z < 2 * x->s->o.n_sizes; z++) lists[z].n = 0;
    for (size_t i = from; i < to; i++) {
        const size_t at =
            x->n == p->n ? i : (size_t)pool_shuffle((int64_t)i, (int64_t)p->n, x->s->n_batches + 2);
        scan_one(x->s, lists, p->item[at], choice);
    }
    free(choice);
    return ERR_OK;
}

static void lists_merge(const Scan *x, size_t n_parts)
{
    SearchWork *w = x->s->work;
    for (size_t z = 0; z < x->s->o.n_sizes; z++) {
        w->top[z].n = w->family[z].n = 0;
        for (size_t part = 0; part < n_parts; part++) {
            const Offers *top = &lists_of(x, part)[2 * z], *family = top + 1;
            for (size_t i = 0; i < top->n; i++) offer_insert(&w->top[z], SEARCH_TOP, &top->v[i]);
            for (size_t i = 0; i < family->n; i++) family_insert(&w->family[z], &family->v[i]);
        }
    }
}

Err search_scan(Search *s)
{
    enum { PARTS = 64, WORTH = 256 }; /* candidates that are worth a part of their own */
    const size_t most = SCORES / (s->o.n_sizes ? s->o.n_sizes : 1) + 1;
    Scan x = {.s = s, .n = s->o.pool->n < most ? s->o.pool->n : most};
    size_t n_parts = x.n / WORTH + 1;
    if (n_parts > PARTS) n_parts = PARTS;
    x.each = (x.n + n_parts - 1) / n_parts;
    const size_t bytes = n_parts * s->o.n_sizes * 2 * sizeof *x.lists;
    x.lists = spread_alloc(bytes);
    if (!x.lists) FAIL(ERR_FAILED, "out of memory for %zu sizes", s->o.n_sizes);
    const Spread spread = {.n = n_parts,
                           .least = 4,
                           .part = scan_part,
                           .ctx = &x,
                           .idle = s->o.check,
                           .idle_ctx = s->o.check_ctx};
    const Err e = spread_run(&spread);
    if (!e) lists_merge(&x, n_parts);
    spread_free(x.lists, bytes);
    return e;
}
