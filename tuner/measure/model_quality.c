/* Judging choices of kernels on measured times. See model_quality.h. */
#include "measure/model_quality.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/spread.h"
#include "measure/model.h"
#include "measure/model_teach.h"
#include "problem/model_points.h"
#include "measure/model_rows.h"
#include "measure/stats.h"

/* FIT_SAMPLES: about so many times are enough for a dozen rates; of more, every n-th and the best of each
 * size are taken. */
enum { BOOTSTRAP = 400, FIT_SAMPLES = 8000 };

const char *table_distance_name(TableDistance d)
{
    return select_method_name(SELECT_TABLE + (SelectMethod)d);
}

const char *select_method_name(SelectMethod m)
{
    static const char *const names[SELECT_METHODS] = {
        "model, data sheet", "model, fitted", "model, residuals", "Ratio",      "Manhattan",
        "Euclidean",         "JSD",           "DecisionTree",     "Ratio, rows"};
    return names[m];
}

/* ---- fitting ---- */

static double best_of(const ModelMatrix *m, size_t z)
{
    double best = 0;
    for (size_t k = 0; k < m->n_kernels; k++) {
        double t = m->seconds[z * m->n_kernels + k];
        if (t > 0 && m->known[k] && (best == 0 || t < best)) best = t;
    }
    return best;
}

Err model_fit_matrix(const ModelMatrix *m, const bool *out, const ModelDevice *d, ModelRates r[MODEL_CLASSES],
                     ModelFit fit[MODEL_CLASSES])
{
    ModelSample *s = calloc(m->n_kernels * m->n_sizes + 1, sizeof *s);
    size_t n = 0, every = m->n_kernels * m->n_sizes / FIT_SAMPLES + 1;
    TRY_ALLOC(s);
    for (size_t z = 0; z < m->n_sizes; z++) {
        double best = best_of(m, z);
        for (size_t k = 0; k < m->n_kernels && !(out && out[z]); k++) {
            double t = m->seconds[z * m->n_kernels + k];
            bool taken = t <= best * 1.02 || (k * 7919 + z * 104729) % every == 0;
            if (t > 0 && m->known[k] && taken)
                s[n++] = (ModelSample){m->kernel[k], m->size[z], t, model_weight(t, best)};
        }
    }
    Err e = model_calibrate(s, n, d, r, fit);
    free(s);
    return e;
}

static double predicted(const ModelMatrix *m, size_t k, size_t z, const ModelDevice *d, const ModelRates *r)
{
    const ModelKernel *kernel = &m->kernel[k];
    return model_time(kernel, d, &r[kernel->class], &m->size[z], NULL);
}

static Err points_keep(Arena *a, const ModelMatrix *m, const bool *out, bool has_trees, bool **kept)
{
    uint32_t *n_times = ARENA_ARRAY(a, m->n_sizes + 1, uint32_t);
    TRY_ALLOC(n_times);
    for (size_t z = 0; z < m->n_sizes; z++)
        for (size_t k = 0; k < m->n_kernels && !(out && out[z]); k++)
            n_times[z] += m->known[k] && m->seconds[z * m->n_kernels + k] > 0;
    const size_t most = model_points_most(m->n_kernels, m->n_sizes, has_trees);
    return model_points_keep(a, m->n_sizes, m->size, n_times, most, kept);
}

Err model_selector_of(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                      const ModelRates r[MODEL_CLASSES], const ModelTaught *taught, ModelSelector *s)
{
    size_t nk = m->n_kernels, n = 0;
    bool *kept;
    ModelTaught own;
    if (!taught) {
        TRY(model_teach(a, m, out, d, r, &own));
        taught = &own;
    }
    TRY(points_keep(a, m, out, taught->trees != NULL, &kept));
    for (size_t z = 0; z < m->n_sizes; z++) n += kept[z];
    TRY(model_selector_new(a, nk, n, s));
    TRY(model_selector_trees(a, s, taught->trees));
    for (size_t k = 0; k < nk; k++) {
        if (m->known[k])
            s->entry[k] = (ModelEntry){.kernel = m->kernel[k], .device = *d, .rates = r[m->kernel[k].class]};
    }
    size_t p = 0;
    for (size_t z = 0; z < m->n_sizes; z++) {
        if (!kept[z]) continue;
        for (size_t k = 0; k < nk; k++) {
            double t = m->seconds[z * nk + k];
            if (t > 0 && m->known[k]) s->residual[p * nk + k] = (float)log(t / predicted(m, k, z, d, r));
        }
        s->size[p++] = m->size[z];
    }
    model_selector_finish(s);
    return ERR_OK;
}

