/* Choice by the performance model and its residuals. See model_select.h. */
#include "problem/model_select.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "problem/floats.h"
#include "problem/model_choice.h"
#include "problem/model_lanes.h"

/* Distances are in octaves of M, N, K and the batch. A point at distance 1 has the weight 1/2; weights
 * fall slowly, because a part of a kernel's error is the same far away. A size whose operands are aligned
 * differently runs other code, which counts as a distance of ALIGNED octaves. The mean residual has the
 * weight FAR_WEIGHT. FAR_LOSS is added to it, because points are sizes on which the kernel was expected to be
 * good. The values were chosen on recorded times of an H200 in f16 (test/README.md). */
static const float ALIGNED = 3, FAR_WEIGHT = 0.15F, FAR_LOSS = 0.1F;

/* Behind the batch there are logarithms of 1. */
FLOATS_CLONES
static void point_of(const ModelSize *z, float x[FLOATS])
{
    const Floats log =
        floats_log2((Floats){(float)z->m, (float)z->n, (float)z->k, (float)z->batch, 1, 1, 1, 1});
    floats_store(x, floats_pick(FLOATS_LANES < 4, log, (Floats){0, 0, 0, 0, ALIGNED * model_aligned(z)}));
}

ModelPoint model_point(const ModelSize *z)
{
    ModelPoint x;
    point_of(z, x.x);
    return x;
}

static double entry_time(const ModelEntry *e, const ModelSize *z)
{
    return model_time(&e->kernel, &e->device, &e->rates, z, NULL);
}

/* ---- files ---- */

enum { N_INTS = MODEL_KERNEL_NUMBERS - 3 };
_Static_assert(offsetof(ModelKernel, rate) == N_INTS * sizeof(int32_t), "the floats are the last members");

void model_entry_write(const ModelEntry *e, double v[MODEL_ENTRY_NUMBERS])
{
    int32_t whole[N_INTS];
    double *out = v;
    *out++ = MODEL_VERSION;
    memcpy(out, &e->device, sizeof e->device);
    out += MODEL_DEVICE_NUMBERS;
    memcpy(out, &e->rates, sizeof e->rates);
    out += MODEL_N_RATES;
    memcpy(whole, &e->kernel, sizeof whole);
    for (int i = 0; i < N_INTS; i++) *out++ = whole[i];
    *out++ = (double)e->kernel.rate;
    *out++ = (double)e->kernel.peak;
    *out++ = (double)e->kernel.local_bytes;
    for (int i = 0; i < MODEL_RESERVED; i++) *out++ = 0;
}

static bool is_whole(double v) { return fabs(v) <= INT32_MAX && v == floor(v); }

bool model_entry_read(const double in[MODEL_ENTRY_NUMBERS], ModelEntry *e)
{
    int32_t whole[N_INTS];
    const double *v = in;
    if (*v++ != MODEL_VERSION) return false;
    memcpy(&e->device, v, sizeof e->device);
    v += MODEL_DEVICE_NUMBERS;
    memcpy(&e->rates, v, sizeof e->rates);
    v += MODEL_N_RATES;
    for (int i = 0; i < N_INTS; i++) {
        if (!is_whole(v[i])) return false;
        whole[i] = (int32_t)v[i];
    }
    v += N_INTS;
    memcpy(&e->kernel, whole, sizeof whole);
    for (int i = 0; i < 3; i++)
        if (!(v[i] >= 0 && v[i] <= 1e9)) return false;
    e->kernel.rate = (float)v[0];
    e->kernel.peak = (float)v[1];
    e->kernel.local_bytes = (float)v[2];
    for (int i = 3; i < 3 + MODEL_RESERVED; i++)
        if (!isfinite(v[i])) return false;
    return model_device_ok(&e->device) && model_rates_ok(&e->rates) && model_kernel_ok(&e->kernel);
}

void model_residual_write(const ModelResidual *r, double out[MODEL_RESIDUAL_NUMBERS])
{
    const ModelSize *z = &r->size;
    const double v[MODEL_RESIDUAL_NUMBERS] = {z->m,       z->n,       z->batch,   z->k,
                                              z->align_a, z->align_b, z->align_d, r->error};
    memcpy(out, v, sizeof v);
}

bool model_residual_read(const double v[MODEL_RESIDUAL_NUMBERS], ModelResidual *r)
{
    for (int i = 0; i < 4; i++)
        if (!(v[i] >= 1 && is_whole(v[i]))) return false;
    for (int i = 4; i < 7; i++)
        if (!(v[i] >= 1 && v[i] <= MODEL_ALIGN_MAX && is_whole(v[i]))) return false;
    const int32_t align[] = {(int32_t)v[4], (int32_t)v[5], (int32_t)v[6]};
    *r = (ModelResidual){{v[0], v[1], v[3], v[2], align[0], align[1], align[2], false, 0, 0}, v[7]};
    return fabs(v[7]) <= 30;
}

