/* Code objects, kernels and launches of a solution. See launches.h. */
#include "client/worker/launches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "client/worker/number.h"
#include "client/peer/peer.h"

/* Up to this number of code objects are loaded at the start; if there are more, each is loaded when one of
 * its kernels is first needed. */
enum { EAGER_MAX = 4 };
static const uint64_t LOAD_NS = UINT64_C(60000000000);

static Err load(const Session *s, Device *d, int socket, size_t number, CodeObject *c)
{
    if (s->bad_code && s->bad_code[number]) {
        snprintf(c->why, sizeof c->why, "%.150s ended the process that loaded it", c->path);
        return 0;
    }
    WorkMessage m = {.kind = WORK_BUDGET, .p = -1, .s = (int64_t)number, .budget_ns = LOAD_NS};
    TRY(worker_send(socket, &m));
    if (s->api->module_load(d, c->path, &c->module)) {
        c->module = NULL;
        snprintf(c->why, sizeof c->why, "%.199s", err_message());
    }
    return worker_budget(socket, 0);
}

/* When a file cannot be loaded, only its solutions fail. The supervisor gets a message before each load, so
 * that it knows the file if loading ends the process. */
Err code_load(const Session *s, Device *d, int socket, CodeObjects *out)
{
    const StrList *files = &s->o.code_objects;
    *out = (CodeObjects){0};
    map_init(&out->kernel);
    out->v = calloc(files->n + 1, sizeof *out->v);
    if (!out->v) FAIL(ERR_FAILED, "out of memory for %zu code objects", files->n);
    for (size_t i = 0; i < files->n; i++) {
        CodeObject *c = &out->v[out->n];
        char *path = strndup(files->v[i].s, files->v[i].n);
        if (!path) FAIL(ERR_FAILED, "out of memory for a path of %zu characters", files->v[i].n);
        c->path = path;
        if (!device_takes_file(s->api, str_from(path))) continue;
        out->n++;
        if (files->n <= EAGER_MAX) TRY(load(s, d, socket, i, c));
    }
    return 0;
}

/* "dir/KERNEL.cubin" for KERNEL. */
static bool is_named(const CodeObject *c, Str symbol)
{
    Str base = path_base(str_from(c->path));
    return str_starts(base, symbol.s) && base.n > symbol.n && base.s[symbol.n] == '.';
}

static bool look_in(WorkerContext *r, CodeObject *c, const char *symbol, DeviceKernel **out)
{
    if (!c->module && !c->why[0]) {
        bool sent = !worker_budget(r->socket, LOAD_NS);
        if (!sent || r->device->api->module_load(r->device, c->path, &c->module)) {
            c->module = NULL;
            snprintf(c->why, sizeof c->why, "%.199s", err_message());
        }
        if (sent && worker_budget(r->socket, 0)) return false;
    }
    return c->module && !r->device->api->kernel_get(r->device, c->module, symbol, out);
}

/* Searches the file that is named after the kernel, then the loaded files, then the others. */
static Err search(WorkerContext *r, const char *symbol, DeviceKernel **out)
{
    CodeObjects *code = r->code;
    const char *why = "";
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < code->n; i++) {
            CodeObject *c = &code->v[i];
            bool now = pass == 0 ? is_named(c, str_from(symbol)) : pass == 1 ? c->module != NULL : !c->module;
            if (now && look_in(r, c, symbol, out)) return 0;
            if (c->why[0]) why = c->why;
        }
    FAIL(ERR_FAILED, "kernel '%s' is in none of %zu code objects%s%s", symbol, code->n, why[0] ? ": " : "",
         why);
}

static Err find_kernel(WorkerContext *r, const char *symbol, DeviceKernel **out)
{
    int64_t *at = map_get(&r->code->kernel, str_from(symbol));
    if (at) {
        *out = (DeviceKernel *)(uintptr_t)*at;
        return 0;
    }
    TRY(search(r, symbol, out));
    at = map_put(&r->code->kernel, str_from(symbol), NULL);
    if (!at) FAIL(ERR_FAILED, "out of memory for kernel '%s'", symbol);
    *at = (int64_t)(uintptr_t)*out;
    return 0;
}

static Err encode_map(void *ctx, const TensorMap *map, unsigned char out[TENSOR_MAP_BYTES])
{
    Device *d = ctx;
    return d->api->tensor_map(d, map, out);
}

