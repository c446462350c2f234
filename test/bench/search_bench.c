/* search_bench [CONFIG ARCH SECONDS...]: searches of a wide space, on a device whose times are known for all
 * candidates. The device is the performance model with other rates, drawn at random, and with effects that
 * the model does not have: of families, of parameters and pairs of them, of kernels, of pairs of kernel and
 * size. Compiling and measuring take the seconds that they took on an H200's machine with 16 cores, one after
 * the other, or (as step_search does on GPUs) the next round's kernels are compiled while the device
 * measures. For each budget (0: none) it prints the share of the best speed that the search's choices reach,
 * as the geometric mean and the least over the sizes, how many candidates it measured on a size, and the
 * device's idle share of the time. GROUP chooses another of the config's problems
 * than the first, DEVICES how many are made. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fs.h"
#include "measure/predictor.h"
#include "measure/search_quota.h"
#include "space/config.h"

/* COMPILE_S: of a kernel, on 16 cores; PAIR_S: of a pair; ROUND_S: of starting a round. */
static const double COMPILE_S = 0.22, PAIR_S = 0.03, ROUND_S = 1;
enum { DEVICES_MADE = 3, CORES = 16 };

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
    double seconds, share, least, per_size, without_99, idle, thought;
    size_t n_kernels, n_rounds;
} Outcome;

/* One search, and a clock that compiling and measuring set. */
typedef struct {
    Setup *x;
    Search s;
    double budget, now, busy, thought; /* busy: of the device; thought: choosing */
    double next_built, after_built;    /* when the kernels of a round are there */
    bool overlaps;
    SearchBatch batch, next, after;
    double *reached;
    size_t *n, *to_99;
    size_t n_rounds;
} Run;

static Err measure(Run *r)
{
    Setup *x = r->x;
    Solution solution;
    Hash128 hash;
    for (size_t i = 0; i < r->batch.n; i++) {
        const SearchPair *p = &r->batch.v[i];
        const size_t z = p->size;
        if (p->again) continue;
        if (!pool_get(&x->pool, r->s.known.v[p->candidate].permutation, &solution, &hash) ||
            !x->truth.kernel(x->truth.ctx, &solution))
            continue;
        const double t = true_seconds(x, &solution, hash, z);
        r->n[z]++;
        r->reached[z] = fmax(r->reached[z], x->best[z] / t);
        if (!r->to_99[z] && r->reached[z] >= 0.99) r->to_99[z] = r->n[z];
        search_result(&r->s, p->candidate, p->size, t * 1e9);
    }
    return ERR_OK;
}

/* Chooses a batch. *ready: when it is chosen and compiled. */
static Err choose(Run *r, const SearchBatch *flight, SearchBatch *out, double *ready)
{
    const double compile_s = r->overlaps ? COMPILE_S * CORES / (CORES - 1) : COMPILE_S;
    const double pending_s = (double)flight->n * PAIR_S;
    const SearchQuota q = search_quota(&(SearchTime){.budget_s = r->budget,
                                                     .left_s = r->budget - r->now - pending_s,
                                                     .kernel_s = compile_s,
                                                     .pair_s = PAIR_S,
                                                     .n_rounds = r->s.n_batches,
                                                     .n_cores = CORES,
                                                     .learns = true,
                                                     .overlaps = r->overlaps});
    const size_t known = r->s.known.n;
    const clock_t from = clock();
    out->n = 0;
    if (q.per_size) TRY(search_next(&r->s, &q, flight, out));
    const double thought = (double)(clock() - from) / CLOCKS_PER_SEC;
    r->thought += thought;
    r->now += thought;
    *ready = fmax(r->now, *ready) + (double)(r->s.known.n - known) * compile_s;
    return ERR_OK;
}

static Err choose_both(Run *r)
{
    const SearchBatch none = {0};
    if (!r->next.n) TRY(choose(r, &none, &r->next, &r->next_built));
    r->after_built = r->next_built;
    if (r->next.n && r->overlaps) TRY(choose(r, &r->next, &r->after, &r->after_built));
    return ERR_OK;
}

