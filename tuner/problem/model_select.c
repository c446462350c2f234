/* Choice by the performance model and its residuals. See model_select.h. */
#include "problem/model_select.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "problem/model_least.h"
#include "problem/vec4.h"

/* Distances are in octaves of M, N, K and the batch. A point at distance REACH has the weight 1/2; weights
 * fall slowly, because a part of a kernel's error is the same far away. A size whose operands are aligned
 * differently runs other code, which counts as a distance of ALIGNED octaves. The mean residual has the
 * weight FAR_WEIGHT. FAR_LOSS is added to it, because points are sizes on which the kernel was expected to be
 * good. The values were chosen on recorded times of an H200 in f16 (test/README.md). */
static const float REACH2 = 1, ALIGNED = 3, FAR_WEIGHT = 0.15F, FAR_LOSS = 0.1F;

ModelPoint model_point(const ModelSize *z)
{
    float aligned = z->align_a >= 16 && z->align_b >= 16 ? 1 : z->align_a >= 4 && z->align_b >= 4 ? 0.5F : 0;
    return (ModelPoint){
        {(float)log2(z->m), (float)log2(z->n), (float)log2(z->k), (float)log2(z->batch), ALIGNED * aligned}};
}

float model_distance(const ModelPoint *a, const ModelPoint *b)
{
    float sum = 0;
    for (int i = 0; i < MODEL_DIMS; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sum;
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
    *out = (double)e->kernel.local_bytes;
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
    for (int i = 0; i < MODEL_DIMS; i++)
        TRY_ALLOC(s->point[i] = ARENA_ARRAY(a, vec4_padded(n_points + 1), float));
    TRY_ALLOC(s->residual = ARENA_ARRAY(a, n_points * n_kernels + 1, float));
    TRY_ALLOC(s->common = ARENA_ARRAY(a, n_points + 1, float));
    TRY_ALLOC(s->error = ARENA_ARRAY(a, n_points * vec4_padded(n_kernels) + 1, float));
    TRY_ALLOC(s->weight = ARENA_ARRAY(a, n_points * vec4_padded(n_kernels) + 1, float));
    TRY_ALLOC(s->mean = ARENA_ARRAY(a, vec4_padded(n_kernels + 1), float));
    TRY(model_least_new(a, n_kernels, &s->least));
    for (size_t i = 0; i < n_points * n_kernels; i++) s->residual[i] = NAN;
    return ERR_OK;
}

/* Fills in `weight` of a point: the best kernel's time over each kernel's. A residual counts the more, the
 * closer the kernel is to the best one, because it is chosen on such sizes. */
static void weights_of(ModelSelector *s, size_t p)
{
    const float *residual = &s->residual[p * s->n_kernels];
    float *weight = &s->weight[p * vec4_padded(s->n_kernels)], best = INFINITY;
    for (size_t k = 0; k < s->n_kernels; k++) {
        if (isnan(residual[k])) continue;
        weight[k] = (float)(entry_time(&s->entry[k], &s->size[p]) * exp((double)residual[k]));
        if (weight[k] < best) best = weight[k];
    }
    for (size_t k = 0; k < s->n_kernels; k++) weight[k] = weight[k] > 0 ? best / weight[k] : 0;
}

/* The mean of what `taken` leaves of n residuals, by weight, drawn towards 0 by `few` where few are known. */
static float mean_left(const float *residual, size_t residual_step, const float *weight, size_t weight_step,
                       const float *taken, size_t n, float few)
{
    float sum = 0, all = few;
    for (size_t i = 0; i < n; i++) {
        const float w = weight[i * weight_step];
        if (w > 0) sum += w * (residual[i * residual_step] - taken[i]);
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
    const size_t n = s->n_kernels, row = vec4_padded(n);
    for (int i = 0; i < ITERATIONS; i++) {
        for (size_t p = 0; p < s->n_points; p++)
            s->common[p] = mean_left(&s->residual[p * n], 1, &s->weight[p * row], 1, s->mean, n, FEW_KERNELS);
        for (size_t k = 0; k < n; k++)
            s->mean[k] =
                mean_left(&s->residual[k], n, &s->weight[k], row, s->common, s->n_points, FEW_POINTS);
    }
    for (size_t k = 0; k < n; k++) s->mean[k] += FAR_LOSS;
}

void model_selector_finish(ModelSelector *s)
{
    const size_t row = vec4_padded(s->n_kernels);
    for (size_t p = 0; p < s->n_points; p++) weights_of(s, p);
    common_of(s);
    for (size_t p = 0; p < s->n_points; p++) {
        for (size_t k = 0; k < s->n_kernels; k++)
            if (s->weight[p * row + k] > 0)
                s->error[p * row + k] =
                    s->weight[p * row + k] * (s->residual[p * s->n_kernels + k] - s->common[p]);
        const ModelPoint x = model_point(&s->size[p]);
        for (int i = 0; i < MODEL_DIMS; i++) s->point[i][p] = x.x[i];
    }
    for (size_t k = 0; k < s->n_kernels; k++) {
        const ModelEntry *e = &s->entry[k];
        model_least_set(s->least, k, &e->kernel, &e->device, &e->rates);
    }
}

/* ---- prediction ---- */

/* Squares of the distances of n points, from `first` on; sums in the order of model_distance. */
static void distances(const ModelSelector *s, const ModelPoint *x, size_t first, size_t n, float *out)
{
    for (size_t p = 0; p < n; p += VEC4) {
        Vec4 sum = vec4_of(0);
        for (int i = 0; i < MODEL_DIMS; i++) {
            const Vec4 d = x->x[i] - vec4_load(&s->point[i][first + p]);
            sum += d * d;
        }
        vec4_store(&out[p], sum);
    }
}

/* The least of n keys; n is at least 1. The padding after the last key is never less. */
static float least_key(const float *key, size_t n)
{
    Vec4 least = vec4_load(key);
    for (size_t i = VEC4; i < n; i += VEC4) {
        const Vec4 v = vec4_load(&key[i]);
        least = vec4_pick(v < least, v, least);
    }
    const float a = least[0] < least[1] ? least[0] : least[1], b = least[2] < least[3] ? least[2] : least[3];
    return a < b ? a : b;
}

/* The nearest points of a block are selected by repeatedly taking the least key, because the processor cannot
 * predict the branches of an insertion sort. A key is a distance whose last bits are the point's number
 * within its block, so that distances which differ by less than 2^-17 of their size count as equal. */
enum { BLOCK = 64 };

static float key_of(float distance, uint32_t number)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    bits = (bits & ~(uint32_t)(BLOCK - 1)) | number;
    memcpy(&distance, &bits, sizeof bits);
    return distance;
}

static uint32_t number_of(float key)
{
    uint32_t bits;
    memcpy(&bits, &key, sizeof bits);
    return bits & (BLOCK - 1);
}

/* Inserts points of a block into the list, which is sorted by key, while they are nearer than its last
 * one. */
static void near_of_block(float *key, size_t n, size_t first, float nearest[MODEL_NEAR], ModelNear *out)
{
    for (int taken = 0; taken < MODEL_NEAR && (size_t)taken < n; taken++) {
        const float k = least_key(key, n);
        if (out->n == MODEL_NEAR && k >= nearest[MODEL_NEAR - 1]) return;
        int at = out->n < MODEL_NEAR ? out->n++ : MODEL_NEAR - 1;
        for (; at > 0 && nearest[at - 1] > k; at--)
            nearest[at] = nearest[at - 1], out->point[at] = out->point[at - 1];
        nearest[at] = k, out->point[at] = (uint32_t)first + number_of(k);
        key[number_of(k)] = INFINITY;
    }
}

void model_near(const ModelSelector *s, const ModelSize *z, ModelNear *out)
{
    const ModelPoint x = model_point(z);
    float nearest[MODEL_NEAR], key[BLOCK];
    out->n = 0;
    for (size_t p = 0; p < s->n_points; p += BLOCK) {
        const size_t n = s->n_points - p < BLOCK ? s->n_points - p : BLOCK;
        distances(s, &x, p, n, key);
        for (size_t i = 0; i < n; i++) key[i] = key_of(key[i], (uint32_t)i);
        for (size_t i = n; i < vec4_padded(n); i++) key[i] = INFINITY;
        near_of_block(key, n, p, nearest, out);
    }
    float sum = 0, weight = FAR_WEIGHT;
    for (int i = 0; i < out->n; i++) {
        out->weight[i] = REACH2 / (REACH2 + nearest[i]);
        sum += out->weight[i] * s->common[out->point[i]];
        weight += out->weight[i];
    }
    out->common = sum / weight;
}

double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z)
{
    const size_t row = vec4_padded(s->n_kernels);
    float sum = FAR_WEIGHT * s->mean[k], weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        const size_t at = near->point[i] * row + k;
        sum += near->weight[i] * s->error[at];
        weight += near->weight[i] * s->weight[at];
    }
    return entry_time(&s->entry[k], z) * (double)expf(sum / weight + near->common);
}