static LaunchHardware hardware(const WorkerContext *r)
{
    return (LaunchHardware){.n_cu = r->session->props.n_cu, .grid_limit = r->session->props.grid_limit};
}

/* Finds the kernels and makes the arguments of part i; *is_there false: the problem has no such part. */
static Err build_part(WorkerContext *r, const TensorSet *s, uint64_t i, Launches *out, bool *is_there)
{
    const Problem *p = r->problem;
    LaunchPart part;
    unsigned char alpha[16], beta[16];
    number_store((DataType)p->shape.compute_type, alpha, 0, p->gemm.alpha[0], p->gemm.alpha[1]);
    number_store((DataType)p->shape.compute_type, beta, 0, p->gemm.beta[0], p->gemm.beta[1]);
    const TensorMapEncoder maps = {encode_map, r->device};
    LaunchInputs in = {
        .a = (const void *)(uintptr_t)set_operand(s, p, TENSOR_A),
        .b = (const void *)(uintptr_t)set_operand(s, p, TENSOR_B),
        .c = (const void *)(uintptr_t)set_operand(s, p, TENSOR_C),
        .d = (void *)(uintptr_t)set_operand(s, p, TENSOR_D),
        .workspace = (void *)(uintptr_t)s->workspace.address,
        .alpha = alpha,
        .beta = beta,
        .offset_a = p->offset[TENSOR_A],
        .offset_b = p->offset[TENSOR_B],
        .offset_c = p->offset[TENSOR_C],
        .offset_d = p->offset[TENSOR_D],
        .rnd_seed = 1,
        .maps = &maps,
    };
    fused_data_inputs(&r->tensors->fused, &in);
    const LaunchHardware hw = hardware(r);
    *is_there = launch_part(&p->shape, r->solution, &in, &hw, i, &part);
    if (!*is_there) return 0;
    out->has_parts = part.problem.n != p->shape.n || part.problem.batch != p->shape.batch;
    TRY(launch_build(&part.problem, r->solution, &part.in, &hw, &out->list));
    for (uint32_t k = 0; k < out->list.n; k++) TRY(find_kernel(r, out->list.call[k].symbol, &out->kernel[k]));
    return 0;
}

Err launches_build(WorkerContext *r, const TensorSet *s, Launches *out)
{
    bool is_there;
    out->set = s, out->has_parts = false;
    return r->solution ? build_part(r, s, 0, out, &is_there) : 0;
}

uint64_t launches_workspace_bytes(const WorkerContext *r)
{
    if (!r->solution) return 0;
    const LaunchHardware hw = hardware(r);
    return launch_workspace_bytes(&r->problem->shape, r->solution, &hw);
}

static Err enqueue(WorkerContext *r, const Launches *l)
{
    for (uint32_t i = 0; i < l->list.n; i++) {
        const KernelCall *c = &l->list.call[i];
        DeviceLaunch launch = {.kernel = l->kernel[i],
                               .args = c->args,
                               .args_bytes = c->n_arg_bytes,
                               .dependent = c->dependent,
                               .truth = &r->truth,
                               .is_helper = c->role != CALL_MAIN};
        memcpy(launch.group, c->work_group, sizeof launch.group);
        memcpy(launch.grid, c->num_work_groups, sizeof launch.grid);
        TRY(r->device->api->launch(r->device, &launch));
    }
    return 0;
}

Err launches_enqueue(WorkerContext *r, const Launches *l)
{
    if (!r->solution) return peer_launch(r->peer, r->problem, l->set);
    TRY(enqueue(r, l));
    bool more = l->has_parts;
    for (uint64_t i = 1; more; i++) {
        Launches part;
        TRY(build_part(r, l->set, i, &part, &more));
        if (more) TRY(enqueue(r, &part));
    }
    return 0;
}

uint64_t launches_budget_ns(const WorkerContext *r, int64_t n_launches, double sleep_factor)
{
    double slow = r->device->api->is_gpu ? 100 : 1; /* GFlops of the slowest expected kernel */
    double expected = r->own_ns > 0                ? 20 * r->own_ns
                      : r->request.expected_ns > 0 ? 50 * r->request.expected_ns
                                                   : 5 * problem_flops(r->problem) / slow;
    if (r->session->api->is_simulated) expected = 0; /* simulated time is not real time */
    double ns = r->session->o.kernel_timeout * 1e9 + expected * (double)n_launches * sleep_factor;
    return ns > 1e18 ? UINT64_C(1000000000000000000) : (uint64_t)ns;
}
