/* Choice by the performance model and its residuals. See model_select.h. */
#include "problem/model_select.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "problem/model_least.h"
#include "problem/floats.h"

/* Distances are in octaves of M, N, K and the batch. A point at distance REACH has the weight 1/2; weights
 * fall slowly, because a part of a kernel's error is the same far away. A size whose operands are aligned
 * differently runs other code, which counts as a distance of ALIGNED octaves. The mean residual has the
 * weight FAR_WEIGHT. FAR_LOSS is added to it, because points are sizes on which the kernel was expected to be
 * good. The values were chosen on recorded times of an H200 in f16 (test/README.md). */
static const float REACH2 = 1, ALIGNED = 3, FAR_WEIGHT = 0.15F, FAR_LOSS = 0.1F;

ModelPoint model_point(const ModelSize *z)
{
    return (ModelPoint){{log2f((float)z->m), log2f((float)z->n), log2f((float)z->k), log2f((float)z->batch),
                         ALIGNED * model_aligned(z)}};
}

static double entry_time(const ModelEntry *e, const ModelSize *z)
{
    return model_time(&e->kernel, &e->device, &e->rates, z, NULL);
}

/* ---- files ---- */

/* The largest coefficient of a correction that a file may have. */
static const double SHAPE_MOST = 1e4;
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
    for (int i = 0; i < MODEL_SHAPE; i++) *out++ = (double)e->shape[i];
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
    v += 3;
    for (int i = 0; i < MODEL_SHAPE; i++) {
        if (!(fabs(v[i]) <= SHAPE_MOST)) return false;
        e->shape[i] = (float)v[i];
    }
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

/* Of a point and FLOATS kernels. weight: the time of the point's best kernel over that of the kernel; 0: not
 * known. error: the residual without what is common and without the kernel's correction, times weight. */
typedef struct ModelKnown {
    float error[FLOATS], weight[FLOATS];
} ModelKnown;

static size_t parts_of(const ModelSelector *s) { return floats_padded(s->n_kernels) / FLOATS; }

static float *error_of(const ModelSelector *s, const ModelLearned *l, size_t p, size_t k)
{
    return &l->known[p * parts_of(s) + k / FLOATS].error[k % FLOATS];
}

static float *weight_of(const ModelSelector *s, const ModelLearned *l, size_t p, size_t k)
{
    return &l->known[p * parts_of(s) + k / FLOATS].weight[k % FLOATS];
}

static Err learned_new(Arena *a, const ModelSelector *s, ModelLearned *l)
{
    TRY_ALLOC(l->common = ARENA_ARRAY(a, s->n_points + 1, float));
    TRY_ALLOC(l->known = ARENA_LINES(a, (s->n_points + 1) * parts_of(s), ModelKnown));
    TRY_ALLOC(l->mean = ARENA_LINES(a, floats_padded(s->n_kernels + 1), float));
    return ERR_OK;
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
    TRY(learned_new(a, s, &s->rough));
    TRY(model_least_new(a, n_kernels, &s->least));
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
    TRY(model_forest_new(a, trees, s->n_kernels, &s->forest));
    return learned_new(a, s, &s->fine);
}

/* Fills in `weight` of a point: the best kernel's time over each kernel's. A residual counts the more, the
 * closer the kernel is to the best one, because it is chosen on such sizes. */
static void weights_of(ModelSelector *s, size_t p)
{
    const float *residual = &s->residual[p * s->n_kernels];
    float best = INFINITY;
    for (size_t k = 0; k < s->n_kernels; k++) {
        float *time = weight_of(s, &s->rough, p, k);
        if (isnan(residual[k])) continue;
        *time = (float)(entry_time(&s->entry[k], &s->size[p]) * exp((double)residual[k]));
        if (*time < best) best = *time;
    }
    for (size_t k = 0; k < s->n_kernels; k++) {
        float *weight = weight_of(s, &s->rough, p, k);
        *weight = *weight > 0 ? best / *weight : 0;
        if (s->forest) *weight_of(s, &s->fine, p, k) = *weight;
    }
}

/* A mean by weight of what is left of residuals, drawn towards 0 by weight that it begins with. */
typedef struct {
    float sum, weight;
} Mean;

static void mean_add(Mean *m, float residual, float weight)
{
    if (weight > 0) m->sum += weight * residual;
    m->weight += weight;
}

/* The residual of each point that its kernels have in common, and the mean of each kernel's other residuals:
 * one after the other, each from what the other leaves. */
