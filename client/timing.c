/* Launching, validating and timing of one solution. See timing.h; section 4.5 of Tensile's client for the
 * loop. */
#include "client/timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/number.h"
#include "measure/stats.h"

/* What was resolved once per solution: kernels of its calls. */
typedef struct {
    LaunchList list;
    DeviceKernel *kernel[LAUNCH_CALLS_MAX];
} Launches;

static Err find_kernel(Run *r, const char *symbol, DeviceKernel **out)
{
    const char *why = "";
    for (size_t i = 0; i < r->code->n; i++) {
        const CodeObject *c = &r->code->v[i];
        if (!c->module)
            why = c->why;
        else if (!r->device->api->kernel_get(r->device, c->module, symbol, out))
            return 0;
    }
    FAIL(ERR_FAILED, "kernel '%s' is in none of %zu code objects%s%s", symbol, r->code->n, why[0] ? ": " : "",
         why);
}

static Err build_launches(Run *r, const TensorSet *s, bool find, Launches *out)
{
    const Problem *p = r->problem;
    unsigned char alpha[16], beta[16];
    number_store((DataType)p->shape.compute_type, alpha, 0, p->gemm.alpha[0], p->gemm.alpha[1]);
    number_store((DataType)p->shape.compute_type, beta, 0, p->gemm.beta[0], p->gemm.beta[1]);
    LaunchInputs in = {
        .a = (const void *)(uintptr_t)set_address(s, TENSOR_A),
        .b = (const void *)(uintptr_t)set_address(s, TENSOR_B),
        .c = (const void *)(uintptr_t)set_address(s, TENSOR_C),
        .d = (void *)(uintptr_t)set_address(s, TENSOR_D),
        .workspace = (void *)(uintptr_t)s->workspace.address,
        .alpha = alpha,
        .beta = beta,
        .offset_a = p->offset[TENSOR_A],
        .offset_b = p->offset[TENSOR_B],
        .offset_c = p->offset[TENSOR_C],
        .offset_d = p->offset[TENSOR_D],
        .rnd_seed = 1,
    };
    LaunchHardware hw = {.n_cu = r->session->props.n_cu};
    TRY(launch_build(&p->shape, r->solution, &in, &hw, &out->list));
    for (uint32_t i = 0; find && i < out->list.n; i++)
        TRY(find_kernel(r, out->list.call[i].symbol, &out->kernel[i]));
    return 0;
}

static uint64_t workspace_bytes(const Run *r)
{
    LaunchHardware hw = {.n_cu = r->session->props.n_cu};
    return launch_workspace_bytes(&r->problem->shape, r->solution, &hw);
}

static Err enqueue(Run *r, const Launches *l)
{
    for (uint32_t i = 0; i < l->list.n; i++) {
        const KernelCall *c = &l->list.call[i];
        DeviceLaunch launch = {
            .kernel = l->kernel[i], .args = c->args, .args_bytes = c->n_arg_bytes, .truth = &r->truth};
        memcpy(launch.group, c->work_group, sizeof launch.group);
        memcpy(launch.grid, c->num_work_groups, sizeof launch.grid);
        TRY(r->device->api->launch(r->device, &launch));
    }
    return 0;
}

/* Time that launches may take: the user's floor, and with room what is expected of them: from this kernel's
 * own first launch, else from the best that is known for the problem, else a guess of 1 GFlops. */
static uint64_t budget_ns(const Run *r, int64_t n_launches, double sleep_factor)
{
    double expected = r->own_ns > 0                ? 20 * r->own_ns
                      : r->request.expected_ns > 0 ? 50 * r->request.expected_ns
                                                   : 5 * problem_flops(r->problem);
    if (r->session->api == &device_sim) expected = 0; /* its time is not ours */
    double ns = r->session->o.kernel_timeout * 1e9 + expected * (double)n_launches * sleep_factor;
    return ns > 1e18 ? UINT64_C(1000000000000000000) : (uint64_t)ns;
}

/* ---- validated run ---- */

