/* Nearest rows, measured and predicted. See model_rows.h. */
#include "measure/model_rows.h"

#include <math.h>

#include "measure/model.h"
#include "problem/section.h"

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

/* The size's section of the table. */
static int own_section(const ModelTable *t, const ModelSize *z)
{
    const int64_t size[] = {(int64_t)z->m, (int64_t)z->n, (int64_t)z->k};
    return t->pt ? section_of(t->pt, size, (int64_t)z->batch) : 0;
}

static bool has_size(const ModelTable *t, size_t z) { return !t->out || !t->out[z]; }

Err model_table_make(Arena *a, ModelTable *t)
{
    const ModelMatrix *m = t->m;
    TRY_ALLOC(t->row = ARENA_ARRAY(a, m->n_sizes + 1, size_t));
    TRY(model_runs_make(a, m, t->out, &t->runs));
    TRY_ALLOC(t->log = arena_alloc(a, (m->n_sizes + 1) * sizeof *t->log));
    TRY_ALLOC(t->section = ARENA_ARRAY(a, m->n_sizes + 1, int));
    t->n_more = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        logs_of(&m->size[z], t->log[z]);
        t->section[z] = own_section(t, &m->size[z]);
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
    TableDistance distance;
    const ModelSize *z;
    double log[3];
    int section;
} From;

static double distance_to(const From *f, size_t i)
{
    const ModelTable *t = f->t;
    const size_t n = t->m->n_sizes;
    if (f->distance != DISTANCE_RATIO)
        return table_distance(f->distance, f->z, i < n ? &t->m->size[i] : &t->more[i - n].size);
    const double *log = i < n ? t->log[i] : t->more[i - n].log;
    return fabs(f->log[0] - log[0]) + fabs(f->log[1] - log[1]) + fabs(f->log[2] - log[2]);
}

/* Is added to the distance of rows of another section, which come behind all others. */
static const double OTHER_SECTION = 1e6;

size_t model_table_nearest(const ModelTable *t, TableDistance distance, const ModelSize *z,
                           const double *seconds)
{
    Ask q = {t, seconds, z};
    From from = {t, distance, z, {0}, t->sections ? own_section(t, z) : 0};
    size_t best = SIZE_MAX;
    double least = (double)INFINITY;
    if (distance == DISTANCE_RATIO) logs_of(z, from.log);
    for (size_t i = 0; i < t->m->n_sizes + t->n_more; i++) {
        const bool more = i >= t->m->n_sizes;
        const size_t k = more ? t->more[i - t->m->n_sizes].kernel : t->row[i];
        const int section = more ? t->more[i - t->m->n_sizes].section : t->section[i];
        if (k == SIZE_MAX) continue;
        const bool other = t->sections && section != from.section;
        const double d = distance_to(&from, i) + (other ? OTHER_SECTION : 0);
        if (d < least && can_run(&q, k)) best = k, least = d;
    }
    return best;
}

/* ---- predicted rows ---- */

/* PASSES: so often the range is gone through, because a row that is added can be the nearest of sizes that
 * were content before. CLOSE: kernels within it of the best are alike, and that which wins most is taken, for
 * fewer rows. */
enum { PASSES = 3 };
static const double CLOSE = 0.02;

typedef struct {
    ModelTable *t;
    const ModelSelector *s;
    const RangeSize *at;
    size_t n, *kernel; /* that each size shall have; SIZE_MAX: none can run */
    size_t *wins;      /* of each kernel */
} Rows;

/* The kernel with the least predicted time, or with `popular` that of those close to it which wins most. */
static size_t kernel_of(const Rows *r, size_t i, bool popular)
{
    const ModelSize *z = &r->at[i].size;
    ModelNear near;
    Ask q = {r->t, NULL, z};
    double time[MODEL_KERNELS_MAX];
    size_t best = SIZE_MAX, liked;
    model_near(r->s, z, &near);
    for (size_t k = 0; k < r->s->n_kernels; k++) {
        time[k] = can_run(&q, k) ? model_predict(r->s, &near, k, z) : (double)INFINITY;
        if (!isinf(time[k]) && (best == SIZE_MAX || time[k] < time[best])) best = k;
    }
    liked = best;
    for (size_t k = 0; popular && best != SIZE_MAX && k < r->s->n_kernels; k++)
        if (time[k] <= time[best] * (1 + CLOSE) && r->wins[k] > r->wins[liked]) liked = k;
    return liked;
}

/* Adds a row when its kernel gains enough over that of the nearest row. */
static bool row_consider(const Rows *r, size_t i)
{
    ModelTable *t = r->t;
    ModelNear near;
    const RangeSize *at = &r->at[i];
    const size_t k = r->kernel[i];
    if (k == SIZE_MAX) return false;
    const size_t row = model_table_nearest(t, DISTANCE_RATIO, &at->size, NULL);
    if (k == row) return false;
    model_near(r->s, &at->size, &near);
    const double seconds = model_predict(r->s, &near, k, &at->size);
    if (row != SIZE_MAX && model_predict(r->s, &near, row, &at->size) < (1 + MODEL_ROW_GAIN) * seconds)
        return false;
    ModelRow *more = &t->more[t->n_more++];
    *more = (ModelRow){.at = at->at, .size = at->size, .kernel = k, .seconds = seconds};
    logs_of(&at->size, more->log);
    more->section = own_section(t, &at->size);
    return true;
}

/* Rows of the sizes with a batch count. */
static Err rows_predict(Arena *a, ModelTable *t, int steps, const ModelSelector *s, int64_t batch)
{
    RangeSize *size;
    Rows r = {.t = t, .s = s};
    bool more = true;
    TRY(model_range_make(a, t->pt, t->m, t->out, steps, batch, &size, &r.n));
    r.at = size;
    TRY_ALLOC(r.kernel = ARENA_ARRAY(a, r.n + 1, size_t));
    TRY_ALLOC(r.wins = ARENA_ARRAY(a, s->n_kernels + 1, size_t));
    for (size_t i = 0; i < r.n; i++) {
        r.kernel[i] = kernel_of(&r, i, false);
        if (r.kernel[i] != SIZE_MAX) r.wins[r.kernel[i]]++;
    }
    for (size_t i = 0; i < r.n; i++) r.kernel[i] = kernel_of(&r, i, true);
    for (int pass = 0; more && pass < PASSES; pass++) {
        more = false;
        for (size_t i = 0; i < r.n && t->n_more < MODEL_ROWS_MAX; i++) more |= row_consider(&r, i);
    }
    return ERR_OK;
}

Err model_table_predict(Arena *a, ModelTable *t, int steps, const ModelSelector *s)
{
    const int64_t batch = model_range_batch(t->m, t->out);
    t->n_more = 0;
    t->sections = true;
    if (!t->more) TRY_ALLOC(t->more = ARENA_ARRAY(a, MODEL_ROWS_MAX, ModelRow));
    TRY(rows_predict(a, t, steps, s, 1));
    if (batch > 1) TRY(rows_predict(a, t, 1, s, batch));
    t->sections = t->n_more > 0; /* createlib writes sections of tables with predicted rows alone */
    return ERR_OK;
}
