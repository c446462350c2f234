/* The data of a report from a run's store, which may be at work, killed or partial. See data.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "measure/model.h"
#include "measure/model_store.h"
#include "report/data.h"

enum { FAULTS_MAX = 500, STATUSES_MAX = 32 };

typedef struct {
    ReportData *d;
    Store s;
    Arena scratch; /* of one size */
} Loading;

/* ---- sizes ---- */

static ReportPlace place_of(const Result *r, size_t kernel)
{
    const bool has = r->ns.n > 1;
    return (ReportPlace){kernel, r->ns.median, has ? r->ns.lo : (double)NAN, has ? r->ns.hi : (double)NAN,
                         r->ns.n};
}

/* The first places and the speeds of all kernels. */
static Err places_take(Loading *l, const PlanView *p, const Ranking *rank, ReportSize *z, bool speeds)
{
    z->n_places = rank->n_good < REPORT_PLACES ? rank->n_good : REPORT_PLACES;
    for (size_t i = 0; i < z->n_places; i++)
        z->place[i] = place_of(&rank->result[rank->order[i]], rank->order[i]);
    if (!speeds) return ERR_OK;
    TRY_ALLOC(z->speed = ARENA_ARRAY(&l->d->arena, p->n_candidates, int32_t));
    for (size_t k = 0; k < p->n_candidates; k++) {
        const Result *r = &rank->result[k];
        z->speed[k] = r->good    ? (int32_t)lround(1e4 * rank->result[rank->best].ns.median / r->ns.median)
                      : r->found ? SPEED_FAILED
                                 : SPEED_MISSING;
        if (r->good && z->speed[k] < 1) z->speed[k] = 1;
    }
    return ERR_OK;
}

static Err samples_take(ReportData *d, const Result *best, ReportSize *z)
{
    TRY_ALLOC(z->sample_ns = ARENA_ARRAY(&d->arena, best->n_samples, double));
    memcpy(z->sample_ns, best->sample_ns, best->n_samples * sizeof *z->sample_ns);
    z->n_samples = best->n_samples;
    return ERR_OK;
}

static Err peer_take(Loading *l, const PlanView *p, size_t size, const Ranking *rank, ReportSize *z)
{
    Result peer;
    Str name;
    ReportData *d = l->d;
    TRY(result_peer(&l->s, &l->scratch, p, size, &name, &peer));
    if (!peer.found) return ERR_OK;
    if (!d->peer.n) TRY_ALLOC((d->peer = arena_dup(&d->arena, name)).s);
    z->peer.found = peer.good;
    z->peer.ratio = (Comparison){STATS_UNKNOWN, NAN, NAN, NAN, 0};
    if (!peer.good)
        return (z->peer.why = arena_dup(&d->arena, peer.detail.n ? peer.detail : peer.status)).s
                   ? ERR_OK
                   : err_set(ERR_FAILED, "out of memory");
    z->peer.ns = peer.ns.median;
    z->peer.gflops = gflops_of(z->flops, peer.ns.median);
    if (rank->best == SIZE_MAX) return ERR_OK;
    return results_compare(&l->scratch, &peer, &rank->result[rank->best], &z->peer.ratio);
}

/* Counts the pairs of size and kernel by their status. */
static Err statuses_count(Loading *l, const PlanView *p, const Ranking *rank, ReportGroup *g)
{
    for (size_t k = 0; k < p->n_candidates; k++) {
        const Result *r = &rank->result[k];
        size_t i = 0;
        if (!r->found) continue;
        while (i < g->n_statuses && !str_eq(g->status[i].status, r->status)) i++;
        if (i == STATUSES_MAX) i--; /* a damaged store: the rest counts with the last */
        if (i == g->n_statuses) {
            g->status[i] = (StatusCount){arena_dup(&l->d->arena, r->status), 0, status_good(r->status)};
            TRY_ALLOC(g->status[i].status.s);
            g->n_statuses++;
        }
        g->status[i].n++;
    }
    return ERR_OK;
}

