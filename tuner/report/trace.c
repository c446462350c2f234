/* Traces of runs. See trace.h.
 *
 * Compilers: the store has their ends and durations; overlapping ones are dealt out to tracks. Measurements:
 * the store has their ends; one begins when the one before it ended, or with its client process. The time of
 * its samples stands at its end, inside of it; what is before is loading, validation and warm-up. The
 * measurements of a race end together: the race is one slice, from the end of the size before. Devices that
 * measure at the same time have tracks of their own. */
#include "report/trace.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "fmt/json.h"
#include "measure/history.h"

enum {
    TRACK_STEPS = 1,
    TRACK_CLIENTS = 100,
    TRACK_MEASURE = 200,
    TRACK_COMPILERS = 1000,
    COMPILERS_MAX = 4096,
    DEVICES_MAX = TRACK_MEASURE - TRACK_CLIENTS
};

static const double ROUNDING_S = 0.002; /* ends are stored to the millisecond */

/* What one device measures. */
typedef struct {
    Str device;               /* as the store has it; empty in older ones */
    const ClientTime *client; /* its clients by start */
    size_t n_clients;
    double last_s; /* end of the measurement before */
    struct {       /* measurements of one size, side by side */
        Str problem;
        double from_s, to_s;
        int64_t n;
    } race;
} DeviceTrack;

typedef struct {
    Json j;
    Store s;
    Arena a;
    int64_t pid;
    double start_s;         /* of the first session: 0 of the trace */
    VEC(double) busy_until; /* of each compiler's track */
    DeviceTrack device[DEVICES_MAX]; /* further ones share the last */
    size_t n_devices;
} Trace;

/* Microseconds since the start, to the nanosecond. */
static void micros(Trace *t, const char *key, double seconds)
{
    if (t->j.comma) buf_putc(t->j.out, ',');
    buf_printf(t->j.out, "\"%s\":%.3f", key, seconds * 1e6);
    t->j.comma = true;
}

static void name_track(Trace *t, const char *what, int64_t tid, const char *name, int64_t number)
{
    json_object(&t->j, NULL);
    json_cstr(&t->j, "ph", "M");
    json_cstr(&t->j, "name", what);
    json_int(&t->j, "pid", t->pid);
    json_int(&t->j, "tid", tid);
    json_object(&t->j, "args");
    char text[4200];
    if (number)
        snprintf(text, sizeof text, "%s %lld", name, (long long)number);
    else
        snprintf(text, sizeof text, "%s", name);
    json_cstr(&t->j, "name", text);
    json_object_end(&t->j);
    json_object_end(&t->j);
}

/* Begins a complete event ("X") and its args; both are closed by slice_end. */
static void slice(Trace *t, int64_t tid, const char *category, Str name, double from_s, double to_s)
{
    if (from_s < t->start_s) from_s = t->start_s;
    if (!(to_s > from_s)) to_s = from_s;
    json_object(&t->j, NULL);
    json_cstr(&t->j, "ph", "X");
    json_str(&t->j, "name", name);
    json_cstr(&t->j, "cat", category);
    json_int(&t->j, "pid", t->pid);
    json_int(&t->j, "tid", tid);
    micros(t, "ts", from_s - t->start_s);
    micros(t, "dur", to_s - from_s);
    json_object(&t->j, "args");
}

static void slice_end(Trace *t)
{
    json_object_end(&t->j);
    json_object_end(&t->j);
}

/* ---- steps ---- */

static Err sessions_put(Trace *t)
{
    SessionTimes *all;
    size_t n;
    TRY(query_sessions(&t->s, &t->a, &all, &n));
    t->start_s = n ? all[0].started_s : 0;
    name_track(t, "thread_name", TRACK_STEPS, "tuner", 0);
    for (size_t i = 0; i < n; i++) {
        StepTime *step;
        size_t n_steps;
        double at = all[i].started_s, end = all[i].ended_s;
        TRY(query_steps(&t->s, &t->a, all[i].id, &step, &n_steps));
        double steps_end = at;
        for (size_t k = 0; k < n_steps; k++) steps_end += step[k].seconds;
        /* steps follow each other; what is not theirs is before the first */
        if (isnan(end) || end < steps_end) end = steps_end;
        slice(t, TRACK_STEPS, "run", all[i].command, all[i].started_s, end);
        json_str(&t->j, "state", all[i].state);
        json_str(&t->j, "detail", all[i].detail);
        slice_end(t);
        for (size_t k = 0; k < n_steps; k++) {
            slice(t, TRACK_STEPS, "step", step[k].name, at, at + step[k].seconds);
            slice_end(t);
            at += step[k].seconds;
        }
    }
    return ERR_OK;
}

