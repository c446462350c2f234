/* The store: schema and facts. See store.h. */
#include "measure/store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/vec.h"
#include "measure/db.h"
#include "measure/store_search.h"

#define FORMAT "tuner-store"

/* Bounds for an untrusted store: samples of one measurement, launches of one sample. */
enum { SAMPLES_MAX = 4 << 20 };
static const int64_t ENQUEUES_MAX = INT64_C(1000000000000);

/* Times are UTC. Rows are only appended; session.state, detail and ended are updated. */
static const char *const schema[] = {
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE environment(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, at TEXT NOT NULL)",
    "CREATE TABLE problem(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, flops REAL NOT NULL)",
    "CREATE TABLE setting(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE)",
    "CREATE TABLE kernel(id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL)",
    "CREATE TABLE compile(id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernel,"
    " environment INTEGER NOT NULL REFERENCES environment, status TEXT NOT NULL, ns INTEGER NOT NULL, log "
    "TEXT,"
    " at TEXT NOT NULL)",
    "CREATE INDEX compile_by_kernel ON compile(kernel, environment)",
    "CREATE TABLE measurement(id INTEGER PRIMARY KEY, kernel INTEGER NOT NULL REFERENCES kernel,"
    " problem INTEGER NOT NULL REFERENCES problem, setting INTEGER NOT NULL REFERENCES setting,"
    " run INTEGER NOT NULL, status TEXT NOT NULL, detail TEXT, samples TEXT NOT NULL, checked INTEGER NOT "
    "NULL,"
    " max_err REAL, at TEXT NOT NULL, UNIQUE(kernel, problem, setting, run))",
    "CREATE TABLE plan(id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, grp TEXT NOT NULL, arch TEXT NOT "
    "NULL,"
    " setting INTEGER NOT NULL REFERENCES setting, environment INTEGER NOT NULL REFERENCES environment,"
    " permutations INTEGER NOT NULL, valid INTEGER NOT NULL, duplicates INTEGER NOT NULL, runs INTEGER NOT "
    "NULL,"
    " at TEXT NOT NULL)",
    "CREATE TABLE candidate(plan INTEGER NOT NULL REFERENCES plan, i INTEGER NOT NULL,"
    " kernel INTEGER NOT NULL REFERENCES kernel, name TEXT NOT NULL, PRIMARY KEY(plan, i)) WITHOUT ROWID",
    "CREATE TABLE size(plan INTEGER NOT NULL REFERENCES plan, i INTEGER NOT NULL,"
    " problem INTEGER NOT NULL REFERENCES problem, PRIMARY KEY(plan, i)) WITHOUT ROWID",
    "CREATE TABLE rejection(plan INTEGER NOT NULL REFERENCES plan, reason TEXT NOT NULL, text TEXT NOT NULL,"
    " count INTEGER NOT NULL, PRIMARY KEY(plan, reason)) WITHOUT ROWID",
    "CREATE TABLE session(id INTEGER PRIMARY KEY, command TEXT NOT NULL, started TEXT NOT NULL, ended TEXT,"
    " state TEXT NOT NULL, detail TEXT)",
    "CREATE TABLE step(session INTEGER NOT NULL REFERENCES session, name TEXT NOT NULL, ns INTEGER NOT NULL)",
    "CREATE TABLE session_plan(session INTEGER NOT NULL REFERENCES session, i INTEGER NOT NULL,"
    " plan INTEGER NOT NULL REFERENCES plan, PRIMARY KEY(session, i)) WITHOUT ROWID",
};

/* These tables were added without a new version: they are created when a store without them is opened for
 * writing, and a store that is only read may lack them. */
static const char *const later_tables[] = {
    "CREATE TABLE IF NOT EXISTS code(kernel INTEGER NOT NULL REFERENCES kernel, environment INTEGER NOT NULL"
    " REFERENCES environment, facts TEXT NOT NULL, PRIMARY KEY(kernel, environment)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS busy(session INTEGER PRIMARY KEY REFERENCES session, load REAL, cores "
    "INTEGER NOT"
    " NULL, wide INTEGER NOT NULL, sizes INTEGER NOT NULL)",
};

