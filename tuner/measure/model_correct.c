/* Corrections of the performance model. See model_correct.h. */
#include "measure/model_correct.h"

#include <math.h>
#include <string.h>

#include "measure/boost.h"

/* The options of the trees were chosen on recorded times of an H200 (test/README.md). */
static const BoostOptions TREES = {
    .n_trees = 240, .depth = 5, .step = 0.12F, .leaf_least = 15, .shrink = 5, .share = 0.7F};

/* ---- features ---- */

enum { N_FEATURES = 47 };

static float log_of(double x) { return (float)log2(x > 1e-12 ? x : 1e-12); }

static double part_of_tile(double size, double tile) { return size / tile - floor(size / tile); }

/* What the trees know of a kernel on a size, whose time the model predicts as t. */
static void features_of(const ModelKernel *k, const ModelSize *z, double n_cu, const ModelTime *t,
                        float x[N_FEATURES])
{
    const float of[N_FEATURES - MODEL_N_TERMS] = {log_of(z->m),
                                                  log_of(z->n),
                                                  log_of(z->k),
                                                  log_of(z->batch),
                                                  log_of(z->align_a),
                                                  log_of(z->align_b),
                                                  log_of(z->align_d),
                                                  (float)k->class,
                                                  log_of(k->tile_m),
                                                  log_of(k->tile_n),
                                                  log_of(k->depth),
                                                  log_of(k->threads),
                                                  log_of(k->groups),
                                                  log_of(k->stages),
                                                  log_of(k->split),
                                                  (float)k->split_kind,
                                                  (float)k->persistent,
                                                  (float)k->mapping,
                                                  log_of(k->cluster_m),
                                                  log_of(k->cluster_n),
                                                  log_of(k->load_a),
                                                  log_of(k->load_b),
                                                  log_of(k->store),
                                                  (float)k->pack_a,
                                                  (float)k->pack_b,
                                                  log_of(t->tiles),
                                                  (float)t->waves,
                                                  (float)t->last_fill,
                                                  log_of(t->seconds * 1e6),
                                                  log_of(z->k / k->depth),
                                                  (float)part_of_tile(z->m, k->tile_m),
                                                  (float)part_of_tile(z->n, k->tile_n),
                                                  log_of(ceil(z->m / k->tile_m)),
                                                  log_of(ceil(z->n / k->tile_n)),
                                                  (float)fmin(t->tiles / n_cu, 1),
                                                  (float)t->edge_waste,
                                                  log_of(t->bound_seconds / t->seconds)};
    memcpy(x, of, sizeof of);
    for (int i = 0; i < MODEL_N_TERMS; i++)
        x[N_FEATURES - MODEL_N_TERMS + i] = (float)(t->term[i] / t->seconds);
}

/* What is corrected. */
typedef struct {
    const ModelMatrix *m;
    const bool *out; /* NULL: no size is left out */
    const ModelDevice *d;
    const ModelRates *rates; /* of each class */
} Given;

/* The model's time of a kernel, and its features. */
static double time_of(const Given *g, size_t k, const ModelSize *z, float x[N_FEATURES])
{
    const ModelKernel *kernel = &g->m->kernel[k];
    ModelTime t;
    model_time(kernel, g->d, &g->rates[kernel->class], z, &t);
    features_of(kernel, z, g->d->n_cu, &t, x);
    return t.seconds;
}

static bool is_out(const Given *g, size_t z) { return g->out && g->out[z]; }

/* ---- the trees ---- */

static double best_of(const ModelMatrix *m, size_t z)
{
    double best = INFINITY;
    for (size_t k = 0; k < m->n_kernels; k++) {
        const double t = m->seconds[z * m->n_kernels + k];
        if (t > 0 && m->known[k]) best = fmin(best, t);
    }
    return best;
}

/* A time counts the less, the slower the kernel is beside the best one. */
static float weight_of(double best, double t) { return (float)((best / t) * (best / t)); }

