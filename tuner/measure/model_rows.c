/* Nearest rows, measured and predicted. See model_rows.h. */
#include "measure/model_rows.h"

#include <math.h>

#include "measure/model.h"

/* Whether a kernel is the table's, and can run. seconds: of the size. */
typedef struct {
    const ModelTable *t;
    const double *seconds;
} Ask;

static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    const ModelTable *t = q->t;
    return (!t->usable || t->usable[k]) && t->m->known[k] && (!q->seconds || q->seconds[k] > 0);
}

static bool has_size(const ModelTable *t, size_t z) { return !t->out || !t->out[z]; }

Err model_table_make(Arena *a, ModelTable *t)
{
    const ModelMatrix *m = t->m;
    TRY_ALLOC(t->row = ARENA_ARRAY(a, m->n_sizes + 1, size_t));
    t->n_more = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        const double *s = &m->seconds[z * m->n_kernels];
        Ask q = {t, s};
        t->row[z] = SIZE_MAX;
        for (size_t k = 0; k < m->n_kernels && has_size(t, z); k++)
            if (can_run(&q, k) && (t->row[z] == SIZE_MAX || s[k] < s[t->row[z]])) t->row[z] = k;
    }
    return ERR_OK;
}

size_t model_table_nearest(const ModelTable *t, ModelWay way, const ModelSize *z, const double *seconds)
{
    Ask q = {t, seconds};
    size_t best = SIZE_MAX;
    double least = 0;
    for (size_t i = 0; i < t->m->n_sizes + t->n_more; i++) {
        const ModelRow *r = i < t->m->n_sizes ? NULL : &t->more[i - t->m->n_sizes];
        const size_t k = r ? r->kernel : t->row[i];
        if (k == SIZE_MAX || !can_run(&q, k)) continue;
        const double d = model_distance_by(way, z, r ? &r->size : &t->m->size[i]);
        if (best == SIZE_MAX || d < least) best = k, least = d;
    }
    return best;
}

static bool grid_size(const ProblemType *pt, const int64_t v[3], ProblemSize *out)
{
    const int64_t batched[] = {v[0], v[1], 1, v[2]};
    bool gemm = pt->TotalIndices == 4 || pt->TotalIndices == 3;
    bool ok = gemm && (pt->TotalIndices == 4 ? !problem_size_from_ints(pt, batched, 4, out)
                                             : !problem_size_from_ints(pt, v, 3, out));
    if (!ok) err_clear();
    return ok;
}

/* Powers of two from the least to the largest M, N and K of the table's sizes. */
typedef struct {
    int lo[3], hi[3];
} Grid;

static Grid grid_of(const ModelTable *t)
{
    Grid g = {{40, 40, 40}, {0, 0, 0}};
    for (size_t z = 0; z < t->m->n_sizes; z++) {
        if (!has_size(t, z)) continue;
        const double v[3] = {t->m->size[z].m, t->m->size[z].n, t->m->size[z].k};
        for (int d = 0; d < 3; d++) {
            int x = (int)lround(log2(v[d]));
            if (x < g.lo[d]) g.lo[d] = x;
            if (x > g.hi[d]) g.hi[d] = x;
        }
    }
    return g;
}

/* Adds a row when the winner that is predicted gains enough over that of the nearest row. */
static void row_consider(ModelTable *t, const ModelSelector *s, ModelWay way, const ProblemSize *at)
{
    Ask q = {t, NULL};
    double seconds;
    ModelNear near;
    ModelSize z = model_size(t->pt, at, false);
    size_t k = model_choose(s, &z, can_run, &q, &seconds), row = model_table_nearest(t, way, &z, NULL);
    if (k == SIZE_MAX || row == SIZE_MAX || k == row) return;
    model_near(s, &z, &near);
    if (model_predict(s, &near, row, &z) < seconds * (1 + MODEL_ROW_GAIN)) return;
    t->more[t->n_more++] = (ModelRow){*at, z, k, seconds};
}

Err model_table_predict(Arena *a, ModelTable *t, ModelWay way, const ModelSelector *s)
{
    const Grid g = grid_of(t);
    int e[3];
    t->n_more = 0;
    if (!t->more) TRY_ALLOC(t->more = ARENA_ARRAY(a, MODEL_ROWS_MAX, ModelRow));
    for (e[0] = g.lo[0]; e[0] <= g.hi[0]; e[0]++)
        for (e[1] = g.lo[1]; e[1] <= g.hi[1]; e[1]++)
            for (e[2] = g.lo[2]; e[2] <= g.hi[2] && t->n_more < MODEL_ROWS_MAX; e[2]++) {
                const int64_t v[3] = {INT64_C(1) << e[0], INT64_C(1) << e[1], INT64_C(1) << e[2]};
                ProblemSize at;
                if (grid_size(t->pt, v, &at)) row_consider(t, s, way, &at);
            }
    return ERR_OK;
}
