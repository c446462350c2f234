/* What a library that is made of a search's kernels loses on sizes that the search did not see, on a made
 * device (search_sim.h): one of the winners alone, and one with the kernels of its rounds that step_search
 * keeps for sizes between the tuned ones. The loss is against the best of all measured kernels and of the
 * recorded list. */
#ifndef TEST_BENCH_SEARCH_HELD_H
#define TEST_BENCH_SEARCH_HELD_H

#include "measure/model_quality.h"
#include "measure/model_rows.h"
#include "test/bench/search_sim.h"

/* The sizes of `setup` are the tuned ones; in its list the others follow. */
typedef struct {
    SimSetup *setup;
    const ModelSize *size;            /* tuned and held out */
    const double *listed;             /* of each: the list's best time */
    size_t n_sizes, n_tuned, n_raced; /* n_raced: of the tuned ones, those of the last race */
    ModelMatrix m;                    /* what the search measured */
    double *made;                     /* [size][kernel] times of the device; 0: it does not run */
    bool *out;                        /* of sizes: held out */
} Held;

static inline Err held_measured(Held *h, Arena *a, const Search *s)
{
    const size_t n = s->known.n, nz = h->n_sizes;
    ModelMatrix *m = &h->m;
    *m = (ModelMatrix){.n_kernels = n, .n_sizes = nz};
    TRY_ALLOC(m->kernel = ARENA_ARRAY(a, n + 1, ModelKernel));
    TRY_ALLOC(m->known = ARENA_ARRAY(a, n + 1, bool));
    TRY_ALLOC(m->size = ARENA_ARRAY(a, nz + 1, ModelSize));
    TRY_ALLOC(m->seconds = ARENA_ARRAY(a, n * nz + 1, double));
    TRY_ALLOC(h->made = ARENA_ARRAY(a, n * nz + 1, double));
    TRY_ALLOC(h->out = ARENA_ARRAY(a, nz + 1, bool));
    for (size_t z = 0; z < nz; z++) m->size[z] = h->size[z], h->out[z] = z >= h->n_tuned;
    for (uint32_t k = 0; k < n; k++) {
        Solution solution;
        Hash128 hash;
        bool any = false;
        if (!pool_get(s->o.pool, s->known.v[k].permutation, &solution, &hash)) continue;
        for (uint32_t z = 0; z < nz; z++) {
            h->made[z * n + k] = fmax(0, h->setup->seconds(h->setup->ctx, &solution, hash, z));
            const double ns = z < h->n_tuned ? search_value(s, k, z) : 0;
            if (!(ns > 0) || isinf(ns)) continue;
            m->seconds[z * n + k] = ns * 1e-9;
            any = true;
        }
        m->known[k] = any && !model_kernel(&solution, h->setup->target, &m->kernel[k]);
    }
    return ERR_OK;
}

typedef struct {
    const bool *kept;
    const double *seconds;
} HeldAsk;

static inline bool held_can_run(void *ctx, size_t k)
{
    const HeldAsk *q = ctx;
    return q->kept[k] && q->seconds[k] > 0;
}

/* The kernel with the least time among some (NULL: all). SIZE_MAX: none runs. */
static inline size_t held_fastest(const Held *h, size_t z, const bool *kept)
{
    const double *t = &h->made[z * h->m.n_kernels];
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < h->m.n_kernels; k++)
        if (t[k] > 0 && (!kept || kept[k]) && (best == SIZE_MAX || t[k] < t[best])) best = k;
    return best;
}

static inline double held_best(const Held *h, size_t z, const bool *kept)
{
    const size_t k = held_fastest(h, z, kept);
    return k == SIZE_MAX ? (double)INFINITY : h->made[z * h->m.n_kernels + k];
}

/* What a kernel takes on a size, what the model says of it, with its terms, and with residuals. */
static inline void held_kernel(const Held *h, const ModelSelector *s, const ModelRates *rates, size_t z,
                               const char *who, size_t k)
{
    const ModelKernel *x = &h->m.kernel[k];
    ModelTime t;
    ModelNear near;
    if (k == SIZE_MAX) return;
    model_near(s, &h->size[z], &near);
    model_time(x, &h->setup->predictor.device, &rates[x->class], &h->size[z], &t);
    printf("        %s: %s %dx%dx%d split %d/%d persistent %d store %d: %.2f us, model %.2f, with residuals "
           "%.2f;",
           who, model_class_name((ModelClass)x->class), x->tile_m, x->tile_n, x->depth, x->split,
           x->split_kind, x->persistent, x->store, h->made[z * h->m.n_kernels + k] * 1e6, t.seconds * 1e6,
           model_predict(s, &near, k, &h->size[z]) * 1e6);
    for (int i = 0; i < MODEL_N_TERMS; i++)
        if (t.term[i] > 0.1 * t.seconds) printf(" %s %.2f", model_term_name((ModelTerm)i), t.term[i] * 1e6);
    printf("\n");
}