/* ---- one size ---- */

typedef struct {
    double predicted, measured;
} Pair;

static int by_predicted(const void *a, const void *b)
{
    const Pair *x = a, *y = b;
    return (x->predicted > y->predicted) - (x->predicted < y->predicted);
}

static int by_measured(const void *a, const void *b)
{
    const Pair *x = a, *y = b;
    return (x->measured > y->measured) - (x->measured < y->measured);
}

/* Rank correlation of n pairs (NAN: fewer than 3), and how many of the first predicted hold 99% of the best.
 */
static double spearman(Pair *p, size_t n, double *first_99)
{
    double sum = 0;
    qsort(p, n, sizeof *p, by_measured);
    double best = p[0].measured;
    for (size_t i = 0; i < n; i++) p[i].measured = i == 0 || p[i].measured > best * 1.01 ? (double)i : 0;
    qsort(p, n, sizeof *p, by_predicted);
    *first_99 = 0;
    for (size_t i = 0; i < n; i++) {
        double d = (double)i - p[i].measured;
        sum += d * d;
        if (p[i].measured == 0 && *first_99 == 0) *first_99 = (double)i + 1;
    }
    double count = (double)n;
    return n < 3 ? (double)NAN : 1 - 6 * sum / (count * (count * count - 1));
}

/* Where a choice's times come from. */
typedef struct {
    const ModelMatrix *m;
    const ModelDevice *d;
    const ModelRates *rates; /* NULL: by the selector */
    const ModelSelector *selector;
    const bool *usable; /* kernels of the library */
    Pair *pair;
} Chooser;

/* The kernels that can be chosen for a size. */
typedef struct {
    const double *seconds;
    const bool *usable;
} Ask;

static bool can_run(void *ctx, size_t k)
{
    const Ask *q = ctx;
    return q->usable[k] && q->seconds[k] > 0;
}

static void judge(const Chooser *c, size_t z, ModelQuality *q)
{
    const ModelMatrix *m = c->m;
    const double *seconds = &m->seconds[z * m->n_kernels];
    double best = best_of(m, z), first = 0, first_99;
    ModelNear near;
    size_t n = 0;
    if (best <= 0) return;
    if (!c->rates) model_near(c->selector, &m->size[z], &near);
    for (size_t k = 0; k < m->n_kernels; k++) {
        if (!m->known[k] || seconds[k] <= 0) continue;
        double t =
            c->rates ? predicted(m, k, z, c->d, c->rates) : model_predict(c->selector, &near, k, &m->size[z]);
        if (n == 0 || t < first) first = t, q->loss[z] = seconds[k] / best - 1;
        c->pair[n++] = (Pair){t, seconds[k]};
    }
    if (!c->rates) { /* as libtuner chooses */
        Ask ask = {seconds, c->usable};
        size_t k = model_choose(c->selector, &m->size[z], can_run, &ask, &first);
        q->loss[z] = k == SIZE_MAX ? (double)NAN : seconds[k] / best - 1;
    }
    const double rank = spearman(c->pair, n, &first_99);
    if (!isnan(rank)) q->spearman += rank, q->n_ranked++;
    q->first_99 += first_99;
    q->n++;
}

/* ---- Tensile's distances ---- */

static double jsd_part(double p, double q) { return p > 0 ? p * log2(2 * p / (p + q)) : 0; }

