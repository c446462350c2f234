/* Rows of a query as an array. See rows.h. */
#include "measure/rows.h"

#include <string.h>

Str rows_text(Rows *to, const DbRow *row, int column)
{
    Str s = row_dup(row, column, to->a);
    if (!s.s) to->e = err_set(ERR_FAILED, "out of memory reading the store");
    return s;
}

Err rows_take(void *ctx, const DbRow *row)
{
    Rows *to = ctx;
    _Alignas(16) char one[ROW_BYTES_MAX] = {0};
    to->fill(to, row, one);
    buf_add(&to->bytes, one, to->size);
    to->n++;
    TRY(to->e);
    return buf_check(&to->bytes);
}

Err rows_end(Rows *r, Err e, void *out, size_t *n)
{
    void *copy = e ? NULL : arena_array(r->a, r->n, r->size);
    if (!e && !copy) e = err_set(ERR_FAILED, "out of memory for %zu rows of the store", r->n);
    if (!e && r->n) memcpy(copy, r->bytes.s, r->n * r->size);
    memcpy(out, &copy, sizeof copy);
    *n = e ? 0 : r->n;
    buf_fini(&r->bytes);
    return e;
}

Err rows_first(Rows *r, Err e, void *out, bool *found)
{
    memset(out, 0, r->size);
    *found = !e && r->n > 0;
    if (*found) memcpy(out, r->bytes.s, r->size);
    buf_fini(&r->bytes);
    return e;
}
