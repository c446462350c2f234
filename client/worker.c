/* The worker's loop: load code objects, take requests, keep the tensors of the current problem. See worker.h.
 */
#include "client/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/timing.h"

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

/* Ctrl-C is the supervisor's business; nothing that a kernel prints may reach the log; no cores. */
static void settle(const Session *s)
{
    struct rlimit no_core = {0, 0};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    if (s->o.events_fd > 2) close((int)s->o.events_fd);
}

/* A file that cannot be loaded costs the solutions in it, no more; which one is being loaded is told before.
 */
static Err load_code(const Session *s, Device *d, int socket, CodeObjects *out)
{
    const StrList *files = &s->o.code_objects;
    out->v = calloc(files->n + 1, sizeof *out->v);
    if (!out->v) FAIL(ERR_FAILED, "out of memory for %zu code objects", files->n);
    for (size_t i = 0; i < files->n; i++) {
        CodeObject *c = &out->v[out->n];
        char *path = strndup(files->v[i].s, files->v[i].n);
        if (!path) FAIL(ERR_FAILED, "out of memory for a path of %zu characters", files->v[i].n);
        c->path = path;
        if (!device_takes_file(s->api, str_from(path))) continue;
        out->n++;
        if (s->bad_code && s->bad_code[i]) {
            snprintf(c->why, sizeof c->why, "%.150s ended the process that loaded it", path);
            continue;
        }
        WorkMessage m = {.kind = WORK_BUDGET, .p = -1, .s = (int64_t)i, .budget_ns = UINT64_C(60000000000)};
        TRY(worker_send(socket, &m));
        if (s->api->module_load(d, path, &c->module)) {
            c->module = NULL;
            snprintf(c->why, sizeof c->why, "%.199s", err_message());
        }
    }
    return worker_budget(socket, 0);
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
        matrix_print(names[i], &m, x->size[0], x->size[1], x->size[2]);
        if (s->o.dump_tensors) TRY(tensor_dump(names[i], t->pristine[i], t->bytes[i]));
    }
    return 0;
}

typedef struct {
    Run run;
    int64_t problem; /* whose tensors are there; -1 none */
} Worker;

static Err serve(Worker *w, const WorkRequest *request, WorkMessage *end)
{
    Run *r = &w->run;
    const Session *s = r->session;
    r->request = *request;
    r->problem = &s->problems.v[request->p];
    r->solution = library_solution(s->library, (size_t)request->s);
    if (!r->solution) FAIL(ERR_FAILED, "no solution %lld", (long long)request->s);
    if (w->problem != request->p) {
        tensors_free(r->tensors);
        r->tensors = NULL;
        w->problem = -1;
        TRY(tensors_new(s, r->problem, r->device, &r->tensors));
        w->problem = request->p;
        TRY(print_inputs(s, r->tensors));
    }
    return run_solution(r, end);
}

static Err work(const Session *s, int socket)
{
    Worker w = {.run = {.session = s, .socket = socket}, .problem = -1};
    CodeObjects code = {0};
    DeviceOptions options = {.n_threads = (int)s->o.host_threads, .sim = s->o.sim[0] ? s->o.sim : NULL};
    TRY(s->api->open((int)s->o.device_index, &options, &w.run.device));
    TRY(s->api->event_new(w.run.device, &w.run.start));
    TRY(s->api->event_new(w.run.device, &w.run.stop));
    TRY(load_code(s, w.run.device, socket, &code));
    w.run.code = &code;
    TRY(worker_send(socket, &(WorkMessage){.kind = WORK_READY}));
    for (;;) {
        WorkRequest request;
        ssize_t n = recv(socket, &request, sizeof request, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n != sizeof request) return 0;
        WorkMessage end = {.kind = WORK_END, .p = request.p, .s = request.s};
        if (serve(&w, &request, &end)) {
            end.status = RUN_INVALID;
            snprintf(end.text, sizeof end.text, "%.*s", WORK_TEXT - 1, err_message());
        }
        TRY(worker_send(socket, &end));
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