static Err rows_make(Arena *a, const Given *g, BoostRows *r)
{
    const ModelMatrix *m = g->m;
    const size_t most = m->n_kernels * m->n_sizes;
    size_t n = 0;
    for (size_t i = 0; i < most; i++) n += m->seconds[i] > 0;
    float *x = ARENA_ARRAY(a, n * N_FEATURES + 1, float), *y = ARENA_ARRAY(a, n + 1, float),
          *weight = ARENA_ARRAY(a, n + 1, float);
    uint32_t *group = ARENA_ARRAY(a, n + 1, uint32_t);
    TRY_ALLOC(x);
    TRY_ALLOC(y);
    TRY_ALLOC(weight);
    TRY_ALLOC(group);
    *r = (BoostRows){0, N_FEATURES, 0, x, y, weight, group};
    for (size_t z = 0; z < m->n_sizes; z++) {
        const double best = best_of(m, z);
        const size_t before = r->n;
        for (size_t k = 0; k < m->n_kernels && !is_out(g, z); k++) {
            const double t = m->seconds[z * m->n_kernels + k];
            if (!(t > 0) || !m->known[k]) continue;
            y[r->n] = (float)log(t / time_of(g, k, &m->size[z], &x[r->n * N_FEATURES]));
            weight[r->n] = weight_of(best, t);
            group[r->n++] = (uint32_t)r->n_groups;
        }
        r->n_groups += r->n > before;
    }
    return ERR_OK;
}

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
    const Boost *trees;
    Normal *normal;             /* of each kernel */
    double *seconds, *expected; /* of each kernel on one size: by the model; with what the trees say */
    float (*x)[N_FEATURES];
} Fitting;

/* Adds what the trees say of a size to the equations of the kernels that are not far behind the best one. */
static void size_add(const Fitting *f, const ModelSize *z)
{
    static const double FAR_BY_MODEL = 3, FAR_BEHIND = 2;
    const ModelMatrix *m = f->g->m;
    const size_t n = m->n_kernels;
    double best_model = INFINITY, best = INFINITY;
    for (size_t k = 0; k < n; k++) {
        f->seconds[k] = m->known[k] ? time_of(f->g, k, z, f->x[k]) : (double)INFINITY;
        best_model = fmin(best_model, f->seconds[k]);
    }
    for (size_t k = 0; k < n; k++) {
        f->expected[k] = INFINITY;
        if (f->seconds[k] > FAR_BY_MODEL * best_model) continue;
        f->expected[k] = f->seconds[k] * exp((double)boost_value(f->trees, f->x[k]));
        best = fmin(best, f->expected[k]);
    }
    for (size_t k = 0; k < n; k++) {
        ModelShape shape;
        if (!(f->expected[k] <= FAR_BEHIND * best)) continue;
        model_shape(f->least, k, z, shape);
        normal_add(&f->normal[k], shape, (double)weight_of(best, f->expected[k]),
                   log(f->expected[k] / f->seconds[k]));
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
    TRY_ALLOC(f->seconds = ARENA_ARRAY(a, n + 1, double));
    TRY_ALLOC(f->expected = ARENA_ARRAY(a, n + 1, double));
    TRY_ALLOC(f->x = arena_alloc(a, (n + 1) * sizeof *f->x));
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

static Err correct(Arena *a, const Given *g, ModelShape *shape)
{
    BoostRows rows;
    Boost *trees;
    ModelLeast *least;
    TRY(rows_make(a, g, &rows));
    if (rows.n < MODEL_CORRECT_TIMES || rows.n_groups < MODEL_CORRECT_SIZES) return ERR_OK;
    TRY(boost_train(a, &rows, &TREES, &trees));
    TRY(model_least_new(a, g->m->n_kernels, &least));
    for (size_t k = 0; k < g->m->n_kernels; k++)
        if (g->m->known[k])
            model_least_set(least, k, &g->m->kernel[k], g->d, &g->rates[g->m->kernel[k].class]);
    return coefficients_fit(a, &(Fitting){.g = g, .least = least, .trees = trees}, shape);
}

Err model_correct(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                  const ModelRates r[MODEL_CLASSES], ModelShape **shape)
{
    const Given g = {m, out, d, r};
    Arena scratch;
    TRY_ALLOC(*shape = arena_alloc(a, (m->n_kernels + 1) * sizeof **shape));
    arena_init(&scratch, 0);
    const Err e = correct(&scratch, &g, *shape);
    arena_fini(&scratch);
    return e;
}