static Err later_tables_create(Store *s)
{
    TRY(db_exec_all(s->db, later_tables, sizeof later_tables / sizeof *later_tables));
    TRY(store_search_tables(s));
    return store_device_tables(s);
}

static Err schema_create(Store *s)
{
    TRY(store_begin(s));
    TRY(db_exec_all(s->db, schema, sizeof schema / sizeof *schema));
    TRY(later_tables_create(s));
    char version[16];
    snprintf(version, sizeof version, "%d", STORE_VERSION);
    TRY(db_exec(s->db, "INSERT INTO meta VALUES('format', ?), ('version', ?)", "ss", STR(FORMAT),
                str_from(version)));
    return store_commit(s);
}

typedef struct {
    char format[32], version[32];
} Meta;

static Err meta_row(void *ctx, const DbRow *row)
{
    Meta *m = ctx;
    char *to = str_eq_c(row_text(row, 0), "format")    ? m->format
               : str_eq_c(row_text(row, 0), "version") ? m->version
                                                       : NULL;
    if (to) snprintf(to, sizeof m->format, "%.*s", STR_ARG(row_text(row, 1)));
    return 0;
}

static Err schema_check(Store *s, const char *path, StoreMode mode)
{
    int64_t n_tables, n_meta, n_other;
    TRY(db_int(s->db, &n_tables, NULL, "SELECT count(*) FROM sqlite_master WHERE type='table'", ""));
    TRY(db_int(s->db, &n_meta, NULL, "SELECT count(*) FROM sqlite_master WHERE name='meta'", ""));
    if (n_tables == 0 && mode == STORE_WRITE) return schema_create(s);
    if (n_meta == 0) FAIL(ERR_INPUT, "'%s' is not a tuning store", path);
    TRY(db_int(s->db, &n_other, NULL, "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')",
               ""));
    if (n_other) FAIL(ERR_INPUT, "'%s' has views or triggers, which no tuning store has", path);
    Meta m = {0};
    TRY(db_each(s->db, meta_row, &m, "SELECT key, value FROM meta", ""));
    if (strcmp(m.format, FORMAT))
        FAIL(ERR_INPUT, "'%s' has format '%s', expected '" FORMAT "'", path, m.format);
    if (atoi(m.version) != STORE_VERSION)
        FAIL(ERR_INPUT, "'%s' has version '%s', this tuner reads and writes version %d", path, m.version,
             STORE_VERSION);
    return mode == STORE_READ ? 0 : later_tables_create(s);
}

static Err open_in(Store *s, Arena *a, const char *outdir, StoreMode mode)
{
    Str path = path_join(a, outdir, "tuning.db"), lock = path_join(a, outdir, "tuning.lock");
    if (!path.s || !lock.s) FAIL(ERR_FAILED, "out of memory opening '%s'", outdir);
    if (mode == STORE_READ) {
        if (!file_exists(path.s)) FAIL(ERR_INPUT, "there is no tuning run in '%s' (no tuning.db)", outdir);
    } else {
        TRY(dir_make(outdir));
        TRY(lock_take(lock.s, &s->lock_fd));
    }
    TRY(db_open(path.s, mode == STORE_READ ? DB_READ : DB_WRITE, &s->db));
    return schema_check(s, path.s, mode);
}

Err store_open(Store *s, const char *outdir, StoreMode mode)
{
    *s = (Store){.lock_fd = -1};
    Arena a;
    arena_init(&a, 0);
    Err e = open_in(s, &a, outdir, mode);
    arena_fini(&a);
    if (e) store_close(s);
    return e;
}

void store_close(Store *s)
{
    db_close(s->db);
    s->db = NULL;
    lock_release(&s->lock_fd);
}

