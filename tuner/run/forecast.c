/* Estimates the measuring time before measuring begins. See forecast.h. */
#include "run/forecast.h"

#include "measure/query.h"

enum { HISTORY_MAX = 2000 };
/* A longer time between the ends of two pairs is a pause between runs. */
static const double PAUSE_SECONDS = 300;
/* The first launch of a kernel in a race takes up to LOOK_SECONDS with its validation. */
static const double LOOK_SECONDS = 0.1;

/* Rows come latest first: the time of a pair is the difference to the row before it in the store. */
static void history_add(const PairEnd *end, size_t n, Eta *eta)
{
    for (size_t i = 1; i < n; i++) {
        const PairEnd *later = &end[i - 1];
        double took = later->ended_s - end[i].ended_s;
        if (end[i].id == later->id - 1 && took >= 0 && took < PAUSE_SECONDS && later->flops > 0)
            eta_measured(eta, later->flops, took, true);
    }
}

Err forecast_history(Store *s, int64_t setting, Eta *eta)
{
    Arena a;
    PairEnd *end;
    size_t n;
    arena_init(&a, 0);
    Err e = query_pair_ends(s, &a, setting, HISTORY_MAX, &end, &n);
    if (!e) history_add(end, n, eta);
    arena_fini(&a);
    return e;
}

/* Adds the missing pairs of a group, assuming that all kernels compile. */
static Err group_expect(Run *r, const Group *g, Eta *eta)
{
    PairCount size, done;
    const int64_t n_runs = r->config->globals.NumBenchmarks;
    double each = (double)g->n_variants * (double)n_runs;
    TRY(query_plan_work(&r->store, g->plan, &size));
    TRY(query_measured_work(&r->store, g->plan, g->setting, n_runs, &done));
    double n = (double)size.n * each - (double)done.n, w = size.flops * each - done.flops;
    if (n <= 0) return 0;
    eta_expect(eta, n, w > 0 ? w / n : 0);
    if (size.flops_max > eta->left_max) eta->left_max = size.flops_max;
    return 0;
}

bool run_races(const Run *r)
{
    const Globals *g = &r->config->globals;
    bool gpu =
        target_family(r->target)->is_gpu && !r->device.is_simulated && !str_eq_c(r->device.kind, "sim");
    return g->TimingMethod == 2 || (g->TimingMethod == 0 && (gpu || g->Peer));
}

Err forecast_measure(Run *r, EtaRange *out)
{
    Eta eta = {0};
    double sizes = 0;
    *out = (EtaRange){0, -1};
    if (r->o->compile_only || r->config->globals.GenerateSourcesAndExit) return 0;
    for (size_t i = 0; i < r->n_groups; i++) {
        const Group *g = &r->group[i];
        if (g->skip) continue;
        TRY(forecast_history(&r->store, g->setting, &eta));
        TRY(group_expect(r, g, &eta));
        sizes += (double)g->n_sizes * (double)r->config->globals.NumBenchmarks;
    }
    *out = eta_range(&eta, 0);
    const double n = r->n_pool > 1 ? (double)r->n_pool : 1;
    if (out->hi < 0 && run_races(r))
        *out = (EtaRange){sizes * RACE_SECONDS * 0.5 / n,
                          (sizes * RACE_SECONDS * 1.5 + eta.left_n * LOOK_SECONDS) / n};
    return 0;
}
