/* Lower bounds of predicted times. See model_least.h.
 *
 * A launch is rounds of all compute units. A round takes at least as long as its work-groups multiply, wait,
 * fill the pipeline and store; DRAM is left out. The numbers are arrays over the kernels, so that the
 * compiler vectorises the loop.
 */
#include "problem/model_least.h"

#include <math.h>

#include "problem/vec4.h"

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
};

Err model_least_new(Arena *a, size_t n, ModelLeast **out)
{
    ModelLeast *l = *out = ARENA_NEW(a, ModelLeast);
    TRY_ALLOC(l);
#define LEAST_NEW(name) TRY_ALLOC(l->name = ARENA_ARRAY(a, vec4_padded(n), float));
    LEAST_LISTS(LEAST_NEW)
#undef LEAST_NEW
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
static inline Vec4 down(Vec4 x)
{
    const Vec4 most_of = vec4_of(2e9F);
    return __builtin_convertvector(__builtin_convertvector(vec4_pick(x < most_of, x, most_of), Vec4Mask),
                                   Vec4);
}

/* The whole number that is not below x; a little above a whole number counts as that, because reciprocals
 * round. */
static inline Vec4 up(Vec4 x)
{
    const Vec4 y = x * 0.999999F - 1e-4F, whole = down(y);
    return whole - __builtin_convertvector(whole < y, Vec4); /* true is -1 */
}

#define LIST(name) vec4_load(&l->name[i])

void model_least_seconds(const ModelLeast *l, size_t n, const ModelSize *z, float *out)
{
    const float m = (float)z->m, nn = (float)z->n, kk = (float)z->k, batch = (float)z->batch,
                elements = m * nn * batch;
    for (size_t i = 0; i < n; i += VEC4) {
        const Vec4 groups = up(m * LIST(per_m)) * up(nn * LIST(per_n)) * batch * LIST(each);
        const Vec4 chunks = up(kk * LIST(per_k)), full = down(groups * LIST(per_slot));
        const Vec4 rest = groups - full * LIST(slots), on_cu = up(rest * LIST(per_cu)) * LIST(more_s);
        const Vec4 last = vec4_pick(on_cu > LIST(one_s), on_cu, LIST(one_s));
        const Vec4 in_rest = chunks * last * LIST(rest) + LIST(last_s);
        const Vec4 part = vec4_pick(rest > 0.5F, in_rest, vec4_of(0));
        const Vec4 whole = full * (chunks * LIST(round_s) + LIST(end_s));
        vec4_store(&out[i], whole + part + LIST(fixed_s) + elements * LIST(sum_s));
    }
}
