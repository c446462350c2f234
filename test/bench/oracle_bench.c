/* oracle_bench OUTDIR CONFIG: a search of a space all of whose kernels were measured. OUTDIR is the run of
 * CONFIG by SearchMethod exhaustive; the search is given the times that the run found. Prints how many
 * candidates have to be measured on a size for 99 % of the best, and how well the performance model alone
 * ranks them, by cross-validation over the sizes. search_host.sh makes such a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/model_quality.h"
#include "measure/model_store.h"
#include "measure/predictor.h"
#include "measure/search_quota.h"
#include "run/candidates.h"
#include "space/config.h"

enum { FOLDS = 5 };

typedef struct {
    Arena a;
    Config *config;
    const Target *target;
    const ProblemType *pt;
    ProblemSize *size;
    size_t n_sizes;
    Deriver deriver;
    Space space;
    Pool pool;
    Store store;
    PlanView *plan;
    ModelMatrix m;
    ModelDevice device;
    Map column; /* hash of a solution -> candidate of the plan; -1: it was not measured */
} Oracle;

static Err store_read(Oracle *x, const char *outdir)
{
    size_t n;
    TRY(store_open(&x->store, outdir, STORE_READ));
    TRY(plans_latest(&x->store, &x->a, &x->plan, &n));
    if (!n) FAIL(ERR_INPUT, "%s: it has no results", outdir);
    x->target = target_find(x->plan->arch);
    if (!x->target) FAIL(ERR_INPUT, "unknown architecture '%.*s'", STR_ARG(x->plan->arch));
    TRY(model_matrix_load(&x->store, &x->a, x->plan, &x->m));
    model_of_part(x->target, STR_NULL, 1, &x->device);
    return ERR_OK;
}

static Err space_read(Oracle *x, const char *path)
{
    TRY(config_read(&x->a, path, NULL, &x->config));
    const ProblemGroup *p = &x->config->problem[0];
    const Globals *g = &x->config->globals;
    x->pt = &p->pt;
    TRY(problem_sizes_list(&x->a, &p->size_group[0].sizes, 1 << 20, &x->size, &x->n_sizes));
    DeriveLimits limits = {.max_lds_bytes = g->MaxLDS,
                           .device_lds_bytes = g->DeviceLDS,
                           .max_depth_u = (int32_t)g->MaxDepthU,
                           .writer = true};
    TRY(deriver_init(&x->deriver, x->pt, x->target, &limits));
    TRY(space_of_size_group(&x->space, x->config, x->pt, &p->size_group[0]));
    TRY(pool_init(&x->pool, &x->space, &x->deriver, NULL));
    if (x->n_sizes > x->m.n_sizes)
        FAIL(ERR_INPUT, "%s: %zu sizes, the run has %zu", path, x->n_sizes, x->m.n_sizes);
    return ERR_OK;
}

/* Finds the run's kernel of each candidate by its text, as the run did. */
static Err columns_find(Oracle *x)
{
    Candidates c;
    candidates_init(&c, x->target, &x->a);
    map_init(&x->column);
    Err e = 0;
    for (size_t i = 0; !e && i < x->pool.n; i++) {
        Solution s;
        Hash128 hash;
        CandidateKind kind;
        char text[CONTENT_HEX + 1];
        size_t k = 0;
        if (!pool_get(&x->pool, x->pool.item[i], &s, &hash)) continue;
        e = candidates_add(&c, &s, &kind, text);
        while (k < x->plan->n_candidates && !str_eq_c(x->plan->candidate[k].hash, text)) k++;
        int64_t *at = map_put(&x->column, (Str){(const char *)&hash, sizeof hash}, NULL);
        if (at) *at = k < x->plan->n_candidates ? (int64_t)k : -1;
    }
    candidates_fini(&c);
    return e;
}

/* The time of a candidate on a size; 0: none. */
static double seconds_of(const Oracle *x, const Search *s, uint32_t candidate, uint32_t z)
{
    const Hash128 *hash = &s->known.v[candidate].hash;
    const int64_t *k = map_get(&x->column, (Str){(const char *)hash, sizeof *hash});
    return k && *k >= 0 ? x->m.seconds[z * x->m.n_kernels + (size_t)*k] : 0;
}

static double best_of(const Oracle *x, size_t z)
{
    double best = 0;
    for (size_t k = 0; k < x->m.n_kernels; k++) {
        const double t = x->m.seconds[z * x->m.n_kernels + k];
        if (t > 0 && (best == 0 || t < best)) best = t;
    }
    return best;
}

typedef struct {
    size_t n, to_99; /* measured; until 99 % were reached, 0: never */
    double reached;
} Progress99;

