/* The worker's loop: load code objects, take requests, keep the tensors of the current problem. See worker.h.
 */
#include "client/worker/worker.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/worker/blocks.h"
#include "client/peer/peer.h"
#include "client/worker/timing.h"

Err worker_send(int socket, const WorkMessage *m)
{
    while (send(socket, m, sizeof *m, MSG_NOSIGNAL) < 0)
        if (errno != EINTR) FAIL(ERR_FAILED, "worker: cannot send: %s", strerror(errno));
    return 0;
}

Err worker_budget(int socket, uint64_t ns)
{
    return worker_send(socket, &(WorkMessage){.kind = WORK_BUDGET, .p = -1, .s = -1, .budget_ns = ns});
}

/* Prepares the process: the supervisor handles Ctrl-C, output of kernels must not reach the log, and a crash
 * writes no core file. Freed memory is kept, because the next problem needs as much and its page faults would
 * cost more than the work on it. */
static void settle(const Session *s)
{
#ifdef __GLIBC__
    if (s->api->is_gpu) {
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, -1);
    }
#endif
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (s->o.events_fd > 2) close((int)s->o.events_fd);
}

static Err print_inputs(const Session *s, const Tensors *t)
{
    const bool wanted[] = {s->o.print_a, s->o.print_b, s->o.print_c};
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        if (!wanted[i]) continue;
        const Tensor *x = &t->problem->tensor[i];
        Matrix m = {.type = x->type, .row = x->stride[0], .col = x->stride[1], .batch = x->stride[2]};
        m.data = t->pristine[i] + (size_t)t->problem->offset[i] * (size_t)type_bytes(x->type);
        m.packed_rows = i == TENSOR_A ? t->problem->shape.trans_a : !t->problem->shape.trans_b;
        int64_t p = type_info(x->type)->packing;
        matrix_print(names[i], &m, x->size[0] * (m.packed_rows ? p : 1), x->size[1] * (m.packed_rows ? 1 : p),
                     x->size[2]);
        if (s->o.dump_tensors) TRY(tensor_dump(names[i], t->pristine[i], t->bytes[i]));
    }
    return 0;
}

typedef struct {
    WorkerContext run;
    Blocks *blocks;
    Operands operands;
    int64_t problem; /* number of the problem that has tensors; -1: none */
} Worker;

static Err serve(Worker *w, const WorkRequest *request, WorkMessage *end)
{
    WorkerContext *r = &w->run;
    const Session *s = r->session;
    r->request = *request;
    r->problem = &s->problems.v[request->p];
    r->solution = request->s == WORK_PEER ? NULL : library_solution(s->library, (size_t)request->s);
    r->truth =
        (DeviceTruth){.flops = (uint64_t)problem_flops(r->problem), .problem_key = (uint64_t)request->p + 1};
    if (!r->solution && request->s != WORK_PEER) FAIL(ERR_FAILED, "no solution %lld", (long long)request->s);
    if (w->problem != request->p) {
        blocks_clear(w->blocks);
        tensors_free(r->tensors);
        r->tensors = NULL;
        w->problem = -1;
        TRY(tensors_new(s, r->problem, &w->operands, &r->tensors));
        w->problem = request->p;
        TRY(print_inputs(s, r->tensors));
    }
    return request->task == DO_LOOP ? timing_loop(r, end) : blocks_serve(w->blocks, end);
}

static void operands_open(const Session *s, Device *device, Operands *out)
{
    *out = operands_make(device, s->n_threads);
    for (size_t p = 0; p < s->problems.n; p++)
        for (int i = 0; i < OPERANDS; i++) {
            const Tensor *x = &s->problems.v[p].tensor[i];
            operands_expect(out, i, (uint64_t)x->n_elements * (uint64_t)type_bytes(x->type));
        }
}

static Err open_all(const Session *s, int socket, Worker *w, CodeObjects *code)
{
    WorkerContext *r = &w->run;
    DeviceOptions options = {.n_threads = (int)s->o.host_threads, .sim = s->o.sim[0] ? s->o.sim : NULL};
    TRY(s->api->open((int)s->o.device_index, &options, &r->device));
    operands_open(s, r->device, &w->operands);
    TRY(s->api->event_new(r->device, &r->start));
    TRY(s->api->event_new(r->device, &r->stop));
    TRY(code_load(s, r->device, socket, code));
    r->code = code;
    if (s->o.peer[0]) TRY(peer_open(s->o.peer, r->device, (int)s->o.host_threads, &r->peer));
    return blocks_new(r, &w->blocks);
}

/* After an error that poisons the context this process ends, because later kernels would report it again. */
static void conclude(const WorkerContext *r, Err e, WorkMessage *end)
{
    if (!e) return;
    end->gone = r->device->api->lost(r->device);
    end->status = end->gone ? RUN_CRASHED : RUN_INVALID;
    snprintf(end->text, sizeof end->text, "%.*s", WORK_TEXT - 1, err_message());
}

static Err work(const Session *s, int socket)
{
    Worker w = {.run = {.session = s, .socket = socket}, .problem = -1};
    CodeObjects code = {0};
    TRY(open_all(s, socket, &w, &code));
    WorkMessage ready = {.kind = WORK_READY};
    if (w.run.peer) snprintf(ready.text, sizeof ready.text, "%s", w.run.peer->version);
    TRY(worker_send(socket, &ready));
    for (;;) {
        WorkRequest request;
        ssize_t n = recv(socket, &request, sizeof request, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n != sizeof request) return 0;
        WorkMessage end = {.kind = WORK_END, .p = request.p, .s = request.s};
        end.mean = end.median = DEVICE_READING_NONE;
        conclude(&w.run, serve(&w, &request, &end), &end);
        TRY(worker_send(socket, &end));
        if (end.gone) return ERR_FAILED;
    }
}

void worker_main(const Session *s, int socket)
{
    settle(s);
    Err e = work(s, socket);
    if (e) {
        WorkMessage note = {.kind = WORK_NOTE};
        snprintf(note.text, sizeof note.text, "%.*s", WORK_TEXT - 1, err_message());
        worker_send(socket, &note);
    }
    _exit(e);
}
