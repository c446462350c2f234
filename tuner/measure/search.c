/* The state of a search: candidates, results, and the regression fitted to them. See search.h; search_next.c
 * chooses the batches. */
#include "measure/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/search_work.h"
#include "problem/problem.h"

static double log_at_least(double x) { return log(x > 1 ? x : 1); }

/* Places of sizes: logarithms of M, N, batch and K; x is that of their product, scaled to -1 .. 1. */
static Err places_make(Search *s)
{
    const size_t n = s->o.n_sizes;
    double lo = (double)INFINITY, hi = -(double)INFINITY;
    s->place = ARENA_ARRAY(&s->arena, n * SIZE_EXTENTS, double);
    s->x = ARENA_ARRAY(&s->arena, n, double);
    TRY_ALLOC(s->place);
    TRY_ALLOC(s->x);
    for (size_t z = 0; z < n; z++) {
        double *at = &s->place[z * SIZE_EXTENTS];
        at[0] = log_at_least((double)size_m(s->o.pt, &s->o.size[z]));
        at[1] = log_at_least((double)size_n(s->o.pt, &s->o.size[z]));
        at[2] = log_at_least((double)size_batch(s->o.pt, &s->o.size[z]));
        at[3] = log_at_least((double)s->o.size[z].v[s->o.pt->TotalIndices - 1]);
        s->x[z] = at[0] + at[1] + at[2] + at[3];
        lo = fmin(lo, s->x[z]);
        hi = fmax(hi, s->x[z]);
    }
    for (size_t z = 0; z < n; z++) s->x[z] = hi > lo ? 2 * (s->x[z] - lo) / (hi - lo) - 1 : 0;
    return 0;
}

Err search_weights(Arena *a, const ProblemType *pt, const ProblemSize *size, size_t n, const double **out)
{
    const double launch =
        1e7; /* a rough number of multiply-adds that a device does in the time of a launch */
    double *w = ARENA_ARRAY(a, n + 1, double), sum = 0;
    bool any = false;
    TRY_ALLOC(w);
    for (size_t z = 0; z < n; z++) {
        const int64_t count = size[z].extra ? size[z].extra->count : 0;
        const double work = (double)size_m(pt, &size[z]) * (double)size_n(pt, &size[z]) *
                            (double)size_k(pt, &size[z]) * (double)size_batch(pt, &size[z]);
        any |= count > 0;
        sum += w[z] = (count > 0 ? (double)count : 1) * (work + launch);
    }
    for (size_t z = 0; z < n; z++) w[z] = fmax(w[z] * (double)n / sum, 1.0 / SEARCH_WEIGHT_LEAST);
    *out = any ? w : NULL;
    return 0;
}

static Err surrogate_make(Search *s)
{
    const Space *sp = s->o.pool->space;
    size_t *n = ARENA_ARRAY(&s->arena, sp->dim.n, size_t);
    TRY_ALLOC(n);
    for (size_t d = 0; d < sp->dim.n; d++) n[d] = sp->dim.v[d].choice.n;
    return surrogate_init(&s->surrogate, &s->arena, sp->dim.n, n, s->o.n_sizes, s->x);
}

/* Fills in launch_s: the least predicted time of a sample of the pool on each size. */
static Err launches_make(Search *s)
{
    enum { LOOKS = 512 };
    const Pool *p = s->o.pool;
    const SearchModel *m = &s->o.model;
    Solution solution;
    Hash128 hash;
    TRY_ALLOC(s->launch_s = ARENA_ARRAY(&s->arena, s->o.n_sizes, double));
    for (size_t i = 0; m->kernel && i < p->n && i < LOOKS; i++) {
        const int64_t permutation = p->item[pool_shuffle((int64_t)i, (int64_t)p->n, 0)];
        if (!pool_get(p, permutation, &solution, &hash) || !m->kernel(m->ctx, &solution)) continue;
        for (size_t z = 0; z < s->o.n_sizes; z++) {
            const double t = m->seconds(m->ctx, z);
            if (t > 0 && (s->launch_s[z] <= 0 || t < s->launch_s[z])) s->launch_s[z] = t;
        }
    }
    return ERR_OK;
}

