/* Corrections of the performance model. See model_correct.h. */
#include "measure/model_correct.h"

#include <math.h>
#include <string.h>

#include "problem/model_train.h"

/* What is corrected. */
typedef struct {
    const ModelMatrix *m;
    const bool *out;         /* NULL: no size is left out */
    const ModelEntry *entry; /* of each kernel */
} Given;

static bool is_out(const Given *g, size_t z) { return g->out && g->out[z]; }

/* ---- coefficients ---- */

/* The normal equations of a kernel's correction. */
typedef struct {
    double a[MODEL_SHAPE][MODEL_SHAPE], b[MODEL_SHAPE];
} Normal;

static void normal_add(Normal *n, const ModelShape shape, double weight, double y)
{
    for (int i = 0; i < MODEL_SHAPE; i++) {
        n->b[i] += weight * (double)shape[i] * y;
        for (int k = 0; k <= i; k++) n->a[i][k] += weight * (double)shape[i] * (double)shape[k];
    }
}

/* Solves the equations by Cholesky's decomposition. RIDGE keeps coefficients small that the sizes say
 * little of. */
static void normal_solve(Normal *n, ModelShape x)
{
    static const double RIDGE = 0.1;
    double y[MODEL_SHAPE];
    for (int i = 0; i < MODEL_SHAPE; i++) {
        n->a[i][i] += RIDGE;
        for (int k = 0; k <= i; k++) {
            double sum = n->a[i][k];
            for (int j = 0; j < k; j++) sum -= n->a[i][j] * n->a[k][j];
            n->a[i][k] = i == k ? sqrt(sum) : sum / n->a[k][k];
        }
        y[i] = n->b[i];
        for (int k = 0; k < i; k++) y[i] -= n->a[i][k] * y[k];
        y[i] /= n->a[i][i];
    }
    for (int i = MODEL_SHAPE; i-- > 0;) {
        for (int k = i + 1; k < MODEL_SHAPE; k++) y[i] -= n->a[k][i] * y[k];
        y[i] /= n->a[i][i];
        x[i] = (float)y[i];
    }
}

/* AROUND sizes around each measured one, up to APART octaves away in M, N and K and aligned alike; fewer
 * where there would be more than LOOKS_MOST pairs of kernel and size. */
enum { AROUND = 3, SMALL = 4, ALIGNED_MOST = 64, LOOKS_MOST = 400000 };
static const double APART = 0.35;

static double moved(double x, uint64_t *state)
{
    double step = 1;
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (x <= SMALL) return x;
    while (step < ALIGNED_MOST && fmod(x, 2 * step) == 0) step *= 2;
    const double to = x * exp2(APART * (2 * (double)(*state >> 11) * 0x1p-53 - 1));
    return fmax(step, step * round(to / step));
}

typedef struct {
    const Given *g;
    const ModelLeast *least; /* of all kernels */
    const ModelForest *forest;
    Normal *normal;   /* of each kernel */
    ModelTime *time;  /* of each kernel on one size: by the model */
    double *expected; /* the same with what the trees say */
} Fitting;

/* Adds what the trees say of a size to the equations of the kernels that are not far behind the best one. */
static void size_add(const Fitting *f, const ModelSize *z)
{
    static const double FAR_BY_MODEL = 3, FAR_BEHIND = 2;
    const ModelMatrix *m = f->g->m;
    const size_t n = m->n_kernels;
    double best_model = INFINITY, best = INFINITY;
    ModelForestSize of;
    model_forest_size(f->forest, z, &of);
    for (size_t k = 0; k < n; k++) {
        const ModelEntry *e = &f->g->entry[k];
        f->time[k].seconds = INFINITY;
        if (m->known[k]) model_time(&e->kernel, &e->device, &e->rates, z, &f->time[k]);
        best_model = fmin(best_model, f->time[k].seconds);
    }
    for (size_t k = 0; k < n; k++) {
        const double seconds = f->time[k].seconds;
        f->expected[k] = INFINITY;
        if (!m->known[k] || seconds > FAR_BY_MODEL * best_model) continue;
        f->expected[k] = seconds * exp((double)model_forest_value(f->forest, k, &of, &f->time[k]));
        best = fmin(best, f->expected[k]);
    }
    for (size_t k = 0; k < n; k++) {
        ModelShape shape;
        if (!(f->expected[k] <= FAR_BEHIND * best)) continue;
        model_shape(f->least, k, z, shape);
        normal_add(&f->normal[k], shape, (double)model_train_weight(best, f->expected[k]),
                   log(f->expected[k] / f->time[k].seconds));
    }
}

