/* Thin layer over SQLite. See db.h. */
#include "measure/db.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/own.h"

enum { MAX_STATEMENTS = 96, BUSY_MS = 5000, VALUE_BYTES_MAX = 256 << 20 };

struct Db {
    sqlite3 *handle;
    char *path;
    struct {
        const char *sql;
        sqlite3_stmt *st;
    } cache[MAX_STATEMENTS];
    int n_cache;
};

struct DbRow {
    sqlite3_stmt *st;
};

static Err db_fail(const Db *db, const char *doing)
{
    int code = sqlite3_errcode(db->handle);
    if (code == SQLITE_NOTADB) FAIL(ERR_INPUT, "'%s' is not a SQLite database", db->path);
    if (code == SQLITE_CORRUPT) FAIL(ERR_INPUT, "'%s' is damaged: %s", db->path, sqlite3_errmsg(db->handle));
    FAIL(ERR_FAILED, "cannot %s '%s': %s", doing, db->path, sqlite3_errmsg(db->handle));
}

/* Prints a path as "file:///a/b%3Fc" (https://sqlite.org/uri.html). Two slashes in front would name a host.
 */
static void uri_print(const char *path, Buf *out)
{
    buf_puts(out, path[0] == '/' ? "file://" : "file:");
    for (const char *c = path; *c; c++) {
        if (c[0] == '/' && c[1] == '/') continue;
        if (isalnum((unsigned char)*c) || strchr("/._-~", *c))
            buf_putc(out, *c);
        else
            buf_printf(out, "%%%02X", (unsigned char)*c);
    }
}

/* When a killed writer left a write-ahead log, SQLite needs a shared-memory file beside the database. Where
 * it cannot be created (a read-only directory), the database is opened as immutable, without the log. */
static int open_reading(Db *db)
{
    int rc = sqlite3_open_v2(db->path, &db->handle, SQLITE_OPEN_READONLY, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY && (rc & 0xff) != SQLITE_READONLY) return rc;
    sqlite3_close(db->handle);
    db->handle = NULL;
    Buf uri;
    buf_init(&uri);
    uri_print(db->path, &uri);
    buf_puts(&uri, "?immutable=1");
    rc = buf_check(&uri)
             ? SQLITE_NOMEM
             : sqlite3_open_v2(buf_cstr(&uri), &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    buf_fini(&uri);
    return rc;
}

/* The file is untrusted: switches off triggers, views and functions called from its schema, and bounds the
 * size of values (https://sqlite.org/security.html). */
static void distrust(Db *db)
{
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) sqlite3_db_config(db->handle, off[i], 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX);
}

/* Refuses links and special files (a FIFO would block) under the names that SQLite opens. */
static Err names_check(const char *path)
{
    static const char *const suffix[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffix / sizeof *suffix; i++) {
        char name[PATH_MAX];
        int n = snprintf(name, sizeof name, "%s%s", path, suffix[i]);
        if (n < 0 || (size_t)n >= sizeof name) FAIL(ERR_INPUT, "path is too long: '%.100s...'", path);
        TRY(path_no_link(name));
        if (file_is_special(name)) FAIL(ERR_INPUT, "'%s' is not a regular file", name);
    }
    return 0;
}

/* WAL with synchronous NORMAL: a killed process loses no committed row; after a power failure the file is
 * consistent and at most the last commits are missing (https://sqlite.org/pragma.html#pragma_synchronous). */
static Err settings(Db *db, DbMode mode)
{
    sqlite3_busy_timeout(db->handle, BUSY_MS);
    if (mode == DB_READ) {
        /* reports read measurements in the order of kernels and sizes, which is not their order in the
         * file */
        int rc = sqlite3_exec(db->handle, "PRAGMA cache_size=-65536", NULL, NULL, NULL);
        return rc == SQLITE_OK ? 0 : db_fail(db, "open");
    }
    const char *sql = "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
                      "PRAGMA temp_store=MEMORY";
    if (sqlite3_exec(db->handle, sql, NULL, NULL, NULL) != SQLITE_OK) return db_fail(db, "open");
    if (sqlite3_db_readonly(db->handle, "main") == 1)
        FAIL(ERR_FAILED, "cannot write '%s': it is read-only", db->path);
    return 0;
}

Err db_open(const char *path, DbMode mode, Db **out)
{
    *out = NULL;
    TRY(names_check(path));
    Db *db = calloc(1, sizeof *db);
    if (db) db->path = strdup(path);
    if (!db || !db->path) {
        free(db);
        FAIL(ERR_FAILED, "out of memory opening '%s'", path);
    }
    int rc = mode == DB_READ
                 ? open_reading(db)
                 : sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (rc == SQLITE_OK) distrust(db);
    Err e = rc == SQLITE_OK ? settings(db, mode) : db_fail(db, "open");
    if (e) {
        db_close(db);
        return e;
    }
    *out = db;
    return 0;
}