Err search_init(Search *s, const SearchOptions *o)
{
    *s = (Search){.o = *o, .n_dims = o->pool->space->dim.n};
    arena_init(&s->arena, 0);
    map_init(&s->by_hash);
    s->best = ARENA_ARRAY(&s->arena, o->n_sizes, uint32_t);
    s->hope = ARENA_ARRAY(&s->arena, o->n_sizes, double);
    s->n_measured = ARENA_ARRAY(&s->arena, o->n_sizes, size_t);
    TRY_ALLOC(s->best);
    TRY_ALLOC(s->hope);
    TRY_ALLOC(s->n_measured);
    TRY_ALLOC(s->promise = ARENA_ARRAY(&s->arena, o->n_sizes, double));
    TRY_ALLOC(s->waited = ARENA_ARRAY(&s->arena, o->n_sizes, size_t));
    TRY_ALLOC(s->peer = ARENA_ARRAY(&s->arena, o->n_sizes, double));
    for (size_t z = 0; z < o->n_sizes; z++) s->best[z] = UINT32_MAX;
    TRY(places_make(s));
    TRY(launches_make(s));
    TRY(surrogate_make(s));
    TRY(size_errors_init(&s->errors, o->n_sizes, s->place));
    return search_work_new(s, &s->work);
}

void search_fini(Search *s)
{
    search_work_free(s->work);
    VEC_FINI(&s->known);
    VEC_FINI(&s->value);
    VEC_FINI(&s->predicted);
    VEC_FINI(&s->choice);
    VEC_FINI(&s->traits);
    error_kernel_fini(&s->of_traits);
    size_errors_fini(&s->errors);
    map_fini(&s->by_hash);
    arena_fini(&s->arena);
}

static double *value_at(const Search *s, uint32_t c, uint32_t z) { return &s->value.v[c * s->o.n_sizes + z]; }

double search_value(const Search *s, uint32_t c, uint32_t z) { return *value_at(s, c, z); }

Err search_known_add(Search *s, int64_t permutation, const Solution *solution, Hash128 hash,
                     uint32_t *candidate)
{
    bool added;
    int64_t *known = map_put(&s->by_hash, (Str){(const char *)&hash, sizeof hash}, &added);
    if (!known) FAIL(ERR_FAILED, "out of memory for %zu candidates", s->known.n);
    if (!added) return *candidate = (uint32_t)*known, 0;
    *known = (int64_t)s->known.n;
    *candidate = (uint32_t)s->known.n;
    SearchCandidate c = {.permutation = permutation, .hash = hash};
    const bool makes = s->o.model.kernel(s->o.model.ctx, solution);
    Traits traits;
    search_traits(s, solution, &traits);
    bool ok = VEC_PUSH(&s->known, c) && VEC_PUSH(&s->traits, traits);
    for (size_t z = 0; ok && z < s->o.n_sizes; z++) {
        double seconds = makes ? s->o.model.seconds(s->o.model.ctx, z) : 0;
        ok = VEC_PUSH(&s->value, 0.0) && VEC_PUSH(&s->predicted, seconds > 0 ? log(seconds) : (double)NAN);
    }
    for (size_t d = 0; ok && d < s->n_dims; d++) ok = VEC_PUSH(&s->choice, 0u);
    if (!ok) FAIL(ERR_FAILED, "out of memory for %zu candidates", s->known.n);
    if (s->n_dims) pool_choices(s->o.pool, permutation, &s->choice.v[*candidate * s->n_dims]);
    return 0;
}

Err search_candidate(Search *s, int64_t permutation, uint32_t *candidate)
{
    Solution solution;
    Hash128 hash;
    if (permutation < 0 || permutation >= s->o.pool->size ||
        !pool_get(s->o.pool, permutation, &solution, &hash))
        FAIL(ERR_INPUT, "permutation %lld is no valid candidate of %lld", (long long)permutation,
             (long long)s->o.pool->size);
    return search_known_add(s, permutation, &solution, hash, candidate);
}

void search_result(Search *s, uint32_t c, uint32_t z, double ns)
{
    double *value = value_at(s, c, z);
    if (*value == 0) s->n_measured[z]++, s->n_pairs++;
    *value = ns > 0 ? ns : (double)INFINITY;
    s->best[z] = UINT32_MAX;
    for (uint32_t i = 0; i < s->known.n; i++) {
        const double v = *value_at(s, i, z);
        if (v > 0 && !isinf(v) && (s->best[z] == UINT32_MAX || v < *value_at(s, s->best[z], z)))
            s->best[z] = i;
    }
}

void search_peer(Search *s, uint32_t z, double ns) { s->peer[z] = ns > 0 && !isinf(ns) ? ns : 0; }

void search_failed(Search *s, uint32_t c)
{
    s->known.v[c].failed = true;
    for (uint32_t z = 0; z < s->o.n_sizes; z++)
        if (*value_at(s, c, z) == 0) *value_at(s, c, z) = (double)INFINITY;
}

