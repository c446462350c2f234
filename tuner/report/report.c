/* status, log and the winners table. See report.h; explain is in explain.c. */
#include "report/report.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fs.h"
#include "report/text.h"

typedef struct {
    int64_t compiled, failed, measured, good;
} Done;

static Err plan_done(Store *s, const PlanView *p, Done *d)
{
    *d = (Done){0};
    for (size_t i = 0; i < p->n_candidates; i++) {
        d->compiled += str_eq_c(p->candidate[i].compile, "ok");
        d->failed += p->candidate[i].compile.n && !str_eq_c(p->candidate[i].compile, "ok");
    }
    TRY(db_int(s->db, &d->measured, NULL,
               "SELECT count(*) FROM candidate c JOIN size z ON z.plan=c.plan JOIN measurement m ON "
               "m.kernel=c.kernel"
               " AND m.problem=z.problem AND m.setting=? AND m.run<? WHERE c.plan=?",
               "iii", p->setting, p->n_runs, p->id));
    return db_int(s->db, &d->good, NULL,
                  "SELECT count(*) FROM candidate c JOIN size z ON z.plan=c.plan JOIN measurement m ON "
                  "m.kernel=c.kernel"
                  " AND m.problem=z.problem AND m.setting=? AND m.run<? WHERE c.plan=? AND m.status IN"
                  " ('PASSED', 'NO_CHECK')",
                  "iii", p->setting, p->n_runs, p->id);
}

static Err rejection_row(void *ctx, const DbRow *row)
{
    fprintf(ctx, "    %8lld %.*s\n", (long long)row_int(row, 1), STR_ARG(row_text(row, 0)));
    return 0;
}

/* The rule's name, and its sentence as it was for the first permutation. */
static Err reason_row(void *ctx, const DbRow *row)
{
    Str text = row_text(row, 2);
    fprintf(ctx, "    %8lld %.*s%s%.*s\n", (long long)row_int(row, 1), STR_ARG(row_text(row, 0)),
            text.n ? ", as in: " : "", STR_ARG(text));
    return 0;
}

static Err failure_row(void *ctx, const DbRow *row)
{
    fprintf(ctx, "    %.*s: %.*s\n", STR_ARG(row_text(row, 0)), STR_ARG(row_text(row, 1)));
    return 0;
}

static Err plan_print(Store *s, const PlanView *p, FILE *f)
{
    Done d;
    TRY(plan_done(s, p, &d));
    int64_t n = (int64_t)p->n_candidates, pairs = (n - d.failed) * (int64_t)p->n_sizes * p->n_runs;
    fprintf(f, "%.*s (%.*s): %lld permutations, %lld valid, %lld the same as another, %zu sizes\n",
            STR_ARG(p->group), STR_ARG(p->arch), (long long)p->n_permutations, (long long)p->n_valid,
            (long long)p->n_duplicates, p->n_sizes);
    int64_t n_rejected;
    TRY(db_int(s->db, &n_rejected, NULL, "SELECT coalesce(sum(count), 0) FROM rejection WHERE plan=?", "i",
               p->id));
    fprintf(f, "  rejected: %lld\n", (long long)n_rejected);
    TRY(db_each(s->db, reason_row, f,
                "SELECT reason, count, text FROM rejection WHERE plan=? ORDER BY count DESC, reason", "i",
                p->id));
    fprintf(f, "  kernels: %lld compiled, %lld failed, %lld to do\n", (long long)d.compiled,
            (long long)d.failed, (long long)(n - d.compiled - d.failed));
    TRY(db_each(
        s->db, failure_row, f,
        "SELECT c.name, m.status FROM candidate c JOIN compile m ON m.kernel=c.kernel AND m.environment=?"
        " WHERE c.plan=? AND m.status<>'ok' GROUP BY c.i ORDER BY c.i LIMIT 10",
        "ii", p->environment, p->id));
    fprintf(f, "  measured: %lld of %lld, %lld good\n", (long long)d.measured, (long long)pairs,
            (long long)d.good);
    return db_each(
        s->db, rejection_row, f,
        "SELECT m.status, count(*) FROM candidate c JOIN size z ON z.plan=c.plan JOIN measurement m"
        " ON m.kernel=c.kernel AND m.problem=z.problem AND m.setting=? AND m.run<? WHERE c.plan=? AND"
        " m.status NOT IN ('PASSED', 'NO_CHECK') GROUP BY m.status ORDER BY 2 DESC, 1",
        "iii", p->setting, p->n_runs, p->id);
}