/* ---- preparation ---- */

/* Of a point and a kernel. weight: the time of the point's best kernel over that of the kernel; 0: not
 * known. error: the residual without what is common, times weight. */
typedef struct ModelKnown {
    float error, weight;
} ModelKnown;

static ModelKnown *known_of(const ModelSelector *s, size_t p, size_t k)
{
    return &s->known[p * s->n_kernels + k];
}

Err model_selector_new(Arena *a, size_t n_kernels, size_t n_points, ModelSelector *s)
{
    if (!model_selector_fits(n_kernels, n_points))
        FAIL(ERR_INPUT, "a performance model of %zu kernels and %zu sizes, at most %d and %d, and %d times",
             n_kernels, n_points, MODEL_KERNELS_MAX, MODEL_POINTS_MAX, MODEL_TIMES_MAX);
    *s = (ModelSelector){.n_kernels = n_kernels, .n_points = n_points};
    TRY_ALLOC(s->entry = ARENA_ARRAY(a, n_kernels + 1, ModelEntry));
    TRY_ALLOC(s->size = ARENA_ARRAY(a, n_points + 1, ModelSize));
    TRY(model_places_new(a, n_points, &s->places));
    TRY_ALLOC(s->residual = ARENA_ARRAY(a, n_points * n_kernels + 1, float));
    TRY_ALLOC(s->common = ARENA_ARRAY(a, n_points + 1, float));
    TRY_ALLOC(s->known = ARENA_ARRAY(a, n_points * n_kernels + 1, ModelKnown));
    TRY_ALLOC(s->mean = ARENA_ARRAY(a, n_kernels + 1, float));
    TRY(model_lanes_new(a, n_kernels, &s->lanes));
    TRY(model_choice_new(a, n_kernels, n_points, &s->choice));
    TRY_ALLOC(s->ready = ARENA_ARRAY(a, n_kernels + 1, ModelReady));
    for (size_t i = 0; i < n_points * n_kernels; i++) s->residual[i] = NAN;
    return ERR_OK;
}

Err model_selector_trees(Arena *a, ModelSelector *s, const ModelTrees *trees)
{
    const size_t n = s->n_points * s->n_kernels;
    if (!trees) return ERR_OK;
    TRY_ALLOC(s->left = ARENA_ARRAY(a, n + 1, float));
    for (size_t i = 0; i < n; i++) s->left[i] = NAN;
    return model_forest_new(a, trees, s->n_kernels, &s->forest);
}

/* Fills in `weight` of a point: the best kernel's time over each kernel's. A residual counts the more, the
 * closer the kernel is to the best one, because it is chosen on such sizes. */
static void weights_of(ModelSelector *s, size_t p)
{
    const float *residual = &s->residual[p * s->n_kernels];
    float best = INFINITY;
    for (size_t k = 0; k < s->n_kernels; k++) {
        float *time = &known_of(s, p, k)->weight;
        if (isnan(residual[k])) continue;
        *time = (float)(entry_time(&s->entry[k], &s->size[p]) * exp((double)residual[k]));
        if (*time < best) best = *time;
    }
    for (size_t k = 0; k < s->n_kernels; k++) {
        float *weight = &known_of(s, p, k)->weight;
        *weight = *weight > 0 ? best / *weight : 0;
    }
}

/* A mean by weight of what is left of residuals, drawn towards 0 by weight that it begins with. */
typedef struct {
    float sum, weight;
} Mean;

static void mean_add(Mean *m, const ModelKnown *x, float without)
{
    if (x->weight > 0) m->sum += x->weight * (x->error - without);
    m->weight += x->weight;
}

/* The residual of each point that its kernels have in common, and the mean of each kernel's other residuals:
 * one after the other, each from what the other leaves. */
static void common_of(const ModelSelector *s)
{
    enum { ITERATIONS = 6 };
    static const float FEW_KERNELS = 0.5F, FEW_POINTS = 1;
    for (int i = 0; i < ITERATIONS; i++) {
        for (size_t p = 0; p < s->n_points; p++) {
            Mean m = {0, FEW_KERNELS};
            for (size_t k = 0; k < s->n_kernels; k++) mean_add(&m, known_of(s, p, k), s->mean[k]);
            s->common[p] = m.sum / m.weight;
        }
        for (size_t k = 0; k < s->n_kernels; k++) {
            Mean m = {0, FEW_POINTS};
            for (size_t p = 0; p < s->n_points; p++) mean_add(&m, known_of(s, p, k), s->common[p]);
            s->mean[k] = m.sum / m.weight;
        }
    }
    for (size_t k = 0; k < s->n_kernels; k++) s->mean[k] += FAR_LOSS;
}

