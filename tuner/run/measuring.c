/* Takes the events of a client into the store. See measuring.h. */
#include "run/measuring.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/own.h"
#include "run/busy.h"
#include "run/client_ini.h"
#include "measure/history.h"

MeasureKey measuring_key(const Measuring *m, int64_t p, int64_t s)
{
    const Group *g = m->g;
    return (MeasureKey){g->variant[g->column[s]].kernel, g->problem_id[p], g->setting, m->run};
}

bool group_races(const Group *g, size_t p, size_t v)
{
    if (p + g->n_held_out >= g->n_sizes) return true;
    if (g->variant[v].for_range) return false;
    return !g->searched.raced || v >= g->searched.n_variants ||
           g->searched.raced[p * g->searched.n_variants + v];
}

bool measuring_wanted(const Group *g, size_t p, size_t s)
{
    if (g->searched.cut && g->searched.cut[p]) return false;
    if (!group_races(g, p, g->column[s])) return false;
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

double measuring_flops(const Group *g, int64_t p)
{
    double flops = 2.0 * type_info((DataType)g->problem->pt.DataType)->packing;
    for (int i = 0; i < g->problem->pt.TotalIndices; i++) flops *= (double)g->size[p].v[i];
    return flops;
}

static void best_note(Measuring *m, double flops, const Event *e)
{
    if (e->s < 0 || !run_status_good(e->status) || !(e->median_ns > 0)) return;
    double gflops = flops / e->median_ns;
    if (e->p == m->all->best_size && gflops <= m->all->best_gflops) return;
    m->all->best_size = e->p;
    m->all->best_gflops = gflops;
}

static Err result_store(Measuring *m, int64_t p, int64_t s, RunStatus status, Str text, bool has_samples)
{
    Measurement fact = {.key = measuring_key(m, p, s),
                        .status = str_from(run_status_name(status)),
                        .detail = text,
                        .sample = m->samples.v,
                        .n_samples = has_samples ? m->samples.n : 0,
                        .checked = has_samples ? m->checked : 0,
                        .max_err = has_samples ? m->max_err : (double)NAN,
                        .device = m->device_id};
    TRY(store_measure_add(&m->r->store, &fact));
    m->all->done++;
    m->n_ended++;
    uint64_t now = clock_ns();
    eta_measured(&m->all->eta, measuring_flops(m->g, p), (double)(now - m->all->ended_ns) * 1e-9, false);
    m->all->ended_ns = now;
    m->r->n_wrong += status == RUN_FAILED;
    m->r->n_faults += status == RUN_CRASHED || status == RUN_TIMEOUT || status == RUN_INVALID;
    return 0;
}

Err measuring_release(Measuring *m)
{
    Err e = 0;
    for (size_t i = 0; !e && i < m->held.n; i++) {
        const HeldResult *h = &m->held.v[i];
        e = result_store(m, h->p, h->s, h->status, str_from(h->text), false);
    }
    m->held.n = 0;
    return e;
}

static Err hold(Measuring *m, RunStatus status, Str text)
{
    HeldResult h = {.p = m->p, .s = m->s, .status = status};
    snprintf(h.text, sizeof h.text, "%.*s", STR_ARG(str_sub(text, 0, sizeof h.text - 1)));
    if (!VEC_PUSH(&m->held, h)) FAIL(ERR_FAILED, "out of memory for %zu results", m->held.n);
    return 0;
}

Err measuring_pair_end(Measuring *m, RunStatus status, Str text)
{
    m->open = false;
    if (m->holds && (status == RUN_CRASHED || status == RUN_TIMEOUT || status == RUN_INVALID))
        return hold(m, status, text);
    const bool ran = run_status_good(status) || status == RUN_FAILED;
    if (ran) TRY(measuring_release(m));
    return result_store(m, m->p, m->s, status, text, true);
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
                                                          .max_err = m->max_err,
                                                          .device = m->device_id});
}

