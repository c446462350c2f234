/* The validated run of a solution and the verdict on it. See launches.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/worker/launches.h"
#include "client/worker/number.h"

/* Makes the validator when it is first needed. Where winners are not checked again, as in the rounds of a
 * search, its checks are brief: a later race checks the winners. */
static Err make_validator(Tensors *t)
{
    if (t->validator) return 0;
    const ClientOptions *o = &t->session->o;
    Gemm g = tensors_gemm(t);
    ValidateOptions v = {.n_validate = o->n_validate,
                         .n_allocated = t->problem->tensor[TENSOR_D].n_elements,
                         .n_threads = t->session->n_threads,
                         .input_bits = number_input_bits(g.a.type, o->f32_xdl == TYPE_X, o->fp16_alt),
                         .brief = !o->check_winner,
                         .print_max = o->print_max < 0 ? 0 : o->print_max,
                         .print_valids = o->print_valids};
    return validator_new(&g, &v, &t->validator);
}

/* Gives the simulated device the right D. */
static Err set_truth(WorkerContext *r, TensorSet *s, unsigned char **expect)
{
    Tensors *t = r->tensors;
    const Tensor *x = &r->problem->tensor[TENSOR_D];
    size_t at = (size_t)r->problem->offset[TENSOR_D] * (size_t)type_bytes(x->type);
    *expect = malloc(t->bytes[TENSOR_D] + 1);
    if (!*expect) FAIL(ERR_FAILED, "out of memory for %llu bytes", (unsigned long long)t->bytes[TENSOR_D]);
    memcpy(*expect, (char *)s->buffer[TENSOR_D].host + s->pad, t->bytes[TENSOR_D]);
    Matrix d = tensors_result(t, NULL);
    TRY(validator_store(t->validator, &d, *expect + at));
    r->truth.d = (char *)s->buffer[TENSOR_D].host + s->pad;
    r->truth.expect = *expect;
    r->truth.bytes = t->bytes[TENSOR_D];
    return 0;
}

static Err print_outputs(WorkerContext *r, const Matrix *d)
{
    const ClientOptions *o = &r->session->o;
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

/* After a wrong D the inputs are checked and restored, because an earlier kernel may have overwritten
 * them. */
static Err judge(WorkerContext *r, TensorSet *s, CheckDepth depth, WorkMessage *valid)
{
    Tensors *t = r->tensors;
    const Tensor *x = &r->problem->tensor[TENSOR_D];
    const unsigned char *d;
    bool good, some = depth == CHECK_QUICK && set_quick_pays(t);
    TRY(set_check(t, s, depth, valid->text, sizeof valid->text, &good, &d));
    Matrix m = tensors_result(t, d + (size_t)r->problem->offset[TENSOR_D] * (size_t)type_bytes(x->type));
    Check c;
    if (some)
        TRY(validator_check_some(t->validator, &m, &c));
    else
        TRY(validator_check(t->validator, &m, &c));
    if (!c.passed && good && r->device->api->is_gpu)
        TRY(set_inputs_check(t, s, valid->text, sizeof valid->text, &good));
    TRY(print_outputs(r, &m));
    valid->n_checked += c.n_checked;
    if (c.max_err > valid->max_err || isnan(c.max_err)) valid->max_err = c.max_err;
    valid->status = good && c.passed ? RUN_PASSED : RUN_FAILED;
    if (good) snprintf(valid->text, sizeof valid->text, "%s", c.text);
    return 0;
}

static Err validated_launch(WorkerContext *r, TensorSet *s, CheckDepth depth, Launches *l, WorkMessage *valid)
{
    const DeviceApi *api = r->device->api;
    unsigned char *expect = NULL;
    TRY(set_poison(r->tensors, s));
    TRY(launches_build(r, s, l));
    Err e = r->session->api->is_simulated ? set_truth(r, s, &expect) : 0;
    if (!e) e = worker_budget(r->socket, launches_budget_ns(r, 1, 1));
    uint64_t ns = 0;
    if (!e) e = api->event_record(r->device, r->start);
    if (!e) e = launches_enqueue(r, l);
    if (!e) e = api->event_record(r->device, r->stop);
    if (!e) e = api->sync(r->device);
    if (!e) e = api->event_elapsed(r->device, r->start, r->stop, &ns);
    if (!e) e = worker_budget(r->socket, 0);
    r->own_ns = (double)ns;
    if (!e) e = judge(r, s, depth, valid);
    r->truth.d = NULL;
    r->truth.expect = NULL;
    free(expect);
    return e;
}

/* Runs in the first timing set; in a set of its own where bounds are checked and on GPUs, where the copies
 * for timing have no space between them. */
static Err validated_run(WorkerContext *r, DeviceGuard guard, CheckDepth depth, WorkMessage *valid)
{
    Tensors *t = r->tensors;
    bool nan_pads = r->session->o.bounds_check == BOUNDS_NAN || r->device->api->is_gpu;
    Launches l;
    if (guard == DEVICE_GUARD_NONE && !nan_pads) {
        TRY(set_workspace(t, &t->copies[0], launches_workspace_bytes(r)));
        TRY(validated_launch(r, &t->copies[0], depth, &l, valid));
        return set_restore(t, &t->copies[0]);
    }
    TensorSet *s;
    TRY(validated_set(t, guard, nan_pads, launches_workspace_bytes(r), &s));
    Err e = validated_launch(r, s, depth, &l, valid);
    if (!e && t->was_changed) { /* the kernel was not to blame */
        t->was_changed = false;
        e = validated_launch(r, s, depth, &l, valid);
    }
    set_done(t, s);
    return e;
}

Err judge_solution(WorkerContext *r, CheckDepth depth, RunStatus *status, char *text, size_t size)
{
    static const DeviceGuard front[] = {DEVICE_GUARD_FRONT}, back[] = {DEVICE_GUARD_BACK},
                             both[] = {DEVICE_GUARD_FRONT, DEVICE_GUARD_BACK}, none[] = {DEVICE_GUARD_NONE};
    BoundsCheck b = r->session->o.bounds_check;
    const DeviceGuard *passes = b == BOUNDS_FRONT  ? front
                                : b == BOUNDS_BACK ? back
                                : b == BOUNDS_ALL  ? both
                                                   : none;
    WorkMessage valid = {.kind = WORK_VALID, .p = r->request.p, .s = r->request.s, .status = RUN_PASSED};
    TRY(make_validator(r->tensors));
    for (int i = 0; i < (b == BOUNDS_ALL ? 2 : 1) && valid.status == RUN_PASSED; i++)
        TRY(validated_run(r, passes[i], depth, &valid));
    *status = valid.status;
    snprintf(text, size, "%s", valid.text);
    return worker_send(r->socket, &valid);
}