double table_distance(TableDistance d, const ModelSize *a, const ModelSize *b)
{
    const double x[3] = {a->m, a->n, a->k}, y[3] = {b->m, b->n, b->k};
    double sum = 0, sx = x[0] + x[1] + x[2], sy = y[0] + y[1] + y[2];
    for (int i = 0; i < 3; i++) {
        const double apart = x[i] - y[i];
        sum += d == DISTANCE_RATIO       ? fabs(log(x[i] / y[i]))
               : d == DISTANCE_MANHATTAN ? fabs(apart)
               : d == DISTANCE_EUCLIDEAN ? apart * apart
                                         : jsd_part(x[i] / sx, y[i] / sy) + jsd_part(y[i] / sy, x[i] / sx);
    }
    return sum;
}

static void judge_choice(const ModelMatrix *m, size_t z, size_t chosen, ModelQuality *q)
{
    double best = best_of(m, z);
    if (chosen == SIZE_MAX || best <= 0) return;
    q->loss[z] = m->seconds[z * m->n_kernels + chosen] / best - 1;
    q->n++;
}

/* ---- cross-validation ---- */

int model_fold_of(const ModelSize *z, ModelFolds f)
{
    uint64_t h =
        (uint64_t)z->m * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)z->n * UINT64_C(0xbf58476d1ce4e5b9);
    h = (h ^ h >> 31 ^ f.seed * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x94d049bb133111eb);
    return (int)((h >> 33) % (uint64_t)f.n);
}

/* Judging takes time by the square of the number of sizes: of more than JUDGED_MAX, an even sample is judged.
 */
enum { JUDGED_MAX = 2000 };

static bool is_judged(size_t z, size_t n)
{
    return n <= JUDGED_MAX || z * JUDGED_MAX / n != (z + 1) * JUDGED_MAX / n;
}

static void table_judge(const ModelTable *t, TableDistance d, ModelQuality *q)
{
    const ModelMatrix *m = t->m;
    for (size_t z = 0; z < m->n_sizes; z++)
        if (t->out[z] && is_judged(z, m->n_sizes))
            judge_choice(m, z, model_table_nearest(t, d, &m->size[z], &m->seconds[z * m->n_kernels]), q);
}

/* The nearest rows' choices by the four distances, and with predicted rows. s: over usable kernels. */
static Err tables_judge(Arena *a, ModelTable *t, const ModelSelector *s, const bool *usable,
                        ModelQuality q[SELECT_METHODS])
{
    for (int d = 0; d < TABLE_DISTANCES; d++) table_judge(t, (TableDistance)d, &q[SELECT_TABLE + d]);
    if (!t->pt) return ERR_OK;
    ModelTable more = *t;
    more.usable = usable;
    TRY(model_table_predict(a, &more, false, s));
    table_judge(&more, DISTANCE_RATIO, &q[SELECT_TABLE_ROWS]);
    return ERR_OK;
}

/* The kernels that a library of the fold's other sizes keeps; s: over all kernels. */
static Err library_kernels(Arena *a, const ModelTable *t, const ModelSelector *s, bool *keep)
{
    for (size_t k = 0; k < t->m->n_kernels; k++) keep[k] = !t->pt;
    if (!t->pt) return ERR_OK;
    for (size_t z = 0; z < t->m->n_sizes; z++)
        if (t->row[z] != SIZE_MAX) keep[t->row[z]] = true;
    return model_range_keep(a, t->pt, t->m, t->out, s, MODEL_RANGE_KERNELS, keep);
}

/* A selector over some of the kernels. */
static Err selector_of_some(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                            const ModelRates r[MODEL_CLASSES], const ModelTaught *taught, const bool *usable,
                            ModelSelector *s)
{
    ModelMatrix some = *m;
    TRY_ALLOC(some.known = ARENA_ARRAY(a, m->n_kernels + 1, bool));
    for (size_t k = 0; k < m->n_kernels; k++) some.known[k] = m->known[k] && usable[k];
    return model_selector_of(a, &some, out, d, r, taught, s);
}