/* Fills in `left` of a point where it is not known. */
static void left_of(ModelSelector *s, size_t p)
{
    ModelForestSize z;
    model_forest_size(s->forest, &s->size[p], &z);
    for (size_t k = 0; k < s->n_kernels; k++) {
        const float residual = s->residual[p * s->n_kernels + k];
        float *left = &s->left[p * s->n_kernels + k];
        if (isnan(*left) && !isnan(residual)) {
            const ModelEntry *e = &s->entry[k];
            ModelTime t;
            ModelForestLaunch launch;
            float trees;
            model_time_ready(&s->ready[k], &e->kernel, &e->device, &e->rates, &s->size[p], &t);
            model_forest_launch(&t, &launch);
            model_forest_values(s->forest, &z, 1, &k, &launch, &trees);
            *left = residual - trees;
        }
    }
}

/* Errors by weight, without what is common. */
static void errors_finish(const ModelSelector *s)
{
    common_of(s);
    for (size_t p = 0; p < s->n_points; p++)
        for (size_t k = 0; k < s->n_kernels; k++) {
            ModelKnown *x = known_of(s, p, k);
            x->error = x->weight > 0 ? x->weight * (x->error - s->common[p]) : 0;
        }
}

void model_selector_finish(ModelSelector *s)
{
    for (size_t k = 0; k < s->n_kernels; k++) {
        const ModelEntry *e = &s->entry[k];
        model_ready(&e->kernel, &e->device, &e->rates, &s->ready[k]);
        if (s->forest) model_forest_set(s->forest, k, &e->kernel);
    }
    for (size_t p = 0; p < s->n_points; p++) {
        const ModelPoint x = model_point(&s->size[p]);
        weights_of(s, p);
        if (s->forest) left_of(s, p);
        for (size_t k = 0; k < s->n_kernels; k++)
            known_of(s, p, k)->error = (s->forest ? s->left : s->residual)[p * s->n_kernels + k];
        model_places_set(s->places, p, &x);
    }
    errors_finish(s);
    model_places_sort(s->places);
    model_choice_make(s);
    for (size_t k = 0; k < s->n_kernels; k++) {
        const ModelEntry *e = &s->entry[k];
        model_lanes_set(s->lanes, s->choice->place[k], &e->kernel, &e->device, &e->rates);
    }
}

/* ---- prediction ---- */

/* What near points have in common, by weight. */
static float near_common(const ModelSelector *s, const ModelNear *near)
{
    float sum = 0, weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        sum += near->weight[i] * s->common[near->point[i]];
        weight += near->weight[i];
    }
    return sum / weight;
}

void model_near(const ModelSelector *s, const ModelSize *z, ModelNear *out)
{
    const ModelPoint x = model_point(z);
    float distance[MODEL_NEAR];
    out->n = model_places_near(s->places, &x, model_places_cell(s->places, &x), out->point, distance);
    for (int i = 0; i < out->n; i++) out->weight[i] = MODEL_NEAR_WEIGHT(distance[i]);
    out->common = near_common(s, out);
}

/* The residual of a kernel that is expected from near points, without what these have in common. */
static float near_residual(const ModelSelector *s, const ModelNear *near, size_t k)
{
    float sum = FAR_WEIGHT * s->mean[k], weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        const ModelKnown *x = known_of(s, near->point[i], k);
        sum += near->weight[i] * x->error;
        weight += near->weight[i] * x->weight;
    }
    return sum / weight;
}

void model_expected(const ModelSelector *s, const ModelNear *near, int n, const size_t *kernel,
                    const ModelSize *z, const ModelForestSize *of, ModelExpected *out)
{
    ModelForestLaunch launch[MODEL_FOREST_LAUNCHES];
    float trees[MODEL_FOREST_LAUNCHES] = {0};
    for (int i = 0; i < n; i++) {
        const size_t k = kernel[i];
        const ModelEntry *e = &s->entry[k];
        ModelTime t;
        out[i].seconds = model_time_ready(&s->ready[k], &e->kernel, &e->device, &e->rates, z, &t);
        model_forest_launch(&t, &launch[i]);
        out[i].near = near_residual(s, near, k) + near->common;
    }
    if (s->forest) model_forest_values(s->forest, of, n, kernel, launch, trees);
    for (int i = 0; i < n; i++) {
        out[i].all = out[i].near + trees[i];
        out[i].seconds *= (double)expf(out[i].all);
    }
}

double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z)
{
    ModelForestSize of;
    ModelExpected x;
    if (s->forest) model_forest_size(s->forest, z, &of);
    model_expected(s, near, 1, &k, z, &of, &x);
    return x.seconds;
}

double model_known(const ModelSelector *s, const ModelNear *near, size_t k)
{
    float weight = 0;
    for (int i = 0; i < near->n; i++) weight += near->weight[i] * known_of(s, near->point[i], k)->weight;
    return (double)(weight / (weight + FAR_WEIGHT));
}
