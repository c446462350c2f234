/* A search on a simulated clock: compiling and measuring take the seconds that they took on an H200's
 * machine with 16 processors, as step_search does them on GPUs: the next round's kernels are compiled
 * while the device measures, or (overlaps false) one after the other. What the search itself computes is
 * timed here, and counts as if it ran there: its forked processes on all processors. The device is a
 * function of candidate and size. */
#ifndef TEST_BENCH_SEARCH_SIM_H
#define TEST_BENCH_SEARCH_SIM_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/fs.h"
#include "measure/predictor.h"
#include "measure/search_cost.h"
#include "measure/search_quota.h"
#include "space/config.h"

/* COMPILE_S: of a kernel on one of CORES processors; FIRST_S: of a client until its first size is ready; a
 * round takes SIZE_S and ELEMENT_S for each element of A, B, C and D on each size, and on each pair PAIR_S,
 * LAUNCHES launches and, of kernels shorter than GRAPH_BELOW_S, GRAPH_S for each launch of a graph over the
 * copies of the operands (measured: rounds of three searches, 8,000 pairs on 60 sizes). FINAL: share of the
 * budget for finalists. */
#define SIM_COMPILE_S 0.66
#define SIM_FIRST_S 1.4
#define SIM_SIZE_S 0.087
#define SIM_ELEMENT_S 1.7e-9
#define SIM_PAIR_S 0.0052
#define SIM_GRAPH_BELOW_S 20e-6
#define SIM_GRAPH_S 1.9e-5
#define SIM_COPIES_BYTES 105e6
#define SIM_FINAL 0.2
enum { SIM_CORES = 16, SIM_LAUNCHES = 38, SIM_GRAPH_LEAST = 32, SIM_GRAPH_MOST = 2048 };

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
    double fork_s;
    double (*seconds)(void *ctx, const Solution *s, Hash128 hash,
                      size_t z); /* 0: it does not take the size */
    void *ctx;
    double *best;                             /* of each size, over the pool */
    const double *weight;                     /* of each size; NULL: all alike */
    Err (*ended)(void *ctx, const Search *s); /* looks at a search that has ended; may be NULL */
} SimSetup;

typedef struct {
    double seconds, share, least, per_size, without_99, idle, thought;
    double first_share;                    /* after the first round */
    size_t n_kernels, n_rounds, n_without; /* n_without: sizes without a result after the first round */
    double *reached;                       /* of each size: share of the best */
} SimOutcome;

typedef struct {
    SimSetup *x;
    Search s;
    double budget, now, busy, thought, begun; /* begun: measuring the batch */
    double next_built, after_built;           /* when the kernels of a round are there */
    double compile_s, scale, spent_predicted, spent_measured;
    bool overlaps;
    SearchBatch batch, next, after;
    uint32_t *order, *next_order, *after_order; /* in which the sizes of each are measured */
    size_t n_kernels_next, n_compiled;
    SimOutcome *out;
    size_t *n, *to_99, n_rounds;
} Sim;

