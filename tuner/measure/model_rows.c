/* Nearest rows, measured and predicted. See model_rows.h. */
#include "measure/model_rows.h"

#include <math.h>
#include <string.h>

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

static Err key_add(Arena *a, ModelTable *t, const ModelSize *z, size_t row)
{
    ModelRowKeys *keys = &t->keys[own_section(t, z)];
    if (keys->n == keys->room) {
        const size_t room = 2 * keys->room + 64;
        ModelRowKey *more = arena_alloc(a, room * sizeof *more);
        TRY_ALLOC(more);
        if (keys->n) memcpy(more, keys->v, keys->n * sizeof *more);
        keys->v = more, keys->room = room;
    }
    ModelRowKey *key = &keys->v[keys->n++];
    logs_of(z, key->log);
    key->row = (uint32_t)row;
    return ERR_OK;
}

Err model_table_make(Arena *a, ModelTable *t)
{
    const ModelMatrix *m = t->m;
    TRY_ALLOC(t->row = ARENA_ARRAY(a, m->n_sizes + 1, size_t));
    TRY(model_runs_make(a, m, t->out, &t->runs));
    TRY_ALLOC(t->keys = ARENA_ARRAY(a, SECTIONS, ModelRowKeys));
    t->n_more = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        const double *s = &m->seconds[z * m->n_kernels];
        Ask q = {t, s, &m->size[z]};
        t->row[z] = SIZE_MAX;
        for (size_t k = 0; k < m->n_kernels && has_size(t, z); k++)
            if (can_run(&q, k) && (t->row[z] == SIZE_MAX || s[k] < s[t->row[z]])) t->row[z] = k;
        if (t->row[z] != SIZE_MAX) TRY(key_add(a, t, &m->size[z], z));
    }
    return ERR_OK;
}

/* The search for the nearest row. */
typedef struct {
    Ask ask;
    TableDistance distance;
    double log[3];
    double least; /* distance of the nearest row so far */
    size_t kernel;
} Nearest;

static double distance_to(const Nearest *x, const ModelRowKey *key)
{
    const ModelTable *t = x->ask.t;
    const size_t n = t->m->n_sizes;
    if (x->distance == DISTANCE_RATIO)
        return fabs(x->log[0] - key->log[0]) + fabs(x->log[1] - key->log[1]) + fabs(x->log[2] - key->log[2]);
    return table_distance(x->distance, x->ask.size,
                          key->row < n ? &t->m->size[key->row] : &t->more[key->row - n].size);
}

/* Of rows at the same distance the first counts. */
static void nearest_in(Nearest *x, const ModelRowKeys *keys)
{
    const ModelTable *t = x->ask.t;
    const size_t n = t->m->n_sizes;
    for (size_t i = 0; i < keys->n && keys->v[i].row < n + t->n_more; i++) {
        const size_t row = keys->v[i].row, k = row < n ? t->row[row] : t->more[row - n].kernel;
        const double d = distance_to(x, &keys->v[i]);
        if (d < x->least && can_run(&x->ask, k)) x->kernel = k, x->least = d;
    }
}