static Err coefficients_fit(Arena *a, Fitting *f, ModelShape *shape)
{
    const ModelMatrix *m = f->g->m;
    const size_t n = m->n_kernels;
    const size_t most = LOOKS_MOST / (n * m->n_sizes + 1);
    const int around = most > AROUND ? AROUND : most > 1 ? (int)most - 1 : 0;
    uint64_t state = 1;
    TRY_ALLOC(f->normal = ARENA_ARRAY(a, n + 1, Normal));
    TRY_ALLOC(f->time = ARENA_ARRAY(a, n + 1, ModelTime));
    TRY_ALLOC(f->expected = ARENA_ARRAY(a, n + 1, double));
    for (size_t z = 0; z < m->n_sizes; z++)
        for (int i = 0; i <= around && !is_out(f->g, z); i++) {
            ModelSize size = m->size[z];
            if (i)
                size.m = moved(size.m, &state), size.n = moved(size.n, &state),
                size.k = moved(size.k, &state);
            size_add(f, &size);
        }
    for (size_t k = 0; k < n; k++) normal_solve(&f->normal[k], shape[k]);
    return ERR_OK;
}

static Err coefficients_of(Arena *a, const Given *g, const ModelTrees *trees, ModelShape *shape)
{
    ModelLeast *least;
    ModelForest *forest;
    TRY(model_least_new(a, g->m->n_kernels, &least));
    TRY(model_forest_new(a, trees, g->m->n_kernels, &forest));
    for (size_t k = 0; k < g->m->n_kernels; k++) {
        const ModelEntry *e = &g->entry[k];
        if (!g->m->known[k]) continue;
        model_least_set(least, k, &e->kernel, &e->device, &e->rates);
        model_forest_set(forest, k, &e->kernel, e->device.n_cu);
    }
    return coefficients_fit(a, &(Fitting){.g = g, .least = least, .forest = forest}, shape);
}

Err model_entries(Arena *a, const ModelMatrix *m, const ModelDevice *d, const ModelRates r[MODEL_CLASSES],
                  ModelEntry **out)
{
    ModelEntry *entry = *out = ARENA_ARRAY(a, m->n_kernels + 1, ModelEntry);
    TRY_ALLOC(entry);
    for (size_t k = 0; k < m->n_kernels; k++)
        if (m->known[k])
            entry[k] = (ModelEntry){.kernel = m->kernel[k], .device = *d, .rates = r[m->kernel[k].class]};
    return ERR_OK;
}

Err model_correct(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                  const ModelRates r[MODEL_CLASSES], ModelCorrection *c)
{
    Arena scratch;
    ModelEntry *entry;
    *c = (ModelCorrection){0};
    TRY_ALLOC(c->shape = arena_alloc(a, (m->n_kernels + 1) * sizeof *c->shape));
    arena_init(&scratch, 0);
    Err e = model_entries(&scratch, m, d, r, &entry);
    const ModelTimes times = {m->n_kernels, m->n_sizes, entry, m->known, m->size, m->seconds, out};
    if (!e) e = model_train(a, &times, &c->trees);
    if (!e && c->trees) e = coefficients_of(&scratch, &(Given){m, out, entry}, c->trees, c->shape);
    arena_fini(&scratch);
    return e;
}
