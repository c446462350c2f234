/* What steps and reports ask a store. See query.h. */
#include "measure/query.h"

#include <string.h>

#include "measure/rows.h"

/* ---- sessions ---- */

static void session_fill(Rows *to, const DbRow *row, void *out)
{
    SessionRecord *s = out;
    *s = (SessionRecord){rows_text(to, row, 0), rows_text(to, row, 1), rows_text(to, row, 2),
                         rows_text(to, row, 3)};
}

Err query_session(Store *s, Arena *a, int64_t session, SessionRecord *out, bool *found)
{
    Rows r = {session_fill, sizeof *out, a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r, "SELECT command, state, started, detail FROM session WHERE id=?",
                    "i", session);
    return rows_first(&r, e, out, found);
}

Err query_last_session(Store *s, Arena *a, SessionRecord *out, bool *found)
{
    Rows r = {session_fill, sizeof *out, a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT command, state, started, detail FROM session ORDER BY id DESC LIMIT 1", "");
    return rows_first(&r, e, out, found);
}

static Err fault_count_row(void *ctx, const DbRow *row)
{
    FaultCount *c = ctx;
    *(str_eq_c(row_text(row, 0), "FAILED") ? &c->n_wrong : &c->n_faulted) += row_int(row, 1);
    return 0;
}

Err query_session_faults(Store *s, int64_t session, FaultCount *out)
{
    *out = (FaultCount){0};
    return db_each(
        s->db, fault_count_row, out,
        "SELECT m.status, count(*) FROM session_plan x JOIN plan p ON p.id=x.plan JOIN candidate c ON"
        " c.plan=p.id JOIN size z ON z.plan=p.id JOIN measurement m ON m.kernel=c.kernel AND"
        " m.problem=z.problem AND m.setting=p.setting AND m.run<p.runs WHERE x.session=? AND m.status IN"
        " ('FAILED', 'INVALID', 'CRASHED', 'TIMEOUT') GROUP BY m.status",
        "i", session);
}

/* ---- environments ---- */

typedef struct {
    const char *key;
    Arena *a;
    Str value;
} ValueOf;

static Err environment_row(void *ctx, const DbRow *row)
{
    ValueOf *to = ctx;
    const size_t n = strlen(to->key);
    Str lines = row_text(row, 0), line;
    while (str_split(&lines, '\n', &line))
        if (str_starts(line, to->key) && line.n > n && line.s[n] == '=')
            TRY_ALLOC((to->value = arena_dup(to->a, str_sub(line, n + 1, line.n))).s);
    return 0;
}

Err query_environment(Store *s, Arena *a, const char *key, Str *out)
{
    ValueOf to = {key, a, STR("")};
    Err e = db_each(s->db, environment_row, &to, "SELECT key FROM environment ORDER BY id", "");
    *out = to.value;
    return e;
}

/* ---- plans ---- */

static void rejection_fill(Rows *to, const DbRow *row, void *out)
{
    Rejection *r = out;
    *r = (Rejection){rows_text(to, row, 0), rows_text(to, row, 1), row_int(row, 2)};
}

Err query_rejections(Store *s, Arena *a, int64_t plan, Rejection **out, size_t *n)
{
    Rows r = {rejection_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT reason, text, count FROM rejection WHERE plan=? ORDER BY count DESC, reason", "i",
                    plan);
    return rows_end(&r, e, out, n);
}

static void failed_fill(Rows *to, const DbRow *row, void *out)
{
    FailedKernel *k = out;
    k->name = rows_text(to, row, 0);
    to->e = row_outcome(row, 1, &k->outcome);
}

Err query_failed_kernels(Store *s, Arena *a, const PlanView *p, int64_t max, FailedKernel **out, size_t *n)
{
    Rows r = {failed_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(
        s->db, rows_take, &r,
        "SELECT c.name, m.status FROM candidate c JOIN compile m ON m.kernel=c.kernel AND m.environment=?"
        " WHERE c.plan=? AND m.status<>'ok' GROUP BY c.i ORDER BY c.i LIMIT ?",
        "iii", p->environment, p->id, max);
    return rows_end(&r, e, out, n);
}

static void status_fill(Rows *to, const DbRow *row, void *out)
{
    StatusCount *c = out;
    c->status = rows_text(to, row, 0);
    c->n = row_int(row, 1);
    c->good = status_good(c->status);
}

Err query_statuses(Store *s, Arena *a, const PlanView *p, StatusCount **out, size_t *n)
{
    Rows r = {status_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT m.status, count(*) FROM candidate c JOIN size z ON z.plan=c.plan JOIN measurement"
                    " m ON m.kernel=c.kernel AND m.problem=z.problem AND m.setting=? AND m.run<? WHERE"
                    " c.plan=? GROUP BY m.status ORDER BY 2 DESC, 1",
                    "iii", p->setting, p->n_runs, p->id);
    return rows_end(&r, e, out, n);
}

/* ---- work that is done and left ---- */

static void pairs_fill(Rows *to, const DbRow *row, void *out)
{
    (void)to;
    PairCount *p = out;
    *p = (PairCount){row_int(row, 0), row_real(row, 1), row_real(row, 2)};
}

Err query_plan_work(Store *s, int64_t plan, PairCount *out)
{
    bool found;
    Rows r = {pairs_fill, sizeof *out, NULL, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT count(*), coalesce(sum(q.flops), 0.0), coalesce(max(q.flops), 0.0) FROM size z"
                    " JOIN problem q ON q.id=z.problem WHERE z.plan=?",
                    "i", plan);
    return rows_first(&r, e, out, &found);
}

Err query_measured_work(Store *s, int64_t plan, int64_t setting, int64_t n_runs, PairCount *out)
{
    bool found;
    Rows r = {pairs_fill, sizeof *out, NULL, 0, {0}, 0};
    Err e = db_each(
        s->db, rows_take, &r,
        "SELECT count(*), coalesce(sum(q.flops), 0.0), 0.0 FROM candidate c JOIN size z ON z.plan=c.plan"
        " JOIN problem q ON q.id=z.problem JOIN measurement m ON m.kernel=c.kernel AND"
        " m.problem=z.problem AND m.setting=? WHERE c.plan=? AND m.run<?",
        "iii", setting, plan, n_runs);
    return rows_first(&r, e, out, &found);
}

static void end_fill(Rows *to, const DbRow *row, void *out)
{
    (void)to;
    PairEnd *p = out;
    *p = (PairEnd){row_int(row, 0), row_real(row, 1), row_real(row, 2)};
}

Err query_pair_ends(Store *s, Arena *a, int64_t setting, int64_t max, PairEnd **out, size_t *n)
{
    Rows r = {end_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(
        s->db, rows_take, &r,
        "SELECT m.id, (julianday(m.at) - 2440587.5) * 86400, p.flops FROM measurement m JOIN problem p"
        " ON p.id=m.problem WHERE m.setting=? ORDER BY m.id DESC LIMIT ?",
        "ii", setting, max);
    return rows_end(&r, e, out, n);
}

/* ---- logs ---- */

typedef struct {
    CompileRecordFn *fn;
    void *ctx;
} CompilesTo;

static Err compile_record_row(void *ctx, const DbRow *row)
{
    const CompilesTo *to = ctx;
    CompileRecord c = {.name = row_text(row, 0),
                       .hash = row_text(row, 1),
                       .seconds = (double)row_int(row, 3) * 1e-9,
                       .log = row_text(row, 4),
                       .ended = row_text(row, 5)};
    TRY(row_outcome(row, 2, &c.outcome));
    return to->fn(to->ctx, &c);
}

Err query_compiles(Store *s, Str name, int64_t max, CompileRecordFn *fn, void *ctx)
{
    CompilesTo to = {fn, ctx};
    return db_each(
        s->db, compile_record_row, &to,
        "SELECT k.name, k.hash, c.status, c.ns, c.log, c.at FROM compile c JOIN kernel k ON k.id=c.kernel"
        " WHERE instr(k.name, ?) OR instr(k.hash, ?) OR k.id IN (SELECT kernel FROM candidate WHERE"
        " instr(name, ?)) ORDER BY c.id LIMIT ?",
        "sssi", name, name, name, max);
}

static void fault_fill(Rows *to, const DbRow *row, void *out)
{
    FaultRecord *f = out;
    *f = (FaultRecord){rows_text(to, row, 0), rows_text(to, row, 1), rows_text(to, row, 2),
                       rows_text(to, row, 3)};
}

Err query_faults(Store *s, Arena *a, Str name, int64_t max, FaultRecord **out, size_t *n)
{
    Rows r = {fault_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(
        s->db, rows_take, &r,
        "SELECT k.name, p.key, m.status, m.detail FROM measurement m JOIN kernel k ON k.id=m.kernel"
        " JOIN problem p ON p.id=m.problem WHERE m.status IN ('FAILED', 'INVALID', 'CRASHED', 'TIMEOUT')"
        " AND (instr(k.name, ?) OR instr(k.hash, ?)) ORDER BY m.id LIMIT ?",
        "ssi", name, name, max);
    return rows_end(&r, e, out, n);
}
