/* Lower bounds and corrections of predicted times. See model_least.h.
 *
 * A launch is rounds of all compute units. A round takes at least as long as its work-groups multiply, wait,
 * fill the pipeline and store; DRAM is left out. The numbers are arrays over the kernels, so that the
 * compiler vectorises the loop.
 */
#include "problem/model_least.h"

#include <math.h>

#include "problem/floats.h"

#define LEAST_LISTS(L)                                                                                       \
    L(per_m) /* clusters of an element of M; host: register tiles */                                         \
    L(per_n)                                                                                                 \
    L(each)  /* work-groups of a cluster, parts of K included */                                             \
    L(per_k) /* chunks of an element of K */                                                                 \
    L(slots) /* work-groups that run at once */                                                              \
    L(per_slot)                                                                                              \
    L(per_cu)                                                                                                \
    L(round_s) /* seconds of a chunk of a whole round; of one of a single work-group on each compute unit */ \
    L(one_s)                                                                                                 \
    L(more_s)  /* of a whole round, divided by the work-groups of a compute unit */                          \
    L(end_s)   /* of first loads and stores of a whole round, without those that overlap */                  \
    L(last_s)  /* the same of the last round */                                                              \
    L(rest)    /* part of the time of its chunks that the last round takes at least: 0 with stream-K */      \
    L(fixed_s) /* launches, first loads, last stores */                                                      \
    L(sum_s)   /* of an element of D, of adding up parts of K */

struct ModelLeast {
#define LEAST_FIELD(name) float *name;
    LEAST_LISTS(LEAST_FIELD)
#undef LEAST_FIELD
    float *coefficient[MODEL_SHAPE];
};

Err model_least_new(Arena *a, size_t n, ModelLeast **out)
{
    ModelLeast *l = *out = ARENA_NEW(a, ModelLeast);
    TRY_ALLOC(l);
#define LEAST_NEW(name) TRY_ALLOC(l->name = ARENA_ARRAY(a, floats_padded(n), float));
    LEAST_LISTS(LEAST_NEW)
#undef LEAST_NEW
    for (int i = 0; i < MODEL_SHAPE; i++)
        TRY_ALLOC(l->coefficient[i] = ARENA_ARRAY(a, floats_padded(n), float));
    return ERR_OK;
}

static double most(double a, double b) { return a > b ? a : b; }

static double norm4(double a, double b, double c, double d)
{
    return sqrt(sqrt(a * a * a * a + b * b * b * b + c * c * c * c + d * d * d * d));
}

/* Seconds of a chunk, `math` of them multiplications, at the clock that power allows. */
static float powered(double seconds, double math, const ModelRates *r)
{
    const double busy = math * r->math;
    return (float)(seconds + r->power * (busy < seconds ? busy : seconds));
}

/* Register tiles of all threads, one element of K at a time. */
static void least_of_host(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r)
{
    const double unit = 2.0 * k->unit_m * k->unit_n;
    l->per_m[i] = 1 / (float)k->unit_m, l->per_n[i] = 1 / (float)k->unit_n;
    l->each[i] = l->per_k[i] = l->slots[i] = l->per_slot[i] = l->per_cu[i] = l->rest[i] = 1;
    l->round_s[i] = (float)(unit / ((double)k->rate * r->math * d->clock_hz * d->n_cu));
    l->one_s[i] = l->more_s[i] = l->end_s[i] = l->last_s[i] = l->sum_s[i] = 0;
    l->fixed_s[i] = (float)r->launch_s;
}

