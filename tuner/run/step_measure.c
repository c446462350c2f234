/* Step: measures the pairs of solution and size that the store lacks.
 *
 * tuner-client gets the missing pairs and reports results as events. Each pair is committed when it ends, so
 * that a killed run loses at most the running one. A client that dies is started again; a pair that kills it
 * PAIR_DEATHS_MAX times is recorded as CRASHED. See run.h.
 */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/own.h"
#include "base/map.h"
#include "base/vec.h"
#include "measure/history.h"
#include "run/busy.h"
#include "run/client_ini.h"
#include "run/client_run.h"
#include "run/forecast.h"

enum { PAIR_DEATHS_MAX = 2, IDLE_DEATHS_MAX = 2 };

typedef struct {
    Run *r;
    Group *g;
    int64_t run;
    uint64_t total, done; /* pairs of all groups and runs */
    Progress progress;
    bool open; /* a pair has started and not ended */
    int64_t p, s;
    VEC(Sample) samples;
    int64_t checked;
    double max_err;
    double best_gflops;
    int64_t best_size;
    uint64_t n_ended; /* pairs that this client has finished */
    Eta eta;
    bool late;         /* the time of the search is over */
    uint64_t ended_ns; /* when the last pair ended, or the first client was started */
    Buf environment;
    Str plan_path, log_path, ini_path, build_dir;
} Measuring;

static MeasureKey key_of(const Measuring *m, int64_t p, int64_t s)
{
    const Group *g = m->g;
    return (MeasureKey){g->variant[g->column[s]].kernel, g->problem_id[p], g->setting, m->run};
}

/* Whether the pair of size and column is to be measured. */
static bool wanted(const Group *g, size_t p, size_t s)
{
    return !g->wanted || g->wanted[p * g->n_variants + g->column[s]];
}

static bool is_peer(const Measuring *m, int64_t s) { return s == -1 && m->r->config->globals.Peer; }

static Err pair_check(const Measuring *m, const Event *e)
{
    bool known = is_peer(m, e->s) || (e->s >= 0 && (size_t)e->s < m->g->n_columns);
    if (e->p < 0 || (size_t)e->p >= m->g->n_sizes || !known)
        FAIL(ERR_FAILED,
             "tuner-client reports size %" PRId64 ", solution %" PRId64 ", which were not requested", e->p,
             e->s);
    if (e->kind != EVENT_START && (!m->open || e->p != m->p || e->s != m->s))
        FAIL(ERR_FAILED, "tuner-client reports size %" PRId64 ", solution %" PRId64 " before their start",
             e->p, e->s);
    return 0;
}

static double size_flops(const Group *g, int64_t p)
{
    double flops = 2.0 * type_info((DataType)g->problem->pt.DataType)->packing;
    for (int i = 0; i < g->problem->pt.TotalIndices; i++) flops *= (double)g->size[p].v[i];
    return flops;
}

static void best_note(Measuring *m, double flops, const Event *e)
{
    if (e->s < 0 || !run_status_good(e->status) || !(e->median_ns > 0)) return;
    double gflops = flops / e->median_ns;
    if (e->p == m->best_size && gflops <= m->best_gflops) return;
    m->best_size = e->p;
    m->best_gflops = gflops;
}

static Err pair_end(Measuring *m, RunStatus status, Str text)
{
    Measurement fact = {.key = key_of(m, m->p, m->s),
                        .status = str_from(run_status_name(status)),
                        .detail = text,
                        .sample = m->samples.v,
                        .n_samples = m->samples.n,
                        .checked = m->checked,
                        .max_err = m->max_err};
    TRY(store_measure_add(&m->r->store, &fact));
    m->open = false;
    m->done++;
    m->n_ended++;
    uint64_t now = clock_ns();
    eta_measured(&m->eta, size_flops(m->g, m->p), (double)(now - m->ended_ns) * 1e-9, false);
    m->ended_ns = now;
    m->r->n_wrong += status == RUN_FAILED;
    m->r->n_faults += status == RUN_CRASHED || status == RUN_TIMEOUT || status == RUN_INVALID;
    return 0;
}

/* The text of a good result is the peer's name and version, otherwise the reason of the failure. */
static Err peer_end(Measuring *m, RunStatus status, Str text)
{
    MeasureKey key = {0, m->g->problem_id[m->p], m->g->setting, m->run};
    Str name = run_status_good(status) ? text : str_from(peer_name(m->r->config->globals.Peer));
    TRY(store_peer(&m->r->store, name, &key.kernel));
    m->open = false;
    return store_measure_add(&m->r->store, &(Measurement){.key = key,
                                                          .status = str_from(run_status_name(status)),
                                                          .detail = text,
                                                          .sample = m->samples.v,
                                                          .n_samples = m->samples.n,
                                                          .checked = m->checked,
                                                          .max_err = m->max_err});
}