static Err size_take(Loading *l, const PlanView *p, size_t size, ReportGroup *g, bool speeds, ReportSize *z)
{
    Ranking rank;
    const Str key = p->size[size].key;
    arena_reset(&l->scratch);
    TRY(ranking_make(&l->s, &l->scratch, p, size, &rank));
    report_size_init(g, z, str_sub(key, str_find(key, ' ', 0) + 1, key.n), p->size[size].flops);
    z->n_good = rank.n_good;
    z->n_failed = rank.n_failed;
    z->n_missing = rank.n_missing;
    z->versus = rank.versus;
    z->dropped = rank.dropped;
    TRY(places_take(l, p, &rank, z, speeds));
    TRY(statuses_count(l, p, &rank, g));
    if (rank.best != SIZE_MAX) {
        z->gflops = gflops_of(z->flops, rank.result[rank.best].ns.median);
        TRY(samples_take(l->d, &rank.result[rank.best], z));
    }
    return peer_take(l, p, size, &rank, z);
}

/* ---- groups ---- */

static Err kernels_take(Loading *l, const PlanView *p, ReportGroup *g)
{
    double peak = 0;
    TRY_ALLOC(g->kernel = ARENA_ARRAY(&l->d->arena, p->n_candidates, ReportKernel));
    g->n_kernels = p->n_candidates;
    for (size_t k = 0; k < g->n_kernels; k++) {
        const Candidate *c = &p->candidate[k];
        ModelKernel model;
        bool found;
        g->kernel[k].name = c->name;
        if (c->compile != BUILD_NONE) g->kernel[k].compile = str_from(build_outcome_name(c->compile));
        TRY(store_code_get(&l->s, &l->d->arena, c->kernel, p->environment, &g->kernel[k].facts, &found));
        if (!found) g->kernel[k].facts = STR("");
        TRY(store_model_kernel_get(&l->s, c->kernel, &model, &found));
        if (found && model.peak > peak) peak = model.peak;
    }
    g->peak_gflops = peak > 0 ? peak : (double)NAN;
    return ERR_OK;
}

/* Ceilings: the peak rate of the kernels' types, and DRAM; by the device as the model sees it. */
static Err ceilings_take(Loading *l, const PlanView *p, ReportGroup *g)
{
    char key[48];
    ModelRecord m;
    bool found;
    const Target *t = target_find(p->arch);
    snprintf(key, sizeof key, MODEL_PLAN_KEY, (long long)p->id);
    TRY(store_model_get(&l->s, str_from(key), &m, &found));
    if (!found) {
        Str name, n_cu;
        int64_t n = 0;
        TRY(query_environment(&l->s, &l->d->arena, "device", &name));
        TRY(query_environment(&l->s, &l->d->arena, "n_cu", &n_cu));
        if (!t) return ERR_OK;
        if (!str_to_i64(n_cu, &n) || n < 0 || n > 100000) n = 0;
        model_of_part(t, name, (int)n, &m.device);
    }
    g->peak_gflops *= m.device.n_cu * m.device.clock_hz * 1e-9;
    g->dram_gbs = m.device.dram_rate * 1e-9;
    /* on GPUs operands are timed while they are not in the cache */
    if (t && !target_family(t)->is_gpu) g->cache_bytes = m.device.l2_bytes * m.device.n_cu;
    return ERR_OK;
}

static Err faults_of_plan(Loading *l, const PlanView *p, ReportRun *run)
{
    FailedKernel *failed;
    size_t n;
    TRY(query_failed_kernels(&l->s, &l->d->arena, p, FAULTS_MAX, &failed, &n));
    for (size_t i = 0; i < n && run->n_faults < FAULTS_MAX; i++) {
        Str outcome = str_from(build_outcome_name(failed[i].outcome));
        run->fault[run->n_faults++] = (ReportFault){failed[i].name, STR(""), STR("compiler"), outcome};
    }
    return ERR_OK;
}

static Err group_take(Loading *l, const PlanView *p)
{
    ReportData *d = l->d;
    ReportGroup *g = report_group_add(d);
    TRY_ALLOC(g);
    g->name = p->group;
    g->type = report_type_of(p->group);
    g->arch = p->arch;
    g->n_permutations = p->n_permutations;
    g->n_valid = p->n_valid;
    g->n_duplicates = p->n_duplicates;
    TRY(query_rejections(&l->s, &d->arena, p->id, &g->rejection, &g->n_rejections));
    TRY_ALLOC(g->status = ARENA_ARRAY(&d->arena, STATUSES_MAX, StatusCount));
    TRY(faults_of_plan(l, p, &d->run[g->run]));
    TRY(kernels_take(l, p, g));
    TRY(ceilings_take(l, p, g));
    TRY_ALLOC(g->size = ARENA_ARRAY(&d->arena, p->n_sizes, ReportSize));
    const bool speeds = report_speeds_fit(d, p->n_sizes * p->n_candidates);
    Map seen;
    map_init(&seen);
    Err e = 0;
    for (size_t z = 0; !e && z < p->n_sizes; z++) {
        bool added; /* a config may list a size twice */
        if (!map_put(&seen, (Str){(const char *)&p->size[z].problem, sizeof(int64_t)}, &added))
            e = err_set(ERR_FAILED, "out of memory for %zu sizes", p->n_sizes);
        if (!e && added) e = size_take(l, p, z, g, speeds, &g->size[g->n_sizes++]);
    }
    map_fini(&seen);
    return e;
}

