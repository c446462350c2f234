/* Merges stores row by row: ids differ from store to store, keys do not. See store_merge.h. */
#include "measure/store_merge.h"

#include <inttypes.h>

#include "base/map.h"
#include "measure/db.h"

enum { ROWS_BETWEEN_CHECKS = 4096 };

typedef struct {
    Store *into, *from;
    Err (*check)(void);
    Map kernel, problem, setting, environment, device; /* id there -> id here */
    int64_t n_rows;
    MergeCount count;
} Merge;

static Err look_around(Merge *m)
{
    return ++m->n_rows % ROWS_BETWEEN_CHECKS == 0 && m->check ? m->check() : 0;
}

static Err id_put(Map *map, int64_t there, int64_t here)
{
    int64_t *value = map_put(map, (Str){(const char *)&there, sizeof there}, NULL);
    if (!value) FAIL(ERR_FAILED, "out of memory for %zu rows of a store", map->n);
    *value = here;
    return 0;
}

static Err id_get(const Merge *m, const Map *map, const char *what, int64_t there, int64_t *here)
{
    const int64_t *value = map_get(map, (Str){(const char *)&there, sizeof there});
    *here = 0;
    if (!value)
        FAIL(ERR_INPUT, "'%s' is damaged: a row refers to %s %" PRId64 ", which is not there",
             store_path(m->from), what, there);
    *here = *value;
    return 0;
}

/* ---- rows with a key of their own ---- */

static Err environment_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t id;
    TRY(store_environment(m->into, row_text(row, 1), &id));
    return id_put(&m->environment, row_int(row, 0), id);
}

static Err kernel_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t id;
    TRY(store_kernel(m->into, row_text(row, 1), row_text(row, 2), &id));
    TRY(id_put(&m->kernel, row_int(row, 0), id));
    return look_around(m);
}

static Err problem_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t id;
    TRY(store_problem(m->into, row_text(row, 1), row_real(row, 2), &id));
    TRY(id_put(&m->problem, row_int(row, 0), id));
    return look_around(m);
}

static Err setting_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t id;
    TRY(store_setting(m->into, row_text(row, 1), &id));
    return id_put(&m->setting, row_int(row, 0), id);
}

static Err device_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t id;
    TRY(store_device(m->into, row_text(row, 1), &id));
    return id_put(&m->device, row_int(row, 0), id);
}

/* ---- facts, keyed by such rows ---- */

static Err compile_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    BuildOutcome outcome;
    int64_t kernel, environment, id;
    bool found;
    TRY(id_get(m, &m->kernel, "kernel", row_int(row, 0), &kernel));
    TRY(id_get(m, &m->environment, "environment", row_int(row, 1), &environment));
    TRY(row_outcome(row, 2, &outcome));
    TRY(db_int(m->into->db, &id, &found,
               "SELECT id FROM compile WHERE kernel=? AND environment=? AND status=?", "iis", kernel,
               environment, row_text(row, 2)));
    if (found) return 0;
    m->count.n_compiles++;
    return db_exec(
        m->into->db, "INSERT INTO compile(kernel, environment, status, ns, log, at) VALUES(?, ?, ?, ?, ?, ?)",
        "iisiss", kernel, environment, row_text(row, 2), row_int(row, 3), row_text(row, 4), row_text(row, 5));
}

static Err code_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t kernel, environment;
    TRY(id_get(m, &m->kernel, "kernel", row_int(row, 0), &kernel));
    TRY(id_get(m, &m->environment, "environment", row_int(row, 1), &environment));
    return store_code_add(m->into, kernel, environment, row_text(row, 2));
}