static Err sample_keep(Measuring *m, const Event *e)
{
    Sample x = {.ns = e->total_ns,
                .enqueues = e->n_enqueues,
                .round = e->state.round,
                .clock_mhz = e->state.clock_mhz,
                .power_w = e->state.power_w,
                .temp_c = e->state.temp_c,
                .throttle = e->state.throttle,
                .use = e->state.use == SAMPLE_FINAL     ? USE_FINAL
                       : e->state.use == SAMPLE_OUTLIER ? USE_OUTLIER
                                                        : USE_FIRST};
    if (!VEC_PUSH(&m->samples, x)) FAIL(ERR_FAILED, "out of memory for %zu samples", m->samples.n);
    return 0;
}

static void show(Measuring *m)
{
    if (!progress_due(&m->progress)) return;
    EtaRange left = eta_range(&m->eta, (double)(clock_ns() - m->ended_ns) * 1e-9);
    m->progress.eta_lo = left.lo;
    m->progress.eta_hi = left.hi;
    const ProblemSize *z = &m->g->size[m->p];
    if (m->best_gflops > 0 && m->best_size == m->p)
        progress_step(&m->progress, m->done, "best %.4g GFlops on %" PRId64 "x%" PRId64 "x%" PRId64,
                      m->best_gflops, z->v[0], z->v[1], z->v[m->g->problem->pt.TotalIndices - 1]);
    else
        progress_step(&m->progress, m->done, "%s", "");
}

static void tick(void *ctx)
{
    Measuring *m = ctx;
    busy_look(m->r);
    show(m);
}

static Err event(void *ctx, const Event *e)
{
    Measuring *m = ctx;
    if (e->kind == EVENT_ENV) {
        buf_printf(&m->environment, "%.*s=%.*s\n", STR_ARG(e->key), STR_ARG(e->value));
        return buf_check(&m->environment);
    }
    if (e->kind == EVENT_DONE) return 0;
    TRY(pair_check(m, e));
    switch (e->kind) {
    case EVENT_START:
        m->late = m->r->deadline_ns && m->n_ended && e->p != m->p && clock_ns() > m->r->deadline_ns;
        if (m->late) FAIL(ERR_FAILED, "the time of the search is over");
        m->open = true;
        m->p = e->p;
        m->s = e->s;
        m->samples.n = 0;
        m->checked = 0;
        m->max_err = (double)NAN;
        break;
    case EVENT_VALID:
        m->checked = e->checked;
        m->max_err = e->max_err;
        break;
    case EVENT_SAMPLE:
        return sample_keep(m, e);
    case EVENT_END:
        if (e->s < 0) return peer_end(m, e->status, e->text);
        TRY(pair_end(m, e->status, e->text));
        best_note(m, size_flops(m->g, e->p), e);
        show(m);
        break;
    default:
        break;
    }
    return 0;
}

/* Writes the *n pairs that the store lacks. A size that is listed twice is measured once. */
static Err plan_write(Measuring *m, size_t *n)
{
    Buf text;
    Map seen;
    buf_init(&text);
    map_init(&seen);
    Err e = 0;
    *n = 0;
    for (size_t p = 0; !e && p < m->g->n_sizes; p++) {
        bool added, found;
        if (!map_put(&seen, (Str){(const char *)&m->g->problem_id[p], sizeof(int64_t)}, &added))
            e = err_set(ERR_FAILED, "out of memory for %zu sizes", p);
        for (size_t s = 0; !e && added && s < m->g->n_columns; s++) {
            if (!wanted(m->g, p, s)) continue;
            MeasureKey key = key_of(m, (int64_t)p, (int64_t)s);
            e = store_measured(&m->r->store, &key, &found);
            if (e || found) continue;
            buf_printf(&text, "%zu %zu %d\n", p, s, m->run == 0);
            ++*n;
        }
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
        if (d->n >= PAIR_DEATHS_MAX) e = pair_end(m, RUN_CRASHED, str_from(buf_cstr(&how)));
        m->open = false;
    }
    d->idle = m->n_ended || d->n == 1 ? 0 : d->idle + 1;
    if (!e && d->idle >= IDLE_DEATHS_MAX)
        e = err_set(ERR_FAILED, "%s without measuring anything; what it said is in '%s'", buf_cstr(&how),
                    m->log_path.s);
    buf_fini(&how);
    return e;
}

static Err environment_keep(Measuring *m)
{
    int64_t id;
    if (m->environment.n == 0) return 0;
    Err e = store_environment(&m->r->store, buf_view(&m->environment), &id);
    buf_reset(&m->environment);
    return e;
}