static inline Err held_line(Arena *a, const Held *h, const char *what, double *loss)
{
    ModelQuality q = {.loss = loss};
    char text[256];
    q.spearman = (double)NAN;
    TRY(model_quality_finish(a, &q, h->n_sizes));
    snprintf(text, sizeof text,
             "n=%zu mean %.1f%% [%.1f, %.1f] p50 %.1f%% p90 %.1f%% p95 %.1f%% worst "
             "%.1f%%",
             q.n, q.mean * 100, q.mean_lo * 100, q.mean_hi * 100, q.p50 * 100, q.p90 * 100, q.p95 * 100,
             q.worst * 100);
    printf("    held out, %-28s %s\n", what, text);
    return ERR_OK;
}

/* The losses of a library of some of the kernels: by libtuner, by the table, and of its best kernel. */
static inline Err held_library(Held *h, Arena *a, const char *what, const bool *kept)
{
    const size_t n = h->m.n_kernels;
    ModelMatrix some = h->m;
    ModelSelector s;
    ModelRates rates[MODEL_CLASSES];
    double *loss[3];
    TRY_ALLOC(some.known = ARENA_ARRAY(a, n + 1, bool));
    for (size_t k = 0; k < n; k++) some.known[k] = h->m.known[k] && kept[k];
    model_rates_typical(rates);
    TRY(model_fit_matrix(&some, h->out, &h->setup->predictor.device, rates, NULL));
    TRY(model_selector_of(a, &some, h->out, &h->setup->predictor.device, rates, NULL, &s));
    ModelTable table = {.pt = h->setup->pt, .m = &some, .out = h->out, .usable = kept};
    TRY(model_table_make(a, &table));
    TRY(model_table_predict(a, &table, true, &s));
    for (int i = 0; i < 3; i++) TRY_ALLOC(loss[i] = ARENA_ARRAY(a, h->n_sizes + 1, double));
    for (size_t z = 0; z < h->n_sizes; z++) {
        const double *t = &h->made[z * n], best = fmin(held_best(h, z, NULL), h->listed[z]);
        HeldAsk q = {kept, t};
        double seconds;
        const size_t k = h->out[z] ? model_choose(&s, &h->size[z], held_can_run, &q, &seconds) : SIZE_MAX;
        const size_t row = k == SIZE_MAX ? k : model_table_nearest(&table, DISTANCE_RATIO, &h->size[z], t);
        loss[0][z] = k == SIZE_MAX ? (double)NAN : t[k] / best - 1;
        loss[1][z] = row == SIZE_MAX ? (double)NAN : t[row] / best - 1;
        loss[2][z] = k == SIZE_MAX ? (double)NAN : held_best(h, z, kept) / best - 1;
        if (getenv("HELD_VERBOSE") && (loss[0][z] > 0.05 || loss[1][z] > 0.1)) {
            printf("      %gx%gx%gx%g: %.2f table %.2f kept %.2f\n", h->size[z].m, h->size[z].n,
                   h->size[z].batch, h->size[z].k, loss[0][z], loss[1][z], loss[2][z]);
            held_kernel(h, &s, rates, z, "libtuner", k);
            if (row != k) held_kernel(h, &s, rates, z, "table", row);
            held_kernel(h, &s, rates, z, "best kept", held_fastest(h, z, kept));
        }
    }
    for (int i = 0; i < 3; i++) {
        static const char *const by[] = {"libtuner", "table, Ratio", "best kernel"};
        char name[64];
        snprintf(name, sizeof name, "%s: %s", what, by[i]);
        TRY(held_line(a, h, name, loss[i]));
    }
    return ERR_OK;
}

static inline Err held_judge(Held *h, Arena *a, const Search *s)
{
    ModelRates rates[MODEL_CLASSES];
    ModelSelector all;
    size_t n_winners = 0, n_kept = 0;
    TRY(held_measured(h, a, s));
    bool *kept = ARENA_ARRAY(a, h->m.n_kernels + 1, bool);
    TRY_ALLOC(kept);
    for (size_t z = 0; z < h->n_raced; z++)
        if (s->best[z] != UINT32_MAX) kept[s->best[z]] = true;
    /* finalists run on all tuned sizes */
    for (size_t z = 0; z < h->n_raced; z++)
        for (size_t k = 0; k < h->m.n_kernels; k++)
            if (kept[k]) h->m.seconds[z * h->m.n_kernels + k] = h->made[z * h->m.n_kernels + k];
    for (size_t k = 0; k < h->m.n_kernels; k++) n_winners += kept[k];
    TRY(held_library(h, a, "winners", kept));
    model_rates_typical(rates);
    TRY(model_fit_matrix(&h->m, h->out, &h->setup->predictor.device, rates, NULL));
    TRY(model_selector_of(a, &h->m, h->out, &h->setup->predictor.device, rates, NULL, &all));
    TRY(model_range_keep(a, h->setup->pt, &h->m, h->out, &all, MODEL_RANGE_KERNELS, kept));
    for (size_t k = 0; k < h->m.n_kernels; k++) n_kept += kept[k];
    printf("    held out: %zu kernels measured, %zu winners, %zu with those for sizes between\n",
           h->m.n_kernels, n_winners, n_kept);
    return held_library(h, a, "with kernels of rounds", kept);
}

#endif
