/* Choice by the performance model and its residuals. See model_select.h. */
#include "problem/model_select.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* Distances are in octaves of M, N, K and the batch; a point that is REACH away counts exp(-1/2). A size
 * whose operands are aligned otherwise runs other code: as far as ALIGNED octaves. The mean residual counts
 * as a point that is far away. */
static const float REACH2 = 2.2F * 2.2F, ALIGNED = 3, FAR_WEIGHT = 0.15F;

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
        if (!(v[i] >= 1 && v[i] <= 16 && is_whole(v[i]))) return false;
    *r = (ModelResidual){{v[0], v[1], v[3], v[2], (int32_t)v[4], (int32_t)v[5], (int32_t)v[6], false}, v[7]};
    return fabs(v[7]) <= 30;
}

/* ---- preparation ---- */

/* What a kernel's time cannot be below, from few products: the work of the compute unit that has most
 * work-groups, the waits of its chunks, the first loads and launches. */
typedef struct ModelLeast {
    double per_m, per_n, per_k, split; /* tiles and chunks of an element; parts of K */
    double per_cu, per_slot;           /* of a work-group: rounds of compute units, of all their places */
    double work_s, wait_s;             /* seconds of a chunk */
    double fixed_s;
} ModelLeast;

static double most(double a, double b) { return a > b ? a : b; }

static ModelLeast least_of(const ModelEntry *e)
{
    const ModelKernel *k = &e->kernel;
    const ModelRates *r = &e->rates;
    double hz = e->device.clock_hz, cus = e->device.n_cu, depth = k->depth;
    if (k->class == MODEL_HOST) { /* register tiles, elements of K */
        double math = 2.0 * k->unit_m * k->unit_n / ((double)k->rate * r->math * hz * cus);
        return (ModelLeast){1.0 / k->unit_m, 1.0 / k->unit_n, 1, 1, 1, 0, math, 0, r->launch_s};
    }
    double math = 2.0 * k->tile_m * k->tile_n * depth / ((double)k->rate * r->math);
    double local = (double)k->local_bytes * depth / (e->device.local_rate * r->local);
    double bytes =
        ((double)k->tile_m / k->cluster_n + (double)k->tile_n / k->cluster_m) * k->bytes_ab * depth;
    double wait = r->chunk_clocks + k->steps * r->step_clocks;
    double fixed = r->launch_s + (r->group_clocks + r->load_clocks) / hz;
    if (k->stages > 1) wait = most(wait, r->load_clocks / (k->stages - 1));
    return (ModelLeast){1.0 / k->tile_m,
                        1.0 / k->tile_n,
                        1.0 / depth,
                        k->split,
                        1.0 / cus,
                        1.0 / (cus * k->groups),
                        most(most(math, local), bytes / (64 * r->l2)) / hz,
                        wait / hz,
                        fixed + (k->split_kind != MODEL_SPLIT_NONE ? r->split_s : 0)};
}

