/* Greedy set cover of sizes by kernels. See cover.h. */
#include "measure/cover.h"

#include <math.h>
#include <stdint.h>

typedef struct {
    const CoverTimes *t;
    double max_loss;
    double *best; /* of each size over all kernels; INFINITY: none works */
    Cover *c;
} Covering;

static double time_of(const CoverTimes *t, size_t z, size_t k)
{
    const double ns = t->ns[z * t->n_kernels + k];
    return ns > 0 ? ns : (double)INFINITY;
}

/* Loss of a time against the size's best, as a share of the speed. */
static double loss(const Covering *g, size_t z, double ns) { return 1 - g->best[z] / ns; }

static bool covers(const Covering *g, size_t z, size_t k)
{
    const double ns = time_of(g->t, z, k);
    /* one part in 10^12: the best itself has no loss in spite of rounding */
    return !isinf(ns) && loss(g, z, ns) <= g->max_loss + 1e-12;
}

/* The fastest kept kernel other than `without`. */
static size_t fastest(const Covering *g, size_t z, size_t without)
{
    size_t at = SIZE_MAX;
    for (size_t k = 0; k < g->t->n_kernels; k++)
        if (g->c->kept[k] && k != without && !isinf(time_of(g->t, z, k)) &&
            (at == SIZE_MAX || time_of(g->t, z, k) < time_of(g->t, z, at)))
            at = k;
    return at;
}

static void losses(const Covering *g, size_t without, double *mean, double *worst)
{
    double logs = 0;
    size_t n = 0;
    *worst = 0;
    for (size_t z = 0; z < g->t->n_sizes; z++) {
        if (isinf(g->best[z])) continue;
        const size_t k = fastest(g, z, without);
        const double ratio = k == SIZE_MAX ? 0 : g->best[z] / time_of(g->t, z, k);
        logs += log(ratio);
        n++;
        *worst = fmax(*worst, 1 - ratio);
    }
    *mean = n ? 1 - exp(logs / (double)n) : 0;
    if (*worst >= 1) *mean = *worst = (double)INFINITY;
}

/* The kernel that covers most of the sizes that are left; of equal ones that with the least losses there. */
static size_t next_kernel(const Covering *g, const bool *covered)
{
    size_t best = SIZE_MAX, best_n = 0;
    double best_sum = 0;
    for (size_t k = 0; k < g->t->n_kernels; k++) {
        size_t n = 0;
        double sum = 0;
        for (size_t z = 0; z < g->t->n_sizes; z++) {
            if (covered[z] || !covers(g, z, k)) continue;
            n++;
            sum += loss(g, z, time_of(g->t, z, k));
        }
        if (n > best_n || (n == best_n && n > 0 && sum < best_sum)) {
            best = k;
            best_n = n;
            best_sum = sum;
        }
    }
    return best;
}

/* Drops kernels all of whose sizes are also covered by kernels that were chosen later. */
static void drop_needless(Covering *g)
{
    for (size_t k = 0; k < g->t->n_kernels; k++) {
        bool needed = false;
        if (!g->c->kept[k]) continue;
        for (size_t z = 0; z < g->t->n_sizes && !needed; z++) {
            if (isinf(g->best[z])) continue;
            const size_t other = fastest(g, z, k);
            needed = other == SIZE_MAX || !covers(g, z, other);
        }
        if (needed) continue;
        g->c->kept[k] = false;
        g->c->n_kept--;
    }
}

static Err covering_make(Arena *a, Covering *g)
{
    const CoverTimes *t = g->t;
    bool *covered = ARENA_ARRAY(a, t->n_sizes, bool);
    TRY_ALLOC(covered);
    for (size_t z = 0; z < t->n_sizes; z++) {
        g->best[z] = (double)INFINITY;
        for (size_t k = 0; k < t->n_kernels; k++) g->best[z] = fmin(g->best[z], time_of(t, z, k));
        covered[z] = isinf(g->best[z]);
    }
    for (size_t k; (k = next_kernel(g, covered)) != SIZE_MAX;) {
        g->c->kept[k] = true;
        g->c->n_kept++;
        for (size_t z = 0; z < t->n_sizes; z++) covered[z] |= covers(g, z, k);
    }
    drop_needless(g);
    return 0;
}

Err cover_make(Arena *a, const CoverTimes *t, double max_loss, Cover *out)
{
    Covering g = {t, max_loss, ARENA_ARRAY(a, t->n_sizes, double), out};
    *out = (Cover){.kept = ARENA_ARRAY(a, t->n_kernels, bool),
                   .choice = ARENA_ARRAY(a, t->n_sizes, size_t),
                   .mean_without = ARENA_ARRAY(a, t->n_kernels, double),
                   .worst_without = ARENA_ARRAY(a, t->n_kernels, double)};
    if (!g.best || !out->kept || !out->choice || !out->mean_without || !out->worst_without)
        FAIL(ERR_FAILED, "out of memory for %zu kernels and %zu sizes", t->n_kernels, t->n_sizes);
    TRY(covering_make(a, &g));
    for (size_t z = 0; z < t->n_sizes; z++) out->choice[z] = fastest(&g, z, SIZE_MAX);
    losses(&g, SIZE_MAX, &out->mean, &out->worst);
    for (size_t k = 0; k < t->n_kernels; k++)
        if (out->kept[k]) losses(&g, k, &out->mean_without[k], &out->worst_without[k]);
    return 0;
}
