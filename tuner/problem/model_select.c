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
    return (ModelPoint){{(float)log2(z->m), (float)log2(z->n), (float)log2(z->k), (float)log2(z->batch),
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

static float *error_of(const ModelSelector *s, size_t p, size_t k)
{
    return &s->known[p * parts_of(s) + k / FLOATS].error[k % FLOATS];
}

static float *weight_of(const ModelSelector *s, size_t p, size_t k)
{
    return &s->known[p * parts_of(s) + k / FLOATS].weight[k % FLOATS];
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
    TRY_ALLOC(s->known = ARENA_ARRAY(a, (n_points + 1) * parts_of(s), ModelKnown));
    TRY_ALLOC(s->mean = ARENA_ARRAY(a, floats_padded(n_kernels + 1), float));
    TRY(model_least_new(a, n_kernels, &s->least));
    for (size_t i = 0; i < n_points * n_kernels; i++) s->residual[i] = NAN;
    return ERR_OK;
}

/* Fills in `weight` of a point: the best kernel's time over each kernel's. A residual counts the more, the
 * closer the kernel is to the best one, because it is chosen on such sizes. */
static void weights_of(ModelSelector *s, size_t p)
{
    const float *residual = &s->residual[p * s->n_kernels];
    float best = INFINITY;
    for (size_t k = 0; k < s->n_kernels; k++) {
        float *time = weight_of(s, p, k);
        if (isnan(residual[k])) continue;
        *time = (float)(entry_time(&s->entry[k], &s->size[p]) * exp((double)residual[k]));
        if (*time < best) best = *time;
    }
    for (size_t k = 0; k < s->n_kernels; k++) {
        float *weight = weight_of(s, p, k);
        *weight = *weight > 0 ? best / *weight : 0;
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
static void common_of(ModelSelector *s)
{
    enum { ITERATIONS = 6 };
    static const float FEW_KERNELS = 0.5F, FEW_POINTS = 1;
    for (int i = 0; i < ITERATIONS; i++) {
        for (size_t p = 0; p < s->n_points; p++) {
            Mean m = {0, FEW_KERNELS};
            for (size_t k = 0; k < s->n_kernels; k++)
                mean_add(&m, *error_of(s, p, k) - s->mean[k], *weight_of(s, p, k));
            s->common[p] = m.sum / m.weight;
        }
        for (size_t k = 0; k < s->n_kernels; k++) {
            Mean m = {0, FEW_POINTS};
            for (size_t p = 0; p < s->n_points; p++)
                mean_add(&m, *error_of(s, p, k) - s->common[p], *weight_of(s, p, k));
            s->mean[k] = m.sum / m.weight;
        }
    }
    for (size_t k = 0; k < s->n_kernels; k++) s->mean[k] += FAR_LOSS;
}

/* Fills in `error` of a point with the residuals that the corrections leave. */
static void corrected(ModelSelector *s, size_t p)
{
    float unused[MODEL_KERNELS_MAX], correction[MODEL_KERNELS_MAX];
    model_least_us(s->least, s->n_kernels, &s->size[p], unused, correction);
    for (size_t k = 0; k < s->n_kernels; k++)
        *error_of(s, p, k) = s->residual[p * s->n_kernels + k] - correction[k];
}

void model_selector_finish(ModelSelector *s)
{
    for (size_t k = 0; k < s->n_kernels; k++) {
        const ModelEntry *e = &s->entry[k];
        model_least_set(s->least, k, &e->kernel, &e->device, &e->rates);
        model_least_correct(s->least, k, e->shape);
    }
    for (size_t p = 0; p < s->n_points; p++) {
        weights_of(s, p);
        corrected(s, p);
    }
    common_of(s);
    for (size_t p = 0; p < s->n_points; p++) {
        for (size_t k = 0; k < s->n_kernels; k++) {
            float *error = error_of(s, p, k);
            const float weight = *weight_of(s, p, k);
            *error = weight > 0 ? weight * (*error - s->common[p]) : 0;
        }
        const ModelPoint x = model_point(&s->size[p]);
        model_places_set(s->places, p, &x);
    }
    model_places_sort(s->places);
}

/* ---- prediction ---- */

void model_near(const ModelSelector *s, const ModelSize *z, ModelNear *out)
{
    _Static_assert((int)MODEL_NEAR == (int)FLOATS, "one vector");
    const ModelPoint x = model_point(z);
    float distance[MODEL_NEAR] = {0}, sum = 0, weight = FAR_WEIGHT;
    out->n = model_places_near(s->places, &x, out->point, distance);
    floats_store(out->weight, REACH2 / (REACH2 + floats_load(distance)));
    for (int i = 0; i < out->n; i++) {
        sum += out->weight[i] * s->common[out->point[i]];
        weight += out->weight[i];
    }
    out->common = sum / weight;
}

double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z)
{
    float sum = FAR_WEIGHT * s->mean[k], weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        sum += near->weight[i] * *error_of(s, near->point[i], k);
        weight += near->weight[i] * *weight_of(s, near->point[i], k);
    }
    return entry_time(&s->entry[k], z) *
           (double)expf(sum / weight + near->common + model_correction(s->least, k, z));
}

double model_known(const ModelSelector *s, const ModelNear *near, size_t k)
{
    float weight = 0;
    for (int i = 0; i < near->n; i++) weight += near->weight[i] * *weight_of(s, near->point[i], k);
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
FLOATS_INLINE void expect(const ModelSelector *s, const ModelNear *near, const float *least, float *residual,
                          int32_t *key)
{
    const size_t parts = parts_of(s);
    const ModelKnown *known[MODEL_NEAR];
    float w[MODEL_NEAR];
    FloatsMask number = {0, 1, 2, 3, 4, 5, 6, 7};
    _Static_assert(MODEL_NEAR == 8, "a call for each");
    for (int i = 0; i < MODEL_NEAR; i++) {
        known[i] = &s->known[i < near->n ? near->point[i] * parts : 0];
        w[i] = i < near->n ? near->weight[i] : 0;
    }
    for (size_t i = 0; i < parts; i++, number += FLOATS) {
        Sum sum = {FAR_WEIGHT * floats_load(&s->mean[i * FLOATS]), floats_of(FAR_WEIGHT)};
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

FLOATS_INLINE int32_t least_key(const int32_t *key, size_t n)
{
    FloatsMask least = INT32_MAX - (FloatsMask){0};
    for (size_t k = 0; k < n; k += FLOATS) least = floats_mask_min(least, floats_mask_load(&key[k]));
    return floats_mask_least(least);
}

/* Kernels are predicted in the order of their bounds, until these are above the best prediction; most need
 * none. */
FLOATS_CLONES
static size_t choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                     double *seconds)
{
    ModelNear near;
    float residual[MODEL_KERNELS_MAX], least[MODEL_KERNELS_MAX];
    int32_t key[MODEL_KERNELS_MAX];
    size_t best = SIZE_MAX, n = s->n_kernels;
    if (!n) return SIZE_MAX;
    model_near(s, z, &near);
    model_least_us(s->least, n, z, least, residual);
    expect(s, &near, least, residual, key);
    for (size_t done = 0; done < n; done++) {
        const int32_t next = least_key(key, n);
        const float bound = bound_of(next);
        if (!(bound < INFINITY) || (best != SIZE_MAX && (double)bound >= *seconds)) break;
        const size_t k = (size_t)(next & KERNELS_MASK);
        key[k] = INT32_MAX;
        if (allowed && !allowed(ctx, k)) continue;
        const double t = entry_time(&s->entry[k], z) * (double)expf(residual[k]);
        if (t < INFINITY && (best == SIZE_MAX || t < *seconds)) best = k, *seconds = t;
    }
    return best;
}

size_t model_choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                    double *seconds)
{
    return choose(s, z, allowed, ctx, seconds);
}