static Err validate_fold(Arena *a, const ProblemType *pt, const ModelMatrix *m, const ModelDevice *d,
                         const bool *out, ModelQuality q[SELECT_METHODS])
{
    ModelRates typical[MODEL_CLASSES], fitted[MODEL_CLASSES];
    ModelSelector s, library;
    ModelTaught taught;
    Pair *pair = ARENA_ARRAY(a, m->n_kernels + 1, Pair);
    ModelTree *tree = ARENA_NEW(a, ModelTree);
    bool *usable = ARENA_ARRAY(a, m->n_kernels + 1, bool);
    TRY_ALLOC(pair);
    TRY_ALLOC(tree);
    TRY_ALLOC(usable);
    model_rates_typical(typical);
    model_rates_typical(fitted);
    TRY(model_fit_matrix(m, out, d, fitted, NULL));
    TRY(model_teach(a, m, out, d, fitted, &taught));
    TRY(model_selector_of(a, m, out, d, fitted, &taught, &s));
    TRY(model_tree_train(m, out, NULL, &s, d, tree));
    ModelTable table = {.pt = pt, .m = m, .out = out};
    TRY(model_table_make(a, &table));
    TRY(library_kernels(a, &table, &s, usable));
    TRY(selector_of_some(a, m, out, d, fitted, &taught, usable, &library));
    TRY(tables_judge(a, &table, &library, usable, q));
    const Chooser by[] = {{m, d, typical, NULL, usable, pair},
                          {m, d, fitted, NULL, usable, pair},
                          {m, d, NULL, &s, usable, pair}};
    for (size_t z = 0; z < m->n_sizes; z++) {
        if (!out[z] || !is_judged(z, m->n_sizes)) continue;
        for (int w = 0; w < 3; w++) judge(&by[w], z, &q[w]);
        const double *seconds = &m->seconds[z * m->n_kernels];
        size_t k = model_tree_choose(tree, &m->size[z]);
        if (k == SIZE_MAX || seconds[k] <= 0) /* the table comes next */
            k = model_table_nearest(&table, DISTANCE_RATIO, &m->size[z], seconds);
        judge_choice(m, z, k, &q[SELECT_TREE]);
    }
    return ERR_OK;
}

typedef struct {
    const ProblemType *pt;
    const ModelMatrix *m;
    const ModelDevice *d;
    ModelFolds folds;
    double *loss;      /* [method][size]: each size is judged in one fold */
    ModelQuality *sum; /* [fold][method]: counts and sums */
} Validation;

static Err fold_judge(void *ctx, size_t fold)
{
    const Validation *v = ctx;
    const size_t n = v->m->n_sizes;
    ModelQuality *q = &v->sum[fold * SELECT_METHODS];
    size_t n_out = 0;
    Arena a;
    arena_init(&a, 0);
    bool *out = ARENA_ARRAY(&a, n + 1, bool);
    for (int w = 0; w < SELECT_METHODS; w++) q[w] = (ModelQuality){.loss = &v->loss[(size_t)w * n]};
    for (size_t z = 0; out && z < n; z++)
        n_out += out[z] = model_fold_of(&v->m->size[z], v->folds) == (int)fold;
    Err e = out ? ERR_OK : err_set(ERR_FAILED, "out of memory for %zu sizes", n);
    if (!e && n_out && n_out < n) e = validate_fold(&a, v->pt, v->m, v->d, out, q);
    arena_fini(&a);
    return e;
}

/* Adds up the folds. */
static Err quality_of(Arena *a, const Validation *v, int w, ModelQuality *q)
{
    const size_t n = v->m->n_sizes;
    *q = (ModelQuality){.loss = ARENA_ARRAY(a, n + 1, double)};
    TRY_ALLOC(q->loss);
    memcpy(q->loss, &v->loss[(size_t)w * n], n * sizeof *q->loss);
    for (int f = 0; f < v->folds.n; f++) {
        const ModelQuality *sum = &v->sum[f * SELECT_METHODS + w];
        q->spearman += sum->spearman, q->first_99 += sum->first_99;
        q->n += sum->n, q->n_ranked += sum->n_ranked;
    }
    const bool ranks = w <= SELECT_MODEL_RESIDUAL && q->n;
    q->spearman = ranks && q->n_ranked ? q->spearman / (double)q->n_ranked : (double)NAN;
    q->first_99 = ranks ? q->first_99 / (double)q->n : (double)NAN;
    return model_quality_finish(a, q, n);
}

