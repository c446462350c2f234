/* Rows: collects the rows of a query as an array of structs. Private to measure/. */
#ifndef MEASURE_ROWS_H
#define MEASURE_ROWS_H

#include "measure/db.h"

enum { ROW_BYTES_MAX = 256 };

/* fill sets one struct of size bytes, at most ROW_BYTES_MAX, from one row. */
typedef struct Rows Rows;
typedef void RowFill(Rows *to, const DbRow *row, void *out);
struct Rows {
    RowFill *fill;
    size_t size;
    Arena *a; /* of strings and of the array */
    Err e;    /* of fill */
    Buf bytes;
    size_t n;
};

/* A column's text, copied; an error is kept in to->e. */
Str rows_text(Rows *to, const DbRow *row, int column);
/* The DbRowFn for db_each; ctx: the Rows. */
Err rows_take(void *ctx, const DbRow *row);
/* Copies the rows into the arena, unless the query ended with the error e, which is returned. */
Err rows_end(Rows *r, Err e, void *out, size_t *n);
/* Copies the first row to out; *found is false when there is none. */
Err rows_first(Rows *r, Err e, void *out, bool *found);

#endif