/* Passes the measured times to the model, lets it fit its rates, and updates the predictions. */
static Err model_refit(Search *s)
{
    const SearchModel *m = &s->o.model;
    Solution solution;
    Hash128 hash;
    if (!m->fit || !s->n_pairs) return 0;
    for (int predict = 0; predict < 2; predict++) {
        for (uint32_t c = 0; c < s->known.n; c++) {
            if (!pool_get(s->o.pool, s->known.v[c].permutation, &solution, &hash) ||
                !m->kernel(m->ctx, &solution))
                continue;
            for (uint32_t z = 0; z < s->o.n_sizes; z++) {
                const double v = *value_at(s, c, z);
                double *predicted = &s->predicted.v[c * s->o.n_sizes + z];
                if (!predict && v > 0 && !isinf(v)) TRY(m->measured(m->ctx, z, v * 1e-9));
                if (predict && !isnan(*predicted)) *predicted = log(m->seconds(m->ctx, z));
            }
        }
        if (!predict) TRY(m->fit(m->ctx));
    }
    return 0;
}

static const uint32_t *choice_of(const Search *s, uint32_t c)
{
    return s->n_dims ? &s->choice.v[c * s->n_dims] : NULL;
}

/* Logarithm of a pair's measured time over the model's; NAN: there is none. */
static double log_ratio(const Search *s, uint32_t c, uint32_t z)
{
    const double v = *value_at(s, c, z);
    return v > 0 && !isinf(v) ? log(v * 1e-9) - s->predicted.v[c * s->o.n_sizes + z] : (double)NAN;
}

Err search_learn(Search *s)
{
    TRY(model_refit(s));
    surrogate_reset(&s->surrogate);
    size_errors_reset(&s->errors);
    for (uint32_t c = 0; c < s->known.n; c++)
        for (uint32_t z = 0; z < s->o.n_sizes; z++)
            if (!isnan(log_ratio(s, c, z)))
                surrogate_add(&s->surrogate, choice_of(s, c), z, log_ratio(s, c, z));
    surrogate_fit(&s->surrogate);
    for (uint32_t c = 0; c < s->known.n; c++) {
        uint32_t kernel = UINT32_MAX;
        SurrogateKernel of_choice;
        surrogate_look(&s->surrogate, choice_of(s, c), &of_choice);
        for (uint32_t z = 0; z < s->o.n_sizes; z++) {
            const double ratio = log_ratio(s, c, z);
            if (isnan(ratio)) continue;
            if (kernel == UINT32_MAX) TRY(size_errors_add_kernel(&s->errors, &s->traits.v[c], &kernel));
            const double left = ratio - surrogate_predict(&s->surrogate, &of_choice, z);
            TRY(size_errors_add(&s->errors, kernel, z, left, log(*value_at(s, c, z) * 1e-9)));
        }
    }
    error_kernel_fini(&s->of_traits);
    TRY(size_errors_fit(&s->errors));
    return error_kernel_init(&s->errors, &s->of_traits);
}

void search_look(Search *s, const uint32_t *choice, const Traits *t)
{
    surrogate_look(&s->surrogate, choice, &s->of_choice);
    s->traits_looked_at = *t;
    s->looks_built = false;
}

double search_error_choice(const Search *s, size_t z)
{
    return surrogate_predict(&s->surrogate, &s->of_choice, z);
}

double search_error(Search *s, size_t z)
{
    if (!s->looks_built) error_kernel_set(&s->errors, &s->traits_looked_at, &s->of_traits);
    s->looks_built = true;
    return search_error_choice(s, z) + size_errors_mean(&s->errors, &s->of_traits, z);
}

double search_error_sd(const Search *s, size_t z)
{
    return hypot(s->of_choice.sd, size_errors_sd(&s->errors, &s->of_traits, z));
}

double search_error_sd_max(const Search *s, size_t z)
{
    return hypot(s->of_choice.sd, size_errors_sd_max(&s->errors, z));
}

double search_expected(Search *s, uint32_t c, uint32_t z)
{
    const double v = *value_at(s, c, z), predicted = s->predicted.v[c * s->o.n_sizes + z];
    if (v > 0) return v;
    if (isnan(predicted)) return (double)INFINITY;
    search_look(s, choice_of(s, c), &s->traits.v[c]);
    return 1e9 * exp(predicted + search_error(s, z));
}

double search_hope(const Search *s)
{
    double sum = 0;
    for (size_t z = 0; z < s->o.n_sizes; z++) sum += s->hope[z];
    return s->o.n_sizes ? sum / (double)s->o.n_sizes : 0;
}