/* The simulated device is told what D should be. */
static Err set_truth(Run *r, TensorSet *s, unsigned char **expect)
{
    Tensors *t = r->tensors;
    const Tensor *x = &r->problem->tensor[TENSOR_D];
    size_t at = (size_t)r->problem->offset[TENSOR_D] * (size_t)type_bytes(x->type);
    *expect = malloc(t->bytes[TENSOR_D] + 1);
    if (!*expect) FAIL(ERR_FAILED, "out of memory for %llu bytes", (unsigned long long)t->bytes[TENSOR_D]);
    memcpy(*expect, (char *)s->buffer[TENSOR_D].host + s->pad, t->bytes[TENSOR_D]);
    Matrix d = {.type = x->type, .row = x->stride[0], .col = x->stride[1], .batch = x->stride[2]};
    TRY(validator_store(t->validator, &d, *expect + at));
    r->truth.d = (char *)s->buffer[TENSOR_D].host + s->pad;
    r->truth.expect = *expect;
    r->truth.bytes = t->bytes[TENSOR_D];
    return 0;
}

static Err print_outputs(Run *r, const Matrix *d)
{
    const Options *o = &r->session->o;
    const Gemm *g = &r->problem->gemm;
    uint64_t bytes = r->tensors->bytes[TENSOR_D];
    if (o->print_d) {
        matrix_print("D", d, g->m, g->n, g->batch);
        if (o->dump_tensors) TRY(tensor_dump("d", d->data, bytes));
    }
    if (!o->print_ref) return 0;
    unsigned char *ref = calloc(1, bytes + 1);
    if (!ref) FAIL(ERR_FAILED, "out of memory for %llu bytes", (unsigned long long)bytes);
    Matrix m = *d;
    m.data = ref;
    Err e = validator_store(r->tensors->validator, &m, ref);
    if (!e) matrix_print("reference", &m, g->m, g->n, g->batch);
    if (!e && o->dump_tensors) e = tensor_dump("ref", ref, bytes);
    free(ref);
    return e;
}

static Err judge(Run *r, TensorSet *s, WorkMessage *valid)
{
    Tensors *t = r->tensors;
    const Tensor *x = &r->problem->tensor[TENSOR_D];
    const unsigned char *d;
    bool good;
    TRY(set_check(t, s, valid->text, sizeof valid->text, &good, &d));
    Matrix m = {.type = x->type, .row = x->stride[0], .col = x->stride[1], .batch = x->stride[2]};
    m.data = d + (size_t)r->problem->offset[TENSOR_D] * (size_t)type_bytes(x->type);
    Check c;
    TRY(validator_check(t->validator, &m, &c));
    TRY(print_outputs(r, &m));
    valid->n_checked += c.n_checked;
    if (c.max_err > valid->max_err || isnan(c.max_err)) valid->max_err = c.max_err;
    valid->status = good && c.passed ? RUN_PASSED : RUN_FAILED;
    if (good) snprintf(valid->text, sizeof valid->text, "%s", c.text);
    return 0;
}

static Err validated_launch(Run *r, TensorSet *s, Launches *l, WorkMessage *valid)
{
    unsigned char *expect = NULL;
    TRY(set_poison(r->tensors, s));
    TRY(build_launches(r, s, true, l));
    Err e = r->session->api == &device_sim ? set_truth(r, s, &expect) : 0;
    if (!e) e = worker_budget(r->socket, budget_ns(r, 1, 1));
    uint64_t before = clock_ns();
    if (!e) e = enqueue(r, l);
    if (!e) e = r->device->api->sync(r->device);
    r->own_ns = (double)(clock_ns() - before);
    if (!e) e = worker_budget(r->socket, 0);
    if (!e) e = judge(r, s, valid);
    r->truth.d = NULL;
    r->truth.expect = NULL;
    free(expect);
    return e;
}

/* Runs in buffers of its own where bounds are checked, else in the first timing set. */
static Err validated_run(Run *r, DeviceGuard guard, WorkMessage *valid)
{
    Tensors *t = r->tensors;
    bool nan_pads = r->session->o.bounds_check == BOUNDS_NAN;
    Launches l;
    if (guard == DEVICE_GUARD_NONE && !nan_pads) {
        TRY(set_workspace(t, &t->copies[0], workspace_bytes(r)));
        TRY(validated_launch(r, &t->copies[0], &l, valid));
        return set_restore(t, &t->copies[0]);
    }
    TensorSet *s;
    TRY(validated_set(t, guard, nan_pads, workspace_bytes(r), &s));
    Err e = validated_launch(r, s, &l, valid);
    set_done(t, s);
    return e;
}

