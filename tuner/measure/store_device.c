/* Which device measured what. These tables were added without a new version: see store.c. */
#include "measure/db.h"
#include "measure/query.h"
#include "measure/store.h"

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS device(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    "CREATE TABLE IF NOT EXISTS measured_on(measurement INTEGER PRIMARY KEY REFERENCES measurement,"
    " device INTEGER NOT NULL REFERENCES device)",
};

Err store_device_tables(Store *s) { return db_exec_all(s->db, tables, sizeof tables / sizeof *tables); }

Err store_device(Store *s, Str text, int64_t *id)
{
    bool found;
    TRY(db_int(s->db, id, &found, "SELECT id FROM device WHERE key=?", "s", text));
    if (found) return 0;
    TRY(db_exec(s->db, "INSERT INTO device(key) VALUES(?)", "s", text));
    *id = db_last_id(s->db);
    return 0;
}

Err store_measured_on(Store *s, int64_t measurement, int64_t device)
{
    return db_exec(s->db, "INSERT OR IGNORE INTO measured_on VALUES(?, ?)", "ii", measurement, device);
}

/* DEVICES_COMPARED: a message names one other device; in a store with more, the first are compared. */
enum { DEVICES_COMPARED = 1024 };

typedef struct {
    Arena *a;
    Str name, other; /* of this device, of another one */
    bool found;
} Others;

static Err other_row(void *ctx, const DbRow *row)
{
    Others *o = ctx;
    Str text = row_dup(row, 0, o->a);
    TRY_ALLOC(text.s);
    const size_t n = text.n, from = n >= o->name.n + 2 ? n - o->name.n - 2 : n; /* "cuda:1 of node7: NAME" */
    const bool same = str_starts(str_sub(text, from, n), ": ") && str_eq(str_sub(text, from + 2, n), o->name);
    o->found = o->found || same;
    if (!same) o->other = text;
    return ERR_OK;
}

Err query_other_device(Store *s, Arena *a, Str name, Str *other)
{
    bool has;
    Others o = {.a = a, .name = name};
    *other = STR_NULL;
    TRY(db_has_table(s->db, "measured_on", &has));
    if (!has) return ERR_OK;
    TRY(db_each(s->db, other_row, &o,
                "SELECT key FROM device WHERE id IN (SELECT device FROM measured_on) ORDER BY id LIMIT ?",
                "i", (int64_t)DEVICES_COMPARED));
    if (!o.found) *other = o.other;
    return ERR_OK;
}

typedef struct {
    Arena *a;
    DeviceShare *list;
    size_t n;
} Shares;

static Err share_row(void *ctx, const DbRow *row)
{
    Shares *x = ctx;
    if (x->n == DEVICE_SHARES_MAX) return 0;
    x->list[x->n] = (DeviceShare){row_dup(row, 0, x->a), row_int(row, 1), row_int(row, 2)};
    TRY_ALLOC(x->list[x->n++].device.s);
    return 0;
}

Err query_devices(Store *s, Arena *a, const PlanView *p, int64_t problem, DeviceShare **out, size_t *n)
{
    bool has;
    Shares x = {.a = a};
    *n = 0;
    TRY_ALLOC(*out = x.list = ARENA_ARRAY(a, DEVICE_SHARES_MAX, DeviceShare));
    TRY(db_has_table(s->db, "measured_on", &has));
    if (has)
        TRY(db_each(s->db, share_row, &x,
                    "SELECT d.key, count(DISTINCT m.problem), count(*) FROM candidate c JOIN size z ON"
                    " z.plan=c.plan JOIN measurement m ON m.kernel=c.kernel AND m.problem=z.problem AND"
                    " m.setting=? JOIN measured_on o ON o.measurement=m.id JOIN device d ON d.id=o.device"
                    " WHERE c.plan=? AND (?=0 OR z.problem=?) GROUP BY d.id ORDER BY d.key",
                    "iiii", p->setting, p->id, problem, problem));
    *n = x.n;
    return 0;
}