static void common_of(const ModelSelector *s, ModelLearned *l)
{
    enum { ITERATIONS = 6 };
    static const float FEW_KERNELS = 0.5F, FEW_POINTS = 1;
    for (int i = 0; i < ITERATIONS; i++) {
        for (size_t p = 0; p < s->n_points; p++) {
            Mean m = {0, FEW_KERNELS};
            for (size_t k = 0; k < s->n_kernels; k++)
                mean_add(&m, *error_of(s, l, p, k) - l->mean[k], *weight_of(s, l, p, k));
            l->common[p] = m.sum / m.weight;
        }
        for (size_t k = 0; k < s->n_kernels; k++) {
            Mean m = {0, FEW_POINTS};
            for (size_t p = 0; p < s->n_points; p++)
                mean_add(&m, *error_of(s, l, p, k) - l->common[p], *weight_of(s, l, p, k));
            l->mean[k] = m.sum / m.weight;
        }
    }
    for (size_t k = 0; k < s->n_kernels; k++) l->mean[k] += FAR_LOSS;
}

/* Fills in `error` of a point with the residuals that the corrections leave. */
static void corrected(ModelSelector *s, size_t p)
{
    float unused[MODEL_KERNELS_MAX], correction[MODEL_KERNELS_MAX];
    model_least_us(s->least, s->n_kernels, &s->size[p], unused, correction);
    for (size_t k = 0; k < s->n_kernels; k++)
        *error_of(s, &s->rough, p, k) = s->residual[p * s->n_kernels + k] - correction[k];
}

/* Fills in `error` of a point with what the trees leave. */
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
            model_time(&e->kernel, &e->device, &e->rates, &s->size[p], &t);
            *left = residual - model_forest_value(s->forest, k, &z, &t);
        }
        *error_of(s, &s->fine, p, k) = *left;
    }
}

/* Errors by weight, without what is common. */
static void learned_finish(const ModelSelector *s, ModelLearned *l)
{
    common_of(s, l);
    for (size_t p = 0; p < s->n_points; p++)
        for (size_t k = 0; k < s->n_kernels; k++) {
            float *error = error_of(s, l, p, k);
            const float weight = *weight_of(s, l, p, k);
            *error = weight > 0 ? weight * (*error - l->common[p]) : 0;
        }
}

void model_selector_finish(ModelSelector *s)
{
    for (size_t k = 0; k < s->n_kernels; k++) {
        const ModelEntry *e = &s->entry[k];
        model_least_set(s->least, k, &e->kernel, &e->device, &e->rates);
        model_least_correct(s->least, k, e->shape);
        model_ready(&e->kernel, &e->device, &e->rates, &s->ready[k]);
        if (s->forest) model_forest_set(s->forest, k, &e->kernel, e->device.n_cu);
    }
    for (size_t p = 0; p < s->n_points; p++) {
        const ModelPoint x = model_point(&s->size[p]);
        weights_of(s, p);
        corrected(s, p);
        if (s->forest) left_of(s, p);
        model_places_set(s->places, p, &x);
    }
    learned_finish(s, &s->rough);
    if (s->forest) learned_finish(s, &s->fine);
    model_places_sort(s->places);
}

/* ---- prediction ---- */

/* What near points have in common, by weight. */
static float near_common(const ModelLearned *l, const ModelNear *near)
{
    float sum = 0, weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        sum += near->weight[i] * l->common[near->point[i]];
        weight += near->weight[i];
    }
    return sum / weight;
}

void model_near(const ModelSelector *s, const ModelSize *z, ModelNear *out)
{
    const ModelPoint x = model_point(z);
    float distance[MODEL_NEAR] = {0};
    out->n = model_places_near(s->places, &x, out->point, distance);
    for (int i = 0; i < MODEL_NEAR; i++) out->weight[i] = REACH2 / (REACH2 + distance[i]);
    out->common = near_common(&s->rough, out);
    out->left = s->forest ? near_common(&s->fine, out) : 0;
}

/* The residual of a kernel that is expected from near points, without what these have in common. */
static float near_residual(const ModelSelector *s, const ModelLearned *l, const ModelNear *near, size_t k)
{
    float sum = FAR_WEIGHT * l->mean[k], weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        sum += near->weight[i] * *error_of(s, l, near->point[i], k);
        weight += near->weight[i] * *weight_of(s, l, near->point[i], k);
    }
    return sum / weight;
}