void db_close(Db *db)
{
    if (!db) return;
    for (int i = 0; i < db->n_cache; i++) sqlite3_finalize(db->cache[i].st);
    sqlite3_close(db->handle);
    free(db->path);
    free(db);
}

static Err statement(Db *db, const char *sql, sqlite3_stmt **st)
{
    for (int i = 0; i < db->n_cache; i++)
        if (db->cache[i].sql == sql) {
            *st = db->cache[i].st;
            return 0;
        }
    if (db->n_cache == MAX_STATEMENTS)
        FAIL(ERR_FAILED, "more than %d statements on '%s'", MAX_STATEMENTS, db->path);
    if (sqlite3_prepare_v3(db->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, st, NULL) != SQLITE_OK)
        return db_fail(db, "read");
    db->cache[db->n_cache].sql = sql;
    db->cache[db->n_cache++].st = *st;
    return 0;
}

static int bind_one(sqlite3_stmt *st, int i, char type, va_list *ap)
{
    if (type == 'i') return sqlite3_bind_int64(st, i, va_arg(*ap, int64_t));
    if (type == 'r') {
        double v = va_arg(*ap, double);
        return isnan(v) ? sqlite3_bind_null(st, i) : sqlite3_bind_double(st, i, v);
    }
    Str s = va_arg(*ap, Str);
    if (!s.s) return sqlite3_bind_null(st, i);
    return sqlite3_bind_text64(st, i, s.s, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static Err run(Db *db, DbRowFn *fn, void *ctx, const char *sql, const char *types, va_list *ap)
{
    sqlite3_stmt *st;
    TRY(statement(db, sql, &st));
    int rc = SQLITE_OK;
    for (int i = 0; types[i] && rc == SQLITE_OK; i++) rc = bind_one(st, i + 1, types[i], ap);
    if (rc != SQLITE_OK) return db_fail(db, "bind a value for");
    Err e = 0;
    while (!e && (rc = sqlite3_step(st)) == SQLITE_ROW)
        if (fn) e = fn(ctx, &(DbRow){st});
    if (!e && rc != SQLITE_DONE) e = db_fail(db, sqlite3_stmt_readonly(st) ? "read" : "write");
    sqlite3_reset(st);
    sqlite3_clear_bindings(st);
    return e;
}

Err db_exec(Db *db, const char *sql, const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    Err e = run(db, NULL, NULL, sql, types, &ap);
    va_end(ap);
    return e;
}

Err db_exec_all(Db *db, const char *const *sql, size_t n)
{
    for (size_t i = 0; i < n; i++) TRY(db_exec(db, sql[i], ""));
    return ERR_OK;
}

Err db_each(Db *db, DbRowFn *fn, void *ctx, const char *sql, const char *types, ...)
{
    va_list ap;
    va_start(ap, types);
    Err e = run(db, fn, ctx, sql, types, &ap);
    va_end(ap);
    return e;
}

typedef struct {
    int64_t value;
    bool found;
} FirstInt;

static Err first_int(void *ctx, const DbRow *row)
{
    FirstInt *first = ctx;
    if (!first->found) *first = (FirstInt){row_int(row, 0), true};
    return 0;
}

Err db_int(Db *db, int64_t *out, bool *found, const char *sql, const char *types, ...)
{
    FirstInt first = {0};
    va_list ap;
    va_start(ap, types);
    Err e = run(db, first_int, &first, sql, types, &ap);
    va_end(ap);
    *out = first.value;
    if (found) *found = first.found;
    return e;
}

Err db_has_table(Db *db, const char *name, bool *has)
{
    int64_t n;
    TRY(db_int(db, &n, NULL, "SELECT count(*) FROM sqlite_master WHERE type='table' AND name=?", "s",
               str_from(name)));
    *has = n > 0;
    return 0;
}

const char *db_path(const Db *db) { return db->path; }

int64_t db_last_id(const Db *db) { return sqlite3_last_insert_rowid(db->handle); }

int64_t db_changes(const Db *db) { return sqlite3_changes(db->handle); }

int64_t row_int(const DbRow *row, int column) { return sqlite3_column_int64(row->st, column); }

double row_real(const DbRow *row, int column)
{
    if (sqlite3_column_type(row->st, column) == SQLITE_NULL) return (double)NAN;
    return sqlite3_column_double(row->st, column);
}

Str row_text(const DbRow *row, int column)
{
    const char *s = (const char *)sqlite3_column_text(row->st, column);
    return (Str){s ? s : "", (size_t)sqlite3_column_bytes(row->st, column)};
}

Str row_dup(const DbRow *row, int column, Arena *a) { return arena_dup(a, row_text(row, column)); }
