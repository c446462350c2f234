/* What a run did and when, and losses on held-out sizes. See history.h. */
#include "measure/history.h"

#include <math.h>
#include <string.h>

#include "measure/rows.h"

/* A time column as seconds since 1970; NULL gives NULL. */
#define SECONDS(column) "(julianday(" column ") - 2440587.5) * 86400"

static const char client_table[] =
    "CREATE TABLE IF NOT EXISTS client(session INTEGER NOT NULL REFERENCES session, grp TEXT NOT NULL,"
    " device TEXT NOT NULL, end TEXT NOT NULL, seconds REAL NOT NULL, at TEXT NOT NULL)";
static const char regret_table[] =
    "CREATE TABLE IF NOT EXISTS regret(session INTEGER NOT NULL REFERENCES session, type TEXT NOT NULL,"
    " choice TEXT NOT NULL, numbers TEXT NOT NULL, aligned INTEGER NOT NULL, loss REAL NOT NULL)";

/* ---- starts and steps ---- */

static void session_fill(Rows *to, const DbRow *row, void *out)
{
    SessionTimes *t = out;
    *t = (SessionTimes){row_int(row, 0),       rows_text(to, row, 1), rows_text(to, row, 2),
                        rows_text(to, row, 3), rows_text(to, row, 4), rows_text(to, row, 5),
                        row_real(row, 6),      row_real(row, 7)};
}

Err query_sessions(Store *s, Arena *a, SessionTimes **out, size_t *n)
{
    Rows r = {session_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r,
                    "SELECT id, command, state, detail, started, ended, " SECONDS("started") ", " SECONDS(
                        "ended") " FROM session ORDER BY id",
                    "");
    return rows_end(&r, e, out, n);
}

static void step_fill(Rows *to, const DbRow *row, void *out)
{
    StepTime *t = out;
    *t = (StepTime){rows_text(to, row, 0), (double)row_int(row, 1) * 1e-9};
}

Err query_steps(Store *s, Arena *a, int64_t session, StepTime **out, size_t *n)
{
    Rows r = {step_fill, sizeof **out, a, 0, {0}, 0};
    Err e = db_each(s->db, rows_take, &r, "SELECT name, ns FROM step WHERE session=? ORDER BY rowid", "i",
                    session);
    return rows_end(&r, e, out, n);
}

/* ---- compilers, clients, measurements ---- */

typedef struct {
    CompileTimeFn *fn;
    void *ctx;
} CompilesTo;

static Err compile_row(void *ctx, const DbRow *row)
{
    const CompilesTo *to = ctx;
    CompileTime c = {
        .name = row_text(row, 0), .seconds = (double)row_int(row, 2) * 1e-9, .ended_s = row_real(row, 3)};
    TRY(row_outcome(row, 1, &c.outcome));
    return to->fn(to->ctx, &c);
}

Err query_compile_times(Store *s, CompileTimeFn *fn, void *ctx)
{
    CompilesTo to = {fn, ctx};
    return db_each(s->db, compile_row, &to,
                   "SELECT k.name, c.status, c.ns, " SECONDS("c.at") " FROM compile c JOIN kernel k ON"
                                                                     " k.id=c.kernel ORDER BY c.id",
                   "");
}

typedef struct {
    MeasureTimeFn *fn;
    void *ctx;
} MeasuresTo;

/* The samples' number, and the sum of their times: "30*12345 30*12346", with '@' and more in a race. */
static void samples_sum(Str samples, MeasureTime *m)
{
    Str one;
    m->race = str_find(samples, '@', 0) < samples.n;
    while (samples.n && str_split(&samples, ' ', &one)) {
        int64_t ns;
        Str time = str_sub(one, str_find(one, '*', 0) + 1, str_find(one, '@', 0));
        if (!str_to_i64(time, &ns) || ns < 0) continue;
        m->timed_s += (double)ns * 1e-9;
        m->n_samples++;
    }
}