size_t model_table_nearest(const ModelTable *t, TableDistance distance, const ModelSize *z,
                           const double *seconds)
{
    Nearest x = {{t, seconds, z}, distance, {0}, (double)INFINITY, SIZE_MAX};
    const int own = t->sections ? own_section(t, z) : -1;
    if (distance == DISTANCE_RATIO) logs_of(z, x.log);
    if (own >= 0) nearest_in(&x, &t->keys[own]);
    for (int i = 0; i < SECTIONS && (own < 0 || x.kernel == SIZE_MAX); i++)
        if (i != own) nearest_in(&x, &t->keys[i]);
    return x.kernel;
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

/* Of the kernels whose predicted time is close to the least that which wins most. */
static size_t kernel_of(const Rows *r, size_t i)
{
    const ModelSize *z = &r->at[i].size;
    ModelNear near;
    Ask q = {r->t, NULL, z};
    const size_t best = r->kernel[i];
    size_t liked = best;
    if (best == SIZE_MAX) return best;
    model_near(r->s, z, &near);
    const double close = model_predict(r->s, &near, best, z) * (1 + CLOSE);
    for (size_t k = 0; k < r->s->n_kernels; k++)
        if (r->wins[k] > r->wins[liked] && can_run(&q, k) && model_predict(r->s, &near, k, z) <= close)
            liked = k;
    return liked;
}

/* Fills in the kernels of the sizes. */
static Err kernels_find(Arena *a, Rows *r)
{
    double seconds;
    TRY_ALLOC(r->kernel = ARENA_ARRAY(a, r->n + 1, size_t));
    TRY_ALLOC(r->wins = ARENA_ARRAY(a, r->s->n_kernels + 1, size_t));
    for (size_t i = 0; i < r->n; i++) {
        Ask q = {r->t, NULL, &r->at[i].size};
        r->kernel[i] = model_choose(r->s, &r->at[i].size, can_run, &q, &seconds);
        if (r->kernel[i] != SIZE_MAX) r->wins[r->kernel[i]]++;
    }
    for (size_t i = 0; i < r->n; i++) r->kernel[i] = kernel_of(r, i);
    return ERR_OK;
}

/* Adds a row when its kernel gains enough over that of the nearest row. */
static Err row_consider(Arena *a, const Rows *r, size_t i, bool *added)
{
    ModelTable *t = r->t;
    ModelNear near;
    const RangeSize *at = &r->at[i];
    const size_t k = r->kernel[i];
    if (k == SIZE_MAX) return ERR_OK;
    const size_t row = model_table_nearest(t, DISTANCE_RATIO, &at->size, NULL);
    if (k == row) return ERR_OK;
    model_near(r->s, &at->size, &near);
    const double seconds = model_predict(r->s, &near, k, &at->size);
    if (row != SIZE_MAX && model_predict(r->s, &near, row, &at->size) < (1 + MODEL_ROW_GAIN) * seconds)
        return ERR_OK;
    TRY(key_add(a, t, &at->size, t->m->n_sizes + t->n_more));
    t->more[t->n_more++] = (ModelRow){.at = at->at, .size = at->size, .kernel = k, .seconds = seconds};
    *added = true;
    return ERR_OK;
}

/* Goes through the sizes until the table has `most` rows. */
static Err rows_add(Arena *a, const Rows *r, size_t most)
{
    bool more = true;
    for (int pass = 0; more && pass < PASSES; pass++) {
        more = false;
        for (size_t i = 0; i < r->n && r->t->n_more < most; i++) TRY(row_consider(a, r, i, &more));
    }
    return ERR_OK;
}

/* Adds rows of these sizes until the table has `most`. lists: what is not kept. */
static Err rows_predict(Arena *a, Arena *lists, ModelTable *t, const ModelSelector *s, const RangeSize *size,
                        size_t n, size_t most)
{
    Rows r = {.t = t, .s = s, .at = size, .n = n};
    TRY(kernels_find(lists, &r));
    return rows_add(a, &r, most);
}

/* Rows of batches, of lines, and of a grid over the range. */
static Err rows_all(Arena *a, Arena *lists, ModelTable *t, int steps, const ModelSelector *s)
{
    const int64_t batch = model_range_batch(t->m, t->out);
    RangeSize *size;
    size_t n;
    if (batch > 1) {
        TRY(model_range_make(lists, t->pt, t->m, t->out, 1, batch, &size, &n));
        TRY(rows_predict(a, lists, t, s, size, n, MODEL_ROWS_BATCHED));
    }
    TRY(model_lines_make(lists, t->pt, t->m, t->out, &size, &n));
    TRY(rows_predict(a, lists, t, s, size, n, t->n_more + MODEL_ROWS_LINES));
    TRY(model_range_make(lists, t->pt, t->m, t->out, steps, 1, &size, &n));
    return rows_predict(a, lists, t, s, size, n, MODEL_ROWS_MAX);
}

Err model_table_predict(Arena *a, ModelTable *t, int steps, const ModelSelector *s)
{
    Arena lists;
    t->n_more = 0;
    t->sections = true;
    if (!t->more) TRY_ALLOC(t->more = ARENA_ARRAY(a, MODEL_ROWS_MAX, ModelRow));
    arena_init(&lists, 0);
    const Err e = rows_all(a, &lists, t, steps, s);
    arena_fini(&lists);
    TRY(e);
    t->sections = t->n_more > 0; /* createlib writes sections of tables with predicted rows alone */
    return ERR_OK;
}