void model_least_set(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    if (k->class == MODEL_HOST) {
        least_of_host(l, i, k, d, r);
        return;
    }
    const double s = 1 / d->clock_hz, depth = k->depth, groups = k->groups;
    const double cluster = (double)k->cluster_m * k->cluster_n;
    const double cus = model_cluster_cus(d->n_cu, cluster);
    const double math = 2.0 * k->tile_m * k->tile_n * depth / ((double)k->rate * r->math) * s;
    const double local = (double)k->local_bytes * depth / (d->local_rate * r->local) * s;
    const double bytes =
        ((double)k->tile_m / k->cluster_n + (double)k->tile_n / k->cluster_m) * k->bytes_ab * depth / r->l2;
    const double one = bytes / 64 * s, all = most(one, bytes * cus / d->l2_rate);
    double wait = r->chunk_clocks + k->steps * r->step_clocks;
    if (k->stages > 1) wait = most(wait, r->load_clocks / (k->stages - 1));
    wait *= s;
    const bool workspace = k->split_kind == MODEL_SPLIT_WORKSPACE || k->split_kind == MODEL_SPLIT_JOINED;
    const double out = workspace ? k->bytes_sum : k->bytes_d;
    double store = (double)k->tile_m * k->tile_n * out / (32 * r->store) * s;
    if (k->split_kind == MODEL_SPLIT_CLUSTER) store /= k->split;
    l->per_m[i] = (float)(1.0 / k->tile_m / k->cluster_m),
    l->per_n[i] = (float)(1.0 / k->tile_n / k->cluster_n);
    l->each[i] = (float)(cluster * k->split);
    l->per_k[i] = (float)(1 / depth / k->split);
    l->slots[i] = (float)(cus * groups), l->per_slot[i] = (float)(1 / (cus * groups));
    l->per_cu[i] = (float)(1 / cus);
    const double fill = (r->group_clocks + r->load_clocks) * s, again = k->persistent ? 0 : fill / groups;
    l->round_s[i] = powered(norm4(groups * math, groups * local, groups * all, wait), groups * math, r);
    l->one_s[i] = powered(norm4(math, local, one, wait), math, r);
    l->more_s[i] = powered(norm4(groups * math, groups * local, groups * one, wait) / groups, math, r);
    l->end_s[i] = (float)(store * groups * (k->persistent > 1 ? 0.3 : 1) + again);
    l->last_s[i] = (float)(store * (k->persistent > 1 ? 0.3 : 1) + again);
    const bool split = k->split_kind == MODEL_SPLIT_ATOMIC || k->split_kind == MODEL_SPLIT_WORKSPACE;
    l->fixed_s[i] = (float)(r->launch_s + fill - again + (split ? r->split_s : 0));
    l->sum_s[i] = 0;
    if (k->split_kind == MODEL_SPLIT_ATOMIC)
        l->sum_s[i] = (float)(k->bytes_d * (double)k->split / (0.25 * d->l2_rate * r->l2));
    l->rest[i] = k->split_kind == MODEL_SPLIT_STREAM ? 0 : 1;
    if (workspace)
        l->sum_s[i] = (float)((k->split * (double)k->bytes_sum + k->bytes_d) /
                              most(0.5 * d->l2_rate * r->l2, d->dram_rate * r->dram));
}

/* Whole numbers towards zero, of x to 2e9. */
FLOATS_INLINE Floats down(Floats x)
{
    const Floats most_of = floats_of(2e9F);
    return __builtin_convertvector(__builtin_convertvector(floats_pick(x < most_of, x, most_of), FloatsMask),
                                   Floats);
}

/* The whole number that is not below x; a little above a whole number counts as that, because reciprocals
 * round. */
FLOATS_INLINE Floats up(Floats x)
{
    const Floats y = x * 0.999999F - 1e-4F, whole = down(y);
    return whole - __builtin_convertvector(whole < y, Floats); /* true is -1 */
}

#define LIST(name) floats_load(&l->name[i])

/* Work-groups of a kernel, and the rounds in which they run. */
typedef struct {
    Floats groups, full,
        rest; /* full: whole rounds; rest: work-groups of the last one, where it is not whole */
} Rounds;

FLOATS_INLINE Rounds rounds_of(const ModelLeast *l, size_t i, float m, float n, float batch)
{
    const Floats groups = up(m * LIST(per_m)) * up(n * LIST(per_n)) * batch * LIST(each);
    const Floats full = down(groups * LIST(per_slot));
    return (Rounds){groups, full, groups - full * LIST(slots)};
}

/* ---- corrections ---- */

/* Members of a shape that depend on the size alone are the first ones. */
enum { SHAPE_SIZE = 13, SHAPE_GROUPS = SHAPE_SIZE, SHAPE_LAST, SHAPE_ROUNDS };

static void shape_of_size(const ModelSize *z, float shape[SHAPE_SIZE])
{
    const Floats x = floats_log2((Floats){(float)z->m, (float)z->n, (float)z->k, (float)z->batch}) * 0.1F;
    const float aligned = model_aligned(z);
    const float of[SHAPE_SIZE] = {
        1,           x[0],        x[1],        x[2],        2 * x[3],    aligned,    aligned * aligned,
        x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]};
    for (int s = 0; s < SHAPE_SIZE; s++) shape[s] = of[s];
}