bool store_at_work(const char *outdir)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/tuning.lock", outdir) >= (int)sizeof path) return false;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
    if (fd >= 0) close(fd);
    return held;
}

Str session_state(Str stored, bool at_work)
{
    return str_eq_c(stored, "running") && !at_work ? STR("killed") : stored;
}

const char *store_path(const Store *s) { return db_path(s->db); }

Err store_begin(Store *s) { return db_exec(s->db, "BEGIN IMMEDIATE", ""); }

Err store_commit(Store *s) { return db_exec(s->db, "COMMIT", ""); }

void store_rollback(Store *s)
{
    Err e = db_exec(s->db, "ROLLBACK", "");
    (void)e; /* SQLite has ended the transaction itself when the disk is full */
}

#define NOW "strftime('%Y-%m-%dT%H:%M:%fZ','now')"

/* The id of the row with the key, which is added when absent. select takes the key; insert takes the key and,
 * when more.s is set, one more text. */
static Err find_or_add(Store *s, Str key, Str more, const char *select, const char *insert, int64_t *id)
{
    bool found;
    TRY(db_int(s->db, id, &found, select, "s", key));
    if (found) return 0;
    TRY(db_exec(s->db, insert, more.s ? "ss" : "s", key, more));
    *id = db_last_id(s->db);
    return 0;
}

Err store_environment(Store *s, Str text, int64_t *id)
{
    return find_or_add(s, text, STR_NULL, "SELECT id FROM environment WHERE key=?",
                       "INSERT INTO environment(key, at) VALUES(?, " NOW ")", id);
}

Err store_problem(Store *s, Str key, double flops, int64_t *id)
{
    bool found;
    TRY(db_int(s->db, id, &found, "SELECT id FROM problem WHERE key=?", "s", key));
    if (found) return 0;
    TRY(db_exec(s->db, "INSERT INTO problem(key, flops) VALUES(?, ?)", "sr", key, flops));
    *id = db_last_id(s->db);
    return 0;
}

Err store_setting(Store *s, Str key, int64_t *id)
{
    return find_or_add(s, key, STR_NULL, "SELECT id FROM setting WHERE key=?",
                       "INSERT INTO setting(key) VALUES(?)", id);
}

Err store_kernel(Store *s, Str hash, Str name, int64_t *id)
{
    return find_or_add(s, hash, name, "SELECT id FROM kernel WHERE hash=?",
                       "INSERT INTO kernel(hash, name) VALUES(?, ?)", id);
}

Err store_compile_add(Store *s, const Compile *c)
{
    return db_exec(
        s->db, "INSERT INTO compile(kernel, environment, status, ns, log, at) VALUES(?, ?, ?, ?, ?, " NOW ")",
        "iisis", c->kernel, c->environment, str_from(build_outcome_name(c->outcome)), (int64_t)c->ns, c->log);
}

typedef struct {
    Arena *a;
    void *out;
    bool found;
} RowTo;

Err row_outcome(const DbRow *row, int column, BuildOutcome *out)
{
    Str name = row_text(row, column);
    if (!build_outcome_find(name, out))
        FAIL(ERR_INPUT,
             "the store has a compilation of status '%.*s', expected ok, failed, timeout, killed or "
             "refused",
             STR_ARG(str_sub(name, 0, 40)));
    return 0;
}