Err model_cross_validate(Arena *a, const ProblemType *pt, const ModelMatrix *m, const ModelDevice *d,
                         ModelFolds folds, ModelQuality q[SELECT_METHODS])
{
    const size_t n_loss = SELECT_METHODS * m->n_sizes + 1, n_sums = SELECT_METHODS * (size_t)folds.n;
    Validation v = {.pt = pt, .m = m, .d = d, .folds = folds};
    TRY_ALLOC(v.loss = ARENA_ARRAY(a, n_loss, double));
    TRY_ALLOC(v.sum = ARENA_ARRAY(a, n_sums + 1, ModelQuality));
    for (size_t i = 0; i < n_loss; i++) v.loss[i] = (double)NAN;
    TRY(spread_run(&(Spread){.n = (size_t)folds.n, .threads = true, .part = fold_judge, .ctx = &v}));
    for (int w = 0; w < SELECT_METHODS; w++) TRY(quality_of(a, &v, w, &q[w]));
    return ERR_OK;
}

/* ---- summaries ---- */

/* 95% interval of the mean of n values: percentiles of means of samples drawn with replacement. */
static void bootstrap(const double *v, size_t n, double *lo, double *hi)
{
    double mean[BOOTSTRAP];
    uint64_t state = 1;
    for (int b = 0; b < BOOTSTRAP; b++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            sum += v[(state >> 33) % n];
        }
        mean[b] = sum / (double)n;
    }
    stats_sort(mean, BOOTSTRAP);
    *lo = mean[BOOTSTRAP * 25 / 1000];
    *hi = mean[BOOTSTRAP * 975 / 1000 - 1];
}

Err model_quality_finish(Arena *a, ModelQuality *q, size_t n)
{
    double *v = ARENA_ARRAY(a, n + 1, double);
    size_t k = 0;
    TRY_ALLOC(v);
    q->n_sizes = n;
    q->share = q->mean = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(q->loss[i])) continue;
        v[k++] = q->loss[i];
        q->mean += q->loss[i];
        q->share += 1 / (1 + q->loss[i]);
    }
    q->n = k;
    if (!k) return ERR_OK;
    q->mean /= (double)k;
    q->share /= (double)k;
    bootstrap(v, k, &q->mean_lo, &q->mean_hi);
    stats_sort(v, k);
    q->p50 = v[k / 2];
    q->p90 = v[k * 90 / 100];
    q->p95 = v[k * 95 / 100];
    q->worst = v[k - 1];
    return ERR_OK;
}

bool model_quality_is_less(const ModelQuality *a, const ModelQuality *b)
{
    size_t n = a->n_sizes < b->n_sizes ? a->n_sizes : b->n_sizes, k = 0;
    double *v = calloc(n + 1, sizeof *v), lo = 0, hi = 0;
    if (!v) return false;
    for (size_t i = 0; i < n; i++)
        if (!isnan(a->loss[i]) && !isnan(b->loss[i])) v[k++] = a->loss[i] - b->loss[i];
    if (k) bootstrap(v, k, &lo, &hi);
    free(v);
    return hi < 0;
}

void model_quality_text(SelectMethod method, const ModelQuality *q, char *text, size_t size)
{
    int n = snprintf(
        text, size,
        "%-17s n=%zu share of the best %.3f, loss mean %.1f%% [%.1f, %.1f] p50 %.1f%% p90 %.1f%% p95 "
        "%.1f%% worst %.1f%%",
        select_method_name(method), q->n, q->share, q->mean * 100, q->mean_lo * 100, q->mean_hi * 100,
        q->p50 * 100, q->p90 * 100, q->p95 * 100, q->worst * 100);
    if (!isnan(q->spearman) && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ", Spearman %.2f, 99%% after %.1f", q->spearman, q->first_99);
}