/* Seconds of a kernel whose model's time is t, with the trees. */
static double fine_time(const ModelSelector *s, const ModelNear *near, size_t k, const ModelTime *t,
                        float value)
{
    const float residual = near_residual(s, &s->fine, near, k) + near->left;
    return t->seconds * (double)expf(value + residual);
}

double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z)
{
    const ModelEntry *e = &s->entry[k];
    ModelTime t;
    if (s->forest) {
        ModelForestSize of;
        model_time(&e->kernel, &e->device, &e->rates, z, &t);
        model_forest_size(s->forest, z, &of);
        return fine_time(s, near, k, &t, model_forest_value(s->forest, k, &of, &t));
    }
    return entry_time(e, z) * (double)expf(near_residual(s, &s->rough, near, k) + near->common +
                                           model_correction(s->least, k, z));
}

double model_known(const ModelSelector *s, const ModelNear *near, size_t k)
{
    float weight = 0;
    for (int i = 0; i < near->n; i++) weight += near->weight[i] * *weight_of(s, &s->rough, near->point[i], k);
    return (double)(weight / (weight + FAR_WEIGHT));
}

/* ---- choice ---- */

typedef struct {
    Floats error, weight;
} Sum;

FLOATS_INLINE Sum add_known(Sum sum, float weight, const ModelKnown *known)
{
    return (Sum){sum.error + weight * floats_load(known->error),
                 sum.weight + weight * floats_load(known->weight)};
}

/* A bound and its kernel in one number, so that the least of them tells its kernel. The last bits of the
 * bound are lost. Positive numbers have the order of their bits. */
enum { KERNELS_MASK = MODEL_KERNELS_MAX - 1 };
_Static_assert((MODEL_KERNELS_MAX & KERNELS_MASK) == 0, "a power of two");

FLOATS_INLINE float bound_of(int32_t key)
{
    float bound;
    key &= ~KERNELS_MASK;
    memcpy(&bound, &key, sizeof bound);
    return bound;
}

/* exp(x) is at least 1 + x + x^2 / 2 + x^3 / 6. Kernels without numbers have infinite bounds. */
FLOATS_INLINE FloatsMask keys_of(Floats least_us, Floats x, FloatsMask number)
{
    const Floats factor = 1 + x * (1 + x * (0.5F + x * (1 / 6.0F))), bound = least_us * 0.999e-6F * factor;
    return ((FloatsMask)floats_min(bound, floats_of(INFINITY)) & ~KERNELS_MASK) | number;
}

/* Adds the expected residual of each kernel to its correction, and makes keys of the bounds of the model's
 * times in microseconds. All MODEL_NEAR points are added, with weight 0 where there are fewer, because
 * compilers do not unroll a loop over them. */
FLOATS_CLONES
static void expect(const ModelSelector *s, const ModelNear *near, const float *least, float *residual,
                   int32_t *key)
{
    const size_t parts = parts_of(s);
    const ModelKnown *known[MODEL_NEAR];
    float w[MODEL_NEAR];
    FloatsMask number = FLOATS_LANES;
    _Static_assert(MODEL_NEAR == 8, "a call for each");
    for (int i = 0; i < MODEL_NEAR; i++) {
        known[i] = &s->rough.known[i < near->n ? near->point[i] * parts : 0];
        w[i] = i < near->n ? near->weight[i] : 0;
    }
    for (size_t i = 0; i < parts; i++, number += FLOATS) {
        Sum sum = {FAR_WEIGHT * floats_load(&s->rough.mean[i * FLOATS]), floats_of(FAR_WEIGHT)};
        sum = add_known(sum, w[0], &known[0][i]), sum = add_known(sum, w[1], &known[1][i]);
        sum = add_known(sum, w[2], &known[2][i]), sum = add_known(sum, w[3], &known[3][i]);
        sum = add_known(sum, w[4], &known[4][i]), sum = add_known(sum, w[5], &known[5][i]);
        sum = add_known(sum, w[6], &known[6][i]), sum = add_known(sum, w[7], &known[7][i]);
        const Floats x = floats_load(&residual[i * FLOATS]) + sum.error / sum.weight + near->common;
        floats_store(&residual[i * FLOATS], x);
        floats_mask_store(&key[i * FLOATS], keys_of(floats_load(&least[i * FLOATS]), x, number));
    }
    for (size_t k = s->n_kernels; k < parts * FLOATS; k++) key[k] = INT32_MAX;
}

