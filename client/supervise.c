/* The supervisor's side of a run. See supervise.h; the worker's side is worker.c. */
#include "client/supervise.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/vec.h"
#include "client/report.h"
#include "client/worker.h"
#include "measure/stats.h"

typedef struct {
    Session *s;
    Report *report;
    pid_t pid; /* 0: no worker */
    int socket;
    bool ready;
    int64_t loading;      /* code object that the worker loads; -1 none */
    uint64_t deadline_ns; /* 0 none */
    double *best_ns;      /* per problem: shortest known launch, 0 none */
    int64_t n_failures;
    uint64_t written_ns;
    VEC(double) samples; /* per enqueue, of the current solution */
    double total_ns, n_launches;
} Supervisor;

/* What became of one request. */
typedef struct {
    RunStatus status;
    bool launched; /* the worker got as far as running foreign code */
    WorkMessage end;
    char text[WORK_TEXT + 100];
} Outcome;

static Err emit(Supervisor *v, const Event *e)
{
    return v->s->o.events_fd >= 0 ? event_write((int)v->s->o.events_fd, e) : 0;
}

/* ---- the worker's life ---- */

static Err worker_start(Supervisor *v)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        FAIL(ERR_FAILED, "cannot make a socket pair: %s", strerror(errno));
    fflush(NULL); /* a kernel that calls exit must not write our buffers again */
    pid_t pid = fork();
    if (pid < 0) {
        int why = errno;
        close(pair[0]);
        close(pair[1]);
        FAIL(ERR_FAILED, "cannot fork: %s", strerror(why));
    }
    if (pid == 0) {
        close(pair[0]);
        worker_main(v->s, pair[1]);
    }
    close(pair[1]);
    v->pid = pid;
    v->socket = pair[0];
    v->ready = false;
    v->loading = -1;
    v->deadline_ns = clock_ns() + UINT64_C(60000000000);
    return 0;
}

/* Ends the worker and says how it ended. */
static void worker_end(Supervisor *v, bool late, char *text, size_t size)
{
    int status = 0;
    if (v->pid == 0) return;
    close(v->socket);
    /* A worker that closed its socket by itself is dying or lost; a moment later it is neither. */
    for (int i = 0; i < 20 && !late; i++) {
        if (waitpid(v->pid, &status, WNOHANG) == v->pid) goto reaped;
        poll(NULL, 0, 5);
    }
    kill(v->pid, SIGKILL);
    while (waitpid(v->pid, &status, 0) < 0 && errno == EINTR) continue;
reaped:
    v->pid = 0;
    if (!text) return;
    if (late)
        snprintf(text, size, "killed: too late");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(text, size, "ended its process with exit status %d", WEXITSTATUS(status));
}

typedef enum { GOT_MESSAGE, GOT_DEATH, GOT_LATE, GOT_INTERRUPT } Got;

static Got next_message(Supervisor *v, WorkMessage *m)
{
    for (;;) {
        uint64_t now = clock_ns();
        if (interrupted()) return GOT_INTERRUPT;
        if (v->deadline_ns && now >= v->deadline_ns) return GOT_LATE;
        uint64_t wait_ms = v->deadline_ns ? (v->deadline_ns - now) / 1000000 + 1 : 1000;
        struct pollfd p = {v->socket, POLLIN, 0};
        int n = poll(&p, 1, wait_ms > 1000 ? 1000 : (int)wait_ms);
        if (n < 0 && errno != EINTR) return GOT_DEATH;
        if (n <= 0) continue;
        ssize_t got = recv(v->socket, m, sizeof *m, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got != sizeof *m) return GOT_DEATH;
        m->text[sizeof m->text - 1] = '\0';
        return GOT_MESSAGE;
    }
}

static void take_budget(Supervisor *v, const WorkMessage *m)
{
    v->deadline_ns = m->budget_ns ? clock_ns() + m->budget_ns : 0;
    if (!v->ready) v->loading = m->s;
}

