/* How busy the machine was while a session measured: the table of the store. See store.h. */
#include "measure/db.h"
#include "measure/store.h"

Err store_busy_add(Store *s, int64_t session, const Busy *b)
{
    return db_exec(s->db,
                   "INSERT OR REPLACE INTO busy(session, load, cores, wide, sizes) VALUES(?, ?, ?, ?, ?)",
                   "iriii", session, b->load, b->n_cores, b->n_wide, b->n_sizes);
}

typedef struct {
    Busy *b;
    bool found;
} BusyTo;

static Err busy_row(void *ctx, const DbRow *row)
{
    BusyTo *to = ctx;
    *to->b = (Busy){row_real(row, 0), row_int(row, 1), row_int(row, 2), row_int(row, 3), RUN_LOAD_MARGIN};
    to->found = true;
    return 0;
}

Err store_busy_last(Store *s, Busy *out, bool *found)
{
    bool has;
    BusyTo to = {.b = out};
    *found = false;
    TRY(db_has_table(s->db, "busy", &has));
    if (!has) return 0;
    TRY(db_each(s->db, busy_row, &to,
                "SELECT load, cores, wide, sizes FROM busy ORDER BY session DESC LIMIT 1", ""));
    *found = to.found;
    return 0;
}