static Err compile_row(void *ctx, const DbRow *row)
{
    RowTo *to = ctx;
    Compile *c = to->out;
    TRY(row_outcome(row, 0, &c->outcome));
    c->ns = (uint64_t)row_int(row, 1);
    c->log = row_dup(row, 2, to->a);
    to->found = true;
    if (!c->log.s) FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

Err store_compile_get(Store *s, Arena *a, int64_t kernel, int64_t environment, Compile *out, bool *found)
{
    RowTo to = {a, out, false};
    *out = (Compile){.kernel = kernel, .environment = environment};
    TRY(db_each(
        s->db, compile_row, &to,
        "SELECT status, ns, log FROM compile WHERE kernel=? AND environment=? ORDER BY id DESC LIMIT 1", "ii",
        kernel, environment));
    *found = to.found;
    return 0;
}

Err store_code_add(Store *s, int64_t kernel, int64_t environment, Str facts)
{
    return db_exec(s->db, "INSERT OR IGNORE INTO code(kernel, environment, facts) VALUES(?, ?, ?)", "iis",
                   kernel, environment, facts);
}

static Err code_row(void *ctx, const DbRow *row)
{
    RowTo *to = ctx;
    Str *facts = to->out;
    *facts = row_dup(row, 0, to->a);
    to->found = true;
    if (!facts->s) FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

Err store_code_get(Store *s, Arena *a, int64_t kernel, int64_t environment, Str *facts, bool *found)
{
    RowTo to = {.a = a, .out = facts};
    bool has;
    *found = false;
    TRY(db_has_table(s->db, "code", &has));
    if (!has) return 0;
    TRY(db_each(s->db, code_row, &to, "SELECT facts FROM code WHERE kernel=? AND environment=?", "ii", kernel,
                environment));
    *found = to.found;
    return 0;
}

static const char use_letter[] = "-f!";

/* Prints "launches*ns"; of a race "launches*ns@round,clock,power,temperature,throttle,use":
 * "30*12345@2,1980,412.5,51,4,f". */
static void sample_print(const Sample *x, bool first, Buf *out)
{
    buf_printf(out, "%s%" PRId64 "*%" PRIu64, first ? "" : " ", x->enqueues, x->ns);
    if (x->round > 0)
        buf_printf(out, "@%" PRId64 ",%.6g,%.6g,%.6g,%u,%c", x->round, x->clock_mhz, x->power_w, x->temp_c,
                   x->throttle, use_letter[x->use]);
}

Err store_measure_add(Store *s, const Measurement *m)
{
    Buf samples;
    buf_init(&samples);
    for (size_t i = 0; i < m->n_samples; i++) sample_print(&m->sample[i], i == 0, &samples);
    Err e = buf_check(&samples);
    if (!e)
        e = db_exec(s->db,
                    "INSERT OR IGNORE INTO measurement(kernel, problem, setting, run, status, detail, "
                    "samples, checked,"
                    " max_err, at) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, " NOW ")",
                    "iiiisssir", m->key.kernel, m->key.problem, m->key.setting, m->key.run, m->status,
                    m->detail, str_from(buf_cstr(&samples)), m->checked, m->max_err);
    buf_fini(&samples);
    if (!e && m->device && db_changes(s->db)) e = store_measured_on(s, db_last_id(s->db), m->device);
    return e;
}

static double sensor_value(Str text)
{
    double x;
    return str_to_f64(text, &x) ? x : (double)NAN;
}

/* Parses the fields after '@'. */
static bool state_parse(Str text, Sample *x)
{
    Str part[6];
    int64_t bits;
    for (int i = 0; i < 6; i++)
        if (!str_split(&text, ',', &part[i])) return false;
    const char *use = part[5].n == 1 ? strchr(use_letter, part[5].s[0]) : NULL;
    if (!str_to_i64(part[0], &x->round) || x->round < 1 || !str_to_i64(part[4], &bits) || bits < 0 ||
        bits > UINT32_MAX || !use)
        return false;
    x->clock_mhz = sensor_value(part[1]);
    x->power_w = sensor_value(part[2]);
    x->temp_c = sensor_value(part[3]);
    x->throttle = (uint32_t)bits;
    x->use = (SampleFor)(use - use_letter);
    return true;
}

static Err sample_parse(Str part, Sample *x)
{
    size_t star = str_find(part, '*', 0), at = str_find(part, '@', 0);
    int64_t ns;
    *x = (Sample){.clock_mhz = (double)NAN, .power_w = (double)NAN, .temp_c = (double)NAN};
    if (star < at && str_to_i64(str_sub(part, 0, star), &x->enqueues) && x->enqueues >= 1 &&
        x->enqueues <= ENQUEUES_MAX && str_to_i64(str_sub(part, star + 1, at), &ns) && ns >= 0 &&
        (at == part.n || state_parse(str_sub(part, at + 1, part.n), x))) {
        x->ns = (uint64_t)ns;
        return 0;
    }
    FAIL(ERR_INPUT, "the store has a sample '%.*s', expected ENQUEUES*NANOSECONDS with 1 to %lld enqueues",
         STR_ARG(str_sub(part, 0, 100)), (long long)ENQUEUES_MAX);
}

static Err samples_parse(Arena *a, Str text, Measurement *m)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) n += text.s[i] == '*';
    if (n > SAMPLES_MAX)
        FAIL(ERR_INPUT, "the store has %zu samples of a kernel, more than %d", n, SAMPLES_MAX);
    Sample *sample = ARENA_ARRAY(a, n, Sample);
    TRY_ALLOC(sample);
    Str part;
    for (size_t i = 0; i < n && str_split(&text, ' ', &part); i++) TRY(sample_parse(part, &sample[i]));
    m->sample = sample;
    m->n_samples = n;
    return 0;
}