static Err measure_row(void *ctx, const DbRow *row)
{
    const MeasuresTo *to = ctx;
    MeasureTime m = {.kernel = row_text(row, 0),
                     .problem = row_text(row, 1),
                     .status = row_text(row, 2),
                     .checked = row_int(row, 4),
                     .ended_s = row_real(row, 5),
                     .setting = row_int(row, 6),
                     .run = row_int(row, 7),
                     .device = row_text(row, 8)};
    samples_sum(row_text(row, 3), &m);
    return to->fn(to->ctx, &m);
}

#define MEASURE_COLUMNS                                                                                      \
    "SELECT k.name, p.key, m.status, m.samples, m.checked, " SECONDS("m.at") ", m.setting, m.run"
#define MEASURE_TABLES " FROM measurement m JOIN kernel k ON k.id=m.kernel JOIN problem p ON p.id=m.problem"

Err query_measure_times(Store *s, MeasureTimeFn *fn, void *ctx)
{
    bool devices;
    MeasuresTo to = {fn, ctx};
    TRY(db_has_table(s->db, "measured_on", &devices));
    if (!devices)
        return db_each(s->db, measure_row, &to, MEASURE_COLUMNS ", ''" MEASURE_TABLES " ORDER BY m.id", "");
    return db_each(s->db, measure_row, &to,
                   MEASURE_COLUMNS ", d.key" MEASURE_TABLES " LEFT JOIN measured_on o ON o.measurement=m.id"
                                   " LEFT JOIN device d ON d.id=o.device ORDER BY m.id",
                   "");
}

Err store_client_add(Store *s, int64_t session, const ClientTime *c)
{
    TRY(db_exec(s->db, client_table, ""));
    return db_exec(s->db, "INSERT INTO client VALUES(?, ?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ','now'))",
                   "isssr", session, c->group, c->device, c->end, c->seconds);
}

static void client_fill(Rows *to, const DbRow *row, void *out)
{
    ClientTime *c = out;
    const double seconds = row_real(row, 3);
    *c = (ClientTime){rows_text(to, row, 0), rows_text(to, row, 1), rows_text(to, row, 2),
                      row_real(row, 4) - seconds, seconds};
}

Err query_clients(Store *s, Arena *a, ClientTime **out, size_t *n)
{
    bool there;
    Rows r = {client_fill, sizeof **out, a, 0, {0}, 0};
    TRY(db_has_table(s->db, "client", &there));
    Err e = !there ? 0
                   : db_each(s->db, rows_take, &r,
                             "SELECT grp, device, end, seconds, " SECONDS("at") " FROM client ORDER BY rowid",
                             "");
    return rows_end(&r, e, out, n);
}

/* ---- losses on held-out sizes ---- */

Err store_regret_add(Store *s, int64_t session, const Regret *g)
{
    TRY(db_exec(s->db, regret_table, ""));
    return db_exec(s->db, "INSERT INTO regret VALUES(?, ?, ?, ?, ?, ?)", "isssir", session, g->type,
                   g->choice, g->numbers, (int64_t)g->aligned, g->loss);
}

static void regret_fill(Rows *to, const DbRow *row, void *out)
{
    Regret *g = out;
    *g = (Regret){rows_text(to, row, 0), rows_text(to, row, 1), rows_text(to, row, 2), row_int(row, 3) != 0,
                  row_real(row, 4)};
}

Err query_regrets(Store *s, Arena *a, Regret **out, size_t *n)
{
    bool there;
    Rows r = {regret_fill, sizeof **out, a, 0, {0}, 0};
    TRY(db_has_table(s->db, "regret", &there));
    Err e = !there ? 0
                   : db_each(s->db, rows_take, &r,
                             "SELECT type, choice, numbers, aligned, loss FROM regret WHERE session=(SELECT"
                             " max(session) FROM regret) ORDER BY rowid",
                             "");
    return rows_end(&r, e, out, n);
}