static double up(double x)
{
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* Reciprocals round: a ten-thousandth above a whole number counts as that. */
static double least_seconds(const ModelLeast *l, const ModelSize *z)
{
    double groups = up(z->m * l->per_m - 1e-4) * up(z->n * l->per_n - 1e-4) * z->batch * l->split;
    double chunks = z->k * l->per_k;
    if (l->split > 1) chunks /= l->split;
    if (chunks < 1) chunks = 1;
    double work = up(groups * l->per_cu - 1e-4) * l->work_s,
           wait = up(groups * l->per_slot - 1e-4) * l->wait_s;
    return l->fixed_s + chunks * most(work, wait);
}

Err model_selector_new(Arena *a, size_t n_kernels, size_t n_points, ModelSelector *s)
{
    if (!model_selector_fits(n_kernels, n_points))
        FAIL(ERR_INPUT, "a performance model of %zu kernels and %zu sizes, at most %d and %d, and %d times",
             n_kernels, n_points, MODEL_KERNELS_MAX, MODEL_POINTS_MAX, MODEL_TIMES_MAX);
    *s = (ModelSelector){.n_kernels = n_kernels, .n_points = n_points};
    TRY_ALLOC(s->entry = ARENA_ARRAY(a, n_kernels + 1, ModelEntry));
    TRY_ALLOC(s->size = ARENA_ARRAY(a, n_points + 1, ModelSize));
    TRY_ALLOC(s->point = ARENA_ARRAY(a, n_points + 1, ModelPoint));
    TRY_ALLOC(s->residual = ARENA_ARRAY(a, n_points * n_kernels + 1, float));
    TRY_ALLOC(s->error = ARENA_ARRAY(a, n_points * n_kernels + 1, float));
    TRY_ALLOC(s->known = ARENA_ARRAY(a, n_points * n_kernels + 1, float));
    TRY_ALLOC(s->mean = ARENA_ARRAY(a, n_kernels + 1, float));
    TRY_ALLOC(s->least = ARENA_ARRAY(a, n_kernels + 1, ModelLeast));
    for (size_t i = 0; i < n_points * n_kernels; i++) s->residual[i] = NAN;
    return ERR_OK;
}

static void mean_of(ModelSelector *s, size_t k)
{
    float sum = 0, n = 0;
    for (size_t p = 0; p < s->n_points; p++) {
        float e = s->residual[p * s->n_kernels + k];
        if (!isnan(e)) sum += e, n++;
    }
    s->mean[k] = sum / (n + 1);
}

void model_selector_finish(ModelSelector *s)
{
    for (size_t k = 0; k < s->n_kernels; k++) mean_of(s, k), s->least[k] = least_of(&s->entry[k]);
    for (size_t i = 0; i < s->n_points * s->n_kernels; i++) {
        bool known = !isnan(s->residual[i]);
        s->error[i] = known ? s->residual[i] : 0;
        s->known[i] = known;
    }
    for (size_t p = 0; p < s->n_points; p++) s->point[p] = model_point(&s->size[p]);
}

/* ---- prediction ---- */

void model_near(const ModelSelector *s, const ModelSize *z, ModelNear *out)
{
    ModelPoint x = model_point(z);
    float distance[MODEL_NEAR];
    int n = 0;
    for (size_t p = 0; p < s->n_points; p++) {
        float d = model_distance(&x, &s->point[p]);
        if (n == MODEL_NEAR && d >= distance[n - 1]) continue;
        int at = n < MODEL_NEAR ? n++ : n - 1;
        for (; at > 0 && distance[at - 1] > d; at--)
            distance[at] = distance[at - 1], out->point[at] = out->point[at - 1];
        distance[at] = d, out->point[at] = (uint32_t)p;
    }
    out->n = n;
    for (int i = 0; i < n; i++) out->weight[i] = expf(-distance[i] / (2 * REACH2));
}

double model_predict(const ModelSelector *s, const ModelNear *near, size_t k, const ModelSize *z)
{
    float sum = FAR_WEIGHT * s->mean[k], weight = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        float e = s->residual[near->point[i] * s->n_kernels + k];
        if (isnan(e)) continue;
        sum += near->weight[i] * e;
        weight += near->weight[i];
    }
    return entry_time(&s->entry[k], z) * (double)expf(sum / weight);
}

/* The residual that is expected of each kernel. */
static void expect(const ModelSelector *s, const ModelNear *near, float *out, float *weight)
{
    size_t n = s->n_kernels;
    for (size_t k = 0; k < n; k++) out[k] = FAR_WEIGHT * s->mean[k], weight[k] = FAR_WEIGHT;
    for (int i = 0; i < near->n; i++) {
        const float *e = &s->error[near->point[i] * n], *known = &s->known[near->point[i] * n];
        float w = near->weight[i];
        for (size_t k = 0; k < n; k++) out[k] += w * e[k], weight[k] += w * known[k];
    }
    for (size_t k = 0; k < n; k++) out[k] /= weight[k];
}

/* The kernel that is most likely the best comes first, so that most others need no prediction: their least
 * time is above it. exp(x) is at least 1 + x. */
size_t model_choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                    double *seconds)
{
    ModelNear near;
    float residual[MODEL_KERNELS_MAX], scratch[MODEL_KERNELS_MAX];
    size_t best = SIZE_MAX, first = 0, n = s->n_kernels;
    if (!n) return SIZE_MAX;
    model_near(s, z, &near);
    expect(s, &near, residual, scratch);
    for (size_t k = 0; k < n; k++) {
        scratch[k] = (float)(least_seconds(&s->least[k], z) * 0.999) * (1 + residual[k]);
        if (scratch[k] < scratch[first]) first = k;
    }
    for (size_t i = 0; i < n; i++) {
        size_t k = i == 0 ? first : i - (i <= first);
        if (best != SIZE_MAX && (double)scratch[k] >= *seconds) continue;
        double t = entry_time(&s->entry[k], z) * (double)expf(residual[k]);
        if ((best == SIZE_MAX || t < *seconds) && (!allowed || allowed(ctx, k))) best = k, *seconds = t;
    }
    return best;
}