/* ---- compilers ---- */

/* The first compiler's track that is idle at that time. */
static Err track_idle(Trace *t, double from_s, double to_s, size_t *track)
{
    size_t i = 0;
    while (i < t->busy_until.n && t->busy_until.v[i] > from_s + ROUNDING_S) i++;
    if (i == t->busy_until.n) {
        if (i == COMPILERS_MAX)
            i--;
        else if (!VEC_PUSH(&t->busy_until, 0))
            FAIL(ERR_FAILED, "out of memory for tracks");
        else
            name_track(t, "thread_name", TRACK_COMPILERS + (int64_t)i, "compiler", (int64_t)i + 1);
    }
    t->busy_until.v[i] = to_s;
    *track = i;
    return ERR_OK;
}

static Err compile_put(void *ctx, const CompileTime *c)
{
    Trace *t = ctx;
    size_t track = 0;
    if (!(c->seconds > 0)) return ERR_OK; /* the object came from the cache */
    TRY(track_idle(t, c->ended_s - c->seconds, c->ended_s, &track));
    slice(t, TRACK_COMPILERS + (int64_t)track, "compile", c->name, c->ended_s - c->seconds, c->ended_s);
    json_cstr(&t->j, "outcome", build_outcome_name(c->outcome));
    slice_end(t);
    return buf_check(t->j.out);
}

/* ---- clients ---- */

/* The number of a device's tracks. */
static Err device_find(Trace *t, Str device, size_t *out)
{
    size_t k = 0;
    while (k < t->n_devices && !str_eq(t->device[k].device, device)) k++;
    if (k == DEVICES_MAX) k--;
    if (k == t->n_devices) {
        DeviceTrack *d = &t->device[t->n_devices++];
        d->device = arena_dup(&t->a, device);
        TRY_ALLOC(d->device.s);
    }
    *out = k;
    return ERR_OK;
}

static void name_device(Trace *t, int64_t tid, const char *what, Str device)
{
    char name[300];
    snprintf(name, sizeof name, "%s on %.*s", what, STR_ARG(str_sub(device, 0, 200)));
    name_track(t, "thread_name", tid, name, 0);
}

static int client_order(const void *x, const void *y)
{
    const ClientTime *a = x, *b = y;
    int by_device = str_cmp(a->device, b->device);
    return by_device ? by_device : (a->started_s > b->started_s) - (a->started_s < b->started_s);
}

/* Gives every device its clients. */
static void clients_sort(Trace *t, ClientTime *client, size_t n)
{
    if (n) qsort(client, n, sizeof *client, client_order);
    for (size_t i = 0; i < t->n_devices; i++) {
        DeviceTrack *d = &t->device[i];
        for (size_t k = 0; k < n; k++) {
            if (!str_eq(client[k].device, d->device)) continue;
            if (!d->n_clients++) d->client = &client[k];
        }
    }
}

static Err clients_put(Trace *t)
{
    ClientTime *client;
    size_t n;
    TRY(query_clients(&t->s, &t->a, &client, &n));
    for (size_t i = 0; i < n; i++) {
        const ClientTime *c = &client[i];
        const size_t before = t->n_devices;
        size_t k;
        TRY(device_find(t, c->device, &k));
        if (t->n_devices > before) name_device(t, TRACK_CLIENTS + (int64_t)k, "tuner-client", c->device);
        slice(t, TRACK_CLIENTS + (int64_t)k, "client", c->group, c->started_s, c->started_s + c->seconds);
        json_str(&t->j, "end", c->end);
        slice_end(t);
    }
    clients_sort(t, client, n);
    return ERR_OK;
}

/* Start of the device's client that was at work at that time; or the time itself. A device has one client at
 * a time: only the last two that began by then can be meant, of which one ends as the other begins. */
