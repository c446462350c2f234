/* CSV: rows of cells, RFC 4180 quoting, any of \n and \r\n. Reading is bounded and zero-copy where nothing
 * is quoted. */
#ifndef FMT_CSV_H
#define FMT_CSV_H

#include "base/arena.h"

typedef struct {
    Str rest;         /* unread text */
    const char *name; /* of the file, for messages */
    int line;         /* of the row last read */
    size_t max_cells; /* per row, 0: 1 million */
} Csv;

void csv_init(Csv *c, const char *name, Str text);
/* Next row's cells in the arena; *n == 0 at the end of the text. Blank lines are skipped. */
Err csv_row(Csv *c, Arena *a, Str **cells, size_t *n);

/* Appends one cell, quoted where needed, with a comma before it unless first. */
void csv_cell(Buf *out, bool first, Str cell);
void csv_cell_f(Buf *out, bool first, const char *fmt, ...) PRINTF_LIKE(3, 4);
void csv_end(Buf *out);

#endif