static Err rounds(Run *r)
{
    TRY(choose_both(r));
    while (r->next.n && (r->now < r->budget || r->budget <= 0)) {
        const SearchBatch t = r->batch;
        r->batch = r->next, r->next = r->after, r->after = t, r->after.n = 0;
        r->now = fmax(r->now, r->next_built) + ROUND_S + (double)r->batch.n * PAIR_S;
        r->busy += (double)r->batch.n * PAIR_S;
        r->next_built = r->after_built;
        r->n_rounds++;
        TRY(measure(r));
        TRY(choose_both(r));
    }
    return ERR_OK;
}

static void summary(const Run *r, Outcome *out)
{
    const size_t nz = r->x->n_sizes;
    double logs = 0;
    *out = (Outcome){.seconds = r->now,
                     .n_kernels = r->s.known.n,
                     .n_rounds = r->n_rounds,
                     .least = 1,
                     .thought = r->thought,
                     .idle = 1 - r->busy / r->now};
    for (size_t z = 0; z < nz; z++) {
        logs += log(fmax(r->reached[z], 1e-3));
        out->per_size += (double)r->n[z] / (double)nz;
        out->least = fmin(out->least, r->reached[z]);
        out->without_99 += r->to_99[z] ? 0 : 1 / (double)nz;
        if (getenv("VERBOSE"))
            printf("    size %zu: %zu measured, 99%% after %zu, %.4f\n", z, r->n[z], r->to_99[z],
                   r->reached[z]);
    }
    out->share = exp(logs / (double)nz);
}

/* What step_search does. */
static Err run(Setup *x, double budget, bool overlaps, Outcome *out)
{
    Run r = {.x = x,
             .budget = budget,
             .overlaps = overlaps,
             .reached = calloc(x->n_sizes, sizeof *r.reached),
             .n = calloc(x->n_sizes, sizeof *r.n),
             .to_99 = calloc(x->n_sizes, sizeof *r.to_99)};
    SearchOptions o = {.pool = &x->pool,
                       .method = SEARCH_MODEL,
                       .pt = x->pt,
                       .size = x->size,
                       .n_sizes = x->n_sizes,
                       .seed = 1};
    TRY(predictor_init(&x->predictor, &o.model));
    TRY(search_init(&r.s, &o));
    Err e = rounds(&r);
    if (!e) summary(&r, out);
    predictor_fini(&r.s.o.model);
    search_fini(&r.s);
    VEC_FINI(&r.batch);
    VEC_FINI(&r.next);
    VEC_FINI(&r.after);
    free(r.reached);
    free(r.n);
    free(r.to_99);
    return e;
}

static Err setup(Setup *x, Arena *a, const char *path, const char *arch)
{
    TRY(config_read(a, path, NULL, &x->config));
    x->target = target_find(str_from(arch));
    if (!x->target) FAIL(ERR_INPUT, "unknown architecture '%s'", arch);
    const char *group = getenv("GROUP");
    const size_t at = group ? strtoul(group, NULL, 10) : 0;
    if (at >= x->config->n_problems) FAIL(ERR_INPUT, "GROUP %zu of %zu", at, x->config->n_problems);
    const ProblemGroup *p = &x->config->problem[at];
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
    const char *devices = getenv("DEVICES");
    const uint64_t n_devices = devices ? strtoul(devices, NULL, 10) : DEVICES_MADE;
    for (uint64_t device = 1; device <= n_devices; device++) {
        TRY(truth_make(&x, device));
        for (int i = 3; i < argc; i++)
            for (int overlaps = 0; overlaps < 2; overlaps++) {
                Outcome o = {0};
                TRY(run(&x, atof(argv[i]), overlaps, &o));
                printf("search_bench: device %d, budget %5s s%s: %.4f of the best speed, least %.4f; %zu "
                       "kernels, %.1f candidates on a size, %zu rounds, %.0f s (%.0f choosing); without "
                       "99%%: %.2f; device idle %.2f\n",
                       (int)device, argv[i], overlaps ? ", overlapped" : "", o.share, o.least, o.n_kernels,
                       o.per_size, o.n_rounds, o.seconds, o.thought, o.without_99, o.idle);
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
