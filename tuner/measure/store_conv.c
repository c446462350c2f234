/* Convolutions of problems. The table was added without a new version: see store.c. */
#include "measure/db.h"
#include "measure/result.h"

static const char conv_table[] =
    "CREATE TABLE IF NOT EXISTS conv(problem INTEGER PRIMARY KEY REFERENCES problem, text TEXT NOT NULL)";

Err store_conv_add(Store *s, int64_t problem, Str text)
{
    TRY(db_exec(s->db, conv_table, ""));
    return db_exec(s->db, "INSERT OR REPLACE INTO conv VALUES(?, ?)", "is", problem, text);
}

typedef struct {
    Arena *a;
    PlanView *plan;
} Loading;

static Err conv_row(void *ctx, const DbRow *row)
{
    Loading *l = ctx;
    const int64_t i = row_int(row, 0);
    if (i < 0 || (uint64_t)i >= l->plan->n_sizes) return ERR_OK;
    l->plan->size[i].conv = row_dup(row, 1, l->a);
    TRY_ALLOC(l->plan->size[i].conv.s);
    return ERR_OK;
}

Err plan_convs_load(Store *s, Arena *a, PlanView *p)
{
    Loading l = {a, p};
    bool has;
    TRY(db_has_table(s->db, "conv", &has));
    if (!has) return ERR_OK;
    return db_each(s->db, conv_row, &l,
                   "SELECT s.i, c.text FROM size s JOIN conv c ON c.problem=s.problem WHERE s.plan=?", "i",
                   p->id);
}