/* ---- the run ---- */

static Err session_take(Loading *l, ReportRun *run, const char *outdir)
{
    SessionTimes *all;
    size_t n;
    TRY(query_sessions(&l->s, &l->d->arena, &all, &n));
    run->live = store_at_work(outdir);
    if (!n) return ERR_OK;
    const SessionTimes *last = &all[n - 1];
    run->state = session_state(last->state, run->live);
    run->detail = last->detail;
    run->started = last->started;
    run->ended = last->ended;
    run->command = last->command;
    return query_steps(&l->s, &l->d->arena, last->id, &run->step, &run->n_steps);
}

static Err faults_take(Loading *l, ReportRun *run)
{
    FaultRecord *f;
    size_t n;
    TRY(query_faults(&l->s, &l->d->arena, STR(""), FAULTS_MAX, &f, &n));
    for (size_t i = 0; i < n && run->n_faults < FAULTS_MAX; i++)
        run->fault[run->n_faults++] = (ReportFault){f[i].kernel, f[i].problem, f[i].status, f[i].detail};
    return ERR_OK;
}

/* Marks the sizes that the library did not get. */
static Err held_out_mark(ReportData *d, size_t from, const ReportRun *run)
{
    Map keys;
    Err e = 0;
    map_init(&keys);
    for (size_t i = 0; !e && i < run->n_regrets; i++) {
        Str key = arena_printf(&d->arena, "%.*s %.*s", STR_ARG(run->regret[i].type),
                               STR_ARG(run->regret[i].numbers));
        if (!key.s || !map_put(&keys, key, NULL)) e = err_set(ERR_FAILED, "out of memory for sizes");
    }
    for (size_t i = from; !e && i < d->n_groups; i++)
        for (size_t z = 0; z < d->group[i].n_sizes && keys.n; z++) {
            ReportSize *size = &d->group[i].size[z];
            char key[512];
            snprintf(key, sizeof key, "%.*s %.*s", STR_ARG(d->group[i].type), STR_ARG(size->numbers));
            size->held_out = map_get(&keys, str_from(key)) != NULL;
        }
    map_fini(&keys);
    return e;
}

static Err run_take(Loading *l, const char *outdir)
{
    ReportData *d = l->d;
    PlanView *plan;
    size_t n, first = d->n_groups;
    ReportRun *run = report_run_add(d, SOURCE_RUN, str_from(outdir));
    TRY_ALLOC(run);
    TRY(session_take(l, run, outdir));
    TRY(query_environment(&l->s, &d->arena, "device", &run->device));
    TRY(query_environment(&l->s, &d->arena, "driver", &run->driver));
    TRY(query_environment(&l->s, &d->arena, "architecture", &run->arch));
    TRY(store_busy_last(&l->s, &run->busy, &run->has_busy));
    TRY(query_searches(&l->s, &d->arena, &run->search, &run->n_searches));
    TRY_ALLOC(run->fault = ARENA_ARRAY(&d->arena, FAULTS_MAX, ReportFault));
    TRY(faults_take(l, run));
    TRY(plans_latest(&l->s, &d->arena, &plan, &n));
    for (size_t i = 0; i < n; i++) TRY(group_take(l, &plan[i]));
    TRY(query_regrets(&l->s, &d->arena, &run->regret, &run->n_regrets));
    return held_out_mark(d, first, run);
}

Err data_store_read(ReportData *d, const char *outdir)
{
    Loading l = {.d = d};
    TRY(store_open(&l.s, outdir, STORE_READ));
    arena_init(&l.scratch, 0);
    Err e = run_take(&l, outdir);
    arena_fini(&l.scratch);
    store_close(&l.s);
    return e;
}