FLOATS_CLONES
static int32_t least_key(const int32_t *key, size_t n)
{
    FloatsMask least = INT32_MAX - (FloatsMask){0};
    for (size_t k = 0; k < n; k += FLOATS) least = floats_mask_min(least, floats_mask_load(&key[k]));
    return floats_mask_least(least);
}

/* The first kernels by their corrections, the fastest one first. With trees these are asked of up to
 * FINALISTS that take at most NEAR_BEST times as long as the first one. */
enum { FINALISTS = 3 };
static const double NEAR_BEST = 1.1;

typedef struct {
    size_t kernel;
    double seconds;  /* by the correction */
    ModelTime *time; /* of the model, with trees */
} Finalist;

typedef struct {
    int n, most;
    Finalist of[FINALISTS];
    ModelTime time[FINALISTS + 1];
    ModelTime *unused;
} Finalists;

static void finalists_init(Finalists *f, int most)
{
    f->n = 0, f->most = most;
    f->unused = f->time;
}

/* Whether a kernel that takes that long, or has that bound, can be among them. */
static bool can_be_among(const Finalists *f, double seconds)
{
    if (f->n == 0) return true;
    if (f->n == f->most && seconds >= f->of[f->n - 1].seconds) return false;
    return seconds < NEAR_BEST * f->of[0].seconds;
}

/* Adds a kernel whose time is f->unused. */
static void finalist_add(Finalists *f, size_t kernel, double seconds)
{
    const Finalist x = {kernel, seconds, f->unused};
    int at = f->n;
    if (f->n < f->most)
        f->unused = &f->time[++f->n];
    else
        f->unused = f->of[--at].time;
    for (; at > 0 && f->of[at - 1].seconds > seconds; at--) f->of[at] = f->of[at - 1];
    f->of[at] = x;
}

static size_t best_by_trees(const ModelSelector *s, const ModelNear *near, const Finalists *f,
                            const ModelSize *z, double *seconds)
{
    size_t best = SIZE_MAX, kernel[FINALISTS];
    const ModelTime *time[FINALISTS];
    float value[FINALISTS];
    int n = 0;
    ModelForestSize of;
    model_forest_size(s->forest, z, &of);
    for (; n < f->n && f->of[n].seconds <= NEAR_BEST * f->of[0].seconds; n++)
        kernel[n] = f->of[n].kernel, time[n] = f->of[n].time;
    model_forest_values(s->forest, &of, n, kernel, time, value);
    for (int i = 0; i < n; i++) {
        const double t = fine_time(s, near, kernel[i], time[i], value[i]);
        if (best == SIZE_MAX || t < *seconds) best = kernel[i], *seconds = t;
    }
    return best;
}

/* Kernels are predicted in the order of their bounds, until these are above the best prediction; most need
 * none. Vectors are left to functions of their own: compilers do not always clear the upper parts of
 * registers before a call, and then the model's arithmetic takes twice as long. */
size_t model_choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                    double *seconds)
{
    ModelNear near;
    Finalists f;
    _Alignas(Floats) float residual[MODEL_KERNELS_MAX], least[MODEL_KERNELS_MAX];
    _Alignas(Floats) int32_t key[MODEL_KERNELS_MAX];
    const size_t n = s->n_kernels;
    const bool terms = s->forest && model_forest_has_terms(s->forest);
    if (!n) return SIZE_MAX;
    finalists_init(&f, s->forest ? FINALISTS : 1);
    model_near(s, z, &near);
    model_least_us(s->least, n, z, least, residual);
    expect(s, &near, least, residual, key);
    for (size_t done = 0; done < n; done++) {
        const int32_t next = least_key(key, n);
        const float bound = bound_of(next);
        if (!(bound < INFINITY) || !can_be_among(&f, (double)bound)) break;
        const size_t k = (size_t)(next & KERNELS_MASK);
        const ModelEntry *e = &s->entry[k];
        key[k] = INT32_MAX;
        ModelTime *const time = s->forest ? f.unused : NULL;
        const double t = model_time_ready(&s->ready[k], &e->kernel, &e->device, &e->rates, z, terms, time) *
                         (double)expf(residual[k]);
        if (!(t < INFINITY) || !can_be_among(&f, t)) continue;
        if (allowed && !allowed(ctx, k)) continue;
        finalist_add(&f, k, t);
    }
    if (f.n == 0) return SIZE_MAX;
    *seconds = f.of[0].seconds;
    return s->forest ? best_by_trees(s, &near, &f, z, seconds) : f.of[0].kernel;
}