/* A new worker up to its WORK_READY. Code objects that end it are left out of the next try. */
static Err worker_ready(Supervisor *v)
{
    size_t n_code = v->s->o.code_objects.n;
    for (size_t attempt = 0; attempt <= n_code; attempt++) {
        char why[200], note[WORK_TEXT] = "";
        TRY(worker_start(v));
        for (;;) {
            WorkMessage m;
            Got got = next_message(v, &m);
            if (got == GOT_INTERRUPT) {
                worker_end(v, true, NULL, 0);
                FAIL(ERR_PARTIAL, "interrupted");
            }
            if (got != GOT_MESSAGE) {
                worker_end(v, got == GOT_LATE, why, sizeof why);
                break;
            }
            if (m.kind == WORK_BUDGET) take_budget(v, &m);
            if (m.kind == WORK_NOTE) snprintf(note, sizeof note, "%s", m.text);
            if (m.kind != WORK_READY) continue;
            v->ready = true;
            v->deadline_ns = 0;
            return 0;
        }
        if (note[0]) FAIL(ERR_FAILED, "%s", note);
        if (v->loading < 0 || (size_t)v->loading >= n_code)
            FAIL(ERR_FAILED, "the worker does not start: %s", why);
        Str file = v->s->o.code_objects.v[v->loading];
        warning("code object '%.*s' cannot be loaded: %s", STR_ARG(file), why);
        v->s->bad_code[v->loading] = 1;
    }
    FAIL(ERR_FAILED, "no worker could load the code objects");
}

/* ---- one request ---- */

static bool message_sane(const Supervisor *v, const WorkRequest *r, const WorkMessage *m)
{
    (void)v;
    if (m->kind == WORK_BUDGET || m->kind == WORK_NOTE) return true;
    if (m->p != r->p || m->s != r->s || (unsigned)m->status >= RUN_STATUS_COUNT) return false;
    if (m->kind == WORK_SAMPLES) {
        if (m->n_samples < 0 || m->n_samples > WORK_SAMPLES_MAX || m->first_sync < 0) return false;
        for (int64_t i = 0; i < m->n_samples; i++)
            if (m->n_enqueues[i] < 1) return false;
    }
    return m->kind == WORK_VALID || m->kind == WORK_SAMPLES || m->kind == WORK_END;
}

static Err take_samples(Supervisor *v, const WorkMessage *m)
{
    for (int64_t i = 0; i < m->n_samples; i++) {
        double per = (double)m->total_ns[i] / (double)m->n_enqueues[i];
        if (!VEC_PUSH(&v->samples, per)) FAIL(ERR_FAILED, "out of memory for %zu samples", v->samples.n);
        v->total_ns += (double)m->total_ns[i];
        v->n_launches += (double)m->n_enqueues[i];
        TRY(emit(v, &(Event){.kind = EVENT_SAMPLE,
                             .p = m->p,
                             .s = m->s,
                             .sync_no = m->first_sync + i,
                             .n_enqueues = m->n_enqueues[i],
                             .total_ns = m->total_ns[i]}));
    }
    return 0;
}

static Err take_valid(Supervisor *v, const WorkMessage *m)
{
    return emit(v, &(Event){.kind = EVENT_VALID,
                            .p = m->p,
                            .s = m->s,
                            .status = m->status,
                            .checked = m->n_checked,
                            .max_err = m->max_err,
                            .text = str_from(m->text)});
}