/* Whether the time is over, or will be before the final measurement of the next size ends. */
static bool is_late(const Measuring *m, int64_t p)
{
    const uint64_t limit = m->r->deadline_ns;
    const double *seconds = m->g->round ? NULL : m->g->searched.seconds;
    if (m->holds || !limit || !m->n_ended || p == m->p) return false;
    return clock_ns() + (seconds ? (uint64_t)(seconds[p] * 1e9) : 0) > limit;
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
    if (!progress_due(&m->all->progress)) return;
    EtaRange left = eta_range(&m->all->eta, (double)(clock_ns() - m->all->ended_ns) * 1e-9);
    m->all->progress.eta_lo = left.lo;
    m->all->progress.eta_hi = left.hi;
    const ProblemSize *z = &m->g->size[m->all->best_size < 0 ? 0 : m->all->best_size];
    char devices[64] = "", best[128] = "";
    if (m->all->n_lost)
        snprintf(devices, sizeof devices, "%zu of %zu devices", m->all->n_devices - m->all->n_lost,
                 m->all->n_devices);
    else if (m->all->n_devices)
        snprintf(devices, sizeof devices, "%zu devices", m->all->n_devices);
    if (m->all->best_gflops > 0 && m->all->best_size >= 0)
        snprintf(best, sizeof best, "best %.4g GFlops on %" PRId64 "x%" PRId64 "x%" PRId64,
                 m->all->best_gflops, z->v[0], z->v[1], z->v[m->g->problem->pt.TotalIndices - 1]);
    progress_step(&m->all->progress, m->all->done, "%s%s%s", devices, devices[0] && best[0] ? ", " : "",
                  best);
}

void measuring_tick(void *ctx)
{
    Measuring *m = ctx;
    busy_look(m->r);
    run_aside(m->r);
    show(m);
}

Err measuring_event(void *ctx, const Event *e)
{
    Measuring *m = ctx;
    if (e->kind == EVENT_ENV) {
        buf_printf(&m->environment, "%.*s=%.*s\n", STR_ARG(e->key), STR_ARG(e->value));
        return buf_check(&m->environment);
    }
    if (e->kind == EVENT_PART) m->part_done = true;
    if (e->kind == EVENT_PART || e->kind == EVENT_DONE) return 0;
    TRY(pair_check(m, e));
    switch (e->kind) {
    case EVENT_START:
        if (is_late(m, e->p)) {
            m->all->late = true;
            FAIL(ERR_FAILED, "the time of the search is over");
        }
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
        TRY(measuring_pair_end(m, e->status, e->text));
        best_note(m, measuring_flops(m->g, e->p), e);
        show(m);
        break;
    default:
        break;
    }
    return 0;
}

Err measuring_missing(Measuring *m, size_t p, Buf *out, size_t *n)
{
    for (size_t s = 0; s < m->g->n_columns; s++) {
        bool found;
        if (!measuring_wanted(m->g, p, s)) continue;
        MeasureKey key = measuring_key(m, (int64_t)p, (int64_t)s);
        TRY(store_measured(&m->r->store, &key, &found));
        if (found) continue;
        buf_printf(out, "%zu %zu %d\n", p, s, m->run == 0);
        ++*n;
    }
    return 0;
}

Err measuring_environment(Measuring *m)
{
    int64_t id;
    if (m->environment.n == 0) return 0;
    Err e = store_environment(&m->r->store, buf_view(&m->environment), &id);
    buf_reset(&m->environment);
    return e;
}

Err measuring_client_end(Measuring *m, const ClientEnd *end, uint64_t started_ns)
{
    Buf how;
    buf_init(&how);
    if (end->result.wall_ns)
        proc_describe(&end->result, &how);
    else
        buf_puts(&how, "ended by tuner");
    Err e = store_client_add(&m->r->store, m->r->session,
                             &(ClientTime){.group = m->g->name,
                                           .device = m->device_text,
                                           .end = str_from(buf_cstr(&how)),
                                           .seconds = (double)(clock_ns() - started_ns) * 1e-9});
    buf_fini(&how);
    return e;
}

const char **measuring_args(Run *r, const char *device)
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
    if (r->in_rounds) {
        argv[n++] = "--race-stages";
        argv[n++] = arena_printf(&r->arena, "%d", r->race_stages).s;
        if (!argv[n - 1]) return NULL;
        argv[n++] = "--check-winner";
        argv[n++] = "False";
    }
    if (device) {
        argv[n++] = "--device-idx";
        argv[n++] = device;
    }
    Str rest = r->config->globals.ClientArgs, part;
    while (n < 30 && str_split(&rest, ' ', &part))
        if (part.n) argv[n++] = arena_dup(&r->arena, part).s;
    return argv;
}

Err measuring_paths(Measuring *m)
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

Err measuring_device(Measuring *m, const DeviceChoice *d)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    Str text = arena_printf(&m->r->arena, "%.*s:%" PRId64 " of %s: %.*s", STR_ARG(d->kind), d->index, host,
                            STR_ARG(d->name));
    TRY_ALLOC(text.s);
    m->device_text = text;
    return store_device(&m->r->store, text, &m->device_id);
}

void measuring_fini(Measuring *m)
{
    buf_fini(&m->environment);
    VEC_FINI(&m->samples);
    VEC_FINI(&m->held);
}
