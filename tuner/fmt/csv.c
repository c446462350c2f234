/* CSV rows: a bounded reader and a quoting writer. Does not interpret cells. See csv.h. */
#include "fmt/csv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum { MAX_CELLS = 1000000 };

void csv_init(Csv *c, const char *name, Str text)
{
    *c = (Csv){.rest = text, .name = name, .line = 0};
    if (str_starts(c->rest, "\xef\xbb\xbf")) c->rest = str_sub(c->rest, 3, c->rest.n);
}

/* Takes one line break; true when there was one or the text is at its end. */
static bool break_take(Str *rest)
{
    if (rest->n == 0) return true;
    size_t n = rest->s[0] == '\n' ? 1 : rest->n > 1 && rest->s[0] == '\r' && rest->s[1] == '\n' ? 2 : 0;
    *rest = str_sub(*rest, n, rest->n);
    return n > 0;
}

/* A cell in quotes, the opening one taken already; lines counts the breaks inside. */
static Err quoted_cell(Csv *c, Arena *a, int *lines, Str *cell)
{
    size_t n = 0, quotes = 0;
    for (;; n++) {
        if (n >= c->rest.n) FAIL(ERR_INPUT, "%s:%d: a quoted cell is not closed", c->name, c->line);
        if (c->rest.s[n] == '\n') ++*lines;
        if (c->rest.s[n] != '"') continue;
        if (n + 1 >= c->rest.n || c->rest.s[n + 1] != '"') break;
        n++;
        quotes++;
    }
    *cell = str_sub(c->rest, 0, n);
    c->rest = str_sub(c->rest, n + 1, c->rest.n);
    if (!quotes) return 0;
    char *text = arena_alloc(a, n - quotes + 1);
    if (!text) FAIL(ERR_FAILED, "%s:%d: out of memory for a cell of %zu bytes", c->name, c->line, n);
    size_t to = 0;
    for (size_t i = 0; i < n; i++) {
        text[to++] = cell->s[i];
        if (cell->s[i] == '"') i++;
    }
    *cell = (Str){text, to};
    return 0;
}

/* One cell and what ends it; *last when that is the end of the row. */
static Err cell_read(Csv *c, Arena *a, int *lines, Str *cell, bool *last)
{
    if (c->rest.n && c->rest.s[0] == '"') {
        c->rest = str_sub(c->rest, 1, c->rest.n);
        TRY(quoted_cell(c, a, lines, cell));
    } else {
        size_t n = 0;
        while (n < c->rest.n && c->rest.s[n] != ',' && c->rest.s[n] != '\n') n++;
        if (n && n < c->rest.n && c->rest.s[n] == '\n' && c->rest.s[n - 1] == '\r') n--;
        *cell = str_sub(c->rest, 0, n);
        c->rest = str_sub(c->rest, n, c->rest.n);
    }
    if (c->rest.n && c->rest.s[0] == ',') {
        c->rest = str_sub(c->rest, 1, c->rest.n);
        *last = false;
        return 0;
    }
    *last = true;
    if (break_take(&c->rest)) return 0;
    FAIL(ERR_INPUT, "%s:%d: text after the closing quote of a cell", c->name, c->line);
}

typedef VEC(Str) Cells;

static Err row_read(Csv *c, Arena *a, Cells *cells)
{
    size_t max = c->max_cells ? c->max_cells : MAX_CELLS;
    int lines = 0;
    for (bool last = false; !last;) {
        Str cell;
        if (cells->n >= max) FAIL(ERR_INPUT, "%s:%d: more than %zu cells in a row", c->name, c->line, max);
        TRY(cell_read(c, a, &lines, &cell, &last));
        if (!VEC_PUSH(cells, cell)) FAIL(ERR_FAILED, "%s:%d: out of memory for a row", c->name, c->line);
    }
    c->line += lines;
    return 0;
}

Err csv_row(Csv *c, Arena *a, Str **cells, size_t *n)
{
    Cells row = {0};
    *n = 0;
    *cells = NULL;
    c->line++;
    while (c->rest.n && (c->rest.s[0] == '\n' || c->rest.s[0] == '\r') && break_take(&c->rest)) c->line++;
    if (c->rest.n == 0) return 0;
    int first = c->line;
    Err e = row_read(c, a, &row);
    if (!e && !(*cells = ARENA_ARRAY(a, row.n, Str)))
        e = err_set(ERR_FAILED, "%s:%d: out of memory for a row of %zu cells", c->name, first, row.n);
    if (!e) {
        memcpy(*cells, row.v, row.n * sizeof *row.v);
        *n = row.n;
    }
    VEC_FINI(&row);
    return e;
}

void csv_cell(Buf *out, bool first, Str cell)
{
    if (!first) buf_putc(out, ',');
    /* a row of one empty cell would be a blank line, a byte order mark at the beginning would be lost */
    bool plain = !first || (cell.n && !str_starts(cell, "\xef\xbb\xbf"));
    for (size_t i = 0; plain && i < cell.n; i++) plain = !strchr(",\"\r\n", cell.s[i]) || !cell.s[i];
    if (plain) {
        buf_str(out, cell);
        return;
    }
    buf_putc(out, '"');
    for (size_t i = 0; i < cell.n; i++) {
        if (cell.s[i] == '"') buf_putc(out, '"');
        buf_putc(out, cell.s[i]);
    }
    buf_putc(out, '"');
}

void csv_cell_f(Buf *out, bool first, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof text) {
        csv_cell(out, first, (Str){text, (size_t)n});
        return;
    }
    char *large = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!large) {
        out->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(large, (size_t)n + 1, fmt, ap);
    va_end(ap);
    csv_cell(out, first, (Str){large, (size_t)n});
    free(large);
}

void csv_end(Buf *out) { buf_putc(out, '\n'); }