static Err request_once(Supervisor *v, const WorkRequest *r, Outcome *out)
{
    *out = (Outcome){.status = RUN_INVALID};
    v->samples.n = 0;
    v->total_ns = v->n_launches = 0;
    if (v->pid == 0) TRY(worker_ready(v));
    if (send(v->socket, r, sizeof *r, MSG_NOSIGNAL) != sizeof *r) {
        worker_end(v, false, out->text, sizeof out->text);
        out->status = RUN_CRASHED;
        return 0;
    }
    for (;;) {
        WorkMessage m;
        Got got = next_message(v, &m);
        if (got == GOT_INTERRUPT) {
            worker_end(v, true, NULL, 0);
            FAIL(ERR_PARTIAL, "interrupted");
        }
        if (got == GOT_MESSAGE && !message_sane(v, r, &m)) got = GOT_DEATH;
        if (got != GOT_MESSAGE) {
            out->status = got == GOT_LATE ? RUN_TIMEOUT : RUN_CRASHED;
            worker_end(v, got == GOT_LATE, out->text, sizeof out->text);
            return 0;
        }
        if (m.kind == WORK_BUDGET) take_budget(v, &m);
        if (m.kind == WORK_BUDGET && m.budget_ns) out->launched = true;
        if (m.kind == WORK_SAMPLES) TRY(take_samples(v, &m));
        if (m.kind == WORK_VALID) TRY(take_valid(v, &m));
        if (m.kind != WORK_END) continue;
        v->deadline_ns = 0;
        out->status = m.status;
        out->end = m;
        snprintf(out->text, sizeof out->text, "%s", m.text);
        return 0;
    }
}

/* A worker that dies before it ran anything of this request was broken by an earlier kernel (or by chance): a
 * fresh one decides. After a wrong result the worker's memory is not trusted either. */
static Err request(Supervisor *v, const WorkRequest *r, Outcome *out)
{
    TRY(request_once(v, r, out));
    if (out->status == RUN_CRASHED && !out->launched) TRY(request_once(v, r, out));
    if (out->status == RUN_FAILED) worker_end(v, true, NULL, 0);
    return 0;
}

/* ---- one item of the plan ---- */

static void compute_granularity(const Supervisor *v, const Problem *p, const LibSolution *s, Granularity *out)
{
    const Contraction *c = &p->shape;
    const SizeMapping *m = &s->map;
    GranularityInput in = {
        .m = (double)c->m,
        .n = (double)c->n,
        .batch = (double)c->batch,
        .k = (double)p->gemm.k,
        .macro_tile0 = m->macro_tile[0] > 0 ? m->macro_tile[0] : 1,
        .macro_tile1 = m->macro_tile[1] > 0 ? m->macro_tile[1] : 1,
        .global_split_u = m->global_split_u > 0 ? m->global_split_u : 1,
        .local_split_u = m->work_group[2] > 0 ? m->work_group[2] : 1,
        .n_threads = (double)m->work_group[0] * m->work_group[1] * m->work_group[2],
        .n_cu = v->s->props.n_cu > 0 ? v->s->props.n_cu : 1,
        .a_bytes = type_bytes(p->tensor[TENSOR_A].type),
        .b_bytes = type_bytes(p->tensor[TENSOR_B].type),
        .c_bytes = type_bytes(p->tensor[TENSOR_C].type),
        .d_bytes = type_bytes(p->tensor[TENSOR_D].type),
        .use_beta = s->use_beta,
    };
    granularity_compute(&in, out);
}

/* The row's figures from the samples; what never ran has none. */
static void fill_row(const Supervisor *v, const Problem *p, const Outcome *o, ReportRow *row)
{
    const DeviceReading absent = DEVICE_READING_NONE;
    bool ran = v->n_launches > 0 && run_status_good(o->status);
    row->status = o->status;
    row->time_us = ran ? v->total_ns / v->n_launches / 1000 : NAN;
    row->gflops = ran ? problem_flops(p) / row->time_us / 1000 : NAN;
    if (v->s->o.cu_efficiency) row->gflops /= row->gran.used_cus;
    row->enqueue_us = ran ? (double)o->end.enqueue_ns / v->n_launches / 1000 : NAN;
    row->mean = ran ? o->end.mean : absent;
    row->median = ran ? o->end.median : absent;
    row->n_readings = ran ? o->end.n_readings : 0;
}

