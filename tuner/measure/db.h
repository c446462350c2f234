/* Db: a thin layer over SQLite: open with our settings, run statements with bound values, iterate rows.
 *
 * Statements are string literals and stay prepared until db_close. Values: types is one letter per '?': 'i'
 * int64_t, 'r' double (NAN becomes NULL), 's' Str (s == NULL becomes NULL). The schema is in store.c. Errors
 * name the file and SQLite's reason. A Db belongs to one thread. Private to measure/.
 */
#ifndef MEASURE_DB_H
#define MEASURE_DB_H

#include "build/build.h"

typedef struct Db Db;
typedef struct DbRow DbRow;

typedef enum { DB_WRITE, DB_READ } DbMode;

/* DB_WRITE creates what is missing; DB_READ changes nothing and works on a read-only directory. The file is
 * untrusted: ERR_INPUT for a link, a special file, a file that is no database and a damaged one; triggers and
 * views do not run, and values are at most 256 MiB long. */
Err db_open(const char *path, DbMode mode, Db **out);
/* Path of the file, for messages. */
const char *db_path(const Db *db);
/* db may be NULL. */
void db_close(Db *db);

Err db_exec(Db *db, const char *sql, const char *types, ...);
int64_t db_last_id(const Db *db);
/* Statements without values, in order. */
Err db_exec_all(Db *db, const char *const *sql, size_t n);
/* Rows changed by the last db_exec. */
int64_t db_changes(const Db *db);

/* Calls fn for each row; an error of fn ends the query. fn must not run the same statement. */
typedef Err DbRowFn(void *ctx, const DbRow *row);
Err db_each(Db *db, DbRowFn *fn, void *ctx, const char *sql, const char *types, ...);
/* First column of the first row. *found (may be NULL): whether there is a row. */
Err db_int(Db *db, int64_t *out, bool *found, const char *sql, const char *types, ...);

/* Whether the file has a table of that name. Stores of older versions lack tables that were added later. */
Err db_has_table(Db *db, const char *name, bool *has);

int64_t row_int(const DbRow *row, int column);
double row_real(const DbRow *row, int column); /* NAN for NULL */
/* The text is valid inside fn only. */
Str row_text(const DbRow *row, int column);
/* Copies the text into the arena. */
Str row_dup(const DbRow *row, int column, Arena *a);

/* Reads a column compile.status; NULL is BUILD_NONE. ERR_INPUT when the text names no outcome. */
Err row_outcome(const DbRow *row, int column, BuildOutcome *out);

#endif