static Err measurement_row(void *ctx, const DbRow *row)
{
    Merge *m = ctx;
    int64_t kernel, problem, setting, device = 0;
    TRY(id_get(m, &m->kernel, "kernel", row_int(row, 0), &kernel));
    TRY(id_get(m, &m->problem, "problem", row_int(row, 1), &problem));
    TRY(id_get(m, &m->setting, "setting", row_int(row, 2), &setting));
    TRY(db_exec(m->into->db,
                "INSERT OR IGNORE INTO measurement(kernel, problem, setting, run, status, detail, samples,"
                " checked, max_err, at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                "iiiisssirs", kernel, problem, setting, row_int(row, 3), row_text(row, 4), row_text(row, 5),
                row_text(row, 6), row_int(row, 7), row_real(row, 8), row_text(row, 9)));
    TRY(look_around(m));
    if (!db_changes(m->into->db)) return 0;
    m->count.n_measurements++;
    if (!row_int(row, 10)) return 0;
    TRY(id_get(m, &m->device, "device", row_int(row, 10), &device));
    return store_measured_on(m->into, db_last_id(m->into->db), device);
}

static Err measurements_merge(Merge *m)
{
    bool devices;
    TRY(db_has_table(m->from->db, "measured_on", &devices));
    if (devices) {
        TRY(db_each(m->from->db, device_row, m, "SELECT id, key FROM device ORDER BY id", ""));
        return db_each(m->from->db, measurement_row, m,
                       "SELECT m.kernel, m.problem, m.setting, m.run, m.status, m.detail, m.samples,"
                       " m.checked, m.max_err, m.at, d.device FROM measurement m LEFT JOIN measured_on d"
                       " ON d.measurement=m.id ORDER BY m.id",
                       "");
    }
    return db_each(m->from->db, measurement_row, m,
                   "SELECT kernel, problem, setting, run, status, detail, samples, checked, max_err, at, 0"
                   " FROM measurement ORDER BY id",
                   "");
}

static Err codes_merge(Merge *m)
{
    bool has;
    TRY(db_has_table(m->from->db, "code", &has));
    if (!has) return 0;
    return db_each(m->from->db, code_row, m, "SELECT kernel, environment, facts FROM code", "");
}

static Err all_merge(Merge *m)
{
    Db *db = m->from->db;
    TRY(db_each(db, environment_row, m, "SELECT id, key FROM environment ORDER BY id", ""));
    TRY(db_each(db, kernel_row, m, "SELECT id, hash, name FROM kernel ORDER BY id", ""));
    TRY(db_each(db, problem_row, m, "SELECT id, key, flops FROM problem ORDER BY id", ""));
    TRY(db_each(db, setting_row, m, "SELECT id, key FROM setting ORDER BY id", ""));
    TRY(db_each(db, compile_row, m,
                "SELECT kernel, environment, status, ns, log, at FROM compile ORDER BY id", ""));
    TRY(codes_merge(m));
    return measurements_merge(m);
}

Err store_merge(Store *into, Store *from, Err (*check)(void), MergeCount *count)
{
    Merge m = {.into = into, .from = from, .check = check};
    Map *const maps[] = {&m.kernel, &m.problem, &m.setting, &m.environment, &m.device};
    enum { N_MAPS = sizeof maps / sizeof *maps };
    for (int i = 0; i < N_MAPS; i++) map_init(maps[i]);
    Err e = all_merge(&m);
    for (int i = 0; i < N_MAPS; i++) map_fini(maps[i]);
    *count = m.count;
    return e;
}

typedef struct {
    Store *into;
    int64_t plan;
} Rejections;

static Err rejection_row(void *ctx, const DbRow *row)
{
    const Rejections *r = ctx;
    return db_exec(r->into->db, "INSERT OR IGNORE INTO rejection VALUES(?, ?, ?, ?)", "issi", r->plan,
                   row_text(row, 0), row_text(row, 1), row_int(row, 2));
}

Err store_merge_rejections(Store *into, int64_t plan, Store *from, Str group)
{
    Rejections r = {into, plan};
    return db_each(
        from->db, rejection_row, &r,
        "SELECT reason, text, count FROM rejection WHERE plan=(SELECT max(x.plan) FROM session_plan"
        " x JOIN plan p ON p.id=x.plan WHERE p.grp=?)",
        "s", group);
}
