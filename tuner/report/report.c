/* `tuner status` and `tuner log`. See report.h; `tuner explain` is in explain.c. */
#include "report/report.h"

#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "measure/query.h"
#include "measure/shard.h"
#include "measure/store_search.h"
#include "report/shards.h"
#include "report/text.h"

enum { FAILED_SHOWN = 10, LOGS_SHOWN = 200 };

/* The rule's name and count, and its sentence for the first solution that it rejected. */
Err rejections_print(Store *s, Arena *a, int64_t plan, FILE *f)
{
    Rejection *r;
    size_t n;
    TRY(query_rejections(s, a, plan, &r, &n));
    for (size_t i = 0; i < n; i++)
        fprintf(f, "    %8lld %.*s%s%.*s\n", (long long)r[i].n, STR_ARG(r[i].rule),
                r[i].text.n ? ", as in: " : "", STR_ARG(r[i].text));
    return 0;
}

static Err kernels_print(Store *s, Arena *a, const PlanView *p, int64_t *n_failed, FILE *f)
{
    FailedKernel *failed;
    int64_t n_compiled = 0;
    size_t n;
    *n_failed = 0;
    for (size_t i = 0; i < p->n_candidates; i++) {
        const BuildOutcome outcome = p->candidate[i].compile;
        n_compiled += outcome == BUILD_OK;
        *n_failed += outcome != BUILD_OK && outcome != BUILD_NONE;
    }
    fprintf(f, "  kernels: %lld compiled, %lld failed, %lld to do\n", (long long)n_compiled,
            (long long)*n_failed, (long long)((int64_t)p->n_candidates - n_compiled - *n_failed));
    TRY(query_failed_kernels(s, a, p, FAILED_SHOWN, &failed, &n));
    for (size_t i = 0; i < n; i++)
        fprintf(f, "    %.*s: %s\n", STR_ARG(failed[i].name), build_outcome_name(failed[i].outcome));
    return 0;
}

static Err measurements_print(Store *s, Arena *a, const PlanView *p, int64_t n_failed, FILE *f)
{
    StatusCount *status;
    size_t n;
    int64_t n_measured = 0, n_good = 0;
    const int64_t pairs = plan_pairs(p, n_failed);
    TRY(query_statuses(s, a, p, &status, &n));
    for (size_t i = 0; i < n; i++) {
        n_measured += status[i].n;
        n_good += status[i].good ? status[i].n : 0;
    }
    fprintf(f, "  measured: %lld of %lld, %lld good\n", (long long)n_measured, (long long)pairs,
            (long long)n_good);
    for (size_t i = 0; i < n; i++)
        if (!status[i].good)
            fprintf(f, "    %8lld %.*s\n", (long long)status[i].n, STR_ARG(status[i].status));
    return 0;
}

/* Where several devices measured: how many sizes and pairs each one did. */
static Err devices_print(Store *s, Arena *a, const PlanView *p, FILE *f)
{
    DeviceShare *d;
    size_t n;
    TRY(query_devices(s, a, p, 0, &d, &n));
    for (size_t i = 0; n > 1 && i < n; i++)
        fprintf(f, "    %8lld on %.*s, %lld sizes\n", (long long)d[i].n_pairs, STR_ARG(d[i].device),
                (long long)d[i].n_sizes);
    return 0;
}

static Err plan_print(Store *s, Arena *a, const PlanView *p, FILE *f)
{
    Rejection *r;
    size_t n;
    int64_t n_rejected = 0, n_failed;
    fprintf(f, "%.*s (%.*s): %lld permutations, %lld valid, %lld the same as another, %zu sizes\n",
            STR_ARG(p->group), STR_ARG(p->arch), (long long)p->n_permutations, (long long)p->n_valid,
            (long long)p->n_duplicates, p->n_sizes);
    TRY(query_rejections(s, a, p->id, &r, &n));
    for (size_t i = 0; i < n; i++) n_rejected += r[i].n;
    fprintf(f, "  rejected: %lld\n", (long long)n_rejected);
    TRY(rejections_print(s, a, p->id, f));
    TRY(kernels_print(s, a, p, &n_failed, f));
    TRY(measurements_print(s, a, p, n_failed, f));
    return devices_print(s, a, p, f);
}

static Err session_print(Store *s, Arena *a, bool at_work, FILE *f)
{
    SessionRecord session;
    bool found;
    TRY(query_last_session(s, a, &session, &found));
    if (!found) return 0;
    const Str state = session_state(session.state, at_work);
    fprintf(f, "last run: %.*s (started %.*s)\n  %.*s\n", STR_ARG(state), STR_ARG(session.started),
            STR_ARG(session.command));
    if (session.detail.n) fprintf(f, "  %.*s\n", STR_ARG(session.detail));
    return 0;
}

