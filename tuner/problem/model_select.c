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
    TRY_ALLOC(s->error = ARENA_ARRAY(a, n_points * floats_padded(n_kernels) + 1, float));
    TRY_ALLOC(s->weight = ARENA_ARRAY(a, n_points * floats_padded(n_kernels) + 1, float));
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
    float *weight = &s->weight[p * floats_padded(s->n_kernels)], best = INFINITY;
    for (size_t k = 0; k < s->n_kernels; k++) {
        if (isnan(residual[k])) continue;
        weight[k] = (float)(entry_time(&s->entry[k], &s->size[p]) * exp((double)residual[k]));
        if (weight[k] < best) best = weight[k];
    }
    for (size_t k = 0; k < s->n_kernels; k++) weight[k] = weight[k] > 0 ? best / weight[k] : 0;
}

/* The mean of what `taken` leaves of n residuals, by weight, drawn towards 0 by `few` where few are known. */
static float mean_left(const float *residual, const float *weight, size_t step, const float *taken, size_t n,
                       float few)
{
    float sum = 0, all = few;
    for (size_t i = 0; i < n; i++) {
        const float w = weight[i * step];
        if (w > 0) sum += w * (residual[i * step] - taken[i]);
        all += w;
    }
    return sum / all;
}

/* The residual of each point that its kernels have in common, and the mean of each kernel's other residuals:
 * one after the other, each from what the other leaves. */
static void common_of(ModelSelector *s)
{
    enum { ITERATIONS = 6 };
    static const float FEW_KERNELS = 0.5F, FEW_POINTS = 1;
    const size_t n = s->n_kernels, row = floats_padded(n);
    for (int i = 0; i < ITERATIONS; i++) {
        for (size_t p = 0; p < s->n_points; p++)
            s->common[p] = mean_left(&s->error[p * row], &s->weight[p * row], 1, s->mean, n, FEW_KERNELS);
        for (size_t k = 0; k < n; k++)
            s->mean[k] = mean_left(&s->error[k], &s->weight[k], row, s->common, s->n_points, FEW_POINTS);
    }
    for (size_t k = 0; k < n; k++) s->mean[k] += FAR_LOSS;
}

/* Fills in `error` of a point with the residuals that the corrections leave. */
static void corrected(ModelSelector *s, size_t p)
{
    float unused[MODEL_KERNELS_MAX], correction[MODEL_KERNELS_MAX];
    float *error = &s->error[p * floats_padded(s->n_kernels)];
    model_least_seconds(s->least, s->n_kernels, &s->size[p], unused, correction);
    for (size_t k = 0; k < s->n_kernels; k++) error[k] = s->residual[p * s->n_kernels + k] - correction[k];
}

void model_selector_finish(ModelSelector *s)
{
    const size_t row = floats_padded(s->n_kernels);
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
            float *error = &s->error[p * row + k];
            const float weight = s->weight[p * row + k];
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
    const ModelPoint x = model_point(z);
    float distance[MODEL_NEAR], sum = 0, weight = FAR_WEIGHT;
    out->n = model_places_near(s->places, &x, out->point, distance);
    for (int i = 0; i < out->n; i++) {
        out->weight[i] = REACH2 / (REACH2 + distance[i]);
        sum += out->weight[i] * s->common[out->point[i]];
        weight += out->weight[i];
    }
    out->common = sum / weight;
}

double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z)
{
    const size_t row = floats_padded(s->n_kernels);
    float sum = FAR_WEIGHT * s->mean[k], weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        const size_t at = near->point[i] * row + k;
        sum += near->weight[i] * s->error[at];
        weight += near->weight[i] * s->weight[at];
    }
    return entry_time(&s->entry[k], z) *
           (double)expf(sum / weight + near->common + model_correction(s->least, k, z));
}

double model_known(const ModelSelector *s, const ModelNear *near, size_t k)
{
    const size_t row = floats_padded(s->n_kernels);
    float weight = 0;
    for (int i = 0; i < near->n; i++) weight += near->weight[i] * s->weight[near->point[i] * row + k];
    return (double)(weight / (weight + FAR_WEIGHT));
}

/* Adds the expected residual of each kernel to its correction. */
FLOATS_CLONES
static void expect(const ModelSelector *s, const ModelNear *near, float *out)
{
    const size_t n = s->n_kernels, row = floats_padded(n);
    for (size_t k = 0; k < n; k += FLOATS) {
        Floats sum = FAR_WEIGHT * floats_load(&s->mean[k]), weight = floats_of(FAR_WEIGHT);
        for (int i = 0; i < near->n; i++) {
            const size_t at = near->point[i] * row + k;
            sum += near->weight[i] * floats_load(&s->error[at]);
            weight += near->weight[i] * floats_load(&s->weight[at]);
        }
        floats_store(&out[k], floats_load(&out[k]) + sum / weight + near->common);
    }
}

/* Kernels without numbers have no least time and are not chosen. Kernels are predicted in the order of
 * their least times, until these are above the best prediction; most need none. exp(x) is at least 1 + x +
 * x^2 / 2 + x^3 / 6. */
FLOATS_CLONES
static size_t choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                     double *seconds)
{
    ModelNear near;
    float residual[MODEL_KERNELS_MAX], scratch[MODEL_KERNELS_MAX]; /* scratch: the least times */
    float group[MODEL_KERNELS_MAX / FLOATS + FLOATS];              /* the least of FLOATS of them */
    size_t best = SIZE_MAX, n = s->n_kernels;
    if (!n) return SIZE_MAX;
    model_near(s, z, &near);
    model_least_seconds(s->least, n, z, scratch, residual);
    expect(s, &near, residual);
    for (size_t k = 0; k < n; k += FLOATS) {
        const Floats x = floats_load(&residual[k]), factor = 1 + x * (1 + x * (0.5F + x * (1 / 6.0F)));
        const Floats bound = floats_load(&scratch[k]) * 0.999F * factor;
        floats_store(&scratch[k], floats_pick(bound == bound, bound, floats_of(INFINITY)));
    }
    for (size_t k = n; k < floats_padded(n); k++) scratch[k] = INFINITY;
    const size_t groups = floats_padded(n) / FLOATS;
    for (size_t g = 0; g < groups; g++) group[g] = floats_least(&scratch[g * FLOATS], FLOATS);
    for (size_t g = groups; g < floats_padded(groups); g++) group[g] = INFINITY;
    for (size_t done = 0; done < n; done++) {
        const float least = floats_least(group, groups);
        if (!(least < INFINITY) || (best != SIZE_MAX && (double)least >= *seconds)) break;
        size_t g = 0, k;
        while (group[g] != least) g++;
        for (k = g * FLOATS; scratch[k] != least;) k++;
        scratch[k] = INFINITY;
        group[g] = floats_least(&scratch[g * FLOATS], FLOATS);
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
