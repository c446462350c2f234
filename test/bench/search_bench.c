/* search_bench [CONFIG ARCH SECONDS...]: searches of a wide space, on a device whose times are known for all
 * candidates. The device is the performance model with other rates, drawn at random, and with effects that
 * the model does not have: of families, of parameters and pairs of them, of kernels, of pairs of kernel and
 * size. Compiling and measuring take the seconds that they took on an H200's machine with 16 cores. For each
 * budget (0: none) it prints the share of the best speed that the search's choices reach, as the geometric
 * mean and the least over the sizes, and how many candidates it measured on a size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "measure/predictor.h"
#include "measure/search.h"
#include "space/config.h"

/* COMPILE_S: of a kernel, on 16 cores; PAIR_S: of a pair; ROUND_S: of starting a round. */
static const double COMPILE_S = 0.22, PAIR_S = 0.03, ROUND_S = 1;
enum { DEVICES = 3 };

typedef struct {
    Config *config;
    const Target *target;
    const ProblemType *pt;
    ProblemSize *size;
    size_t n_sizes;
    Deriver deriver;
    Space space;
    Pool pool;
    PredictorOptions predictor;
    SearchModel truth;
    uint64_t device;
    double *best; /* of each size */
    double scan_s;
} Setup;

/* -1 .. 1 by hash. */
static double draw(uint64_t device, uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t key[] = {device, a, b, c};
    return (double)(hash64((Str){(const char *)key, sizeof key}) >> 11) * 0x1p-52 - 1;
}

static double true_seconds(Setup *x, const Solution *s, Hash128 hash, size_t z)
{
    const double seconds = x->truth.seconds(x->truth.ctx, z);
    const uint64_t d = x->device;
    double e =
        0.12 * draw(d, 1, (uint64_t)s->MacroTile0 << 20 | (uint64_t)s->MacroTile1, (uint64_t)s->NumThreads);
    e += 0.06 * draw(d, 2, (uint64_t)s->ConsumerSchedule, (uint64_t)s->ClusterM * 8 + (uint64_t)s->ClusterN);
    e += 0.05 * draw(d, 3, (uint64_t)s->DepthU, (uint64_t)s->PrefetchGlobalRead);
    e += 0.04 * draw(d, 4, (uint64_t)s->WorkGroupMapping, (uint64_t)x->size[z].v[0]);
    e += 0.05 * draw(d, 5, (uint64_t)s->GlobalSplitU, (uint64_t)s->GlobalSplitUAlgorithm);
    e += 0.04 *
         draw(d, 6, (uint64_t)s->EngineStore * 2 + (uint64_t)s->DependentLaunch, (uint64_t)s->SourceSwap);
    e += 0.03 * draw(d, 7, hash.lo, 0) + 0.02 * draw(d, 8, hash.lo, z + 1);
    return seconds * exp(e);
}

static Err truth_make(Setup *x, uint64_t device)
{
    PredictorOptions o = x->predictor;
    x->device = device;
    for (int c = 0; c < MODEL_CLASSES; c++) {
        double v[MODEL_N_RATES];
        memcpy(v, &o.rates[c], sizeof v);
        for (int i = 0; i < MODEL_N_RATES; i++) v[i] *= exp(0.5 * draw(device, 9, (uint64_t)c, (uint64_t)i));
        memcpy(&o.rates[c], v, sizeof v);
        o.rates[c].math = fmin(o.rates[c].math, 1);
    }
    TRY(predictor_init(&o, &x->truth));
    Solution s;
    Hash128 hash;
    for (size_t z = 0; z < x->n_sizes; z++) x->best[z] = (double)INFINITY;
    for (size_t i = 0; i < x->pool.n; i++) {
        if (!pool_get(&x->pool, x->pool.item[i], &s, &hash) || !x->truth.kernel(x->truth.ctx, &s)) continue;
        for (size_t z = 0; z < x->n_sizes; z++) {
            const double t = true_seconds(x, &s, hash, z);
            if (t > 0) x->best[z] = fmin(x->best[z], t);
        }
    }
    return ERR_OK;
}

typedef struct {
    double seconds, share, least, per_size, first_99;
    size_t n_kernels, n_rounds;
} Outcome;

static Err measure(Setup *x, Search *s, const SearchBatch *batch, double *reached, size_t *n, size_t *to_99)
{
    Solution solution;
    Hash128 hash;
    for (size_t i = 0; i < batch->n; i++) {
        const SearchPair *p = &batch->v[i];
        if (p->again) continue;
        if (!pool_get(&x->pool, s->known.v[p->candidate].permutation, &solution, &hash) ||
            !x->truth.kernel(x->truth.ctx, &solution))
            continue;
        const double t = true_seconds(x, &solution, hash, p->size);
        n[p->size]++;
        reached[p->size] = fmax(reached[p->size], x->best[p->size] / t);
        if (!to_99[p->size] && reached[p->size] >= 0.99) to_99[p->size] = n[p->size];
        search_result(s, p->candidate, p->size, t * 1e9);
    }
    return ERR_OK;
}