static double client_start(const DeviceTrack *d, double at)
{
    size_t begun = 0, end = d->n_clients;
    while (begun < end) {
        const size_t middle = begun + (end - begun) / 2;
        if (d->client[middle].started_s <= at)
            begun = middle + 1;
        else
            end = middle;
    }
    for (size_t i = begun < 2 ? 0 : begun - 2; i < begun; i++)
        if (at <= d->client[i].started_s + d->client[i].seconds + ROUNDING_S) return d->client[i].started_s;
    return at;
}

/* ---- measurements ---- */

static int64_t track_of(const Trace *t, const DeviceTrack *d) { return TRACK_MEASURE + (d - t->device); }

static void race_flush(Trace *t, DeviceTrack *d)
{
    if (!d->race.n) return;
    slice(t, track_of(t, d), "race", d->race.problem, d->race.from_s, d->race.to_s);
    json_int(&t->j, "kernels", d->race.n);
    slice_end(t);
    d->race.n = 0;
}

static double begin_of(const DeviceTrack *d, const MeasureTime *m)
{
    const double client = client_start(d, m->ended_s), least = m->ended_s - m->timed_s;
    double from = d->last_s > client ? d->last_s : client;
    if (from > least) from = least;
    return from;
}

static Err race_note(Trace *t, DeviceTrack *d, const MeasureTime *m)
{
    if (d->race.n && !str_eq(d->race.problem, m->problem)) race_flush(t, d);
    if (!d->race.n++) {
        d->race.problem = arena_dup(&t->a, m->problem);
        TRY_ALLOC(d->race.problem.s);
        const double client = client_start(d, m->ended_s);
        d->race.from_s = d->last_s > client ? d->last_s : client;
    }
    d->race.to_s = d->last_s = m->ended_s;
    return ERR_OK;
}

static Err measure_put(void *ctx, const MeasureTime *m)
{
    Trace *t = ctx;
    size_t k;
    TRY(device_find(t, m->device, &k));
    DeviceTrack *d = &t->device[k];
    if (m->race) return race_note(t, d, m);
    race_flush(t, d);
    const double from = begin_of(d, m), timed = m->ended_s - m->timed_s;
    const int64_t track = track_of(t, d);
    slice(t, track, "measure", m->problem, from, m->ended_s);
    json_str(&t->j, "kernel", m->kernel);
    json_str(&t->j, "status", m->status);
    slice_end(t);
    slice(t, track, "validate", m->checked > 0 ? STR("load, validate, warm up") : STR("load, warm up"), from,
          timed);
    json_int(&t->j, "checked", m->checked);
    slice_end(t);
    slice(t, track, "time", STR("samples"), timed, m->ended_s);
    json_int(&t->j, "samples", m->n_samples);
    slice_end(t);
    d->last_s = m->ended_s;
    return buf_check(t->j.out);
}

static Err measurements_put(Trace *t)
{
    TRY(query_measure_times(&t->s, measure_put, t));
    for (size_t i = 0; i < t->n_devices; i++) {
        const int64_t track = track_of(t, &t->device[i]);
        race_flush(t, &t->device[i]);
        if (t->n_devices > 1 && t->device[i].device.n)
            name_device(t, track, "measurements", t->device[i].device);
        else
            name_track(t, "thread_name", track, "measurements", 0);
    }
    return ERR_OK;
}

/* ---- runs ---- */

static Err run_put(Trace *t, const char *outdir)
{
    name_track(t, "process_name", 0, outdir, 0);
    TRY(sessions_put(t));
    TRY(query_compile_times(&t->s, compile_put, t));
    TRY(clients_put(t));
    TRY(measurements_put(t));
    return buf_check(t->j.out);
}

Err report_trace(const char *const *outdir, size_t n, Buf *out)
{
    Json j = json_to(out);
    Err e = ERR_OK;
    json_object(&j, NULL);
    json_cstr(&j, "displayTimeUnit", "ms");
    json_array(&j, "traceEvents");
    for (size_t i = 0; !e && i < n; i++) {
        Trace t = {.j = j, .pid = (int64_t)i + 1};
        e = store_open(&t.s, outdir[i], STORE_READ);
        if (e) break;
        arena_init(&t.a, 0);
        e = run_put(&t, outdir[i]);
        VEC_FINI(&t.busy_until);
        arena_fini(&t.a);
        store_close(&t.s);
        j = t.j;
    }
    json_array_end(&j);
    json_object_end(&j);
    buf_putc(out, '\n');
    return e ? e : buf_check(out);
}