static const char **client_args(Run *r)
{
    const char **argv = ARENA_ARRAY(&r->arena, 32, const char *);
    size_t n = 0;
    if (!argv) return NULL;
    argv[n++] = "--results-file";
    argv[n++] = "";
    argv[n++] = "--num-benchmarks";
    argv[n++] = "1";
    if (r->race_seconds > 0) {
        argv[n++] = "--race-seconds";
        argv[n++] = arena_printf(&r->arena, "%.4g", r->race_seconds).s;
        if (!argv[n - 1]) return NULL;
    }
    Str rest = r->config->globals.ClientArgs, part;
    while (n < 30 && str_split(&rest, ' ', &part))
        if (part.n) argv[n++] = arena_dup(&r->arena, part).s;
    return argv;
}

/* Keeps when the process worked, for traces; an error of the client's run stays this thread's message. */
static Err client_note(Measuring *m, const ClientEnd *end, uint64_t started_ns)
{
    Buf how;
    buf_init(&how);
    if (end->result.wall_ns)
        proc_describe(&end->result, &how);
    else
        buf_puts(&how, "ended by tuner");
    Err e = store_client_add(&m->r->store, m->r->session,
                             &(ClientTime){.group = m->g->name,
                                           .device = m->r->device.text,
                                           .end = str_from(buf_cstr(&how)),
                                           .seconds = (double)(clock_ns() - started_ns) * 1e-9});
    buf_fini(&how);
    return e;
}

static Err run_measure(Measuring *m)
{
    Deaths deaths = {.p = -1};
    const char **extra = client_args(m->r);
    TRY_ALLOC(extra);
    for (;;) {
        size_t n;
        ClientEnd end;
        TRY(run_check());
        TRY(plan_write(m, &n));
        if (n == 0 || m->late) return 0;
        ClientSpec spec = {m->r->client.s, m->ini_path.s, m->plan_path.s, m->log_path.s, m->build_dir.s,
                           extra,          tick};
        m->n_ended = 0;
        busy_look(m->r);
        const uint64_t started_ns = clock_ns();
        Err e = client_run(&spec, event, m, &end);
        TRY(client_note(m, &end, started_ns));
        if (m->late) return environment_keep(m);
        TRY(e);
        busy_look(m->r);
        TRY(environment_keep(m));
        if (m->r->config->globals.ExitOnFails == 2 && m->r->n_wrong + m->r->n_faults)
            FAIL(ERR_FAILED, "%.*s: a kernel failed and ExitOnFails is 2; tuner status %s",
                 STR_ARG(m->g->name), m->r->outdir);
        if (!end.done) TRY(client_died(m, &end, &deaths));
        if (end.done && m->n_ended == 0)
            FAIL(ERR_FAILED, "tuner-client measured none of %zu pairs; what it said is in '%s'", n,
                 m->log_path.s);
    }
}

static Err paths(Measuring *m)
{
    Arena *a = &m->r->arena;
    char here[4096];
    Str dir = m->g->dir;
    if (!realpath(dir.s, here)) FAIL(ERR_FAILED, "'%s' is not there", dir.s);
    m->build_dir = path_join(a, here, "build");
    m->plan_path = path_join(a, here, "build/plan.txt");
    m->log_path = path_join(a, here, "build/client.log");
    m->ini_path = path_join(a, here, "source/ClientParameters.ini");
    if (!m->build_dir.s || !m->plan_path.s || !m->log_path.s || !m->ini_path.s)
        FAIL(ERR_FAILED, "out of memory");
    return path_no_link(m->log_path.s);
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
                if (!wanted(m->g, p, s)) continue;
                MeasureKey key = key_of(m, (int64_t)p, (int64_t)s);
                TRY(store_measured(&m->r->store, &key, &found));
                m->total++;
                m->done += found;
                if (!found) eta_expect(&m->eta, 1, size_flops(m->g, (int64_t)p));
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
        if (!e) e = forecast_history(&m->r->store, m->g->setting, &m->eta);
    }
    return e;
}

static Err measure_all(Measuring *m)
{
    TRY(count(m));
    progress_init(&m->progress, "measure", m->total, m->done);
    m->ended_ns = clock_ns();
    for (size_t i = 0; i < m->r->n_groups; i++) {
        m->g = &m->r->group[i];
        if (m->g->skip) continue;
        m->best_size = -1;
        TRY(paths(m));
        for (m->run = 0; m->run < m->r->config->globals.NumBenchmarks; m->run++) TRY(run_measure(m));
    }
    m->progress.done = m->done;
    progress_done(&m->progress, "%zu wrong, %zu crashed, hung or not run", m->r->n_wrong, m->r->n_faults);
    return 0;
}

Err step_measure(Run *r)
{
    Measuring m = {.r = r};
    buf_init(&m.environment);
    Err e = measure_all(&m);
    r->n_measured = (size_t)m.done;
    buf_fini(&m.environment);
    VEC_FINI(&m.samples);
    return e;
}