static inline double sim_processor_seconds(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Seconds on SIM_CORES processors since before; the processes that did the work here share it there. */
static inline double sim_thought(double self, double children)
{
    const char *serial = getenv("THINK_CORES");
    const double cores = serial ? atof(serial) : SIM_CORES;
    return sim_processor_seconds(RUSAGE_SELF) - self +
           (sim_processor_seconds(RUSAGE_CHILDREN) - children) / cores;
}

static inline double sim_elements(const SimSetup *x, size_t z, bool all)
{
    const double m = (double)size_m(x->pt, &x->size[z]), n = (double)size_n(x->pt, &x->size[z]);
    const double k = (double)size_k(x->pt, &x->size[z]), batch = (double)size_batch(x->pt, &x->size[z]);
    return batch * (m * n * (all ? 2 : 1) + (all ? (m + n) * k : 0));
}

static inline double sim_pair_seconds(const SimSetup *x, size_t z)
{
    const double bytes = sim_elements(x, z, true) * type_bytes((DataType)x->pt->DestDataType);
    const double graph = fmin(fmax(ceil(SIM_COPIES_BYTES / bytes), SIM_GRAPH_LEAST), SIM_GRAPH_MOST);
    return SIM_PAIR_S + SIM_LAUNCHES * x->best[z] +
           (x->best[z] < SIM_GRAPH_BELOW_S ? SIM_GRAPH_S * graph : 0);
}

/* Seconds of measuring a batch until the turn of a size; last n_sizes: until its end. */
static inline double sim_seconds_until(const Sim *r, size_t last)
{
    const SimSetup *x = r->x;
    double s = r->batch.n ? SIM_FIRST_S : 0;
    for (size_t k = 0; k < x->n_sizes && r->order[k] != last; k++) {
        size_t n = 0;
        const size_t z = r->order[k];
        for (size_t i = 0; i < r->batch.n; i++) n += r->batch.v[i].size == z;
        if (n)
            s += SIM_SIZE_S + SIM_ELEMENT_S * sim_elements(x, z, true) + (double)n * sim_pair_seconds(x, z);
    }
    return s;
}

/* Takes the times of a batch. Sizes whose turn comes after the end of the budget are not measured, but in
 * the first round. */
static inline void sim_measure(Sim *r)
{
    SimSetup *x = r->x;
    Solution solution;
    Hash128 hash;
    for (size_t i = 0; i < r->batch.n; i++) {
        const SearchPair *p = &r->batch.v[i];
        const size_t z = p->size;
        if (p->again || !pool_get(&x->pool, r->s.known.v[p->candidate].permutation, &solution, &hash))
            continue;
        if (r->n_rounds && r->budget > 0 && r->begun + sim_seconds_until(r, z) > r->budget) continue;
        const double t = x->seconds(x->ctx, &solution, hash, z);
        r->n[z]++;
        if (t > 0) r->out->reached[z] = fmax(r->out->reached[z], x->best[z] / t);
        if (!r->to_99[z] && r->out->reached[z] >= 0.99) r->to_99[z] = r->n[z];
        search_result(&r->s, p->candidate, p->size, t > 0 ? t * 1e9 : (double)INFINITY);
    }
}

/* Chooses a batch. *ready: when it is chosen and compiled. */
static inline Err sim_choose(Sim *r, const SearchBatch *flight, SearchBatch *out, uint32_t *order,
                             double *ready)
{
    const double pending_s = search_cost_batch(&r->s, flight) * r->scale;
    const SearchQuota q = search_quota(&(SearchTime){.budget_s = r->budget,
                                                     .left_s = r->budget - r->now - pending_s,
                                                     .kernel_s = r->compile_s,
                                                     .pair_s = 0.02,
                                                     .sizes_s = search_cost_sizes(&r->s) * r->scale,
                                                     .scale = r->scale,
                                                     .n_rounds = r->s.n_batches,
                                                     .n_cores = SIM_CORES,
                                                     .learns = true,
                                                     .overlaps = r->overlaps});
    const size_t known = r->s.known.n;
    const double self = sim_processor_seconds(RUSAGE_SELF), children = sim_processor_seconds(RUSAGE_CHILDREN);
    out->n = 0;
    if (q.per_size) TRY(search_next(&r->s, &q, flight, out));
    TRY(search_order(&r->s, out, order));
    const double thought = sim_thought(self, children);
    const double n = (double)(r->s.known.n - known), cores = r->overlaps ? SIM_CORES - 1 : SIM_CORES;
    r->thought += thought;
    r->now += thought;
    *ready = fmax(r->now, *ready) + ceil(n / cores) * SIM_COMPILE_S;
    if (n > 0) r->compile_s = SIM_COMPILE_S / cores;
    return ERR_OK;
}

static inline Err sim_choose_both(Sim *r)
{
    const SearchBatch none = {0};
    if (!r->next.n) TRY(sim_choose(r, &none, &r->next, r->next_order, &r->next_built));
    r->after_built = r->next_built;
    if (r->next.n && r->overlaps) TRY(sim_choose(r, &r->next, &r->after, r->after_order, &r->after_built));
    return ERR_OK;
}

static inline double sim_share(const Sim *r, double *least)
{
    double logs = 0;
    *least = 1;
    for (size_t z = 0; z < r->x->n_sizes; z++) {
        logs += log(fmax(r->out->reached[z], 1e-3));
        *least = fmin(*least, r->out->reached[z]);
    }
    return exp(logs / (double)r->x->n_sizes);
}

static inline Err sim_rounds(Sim *r)
{
    double least;
    TRY(sim_choose_both(r));
    while (r->next.n && (r->n_rounds < 1 || r->now < r->budget || r->budget <= 0)) {
        const SearchBatch t = r->batch;
        uint32_t *const order = r->order;
        r->batch = r->next, r->next = r->after, r->after = t, r->after.n = 0;
        r->order = r->next_order, r->next_order = r->after_order, r->after_order = order;
        const double s = sim_seconds_until(r, r->x->n_sizes);
        if (getenv("VERBOSE"))
            printf(
                "    %.1f s: round %zu waits %.1f s for compilers, %zu pairs in %.1f s, %zu kernels known\n",
                r->now, r->n_rounds + 1, fmax(0, r->next_built - r->now), r->batch.n, s, r->s.known.n);
        r->begun = fmax(r->now, r->next_built);
        r->now = r->begun + s;
        r->busy += s;
        r->spent_measured += s, r->spent_predicted += search_cost_batch(&r->s, &r->batch);
        r->scale = r->spent_measured / r->spent_predicted;
        r->next_built = r->after_built;
        sim_measure(r);
        if (r->n_rounds++ == 0) {
            r->out->first_share = sim_share(r, &least);
            for (size_t z = 0; z < r->x->n_sizes; z++) r->out->n_without += !(r->out->reached[z] > 0);
        }
        TRY(sim_choose_both(r));
    }
    return ERR_OK;
}

/* What step_search does in `budget` seconds (0: without a budget). out->reached: n_sizes numbers. */
static inline Err sim_run(SimSetup *x, double budget, bool overlaps, SimOutcome *out)
{
    Sim r = {.x = x,
             .budget = budget * (1 - SIM_FINAL),
             .now = x->fork_s,
             .overlaps = overlaps,
             .compile_s = 1.5 / SIM_CORES,
             .scale = 1,
             .out = out,
             .n = calloc(x->n_sizes, sizeof *r.n),
             .to_99 = calloc(x->n_sizes, sizeof *r.to_99),
             .order = calloc(x->n_sizes, sizeof *r.order),
             .next_order = calloc(x->n_sizes, sizeof *r.next_order),
             .after_order = calloc(x->n_sizes, sizeof *r.after_order)};
    SearchOptions o = {.pool = &x->pool,
                       .method = SEARCH_MODEL,
                       .pt = x->pt,
                       .size = x->size,
                       .n_sizes = x->n_sizes,
                       .weight = x->weight,
                       .seed = 1,
                       .graphs = true};
    TRY_ALLOC(r.n);
    TRY_ALLOC(r.to_99);
    TRY_ALLOC(r.order);
    TRY_ALLOC(r.next_order);
    TRY_ALLOC(r.after_order);
    TRY(predictor_init(&x->predictor, &o.model));
    TRY(search_init(&r.s, &o));
    Err e = sim_rounds(&r);
    if (!e && x->ended) e = x->ended(x->ctx, &r.s);
    out->share = sim_share(&r, &out->least);
    for (size_t z = 0; z < x->n_sizes; z++) {
        out->per_size += (double)r.n[z] / (double)x->n_sizes;
        out->without_99 += r.to_99[z] ? 0 : 1 / (double)x->n_sizes;
        if (getenv("VERBOSE"))
            printf("    size %zu: %zu measured, 99%% after %zu, %.4f\n", z, r.n[z], r.to_99[z],
                   out->reached[z]);
    }
    out->seconds = r.now, out->thought = r.thought, out->idle = 1 - r.busy / r.now;
    out->n_kernels = r.s.known.n, out->n_rounds = r.n_rounds;
    predictor_fini(&r.s.o.model);
    search_fini(&r.s);
    VEC_FINI(&r.batch);
    VEC_FINI(&r.next);
    VEC_FINI(&r.after);
    free(r.n);
    free(r.to_99);
    free(r.order);
    free(r.next_order);
    free(r.after_order);
    return e;
}

/* The config's group-th problem: its space, forked. */
static inline Err sim_setup(SimSetup *x, Arena *a, const char *path, const char *arch, size_t group)
{
    TRY(config_read(a, path, NULL, &x->config));
    x->target = target_find(str_from(arch));
    if (!x->target) FAIL(ERR_INPUT, "unknown architecture '%s'", arch);
    if (group >= x->config->n_problems) FAIL(ERR_INPUT, "%s: it has no problem %zu", path, group);
    const ProblemGroup *p = &x->config->problem[group];
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
    const double self = sim_processor_seconds(RUSAGE_SELF), children = sim_processor_seconds(RUSAGE_CHILDREN);
    TRY(pool_init(&x->pool, &x->space, &x->deriver, NULL));
    x->fork_s = sim_thought(self, children);
    x->predictor = (PredictorOptions){.target = x->target,
                                      .pt = x->pt,
                                      .size = x->size,
                                      .n_sizes = x->n_sizes,
                                      .max_workspace = g->MaxWorkspaceSize};
    model_of_part(x->target, STR_NULL, 0, &x->predictor.device);
    model_rates_typical(x->predictor.rates);
    TRY_ALLOC(x->best = ARENA_ARRAY(a, x->n_sizes, double));
    return ERR_OK;
}

/* The best time of each size over the pool. */
static inline void sim_best(SimSetup *x)
{
    Solution s;
    Hash128 hash;
    for (size_t z = 0; z < x->n_sizes; z++) x->best[z] = (double)INFINITY;
    for (size_t i = 0; i < x->pool.n; i++) {
        if (!pool_get(&x->pool, x->pool.item[i], &s, &hash)) continue;
        for (size_t z = 0; z < x->n_sizes; z++) {
            const double t = x->seconds(x->ctx, &s, hash, z);
            if (t > 0) x->best[z] = fmin(x->best[z], t);
        }
    }
}

#endif