static Err validate(Run *r, RunStatus *status, char *text, size_t size)
{
    static const DeviceGuard front[] = {DEVICE_GUARD_FRONT}, back[] = {DEVICE_GUARD_BACK},
                             both[] = {DEVICE_GUARD_FRONT, DEVICE_GUARD_BACK}, none[] = {DEVICE_GUARD_NONE};
    BoundsCheck b = r->session->o.bounds_check;
    const DeviceGuard *passes = b == BOUNDS_FRONT  ? front
                                : b == BOUNDS_BACK ? back
                                : b == BOUNDS_ALL  ? both
                                                   : none;
    WorkMessage valid = {.kind = WORK_VALID, .p = r->request.p, .s = r->request.s, .status = RUN_PASSED};
    TRY(tensors_validator(r->tensors));
    for (int i = 0; i < (b == BOUNDS_ALL ? 2 : 1) && valid.status == RUN_PASSED; i++)
        TRY(validated_run(r, passes[i], &valid));
    *status = valid.status;
    snprintf(text, size, "%s", valid.text);
    return worker_send(r->socket, &valid);
}

/* ---- timing ---- */

enum { READINGS_MAX = 512 };

typedef struct {
    Run *r;
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
    TRY(enqueue(l->r, &l->launches[l->next]));
    l->enqueue_ns += api->now_ns(l->r->device) - before;
    l->next = (l->next + 1) % l->r->tensors->n_copies;
    return 0;
}

/* One sync group; its time. */
static Err sync_group(Loop *l, int64_t n_enqueues, uint64_t *total_ns)
{
    Run *r = l->r;
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

static Err send_samples(Run *r, WorkMessage *m, bool last)
{
    if (m->n_samples == 0 || (!last && m->n_samples < WORK_SAMPLES_MAX)) return 0;
    TRY(worker_send(r->socket, m));
    m->first_sync += m->n_samples;
    m->n_samples = 0;
    return 0;
}

static int64_t enqueues_per_sync(const Run *r)
{
    const Options *o = &r->session->o;
    double flops = problem_flops(r->problem), n = (double)o->n_enqueues;
    if (o->min_flops_per_sync > 0) n = fmax(n, ceil((double)o->min_flops_per_sync / flops));
    return n < 1 ? 1 : n > 1e9 ? 1000000000 : (int64_t)n;
}

static Err timed_groups(Loop *l, WorkMessage *samples)
{
    Run *r = l->r;
    const Options *o = &r->session->o;
    int64_t n_enqueues = enqueues_per_sync(r);
    double room = 1 + (double)(o->sleep_percent > 0 ? o->sleep_percent : 0) / 100;
    for (int64_t i = 0; i < o->n_syncs; i++) {
        uint64_t ns;
        if (i % WORK_SAMPLES_MAX == 0)
            TRY(worker_budget(r->socket, budget_ns(r, n_enqueues * WORK_SAMPLES_MAX, room)));
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
    Run *r = l->r;
    Tensors *t = r->tensors;
    l->launches = calloc((size_t)t->n_copies, sizeof *l->launches);
    if (!l->launches) FAIL(ERR_FAILED, "out of memory for %d launches", t->n_copies);
    for (int i = 0; i < t->n_copies; i++) {
        TRY(set_workspace(t, &t->copies[i], workspace_bytes(r)));
        TRY(build_launches(r, &t->copies[i], true, &l->launches[i]));
    }
    return 0;
}

static Err time_solution(Loop *l, WorkMessage *end)
{
    Run *r = l->r;
    const Options *o = &r->session->o;
    TRY(prepare_copies(l));
    int64_t warmups = o->n_warmups - (r->request.validate ? 1 : 0);
    if (warmups > 0) TRY(worker_budget(r->socket, budget_ns(r, warmups, 1)));
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

Err run_solution(Run *r, WorkMessage *end)
{
    RunStatus status = RUN_NO_CHECK;
    r->own_ns = 0;
    r->truth = (DeviceTruth){.flops = (uint64_t)problem_flops(r->problem),
                             .problem_key = (uint64_t)r->request.p + 1};
    end->mean = end->median = DEVICE_READING_NONE;
    if (r->request.validate) TRY(validate(r, &status, end->text, sizeof end->text));
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