static Err emit_end(Supervisor *v, const PlanItem *item, int64_t s, const Outcome *o)
{
    Summary sum;
    stats_summary(v->samples.v, run_status_good(o->status) ? v->samples.n : 0, 0.95, &sum);
    if (sum.n && (v->best_ns[item->p] == 0 || sum.median < v->best_ns[item->p]))
        v->best_ns[item->p] = sum.median;
    return emit(v, &(Event){.kind = EVENT_END,
                            .p = item->p,
                            .s = s,
                            .status = o->status,
                            .n = (int64_t)sum.n,
                            .median_ns = sum.median,
                            .lo_ns = sum.lo,
                            .hi_ns = sum.hi,
                            .text = str_from(o->text)});
}

/* The library's choice; its time stands in for the kernel's with selection-only. */
static Err choose(Supervisor *v, const PlanItem *item, int64_t *s, Outcome *out)
{
    Selection sel;
    uint64_t before = clock_ns();
    TRY(library_select(v->s->library, &v->s->problems.v[item->p].shape, &sel));
    double ns = (double)(clock_ns() - before);
    *s = sel.solution ? (int64_t)sel.solution->number : -1;
    if (v->s->o.selection_only && sel.solution) {
        v->samples.n = 0;
        if (!VEC_PUSH(&v->samples, ns)) FAIL(ERR_FAILED, "out of memory for a sample");
        v->total_ns = ns;
        v->n_launches = 1;
        *out = (Outcome){.status = RUN_NO_CHECK};
        out->end.mean = out->end.median = DEVICE_READING_NONE;
        snprintf(out->text, sizeof out->text, "selected: %s", select_why_name(sel.why));
    }
    return 0;
}

/* Reasons not to run at all. */
static bool skipped(Supervisor *v, const Problem *p, const LibSolution *sol, const Granularity *g,
                    Outcome *out)
{
    *out = (Outcome){.status = RUN_NO_CHECK};
    if (!sol->hardware_ok)
        out->status = RUN_WRONG_HARDWARE;
    else if (!solution_can_solve(sol, &p->shape)) {
        Buf why;
        buf_init(&why);
        pred_why_not(sol->problem_pred, &p->shape, &why);
        out->status = RUN_DID_NOT_SATISFY_ASSERTS;
        snprintf(out->text, sizeof out->text, "%.400s", why.n ? buf_cstr(&why) : "needs more workspace");
        buf_fini(&why);
    } else if (g->total < v->s->o.granularity) {
        out->status = RUN_SKIPPED;
        snprintf(out->text, sizeof out->text, "granularity %.6g is below %.6g", g->total,
                 v->s->o.granularity);
    }
    v->samples.n = 0;
    v->total_ns = v->n_launches = 0;
    return out->status != RUN_NO_CHECK;
}

static bool counts_as_failure(RunStatus s)
{
    return s == RUN_FAILED || s == RUN_INVALID || s == RUN_CRASHED || s == RUN_TIMEOUT;
}

static Err run_item(Supervisor *v, const PlanItem *item, bool *failed)
{
    const Problem *p = &v->s->problems.v[item->p];
    int64_t s = item->s;
    Outcome o = {0};
    bool chosen = s < 0;
    *failed = false;
    if (chosen) TRY(choose(v, item, &s, &o));
    if (s < 0) {
        warning("problem %lld: the library has no solution for it", (long long)item->p);
        return 0;
    }
    const LibSolution *sol = library_solution(v->s->library, (size_t)s);
    ReportRow row = {.item = item, .s = s, .solution = sol->name};
    compute_granularity(v, p, sol, &row.gran);
    TRY(emit(v, &(Event){.kind = EVENT_START, .p = item->p, .s = s}));
    bool selected_only = chosen && v->s->o.selection_only;
    if (!selected_only && !skipped(v, p, sol, &row.gran, &o)) {
        WorkRequest r = {.p = item->p,
                         .s = s,
                         .validate = item->validate,
                         .timing = v->s->o.n_syncs > 0,
                         .expected_ns = v->best_ns[item->p]};
        TRY(request(v, &r, &o));
    }
    fill_row(v, p, &o, &row);
    TRY(emit_end(v, item, s, &o));
    *failed = counts_as_failure(o.status);
    if (*failed && o.text[0])
        verbose("problem %lld, solution %lld: %s", (long long)item->p, (long long)s, o.text);
    return report_row(v->report, &row);
}

