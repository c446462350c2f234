/* How busy the machine was while a session measured: the table of the store, and the warning. See store.h. */
#include <math.h>
#include <stdio.h>

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
    *to->b = (Busy){row_real(row, 0), row_int(row, 1), row_int(row, 2), row_int(row, 3)};
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

/* The load average of a run of ours is at most the number of cores (the compilers before) plus one (the
 * kernel that is timed). On a quiet machine the intervals are one or two percent wide. */
bool busy_text(const Busy *b, char *text, size_t size)
{
    char load[96] = "", wide[96] = "";
    if (b->load > (double)b->n_cores + 1)
        snprintf(load, sizeof load, "load average %.1f on %lld cores", b->load, (long long)b->n_cores);
    if (2 * b->n_wide > b->n_sizes)
        snprintf(wide, sizeof wide, "%lld of %lld intervals wider than %g%%", (long long)b->n_wide,
                 (long long)b->n_sizes, BUSY_WIDTH * 100);
    if (!load[0] && !wide[0]) return false;
    snprintf(text, size, "the machine was busy while kernels were timed: %s%s%s", load,
             load[0] && wide[0] ? "; " : "", wide);
    return true;
}
