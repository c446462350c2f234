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

/* ---- predicted rows ---- */

/* PASSES: so often the range is gone through, because a row that is added can be the nearest of sizes that
 * were content before. AROUND: octaves within which measured sizes say whether sizes are batched. CLOSE:
 * kernels within it of the best are alike, and that which wins most is taken, for fewer rows. */
enum { PASSES = 3 };
static const double AROUND = 2, CLOSE = 0.02;

/* A size of the range. Tensile's tables have no batch count, so that a row stands for batched sizes, too:
 * `share` of the sizes around it, with the batch count of the nearest. */
typedef struct {
    ModelSize size[2]; /* one matrix; batched */
    ModelNear near[2];
    double best[2], share;
} Point;

typedef struct {
    ModelTable *t;
    const ModelSelector *s;
    const RangeSize *at;
    size_t n, *kernel; /* that each size shall have; SIZE_MAX: none can run */
    size_t *wins;      /* of each kernel */
} Rows;

static double octaves2(const ModelSize *a, const ModelSize *b)
{
    const double m = log2(a->m / b->m), n = log2(a->n / b->n), k = log2(a->k / b->k);
    return m * m + n * n + k * k;
}

static void batch_find(const ModelTable *t, Point *p)
{
    double all = 1, batched = 0, most = 0; /* 1: a size far from all others is not batched */
    for (size_t z = 0; z < t->m->n_sizes; z++) {
        const ModelSize *size = &t->m->size[z];
        if (!has_size(t, z)) continue;
        const double weight = exp(-octaves2(size, &p->size[0]) / (2 * AROUND * AROUND));
        all += weight;
        if (size->batch <= 1) continue;
        batched += weight;
        if (weight > most) most = weight, p->size[1].batch = size->batch;
    }
    p->share = batched / all;
}

/* False: no kernel can run. */
static bool point_init(const Rows *r, size_t i, Point *p)
{
    Ask q = {r->t, NULL, &r->at[i].size};
    p->size[0] = p->size[1] = r->at[i].size;
    batch_find(r->t, p);
    for (int b = 0; b < 2; b++) {
        if (model_choose(r->s, &p->size[b], can_run, &q, &p->best[b]) == SIZE_MAX) return false;
        model_near(r->s, &p->size[b], &p->near[b]);
    }
    return true;
}

/* Expected time over the best; *seconds: of one matrix. */
static double cost_of(const Rows *r, const Point *p, size_t k, double *seconds)
{
    *seconds = model_predict(r->s, &p->near[0], k, &p->size[0]);
    if (p->share < 0.01) return *seconds / p->best[0];
    const double batched = model_predict(r->s, &p->near[1], k, &p->size[1]);
    return (1 - p->share) * *seconds / p->best[0] + p->share * batched / p->best[1];
}

/* The kernel with the least cost, or with `popular` that of those close to it which wins most. */
static size_t kernel_of(const Rows *r, size_t i, bool popular)
{
    Point p;
    Ask q = {r->t, NULL, &r->at[i].size};
    double cost[MODEL_KERNELS_MAX], seconds;
    size_t best = SIZE_MAX, liked;
    if (!point_init(r, i, &p)) return SIZE_MAX;
    for (size_t k = 0; k < r->s->n_kernels; k++) {
        cost[k] = can_run(&q, k) ? cost_of(r, &p, k, &seconds) : (double)INFINITY;
        if (best == SIZE_MAX || cost[k] < cost[best]) best = k;
    }
    liked = best;
    for (size_t k = 0; popular && k < r->s->n_kernels; k++)
        if (cost[k] <= cost[best] + CLOSE && r->wins[k] > r->wins[liked]) liked = k;
    return liked;
}

/* Adds a row when its kernel gains enough over that of the nearest row. */
static bool row_consider(const Rows *r, size_t i)
{
    Point p;
    ModelTable *t = r->t;
    const RangeSize *at = &r->at[i];
    const size_t k = r->kernel[i], row = model_table_nearest(t, MODEL_WAY_RATIO, &at->size, NULL);
    double of_row, seconds;
    if (k == SIZE_MAX || k == row || !point_init(r, i, &p)) return false;
    const double cost = cost_of(r, &p, k, &seconds);
    if (row != SIZE_MAX && cost_of(r, &p, row, &of_row) < cost + MODEL_ROW_GAIN) return false;
    ModelRow *more = &t->more[t->n_more++];
    *more = (ModelRow){.at = at->at, .size = at->size, .kernel = k, .seconds = seconds};
    logs_of(&at->size, more->log);
    return true;
}

Err model_table_predict(Arena *a, ModelTable *t, int steps, const ModelSelector *s)
{
    RangeSize *size;
    Rows r = {.t = t, .s = s};
    bool more = true;
    TRY(model_range_make(a, t->pt, t->m, t->out, steps, 1, &size, &r.n));
    r.at = size;
    TRY_ALLOC(r.kernel = ARENA_ARRAY(a, r.n + 1, size_t));
    TRY_ALLOC(r.wins = ARENA_ARRAY(a, s->n_kernels + 1, size_t));
    t->n_more = 0;
    if (!t->more) TRY_ALLOC(t->more = ARENA_ARRAY(a, MODEL_ROWS_MAX, ModelRow));
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
