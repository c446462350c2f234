/* Nearest rows, measured and predicted. See model_rows.h. */
#include "measure/model_rows.h"

#include <math.h>

#include "measure/model.h"

/* Whether a kernel is the table's, and can run. seconds: of the size; NULL: it was not measured. */
typedef struct {
    const ModelTable *t;
    const double *seconds;
    const ModelSize *size;
} Ask;

static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    const ModelTable *t = q->t;
    return (!t->usable || t->usable[k]) && t->m->known[k] &&
           (q->seconds ? q->seconds[k] > 0 : model_runs_on(&t->runs, k, q->size));
}

/* Ratio takes logarithms, which are kept for the rows. */
static void logs_of(const ModelSize *z, double out[3])
{
    out[0] = log(z->m), out[1] = log(z->n), out[2] = log(z->k);
}

static bool has_size(const ModelTable *t, size_t z) { return !t->out || !t->out[z]; }

Err model_table_make(Arena *a, ModelTable *t)
{
    const ModelMatrix *m = t->m;
    TRY_ALLOC(t->row = ARENA_ARRAY(a, m->n_sizes + 1, size_t));
    TRY(model_runs_make(a, m, t->out, &t->runs));
    TRY_ALLOC(t->log = arena_alloc(a, (m->n_sizes + 1) * sizeof *t->log));
    t->n_more = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        logs_of(&m->size[z], t->log[z]);
        const double *s = &m->seconds[z * m->n_kernels];
        Ask q = {t, s, &m->size[z]};
        t->row[z] = SIZE_MAX;
        for (size_t k = 0; k < m->n_kernels && has_size(t, z); k++)
            if (can_run(&q, k) && (t->row[z] == SIZE_MAX || s[k] < s[t->row[z]])) t->row[z] = k;
    }
    return ERR_OK;
}

typedef struct {
    const ModelTable *t;
    ModelWay way;
    const ModelSize *z;
    double log[3];
} From;

static double distance_to(const From *f, size_t i)
{
    const ModelTable *t = f->t;
    const size_t n = t->m->n_sizes;
    if (f->way != MODEL_WAY_RATIO)
        return model_distance_by(f->way, f->z, i < n ? &t->m->size[i] : &t->more[i - n].size);
    const double *log = i < n ? t->log[i] : t->more[i - n].log;
    return fabs(f->log[0] - log[0]) + fabs(f->log[1] - log[1]) + fabs(f->log[2] - log[2]);
}

size_t model_table_nearest(const ModelTable *t, ModelWay way, const ModelSize *z, const double *seconds)
{
    Ask q = {t, seconds, z};
    From from = {t, way, z, {0}};
    size_t best = SIZE_MAX;
    double least = (double)INFINITY;
    if (way == MODEL_WAY_RATIO) logs_of(z, from.log);
    for (size_t i = 0; i < t->m->n_sizes + t->n_more; i++) {
        const size_t k = i < t->m->n_sizes ? t->row[i] : t->more[i - t->m->n_sizes].kernel;
        if (k == SIZE_MAX) continue;
        const double d = distance_to(&from, i);
        if (d < least && can_run(&q, k)) best = k, least = d;
    }
    return best;
}

/* Adds a row when the winner that is predicted gains enough over that of the nearest row. */
static bool row_consider(ModelTable *t, const ModelSelector *s, const RangeSize *at)
{
    Ask q = {t, NULL, &at->size};
    double seconds;
    ModelNear near;
    size_t k = model_choose(s, &at->size, can_run, &q, &seconds),
           row = model_table_nearest(t, MODEL_WAY_RATIO, &at->size, NULL);
    if (k == SIZE_MAX || k == row) return false;
    model_near(s, &at->size, &near);
    if (row != SIZE_MAX && model_predict(s, &near, row, &at->size) < seconds * (1 + MODEL_ROW_GAIN))
        return false;
    ModelRow *more = &t->more[t->n_more++];
    *more = (ModelRow){.at = at->at, .size = at->size, .kernel = k, .seconds = seconds};
    logs_of(&at->size, more->log);
    return true;
}

/* So often the range is gone through. */
enum { PASSES = 3 };

/* A row that is added can be the nearest of sizes that were content before. */
Err model_table_predict(Arena *a, ModelTable *t, int steps, const ModelSelector *s)
{
    RangeSize *size;
    size_t n;
    bool more = true;
    TRY(model_range_make(a, t->pt, t->m, t->out, steps, 1, &size, &n));
    t->n_more = 0;
    if (!t->more) TRY_ALLOC(t->more = ARENA_ARRAY(a, MODEL_ROWS_MAX, ModelRow));
    for (int pass = 0; more && pass < PASSES; pass++) {
        more = false;
        for (size_t i = 0; i < n && t->n_more < MODEL_ROWS_MAX; i++)
            more |= row_consider(t, s, &size[i]);
    }
    return ERR_OK;
}
