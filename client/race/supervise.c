/* The supervisor's side of a run. See supervise.h; the worker's side is worker.c. */
#include "client/race/supervise.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/proc.h"
#include "client/race/supervisor.h"
#include "measure/stats.h"

Err supervisor_emit(const Supervisor *v, const Event *e)
{
    return v->s->o.events_fd >= 0 ? event_write((int)v->s->o.events_fd, e) : 0;
}

static Err take_samples(Supervisor *v, const WorkMessage *m)
{
    for (int64_t i = 0; i < m->n_samples; i++) {
        double per = (double)m->total_ns[i] / (double)m->n_enqueues[i];
        if (!VEC_PUSH(&v->samples, per)) FAIL(ERR_FAILED, "out of memory for %zu samples", v->samples.n);
        v->total_ns += (double)m->total_ns[i];
        v->n_launches += (double)m->n_enqueues[i];
        TRY(supervisor_emit(v, &(Event){.kind = EVENT_SAMPLE,
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
    return supervisor_emit(v, &(Event){.kind = EVENT_VALID,
                                       .p = m->p,
                                       .s = m->s,
                                       .status = m->status,
                                       .checked = m->n_checked,
                                       .max_err = m->max_err,
                                       .text = str_from(m->text)});
}

/* A second EVENT_START voids the earlier events of the pair. */
static void start_again(void *ctx, const WorkRequest *r)
{
    Supervisor *v = ctx;
    v->samples.n = 0;
    v->total_ns = v->n_launches = 0;
    verbose("problem %lld, solution %lld: another process killed its worker; running it again",
            (long long)r->p, (long long)r->s);
    if (supervisor_emit(v, &(Event){.kind = EVENT_START, .p = r->p, .s = r->s}))
        verbose("%s", err_message()); /* the reader is gone: the event of the pair's end returns the error */
}

static Err take_message(void *ctx, const WorkMessage *m)
{
    return m->kind == WORK_VALID ? take_valid(ctx, m) : take_samples(ctx, m);
}

/* ---- one item of the plan ---- */

void supervisor_granularity(const Supervisor *v, const Problem *p, const LibSolution *s, Granularity *out)
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

/* Fills in the figures of a row from the samples, if there are any. */
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
    return supervisor_emit(v, &(Event){.kind = EVENT_END,
                                       .p = item->p,
                                       .s = s,
                                       .status = o->status,
                                       .n = (int64_t)sum.n,
                                       .median_ns = sum.median,
                                       .lo_ns = sum.lo,
                                       .hi_ns = sum.hi,
                                       .text = str_from(o->text)});
}

/* Asks the library for its choice; with selection-only the time of the choice is the row's time. */
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

bool supervisor_skips(const Supervisor *v, const Problem *p, const LibSolution *sol, const Granularity *g,
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
    return out->status != RUN_NO_CHECK;
}

bool supervisor_is_failure(RunStatus s)
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
    supervisor_granularity(v, p, sol, &row.gran);
    TRY(supervisor_emit(v, &(Event){.kind = EVENT_START, .p = item->p, .s = s}));
    bool selected_only = chosen && v->s->o.selection_only;
    if (!selected_only) v->samples.n = 0, v->total_ns = v->n_launches = 0;
    if (!selected_only && !supervisor_skips(v, p, sol, &row.gran, &o)) {
        WorkRequest r = {.p = item->p,
                         .s = s,
                         .validate = item->validate,
                         .timing = v->s->o.n_syncs > 0,
                         .expected_ns = v->best_ns[item->p]};
        v->q.message = take_message;
        v->q.again = start_again;
        v->q.ctx = v;
        TRY(request(&v->q, &r, &o));
    }
    fill_row(v, p, &o, &row);
    TRY(emit_end(v, item, s, &o));
    *failed = supervisor_is_failure(o.status);
    if (*failed && o.text[0])
        verbose("problem %lld, solution %lld: %s", (long long)item->p, (long long)s, o.text);
    return report_row(v->report, &row);
}

Err supervisor_checkpoint(Supervisor *v)
{
    uint64_t now = clock_ns();
    if (now - v->written_ns <= UINT64_C(5000000000)) return 0;
    v->written_ns = now;
    return report_checkpoint(v->report);
}

/* The number of items from i on that one race takes: those of the same problem and benchmark repeat. An item
 * that asks for the library's choice is not raced. */
static size_t race_length(const Supervisor *v, const RunPlan *plan, size_t i)
{
    size_t n = 1;
    if (!v->s->race || v->s->o.n_syncs == 0 || plan->v[i].s < 0) return 0;
    while (i + n < plan->n && plan->v[i + n].p == plan->v[i].p &&
           plan->v[i + n].benchmark == plan->v[i].benchmark)
        n++;
    return n;
}

static Err run_plan(Supervisor *v, const RunPlan *plan)
{
    for (size_t i = 0; i < plan->n;) {
        int64_t n_failed = 0;
        bool failed;
        if (interrupted()) FAIL(ERR_PARTIAL, "interrupted");
        size_t n = race_length(v, plan, i);
        if (n) {
            TRY(race_problem(v, &plan->v[i], n, &n_failed));
            i += n;
        } else {
            TRY(run_item(v, &plan->v[i++], &failed));
            n_failed = failed;
        }
        v->n_failures += n_failed;
        if (n_failed && v->s->o.exit_on_error) return 0;
        TRY(supervisor_checkpoint(v));
    }
    return 0;
}

/* Runs the parts of a plan as they come. */
static Err run_parts(Supervisor *v)
{
    RunPlan part = {0};
    FILE *f = fopen(v->s->o.plan_file, "re");
    if (!f) FAIL(ERR_INPUT, "cannot open '%s': %s", v->s->o.plan_file, strerror(errno));
    Err e = plan_part(v->s, f, &part);
    while (!e && part.n) {
        e = run_plan(v, &part);
        if (!e) e = supervisor_emit(v, &(Event){.kind = EVENT_PART});
        if (!e) e = plan_part(v->s, f, &part);
    }
    plan_free(&part);
    fclose(f);
    return e;
}

static Err emit_env(Supervisor *v)
{
    const DeviceProps *p = &v->s->props;
    char n_cu[32], clock[32], memory[32];
    snprintf(n_cu, sizeof n_cu, "%d", p->n_cu);
    snprintf(clock, sizeof clock, "%d", p->clock_mhz);
    snprintf(memory, sizeof memory, "%llu", (unsigned long long)p->memory_bytes);
    TRY(supervisor_emit(v, &(Event){.kind = EVENT_VERSION}));
    const char *const env[][2] = {{"kind", v->s->api->name},
                                  {"device", p->name},
                                  {"architecture", p->architecture},
                                  {"n_cu", n_cu},
                                  {"clock_mhz", clock},
                                  {"memory_bytes", memory},
                                  {"driver", p->driver}};
    for (size_t i = 0; i < sizeof env / sizeof *env; i++)
        TRY(supervisor_emit(
            v, &(Event){.kind = EVENT_ENV, .key = str_from(env[i][0]), .value = str_from(env[i][1])}));
    return 0;
}

Err supervise(Session *s, const RunPlan *plan, int64_t *n_failures)
{
    Supervisor v = {.s = s, .q = {.s = s}, .written_ns = clock_ns()};
    *n_failures = 0;
    v.best_ns = calloc(s->problems.n + 1, sizeof *v.best_ns);
    s->bad_code = calloc(s->o.code_objects.n + 1, 1);
    if (!v.best_ns || !s->bad_code) FAIL(ERR_FAILED, "out of memory for %zu problems", s->problems.n);
    Err e = report_new(s, plan, &v.report);
    if (!e) e = emit_env(&v);
    if (!e) e = plan_is_stream(s) ? run_parts(&v) : run_plan(&v, plan);
    requests_end(&v.q);
    if (v.report && (!e || e == ERR_PARTIAL)) {
        Err written = report_write(v.report);
        if (!e) e = written;
    }
    if (!e) e = supervisor_emit(&v, &(Event){.kind = EVENT_DONE});
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
