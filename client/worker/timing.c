/* The timing loop: section 4.5 of Tensile's client. See timing.h. */
#include "client/worker/timing.h"

#include <math.h>
#include <stdlib.h>

#include "measure/stats.h"

enum { READINGS_MAX = 512 };

typedef struct {
    WorkerContext *r;
    Launches *launches; /* one per copy of the tensors */
    int64_t next;       /* copy of the next launch */
    uint64_t enqueue_ns;
    DeviceReading reading[READINGS_MAX];
    int64_t n_readings;
} Loop;

static Err next_launch(Loop *l)
{
    const DeviceApi *api = l->r->device->api;
    uint64_t before = api->now_ns(l->r->device);
    TRY(launches_enqueue(l->r, &l->launches[l->next]));
    l->enqueue_ns += api->now_ns(l->r->device) - before;
    l->next = (l->next + 1) % l->r->tensors->n_copies;
    return 0;
}

/* One sync group; its time. */
static Err sync_group(Loop *l, int64_t n_enqueues, uint64_t *total_ns)
{
    WorkerContext *r = l->r;
    const DeviceApi *api = r->device->api;
    *total_ns = 0;
    if (!r->session->o.gpu_timer) {
        TRY(api->sync(r->device));
        uint64_t before = api->now_ns(r->device);
        for (int64_t i = 0; i < n_enqueues; i++) TRY(next_launch(l));
        TRY(api->sync(r->device));
        *total_ns = api->now_ns(r->device) - before;
        return 0;
    }
    for (int64_t i = 0; i < n_enqueues; i++) {
        uint64_t ns;
        TRY(api->event_record(r->device, r->start));
        TRY(next_launch(l));
        TRY(api->event_record(r->device, r->stop));
        TRY(api->sync(r->device));
        TRY(api->event_elapsed(r->device, r->start, r->stop, &ns));
        *total_ns += ns;
    }
    return 0;
}

static void take_reading(Loop *l)
{
    if (l->r->session->o.hardware_monitor && l->n_readings < READINGS_MAX)
        l->r->device->api->read(l->r->device, &l->reading[l->n_readings++]);
}

/* Mean and median over the readings of one sensor, NAN when it has none. */
static void sensor(const Loop *l, size_t offset, DeviceReading *mean, DeviceReading *median)
{
    double x[READINGS_MAX], sum = 0;
    size_t n = 0;
    for (int64_t i = 0; i < l->n_readings; i++) {
        double v = *(const double *)((const char *)&l->reading[i] + offset);
        if (!isnan(v)) sum += x[n++] = v;
    }
    stats_sort(x, n);
    *(double *)((char *)mean + offset) = n ? sum / (double)n : NAN;
    *(double *)((char *)median + offset) = stats_quantile(x, n, 0.5);
}

static Err send_samples(WorkerContext *r, WorkMessage *m, bool last)
{
    if (m->n_samples == 0 || (!last && m->n_samples < WORK_SAMPLES_MAX)) return 0;
    TRY(worker_send(r->socket, m));
    m->first_sync += m->n_samples;
    m->n_samples = 0;
    return 0;
}

static int64_t enqueues_per_sync(const WorkerContext *r)
{
    const ClientOptions *o = &r->session->o;
    double flops = problem_flops(r->problem), n = (double)o->n_enqueues;
    if (o->min_flops_per_sync > 0) n = fmax(n, ceil((double)o->min_flops_per_sync / flops));
    return n < 1 ? 1 : n > 1e9 ? 1000000000 : (int64_t)n;
}

static Err timed_groups(Loop *l, WorkMessage *samples)
{
    WorkerContext *r = l->r;
    const ClientOptions *o = &r->session->o;
    int64_t n_enqueues = enqueues_per_sync(r);
    double room = 1 + (double)(o->sleep_percent > 0 ? o->sleep_percent : 0) / 100;
    for (int64_t i = 0; i < o->n_syncs; i++) {
        uint64_t ns;
        if (i % WORK_SAMPLES_MAX == 0)
            TRY(worker_budget(r->socket, launches_budget_ns(r, n_enqueues * WORK_SAMPLES_MAX, room)));
        TRY(sync_group(l, n_enqueues, &ns));
        samples->n_enqueues[samples->n_samples] = n_enqueues;
        samples->total_ns[samples->n_samples++] = ns;
        if (o->sleep_percent > 0)
            r->device->api->idle(r->device, (uint64_t)((double)ns * (double)o->sleep_percent / 100));
        take_reading(l);
        TRY(send_samples(r, samples, false));
    }
    return send_samples(r, samples, true);
}

static Err prepare_copies(Loop *l)
{
    WorkerContext *r = l->r;
    Tensors *t = r->tensors;
    l->launches = calloc((size_t)t->n_copies, sizeof *l->launches);
    if (!l->launches) FAIL(ERR_FAILED, "out of memory for %d launches", t->n_copies);
    TRY(copies_workspace(t, launches_workspace_bytes(r)));
    for (int i = 0; i < t->n_copies; i++) TRY(launches_build(r, &t->copies[i], &l->launches[i]));
    return 0;
}

static Err time_solution(Loop *l, WorkMessage *end)
{
    WorkerContext *r = l->r;
    const ClientOptions *o = &r->session->o;
    TRY(prepare_copies(l));
    int64_t warmups = o->n_warmups - (r->request.validate ? 1 : 0);
    if (warmups > 0) TRY(worker_budget(r->socket, launches_budget_ns(r, warmups, 1)));
    for (int64_t i = 0; i < warmups; i++) TRY(next_launch(l));
    if (o->sync_after_warmups) TRY(r->device->api->sync(r->device));
    l->enqueue_ns = 0;
    WorkMessage samples = {.kind = WORK_SAMPLES, .p = r->request.p, .s = r->request.s};
    TRY(timed_groups(l, &samples));
    TRY(worker_budget(r->socket, 0));
    end->enqueue_ns = l->enqueue_ns;
    end->n_readings = l->n_readings;
    for (size_t f = 0; f < DEVICE_SENSORS; f++) sensor(l, f * sizeof(double), &end->mean, &end->median);
    return 0;
}

Err timing_loop(WorkerContext *r, WorkMessage *end)
{
    RunStatus status = RUN_NO_CHECK;
    r->own_ns = 0;
    if (r->request.validate) TRY(judge_solution(r, CHECK_FULL, &status, end->text, sizeof end->text));
    if (status != RUN_FAILED && r->request.timing) {
        Loop *l = calloc(1, sizeof *l);
        if (!l) FAIL(ERR_FAILED, "out of memory for the timing loop (%zu bytes)", sizeof *l);
        l->r = r;
        Err e = time_solution(l, end);
        free(l->launches);
        free(l);
        TRY(e);
    }
    end->status = status;
    return 0;
}