static Err run_plan(Supervisor *v, const Plan *plan)
{
    for (size_t i = 0; i < plan->n; i++) {
        bool failed;
        if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
        TRY(run_item(v, &plan->v[i], &failed));
        v->n_failures += failed;
        if (failed && v->s->o.exit_on_error) return 0;
        uint64_t now = clock_ns();
        if (now - v->written_ns > UINT64_C(5000000000)) {
            TRY(report_write(v->report));
            v->written_ns = now;
        }
    }
    return 0;
}

static Err emit_env(Supervisor *v)
{
    const DeviceProps *p = &v->s->props;
    char n_cu[32], clock[32], memory[32];
    snprintf(n_cu, sizeof n_cu, "%d", p->n_cu);
    snprintf(clock, sizeof clock, "%d", p->clock_mhz);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)p->memory_bytes);
    const char *const env[][2] = {{"kind", v->s->api->name},
                                  {"device", p->name},
                                  {"architecture", p->architecture},
                                  {"n_cu", n_cu},
                                  {"clock_mhz", clock},
                                  {"memory_bytes", memory},
                                  {"driver", p->driver}};
    for (size_t i = 0; i < sizeof env / sizeof *env; i++)
        TRY(emit(v, &(Event){.kind = EVENT_ENV, .key = str_from(env[i][0]), .value = str_from(env[i][1])}));
    return 0;
}

Err supervise(Session *s, const Plan *plan, int64_t *n_failures)
{
    Supervisor v = {.s = s, .written_ns = clock_ns()};
    *n_failures = 0;
    v.best_ns = calloc(s->problems.n + 1, sizeof *v.best_ns);
    s->bad_code = calloc(s->o.code_objects.n + 1, 1);
    if (!v.best_ns || !s->bad_code) FAIL(ERR_FAILED, "out of memory for %zu problems", s->problems.n);
    Err e = report_new(s, plan, &v.report);
    if (!e) e = emit_env(&v);
    if (!e) e = run_plan(&v, plan);
    worker_end(&v, true, NULL, 0);
    if (v.report && (!e || e == ERR_PARTIAL)) {
        Err written = report_write(v.report);
        if (!e) e = written;
    }
    if (!e) e = emit(&v, &(Event){.kind = EVENT_DONE});
    *n_failures = v.n_failures;
    report_free(v.report);
    VEC_FINI(&v.samples);
    free(v.best_ns);
    free(s->bad_code);
    s->bad_code = NULL;
    return e;
}

/* ---- properties ---- */

typedef struct {
    Err err;
    DeviceProps props;
    char text[300];
} Answer;

static _Noreturn void answer(const DeviceApi *api, int index, const DeviceOptions *options, int fd)
{
    Answer a = {0};
    Device *d = NULL;
    a.err = api->open(index, options, &d);
    if (!a.err) a.err = api->props(d, &a.props);
    if (a.err) snprintf(a.text, sizeof a.text, "%.299s", err_message());
    ssize_t n = write(fd, &a, sizeof a);
    _exit(n == sizeof a ? 0 : 1);
}

Err supervise_props(const DeviceApi *api, int index, const DeviceOptions *options, DeviceProps *out)
{
    int fd[2], status;
    Answer a;
    if (pipe(fd)) FAIL(ERR_FAILED, "cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) answer(api, index, options, fd[1]);
    close(fd[1]);
    size_t got = 0;
    while (pid > 0 && got < sizeof a) {
        ssize_t n = read(fd[0], (char *)&a + got, sizeof a - got);
        if (n > 0)
            got += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    close(fd[0]);
    if (pid < 0) FAIL(ERR_FAILED, "cannot fork");
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (got != sizeof a) FAIL(ERR_NO_DEVICE, "device %s %d does not answer", api->name, index);
    if (a.err) FAIL(a.err, "%s", a.text);
    *out = a.props;
    return 0;
}