/* What step_search does, with a clock that compiling and measuring set. */
static Err run(Setup *x, double budget, Outcome *out)
{
    Search s;
    SearchBatch batch = {0};
    double *reached = calloc(x->n_sizes, sizeof *reached);
    size_t *n = calloc(x->n_sizes, sizeof *n), *to_99 = calloc(x->n_sizes, sizeof *to_99);
    SearchOptions o = {.pool = &x->pool,
                       .method = SEARCH_MODEL,
                       .pt = x->pt,
                       .size = x->size,
                       .n_sizes = x->n_sizes,
                       .seed = 1};
    *out = (Outcome){0};
    TRY(predictor_init(&x->predictor, &o.model));
    TRY(search_init(&s, &o));
    double spent = 0;
    while (spent < budget || budget <= 0) {
        SearchQuota q = {SIZE_MAX, s.n_batches ? 4 : 12, COMPILE_S, PAIR_S};
        if (budget > 0) {
            const double most = (budget - spent) * (s.n_batches ? 0.25 : 0.3) / (COMPILE_S + 3 * PAIR_S);
            q.kernels = most < 16 ? 16 : (size_t)most;
        }
        const size_t known = s.known.n;
        uint64_t from = clock_ns();
        TRY(search_next(&s, &q, &batch));
        spent += (double)(clock_ns() - from) * 1e-9;
        if (!batch.n) break;
        spent += ROUND_S + (double)(s.known.n - known) * COMPILE_S + (double)batch.n * PAIR_S;
        TRY(measure(x, &s, &batch, reached, n, to_99));
        out->n_rounds++;
    }
    out->seconds = spent, out->n_kernels = s.known.n, out->least = 1;
    double logs = 0, missed = 0;
    for (size_t z = 0; z < x->n_sizes; z++) {
        logs += log(fmax(reached[z], 1e-3));
        out->per_size += (double)n[z] / (double)x->n_sizes;
        out->least = fmin(out->least, reached[z]);
        if (to_99[z])
            out->first_99 += (double)to_99[z];
        else
            missed++;
        if (getenv("VERBOSE"))
            printf("    size %zu: %zu measured, 99%% after %zu, %.4f\n", z, n[z], to_99[z], reached[z]);
    }
    out->first_99 = missed / (double)x->n_sizes;
    out->share = exp(logs / (double)x->n_sizes);
    predictor_fini(&s.o.model);
    search_fini(&s);
    VEC_FINI(&batch);
    free(reached);
    free(n);
    free(to_99);
    return ERR_OK;
}

static Err setup(Setup *x, Arena *a, const char *path, const char *arch)
{
    TRY(config_read(a, path, NULL, &x->config));
    x->target = target_find(str_from(arch));
    if (!x->target) FAIL(ERR_INPUT, "unknown architecture '%s'", arch);
    const ProblemGroup *p = &x->config->problem[0];
    const Globals *g = &x->config->globals;
    x->pt = &p->pt;
    TRY(problem_sizes_list(a, &p->size_group[0].sizes, 1 << 20, &x->size, &x->n_sizes));
    DeriveLimits limits = {.max_lds_bytes = g->MaxLDS,
                           .device_lds_bytes = g->DeviceLDS,
                           .max_depth_u = (int32_t)g->MaxDepthU,
                           .unroll_loop_efficiency = g->UnrollLoopEfficiencyEnable,
                           .source_matrix = g->SourceMatrixInstructions,
                           .writer = true};
    TRY(deriver_init(&x->deriver, x->pt, x->target, &limits));
    TRY(space_of_size_group(&x->space, x->config, x->pt, &p->size_group[0]));
    uint64_t from = clock_ns();
    TRY(pool_init(&x->pool, &x->space, &x->deriver, NULL));
    printf("search_bench: %s: %lld permutations, %zu candidates, %zu sizes; forked in %.1f s\n", path,
           (long long)x->pool.size, x->pool.n, x->n_sizes, (double)(clock_ns() - from) * 1e-9);
    x->predictor =
        (PredictorOptions){.target = x->target, .pt = x->pt, .size = x->size, .n_sizes = x->n_sizes};
    model_of_part(x->target, STR_NULL, 0, &x->predictor.device);
    model_rates_typical(x->predictor.rates);
    TRY_ALLOC(x->best = ARENA_ARRAY(a, x->n_sizes, double));
    return ERR_OK;
}

static Err bench(int argc, const char *const *argv)
{
    Setup x = {0};
    Arena a;
    arena_init(&a, 0);
    TRY(setup(&x, &a, argv[1], argv[2]));
    for (uint64_t device = 1; device <= DEVICES; device++) {
        TRY(truth_make(&x, device));
        for (int i = 3; i < argc; i++) {
            Outcome o;
            TRY(run(&x, atof(argv[i]), &o));
            printf("search_bench: device %d, budget %5s s: %.4f of the best speed, least %.4f; %zu kernels, "
                   "%.1f candidates on a size, %zu rounds, %.0f s; without 99%%: %.2f\n",
                   (int)device, argv[i], o.share, o.least, o.n_kernels, o.per_size, o.n_rounds, o.seconds,
                   o.first_99);
            fflush(stdout);
        }
        predictor_fini(&x.truth);
    }
    pool_fini(&x.pool);
    space_fini(&x.space);
    arena_fini(&a);
    return ERR_OK;
}

int main(int argc, char **argv)
{
    static const char *const usual[] = {"search_bench", "configs/host.yaml", "x86-64-v4", "45", "0"};
    Err e = argc < 4 ? bench(5, usual) : bench(argc, (const char *const *)argv);
    if (e) fprintf(stderr, "search_bench: %s\n", err_message());
    return e ? 1 : 0;
}