static void batch_measure(const Oracle *x, Search *s, const SearchBatch *batch, Progress99 *p)
{
    for (size_t i = 0; i < batch->n; i++) {
        const SearchPair *pair = &batch->v[i];
        Progress99 *at = &p[pair->size];
        if (pair->again) continue;
        const double t = seconds_of(x, s, pair->candidate, pair->size);
        search_result(s, pair->candidate, pair->size, t > 0 ? t * 1e9 : (double)INFINITY);
        at->n++;
        if (t > 0) at->reached = fmax(at->reached, best_of(x, pair->size) / t);
        if (!at->to_99 && at->reached >= 0.99) at->to_99 = at->n;
    }
}

static Err search_run(Oracle *x, Progress99 *p, size_t *n_kernels)
{
    Search s;
    SearchBatch batch = {0};
    PredictorOptions predictor = {
        .target = x->target, .pt = x->pt, .size = x->size, .n_sizes = x->n_sizes, .device = x->device};
    SearchOptions o = {.pool = &x->pool,
                       .method = SEARCH_MODEL,
                       .pt = x->pt,
                       .size = x->size,
                       .n_sizes = x->n_sizes,
                       .seed = 1};
    model_rates_typical(predictor.rates);
    TRY(predictor_init(&predictor, &o.model));
    TRY(search_init(&s, &o));
    Err e = 0;
    do {
        const SearchQuota q = search_quota(&(SearchTime){.n_rounds = s.n_batches, .learns = true});
        e = search_next(&s, &q, NULL, &batch);
        if (!e) batch_measure(x, &s, &batch, p);
    } while (!e && batch.n);
    *n_kernels = s.known.n;
    predictor_fini(&s.o.model);
    search_fini(&s);
    VEC_FINI(&batch);
    return e;
}

static void search_print(const Oracle *x, const Progress99 *p, size_t n_kernels)
{
    double logs = 0, n = 0, to_99 = 0, least = 1;
    size_t n_99 = 0;
    for (size_t z = 0; z < x->n_sizes; z++) {
        logs += log(fmax(p[z].reached, 1e-3));
        least = fmin(least, p[z].reached);
        n += (double)p[z].n / (double)x->n_sizes;
        n_99 += p[z].to_99 > 0;
        to_99 += (double)p[z].to_99;
    }
    printf(
        "search, oracle: %zu kernels on %zu sizes, all measured; the search compiles %zu, measures %.1f on "
        "a size and reaches %.4f of the best (least %.4f); 99%% on %zu of %zu sizes, with %.1f measured\n",
        x->m.n_kernels, x->n_sizes, n_kernels, n, exp(logs / (double)x->n_sizes), least, n_99, x->n_sizes,
        n_99 ? to_99 / (double)n_99 : (double)NAN);
}

static Err model_print(Oracle *x)
{
    static const SelectMethod ways[] = {SELECT_MODEL_TYPICAL, SELECT_MODEL_FITTED, SELECT_MODEL_RESIDUAL};
    ModelQuality q[SELECT_METHODS];
    TRY(model_cross_validate(&x->a, x->pt, &x->m, &x->device, (ModelFolds){FOLDS, 0}, q));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        printf("search, %s: first choice %.3f of the best on sizes left out (mean of %zu), Spearman %.2f, "
               "99%% within the first %.0f\n",
               select_method_name(ways[i]), q[ways[i]].share, q[ways[i]].n, q[ways[i]].spearman,
               q[ways[i]].first_99);
    return ERR_OK;
}

static Err bench(Oracle *x, const char *outdir, const char *config)
{
    size_t n_kernels;
    TRY(store_read(x, outdir));
    TRY(space_read(x, config));
    TRY(columns_find(x));
    Progress99 *p = ARENA_ARRAY(&x->a, x->n_sizes + 1, Progress99);
    TRY_ALLOC(p);
    TRY(search_run(x, p, &n_kernels));
    search_print(x, p, n_kernels);
    return model_print(x);
}

int main(int argc, char **argv)
{
    Oracle x = {.store = {.lock_fd = -1}};
    if (argc != 3) {
        printf("oracle_bench: skipped: search_host.sh makes the run that it reads\n");
        return 0;
    }
    arena_init(&x.a, 0);
    Err e = bench(&x, argv[1], argv[2]);
    if (e) fprintf(stderr, "oracle_bench: %s\n", err_message());
    store_close(&x.store);
    map_fini(&x.column);
    pool_fini(&x.pool);
    space_fini(&x.space);
    arena_fini(&x.a);
    return e ? 1 : 0;
}
