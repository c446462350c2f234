/* Step: measures the pairs of solution and size that the store lacks.
 *
 * tuner-client gets the missing pairs and reports results as events. Each pair is committed when it ends, so
 * that a killed run loses at most the running one. A client that dies is started again; a pair that kills it
 * PAIR_DEATHS_MAX times is recorded as CRASHED. See run.h.
 */
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/map.h"
#include "run/busy.h"
#include "run/forecast.h"
#include "run/measuring.h"
#include "run/measure_pool.h"

enum { PAIR_DEATHS_MAX = 2, IDLE_DEATHS_MAX = 2 };

/* Writes the *n pairs that the store lacks. A size that is listed twice is measured once. */
static Err plan_write(Measuring *m, size_t *n)
{
    Buf text;
    Map seen;
    buf_init(&text);
    map_init(&seen);
    Err e = 0;
    *n = 0;
    for (size_t i = 0; !e && i < m->g->n_sizes; i++) {
        bool added;
        const size_t p = m->g->order ? m->g->order[i] : i;
        if (!map_put(&seen, (Str){(const char *)&m->g->problem_id[p], sizeof(int64_t)}, &added))
            e = err_set(ERR_FAILED, "out of memory for %zu sizes", p);
        if (!e && added) e = measuring_missing(m, p, &text, n);
    }
    if (!e) e = buf_check(&text);
    if (!e) e = path_no_link(m->plan_path.s);
    if (!e && *n) e = file_write(m->plan_path.s, buf_view(&text));
    map_fini(&seen);
    buf_fini(&text);
    return e;
}

typedef struct {
    int64_t p, s;
    int n, idle;
} Deaths;

/* The client ended without the event "done". */
static Err client_died(Measuring *m, const ClientEnd *end, Deaths *d)
{
    Buf how;
    buf_init(&how);
    buf_puts(&how, "tuner-client ");
    proc_describe(&end->result, &how);
    Err e = 0;
    if (m->open) {
        d->n = d->p == m->p && d->s == m->s ? d->n + 1 : 1;
        d->p = m->p;
        d->s = m->s;
        if (d->n >= PAIR_DEATHS_MAX) e = measuring_pair_end(m, RUN_CRASHED, str_from(buf_cstr(&how)));
        m->open = false;
    }
    d->idle = m->n_ended || d->n == 1 ? 0 : d->idle + 1;
    if (!e && d->idle >= IDLE_DEATHS_MAX)
        e = err_set(ERR_FAILED, "%s without measuring anything; what it said is in '%s'", buf_cstr(&how),
                    m->log_path.s);
    buf_fini(&how);
    return e;
}

static Err run_measure(Measuring *m)
{
    Deaths deaths = {.p = -1};
    const char **extra = measuring_args(m->r, NULL);
    TRY_ALLOC(extra);
    for (;;) {
        size_t n;
        ClientEnd end;
        TRY(run_check());
        TRY(plan_write(m, &n));
        if (n == 0 || m->all->late) return 0;
        ClientSpec spec = {m->r->client.s, m->ini_path.s, m->plan_path.s, m->log_path.s,
                           m->build_dir.s, extra,         measuring_tick};
        m->n_ended = 0;
        busy_look(m->r);
        const uint64_t started_ns = clock_ns();
        Err e = client_run(&spec, measuring_event, m, &end);
        TRY(measuring_client_end(m, &end, started_ns));
        if (m->all->late) return measuring_environment(m);
        TRY(e);
        busy_look(m->r);
        TRY(measuring_environment(m));
        if (m->r->config->globals.ExitOnFails == 2 && m->r->n_wrong + m->r->n_faults)
            FAIL(ERR_FAILED, "%.*s: a kernel failed and ExitOnFails is 2; tuner status %s",
                 STR_ARG(m->g->name), m->r->outdir);
        if (!end.done) TRY(client_died(m, &end, &deaths));
        if (end.done && m->n_ended == 0)
            FAIL(ERR_FAILED, "tuner-client measured none of %zu pairs; what it said is in '%s'", n,
                 m->log_path.s);
    }
}

/* Counts the pairs of a group, and those that the store has. A size that is listed twice counts once. */
static Err count_group(Measuring *m, Map *seen)
{
    for (size_t p = 0; p < m->g->n_sizes; p++) {
        bool added;
        if (!map_put(seen, (Str){(const char *)&m->g->problem_id[p], sizeof(int64_t)}, &added))
            FAIL(ERR_FAILED, "out of memory for %zu sizes", p);
        if (!added) continue;
        for (m->run = 0; m->run < m->r->config->globals.NumBenchmarks; m->run++)
            for (size_t s = 0; s < m->g->n_columns; s++) {
                bool found;
                if (!measuring_wanted(m->g, p, s)) continue;
                MeasureKey key = measuring_key(m, (int64_t)p, (int64_t)s);
                TRY(store_measured(&m->r->store, &key, &found));
                m->all->total++;
                m->all->done += found;
                if (!found) eta_expect(&m->all->eta, 1, measuring_flops(m->g, (int64_t)p));
            }
    }
    return 0;
}

static Err count(Measuring *m)
{
    Err e = 0;
    for (size_t i = 0; !e && i < m->r->n_groups; i++) {
        Map seen;
        m->g = &m->r->group[i];
        if (m->g->skip) continue;
        map_init(&seen);
        e = count_group(m, &seen);
        map_fini(&seen);
        if (!e) e = forecast_history(&m->r->store, m->g->setting, &m->all->eta);
    }
    return e;
}

static Err group_measure(Measuring *m)
{
    TRY(measuring_paths(m));
    for (m->run = 0; m->run < m->r->config->globals.NumBenchmarks; m->run++)
        TRY(m->r->n_pool > 1 ? pool_measure(m) : run_measure(m));
    return 0;
}

static Err measure_all(Measuring *m)
{
    MeasureTotals *all = m->all;
    TRY(count(m));
    progress_init(&all->progress, "measure", all->total, all->done);
    all->ended_ns = clock_ns();
    TRY(measuring_device(m, &m->r->device));
    for (size_t i = 0; i < m->r->n_groups; i++) {
        m->g = &m->r->group[i];
        if (m->g->skip) continue;
        all->best_size = -1;
        TRY(group_measure(m));
    }
    all->progress.done = all->done;
    progress_done(&all->progress, "%zu wrong, %zu crashed, hung or not run", m->r->n_wrong, m->r->n_faults);
    return 0;
}

Err step_measure(Run *r)
{
    MeasureTotals all = {0};
    Measuring m = {.r = r, .all = &all};
    buf_init(&m.environment);
    Err e = measure_all(&m);
    r->n_measured = (size_t)all.done;
    r->late = all.late;
    measuring_fini(&m);
    return e;
}