/* The expected residual of each kernel. */
static void expect(const ModelSelector *s, const ModelNear *near, float *out)
{
    const size_t n = s->n_kernels, row = vec4_padded(n);
    for (size_t k = 0; k < n; k += VEC4) {
        Vec4 sum = FAR_WEIGHT * vec4_load(&s->mean[k]), weight = vec4_of(FAR_WEIGHT);
        for (int i = 0; i < near->n; i++) {
            const size_t at = near->point[i] * row + k;
            sum += near->weight[i] * vec4_load(&s->error[at]);
            weight += near->weight[i] * vec4_load(&s->weight[at]);
        }
        vec4_store(&out[k], sum / weight + near->common);
    }
}

/* The kernel that is most likely the best comes first, so that most others need no prediction: their least
 * time is above it. exp(x) is at least 1 + x + x^2 / 2 + x^3 / 6. */
size_t model_choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                    double *seconds)
{
    ModelNear near;
    float residual[MODEL_KERNELS_MAX], scratch[MODEL_KERNELS_MAX];
    size_t best = SIZE_MAX, first = 0, n = s->n_kernels;
    if (!n) return SIZE_MAX;
    model_near(s, z, &near);
    expect(s, &near, residual);
    model_least_seconds(s->least, n, z, scratch);
    for (size_t k = 0; k < n; k += VEC4) {
        const Vec4 x = vec4_load(&residual[k]), factor = 1 + x * (1 + x * (0.5F + x * (1 / 6.0F)));
        vec4_store(&scratch[k], vec4_load(&scratch[k]) * 0.999F * factor);
    }
    for (size_t k = n; k < vec4_padded(n); k++) scratch[k] = INFINITY;
    const float least = least_key(scratch, n);
    while (first + 1 < n && scratch[first] > least) first++;
    for (size_t i = 0; i < n; i++) {
        size_t k = i == 0 ? first : i - (i <= first);
        if (best != SIZE_MAX && (double)scratch[k] >= *seconds) continue;
        double t = entry_time(&s->entry[k], z) * (double)expf(residual[k]);
        if ((best == SIZE_MAX || t < *seconds) && (!allowed || allowed(ctx, k))) best = k, *seconds = t;
    }
    return best;
}