/* What was searched, how far, and why it stopped. */
static Err searches_print(Store *s, Arena *a, bool *any, FILE *f)
{
    SearchView *v;
    size_t n;
    TRY(query_searches(s, a, &v, &n));
    *any = n > 0;
    for (size_t i = 0; i < n; i++) {
        const SearchEnd *e = &v[i].end;
        fprintf(f, "search of %.*s by %.*s: %lld candidates%s of %lld permutations, %lld sizes\n",
                STR_ARG(v[i].search.group), STR_ARG(v[i].search.method), (long long)v[i].search.n_candidates,
                v[i].search.sampled ? " (a sample)" : "", (long long)v[i].search.n_permutations,
                (long long)v[i].search.n_sizes);
        if (!v[i].ended) {
            fprintf(f, "  not finished: %lld rounds so far\n", (long long)v[i].n_rounds);
            continue;
        }
        fprintf(f, "  %lld kernels, %lld pairs of kernel and size, %lld rounds, %.3g s; %lld finalists\n",
                (long long)e->n_candidates, (long long)e->n_pairs, (long long)e->n_rounds, e->seconds,
                (long long)e->n_finalists);
        fprintf(f, "  stopped: %.*s", STR_ARG(e->reason));
        if (e->hope >= 0) fprintf(f, "; expected gain that is left %.2f %%", 100 * e->hope);
        fprintf(f, "\n");
    }
    return 0;
}

static Err status_print(Store *s, Arena *a, const char *outdir, FILE *f)
{
    PlanView *plans;
    size_t n;
    Busy busy;
    bool found;
    char text[256];
    TRY(session_print(s, a, store_at_work(outdir), f));
    TRY(store_busy_last(s, &busy, &found));
    if (found && busy_text(&busy, text, sizeof text)) fprintf(f, "%s\n", text);
    bool searched;
    TRY(searches_print(s, a, &searched, f));
    TRY(plans_latest(s, a, &plans, &n));
    if (n == 0 && !searched) fprintf(f, "nothing was planned yet\n");
    for (size_t i = 0; i < n; i++) TRY(plan_print(s, a, &plans[i], f));
    return 0;
}

static Err status_of_run(const char *outdir, FILE *f)
{
    Store s;
    Arena a;
    TRY(store_open(&s, outdir, STORE_READ));
    arena_init(&a, 0);
    Err e = status_print(&s, &a, outdir, f);
    arena_fini(&a);
    store_close(&s);
    return e;
}

static bool has_shards(const char *dir)
{
    Arena a;
    arena_init(&a, 0);
    Str path = path_join(&a, dir, SHARD_PLAN_FILE);
    bool has = path.s && file_exists(path.s);
    arena_fini(&a);
    return has;
}

Err report_status(const char *outdir, FILE *f)
{
    FILE *text;
    TRY(text_open(f, &text));
    return text_close(text, has_shards(outdir) ? report_shards(outdir, text) : status_of_run(outdir, text));
}

typedef struct {
    FILE *f;
    int64_t n;
} LogOut;

static Err compile_print(void *ctx, const CompileRecord *c)
{
    LogOut *out = ctx;
    fprintf(out->f, "%s%.*s\n  source %.*s\n  compiled %.*s: %s, %.3f s\n", out->n++ ? "\n" : "",
            STR_ARG(c->name), STR_ARG(c->hash), STR_ARG(c->ended), build_outcome_name(c->outcome),
            c->seconds);
    if (c->log.n) fprintf(out->f, "%.*s%s", STR_ARG(c->log), c->log.s[c->log.n - 1] == '\n' ? "" : "\n");
    return 0;
}

static Err log_print(Store *s, Arena *a, Str kernel, LogOut *out)
{
    FaultRecord *fault;
    size_t n;
    TRY(query_compiles(s, kernel, LOGS_SHOWN, compile_print, out));
    TRY(query_faults(s, a, kernel, LOGS_SHOWN, &fault, &n));
    for (size_t i = 0; i < n; i++)
        fprintf(out->f, "%.*s on %.*s: %.*s%s%.*s\n", STR_ARG(fault[i].kernel), STR_ARG(fault[i].problem),
                STR_ARG(fault[i].status), fault[i].detail.n ? ": " : "", STR_ARG(fault[i].detail));
    out->n += (int64_t)n;
    return 0;
}

Err report_log(const char *outdir, const char *kernel, FILE *f)
{
    Store s;
    Arena a;
    LogOut out = {NULL, 0};
    TRY(store_open(&s, outdir, STORE_READ));
    arena_init(&a, 0);
    Err e = text_open(f, &out.f);
    if (!e) e = log_print(&s, &a, str_from(kernel), &out);
    arena_fini(&a);
    store_close(&s);
    if (out.f) e = text_close(out.f, e);
    if (!e && out.n == 0)
        e = err_set(ERR_INPUT, "no kernel of '%s' has '%s' in its name or hash", outdir, kernel);
    return e;
}