typedef struct {
    Arena *a;
    VEC(Measurement) list;
} MeasureRows;

static Err measure_row(void *ctx, const DbRow *row)
{
    MeasureRows *to = ctx;
    Measurement m = {.status = row_dup(row, 0, to->a),
                     .detail = row_dup(row, 1, to->a),
                     .checked = row_int(row, 3),
                     .max_err = row_real(row, 4)};
    m.key.run = row_int(row, 5);
    Str samples = row_dup(row, 2, to->a);
    if (!m.status.s || !m.detail.s || !samples.s) FAIL(ERR_FAILED, "out of memory reading the store");
    TRY(samples_parse(to->a, samples, &m));
    if (!VEC_PUSH(&to->list, m)) FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

Err store_measure_runs(Store *s, Arena *a, const MeasureKey *key, int64_t n_runs, Measurement **out,
                       size_t *n)
{
    MeasureRows to = {.a = a};
    *out = NULL;
    *n = 0;
    Err e = db_each(s->db, measure_row, &to,
                    "SELECT status, detail, samples, checked, max_err, run FROM measurement"
                    " WHERE kernel=? AND problem=? AND setting=? AND run>=? AND run<? ORDER BY run",
                    "iiiii", key->kernel, key->problem, key->setting, key->run, key->run + n_runs);
    if (!e) *out = ARENA_ARRAY(a, to.list.n, Measurement);
    if (!e && !*out) e = err_set(ERR_FAILED, "out of memory reading the store");
    for (size_t i = 0; !e && i < to.list.n; i++) {
        int64_t run = to.list.v[i].key.run;
        (*out)[i] = to.list.v[i];
        (*out)[i].key = *key;
        (*out)[i].key.run = run;
    }
    *n = e ? 0 : to.list.n;
    VEC_FINI(&to.list);
    return e;
}

Err store_measure_get(Store *s, Arena *a, const MeasureKey *key, Measurement *out, bool *found)
{
    Measurement *m;
    size_t n;
    *out = (Measurement){.key = *key};
    TRY(store_measure_runs(s, a, key, 1, &m, &n));
    if (n) *out = m[0];
    *found = n > 0;
    return 0;
}

Err store_measured(Store *s, const MeasureKey *key, bool *found)
{
    int64_t id;
    return db_int(s->db, &id, found,
                  "SELECT id FROM measurement WHERE kernel=? AND problem=? AND setting=? AND run=?", "iiii",
                  key->kernel, key->problem, key->setting, key->run);
}

Err store_peer(Store *s, Str name, int64_t *kernel)
{
    char hash[128];
    int n = snprintf(hash, sizeof hash, PEER_HASH "%.*s", STR_ARG(name));
    if (n < 0 || (size_t)n >= sizeof hash) FAIL(ERR_INPUT, "name of a peer is too long: '%.40s...'", name.s);
    return store_kernel(s, str_from(hash), name, kernel);
}

typedef struct {
    Arena *a;
    int64_t kernel;
    Str name;
} PeerFound;

static Err peer_row(void *ctx, const DbRow *row)
{
    PeerFound *p = ctx;
    p->kernel = row_int(row, 0);
    p->name = row_dup(row, 1, p->a);
    if (!p->name.s) FAIL(ERR_FAILED, "out of memory reading the store");
    return 0;
}

Err store_peer_find(Store *s, Arena *a, int64_t problem, int64_t setting, int64_t *kernel, Str *name,
                    bool *found)
{
    PeerFound p = {.a = a};
    TRY(db_each(s->db, peer_row, &p,
                /* by the index of kernel.hash, because no index of measurement begins with the problem */
                "SELECT k.id, k.name FROM kernel k CROSS JOIN measurement m ON m.kernel=k.id AND m.problem=?"
                " AND m.setting=? WHERE k.hash>='" PEER_HASH "' AND k.hash<'peer!'"
                " ORDER BY +m.id DESC LIMIT 1",
                "ii", problem, setting));
    *found = p.name.s != NULL;
    *kernel = p.kernel;
    *name = p.name;
    return 0;
}

Err store_plan(Store *s, const PlanRecord *p, int64_t *id, bool *added)
{
    bool found;
    *added = false;
    TRY(db_int(s->db, id, &found, "SELECT id FROM plan WHERE key=?", "s", p->key));
    if (found) return 0;
    TRY(db_exec(
        s->db,
        "INSERT INTO plan(key, grp, arch, setting, environment, permutations, valid, duplicates, runs, at)"
        " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, " NOW ")",
        "sssiiiiii", p->key, p->group, p->arch, p->setting, p->environment, p->n_permutations, p->n_valid,
        p->n_duplicates, p->n_runs));
    *id = db_last_id(s->db);
    *added = true;
    return 0;
}

Err store_candidate_add(Store *s, int64_t plan, int64_t column, int64_t kernel, Str name)
{
    return db_exec(s->db, "INSERT INTO candidate VALUES(?, ?, ?, ?)", "iiis", plan, column, kernel, name);
}

Err store_size_add(Store *s, int64_t plan, int64_t row, int64_t problem)
{
    return db_exec(s->db, "INSERT INTO size VALUES(?, ?, ?)", "iii", plan, row, problem);
}

Err store_rejection_add(Store *s, int64_t plan, Str reason, Str text, int64_t count)
{
    return db_exec(s->db, "INSERT INTO rejection VALUES(?, ?, ?, ?)", "issi", plan, reason, text, count);
}

Err store_session_begin(Store *s, Str command, int64_t *id)
{
    TRY(db_exec(s->db, "INSERT INTO session(command, started, state) VALUES(?, " NOW ", 'running')", "s",
                command));
    *id = db_last_id(s->db);
    return 0;
}

Err store_step_add(Store *s, int64_t session, Str name, uint64_t ns)
{
    return db_exec(s->db, "INSERT INTO step VALUES(?, ?, ?)", "isi", session, name, (int64_t)ns);
}

Err store_session_plan(Store *s, int64_t session, int64_t i, int64_t plan)
{
    return db_exec(s->db, "INSERT OR REPLACE INTO session_plan VALUES(?, ?, ?)", "iii", session, i, plan);
}

Err store_session_end(Store *s, int64_t session, Str state, Str detail)
{
    return db_exec(s->db, "UPDATE session SET state=?, detail=?, ended=" NOW " WHERE id=?", "ssi", state,
                   detail, session);
}