FLOATS_INLINE void shape_of_rounds(const ModelLeast *l, size_t i, const Rounds *r,
                                   Floats shape[MODEL_SHAPE - SHAPE_SIZE])
{
    const Floats some = floats_pick(r->rest > 0.5F, floats_of(1), floats_of(0));
    shape[SHAPE_GROUPS - SHAPE_SIZE] = floats_log2(r->groups) * 0.1F;
    shape[SHAPE_LAST - SHAPE_SIZE] = floats_pick(r->rest > 0.5F, r->rest * LIST(per_slot), floats_of(1));
    shape[SHAPE_ROUNDS - SHAPE_SIZE] = floats_log2(r->full + some) * 0.2F;
}

FLOATS_INLINE Floats correction_of(const ModelLeast *l, size_t i, const float size[SHAPE_SIZE],
                                   const Rounds *r)
{
    const Floats least = floats_of(-MODEL_CORRECTION_MOST), most_of = floats_of(MODEL_CORRECTION_MOST);
    Floats sum = floats_of(0), shape[MODEL_SHAPE - SHAPE_SIZE];
    shape_of_rounds(l, i, r, shape);
    for (int s = 0; s < SHAPE_SIZE; s++) sum += size[s] * LIST(coefficient[s]);
    for (int s = SHAPE_SIZE; s < MODEL_SHAPE; s++) sum += shape[s - SHAPE_SIZE] * LIST(coefficient[s]);
    sum = floats_pick(sum == sum, sum, floats_of(0)); /* sizes beyond a float's range */
    sum = floats_pick(sum < least, least, sum);
    return floats_pick(sum > most_of, most_of, sum);
}

void model_least_correct(ModelLeast *l, size_t kernel, const ModelShape coefficient)
{
    for (int s = 0; s < MODEL_SHAPE; s++) l->coefficient[s][kernel] = coefficient[s];
}

void model_shape(const ModelLeast *l, size_t kernel, const ModelSize *z, ModelShape shape)
{
    const size_t i = kernel / FLOATS * FLOATS;
    const Rounds r = rounds_of(l, i, (float)z->m, (float)z->n, (float)z->batch);
    Floats of[MODEL_SHAPE - SHAPE_SIZE];
    shape_of_size(z, shape);
    shape_of_rounds(l, i, &r, of);
    for (int s = SHAPE_SIZE; s < MODEL_SHAPE; s++) shape[s] = of[s - SHAPE_SIZE][kernel - i];
}

float model_correction(const ModelLeast *l, size_t kernel, const ModelSize *z)
{
    const size_t i = kernel / FLOATS * FLOATS;
    const Rounds r = rounds_of(l, i, (float)z->m, (float)z->n, (float)z->batch);
    float size[SHAPE_SIZE];
    shape_of_size(z, size);
    return correction_of(l, i, size, &r)[kernel - i];
}

/* ---- all kernels ---- */

FLOATS_CLONES
static void seconds_of(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction)
{
    const float m = (float)z->m, nn = (float)z->n, kk = (float)z->k, batch = (float)z->batch,
                elements = m * nn * batch;
    float size[SHAPE_SIZE];
    shape_of_size(z, size);
    for (size_t i = 0; i < n; i += FLOATS) {
        const Rounds r = rounds_of(l, i, m, nn, batch);
        const Floats chunks = up(kk * LIST(per_k)), on_cu = up(r.rest * LIST(per_cu)) * LIST(more_s);
        const Floats last = floats_pick(on_cu > LIST(one_s), on_cu, LIST(one_s));
        const Floats in_rest = chunks * last * LIST(rest) + LIST(last_s);
        const Floats part = floats_pick(r.rest > 0.5F, in_rest, floats_of(0));
        const Floats whole = r.full * (chunks * LIST(round_s) + LIST(end_s));
        floats_store(&out[i], whole + part + LIST(fixed_s) + elements * LIST(sum_s));
        floats_store(&correction[i], correction_of(l, i, size, &r));
    }
}

void model_least_seconds(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction)
{
    seconds_of(l, n, z, out, correction);
}