/* Is a run at work on outdir? It holds this lock then. */
static bool lock_held(Arena *a, const char *outdir)
{
    Str path = path_join(a, outdir, "tuning.lock");
    int fd = path.s ? open(path.s, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (fd >= 0) close(fd);
    return held;
}

typedef struct {
    FILE *f;
    bool at_work;
} SessionOut;

static Err session_row(void *ctx, const DbRow *row)
{
    const SessionOut *out = ctx;
    Str state = row_text(row, 1), detail = row_text(row, 3);
    if (str_eq_c(state, "running") && !out->at_work) state = STR("killed");
    fprintf(out->f, "last run: %.*s (started %.*s)\n  %.*s\n", STR_ARG(state), STR_ARG(row_text(row, 2)),
            STR_ARG(row_text(row, 0)));
    if (detail.n) fprintf(out->f, "  %.*s\n", STR_ARG(detail));
    return 0;
}

static Err status_print(Store *s, Arena *a, const char *outdir, FILE *f)
{
    PlanView *plans;
    size_t n;
    SessionOut out = {f, lock_held(a, outdir)};
    TRY(db_each(s->db, session_row, &out,
                "SELECT command, state, started, detail FROM session ORDER BY id DESC LIMIT 1", ""));
    Busy busy;
    bool found;
    char text[256];
    TRY(store_busy_last(s, &busy, &found));
    if (found && busy_text(&busy, text, sizeof text)) fprintf(f, "%s\n", text);
    TRY(plans_latest(s, a, &plans, &n));
    if (n == 0) fprintf(f, "nothing was planned yet\n");
    for (size_t i = 0; i < n; i++) TRY(plan_print(s, &plans[i], f));
    return 0;
}

Err report_status(const char *outdir, FILE *f)
{
    Store s;
    Arena a;
    TRY(store_open(&s, outdir, DB_READ));
    arena_init(&a, 0);
    FILE *text;
    Err e = text_open(f, &text);
    if (!e) e = text_close(text, status_print(&s, &a, outdir, text));
    arena_fini(&a);
    store_close(&s);
    return e;
}

typedef struct {
    FILE *f;
    int64_t n;
} LogOut;

static Err log_row(void *ctx, const DbRow *row)
{
    LogOut *out = ctx;
    Str log = row_text(row, 4);
    fprintf(out->f, "%s%.*s\n  source %.*s\n  compiled %.*s: %.*s, %.3f s\n", out->n++ ? "\n" : "",
            STR_ARG(row_text(row, 0)), STR_ARG(row_text(row, 1)), STR_ARG(row_text(row, 5)),
            STR_ARG(row_text(row, 2)), (double)row_int(row, 3) * 1e-9);
    if (log.n) fprintf(out->f, "%.*s%s", STR_ARG(log), log.s[log.n - 1] == '\n' ? "" : "\n");
    return 0;
}

static Err fault_row(void *ctx, const DbRow *row)
{
    LogOut *out = ctx;
    out->n++;
    fprintf(out->f, "%.*s on %.*s: %.*s%s%.*s\n", STR_ARG(row_text(row, 0)), STR_ARG(row_text(row, 1)),
            STR_ARG(row_text(row, 2)), row_text(row, 3).n ? ": " : "", STR_ARG(row_text(row, 3)));
    return 0;
}

Err report_log(const char *outdir, const char *kernel, FILE *f)
{
    Store s;
    LogOut out = {NULL, 0};
    Str name = str_from(kernel);
    TRY(store_open(&s, outdir, DB_READ));
    Err e = text_open(f, &out.f);
    if (!e)
        e = db_each(
            s.db, log_row, &out,
            "SELECT k.name, k.hash, c.status, c.ns, c.log, c.at FROM compile c JOIN kernel k ON k.id=c.kernel"
            " WHERE instr(k.name, ?) OR instr(k.hash, ?) OR k.id IN (SELECT kernel FROM candidate WHERE"
            " instr(name, ?)) ORDER BY c.id LIMIT 200",
            "sss", name, name, name);
    if (!e)
        e = db_each(
            s.db, fault_row, &out,
            "SELECT k.name, p.key, m.status, m.detail FROM measurement m JOIN kernel k ON k.id=m.kernel"
            " JOIN problem p ON p.id=m.problem WHERE m.status IN ('FAILED', 'INVALID', 'CRASHED', 'TIMEOUT') "
            "AND"
            " (instr(k.name, ?) OR instr(k.hash, ?)) ORDER BY m.id LIMIT 200",
            "ss", name, name);
    store_close(&s);
    if (out.f) e = text_close(out.f, e);
    if (!e && out.n == 0)
        e = err_set(ERR_INPUT, "no kernel of '%s' has '%s' in its name or hash", outdir, kernel);
    return e;
}
