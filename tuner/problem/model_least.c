/* Lower bounds and corrections of predicted times. See model_least.h.
 *
 * A launch is rounds of all compute units. A round takes at least as long as its work-groups multiply, wait,
 * fill the pipeline and store, and load from DRAM what does not stay in the L2 cache. Operands that the copy
 * engine cannot read are copied first. The numbers are arrays over the kernels, so that the compiler
 * vectorises the loop; of those that depend on the alignment of A, B or D there is an array for each case.
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
    L(round_a) /* microseconds of the L2 cache for loads of A and of B, in the same rounds */                \
    L(round_b)                                                                                               \
    L(one_a)                                                                                                 \
    L(one_b)                                                                                                 \
    L(wastes_a) /* 1: unaligned rows lie in more lines of the L2 cache */                                    \
    L(wastes_b)                                                                                              \
    L(dram)   /* microseconds of DRAM for a chunk of a whole round that is not in the L2 cache */            \
    L(stays)  /* elements of A and B that stay there */                                                      \
    L(power)  /* microseconds that the clock loses to power in a chunk of one work-group */                  \
    L(powers) /* of a whole round */                                                                         \
    L(end_s)  /* of first loads and stores of a whole round, without those that overlap */                   \
    L(end_odd_s)                                                                                             \
    L(first_s) /* of stores of the first round, which nothing overlaps */                                    \
    L(first_odd_s)                                                                                           \
    L(last_s) /* the same of the last round */                                                               \
    L(last_odd_s)                                                                                            \
    L(copy_a_s) /* of copying an element of A */                                                             \
    L(copy_a_odd_s)                                                                                          \
    L(copy_b_s)                                                                                              \
    L(copy_b_odd_s)                                                                                          \
    L(rest)    /* part of the time of its chunks that the last round takes at least: 0 with stream-K */      \
    L(fixed_s) /* launches, first loads, last stores */                                                      \
    L(sum_s)   /* of an element of D, of adding up parts of K */

/* Which of A and B are misaligned: neither, A, B, both. */
enum { ODD = 4 };

struct ModelLeast {
#define LEAST_FIELD(name) float *name;
    LEAST_LISTS(LEAST_FIELD)
#undef LEAST_FIELD
    /* fourth powers of microseconds of a chunk, by which of A and B are misaligned: of a whole round, without
     * the L2 cache and DRAM; of a round with a work-group on each compute unit; of a whole round, divided by
     * the work-groups of a compute unit */
    float *round_4[ODD], *one_4[ODD], *more_4[ODD];
    float *copy_s[ODD]; /* of the launch that copies */
    float *coefficient[MODEL_SHAPE];
};

Err model_least_new(Arena *a, size_t n, ModelLeast **out)
{
    ModelLeast *l = *out = ARENA_NEW(a, ModelLeast);
    TRY_ALLOC(l);
#define LEAST_NEW(name) TRY_ALLOC(l->name = ARENA_ARRAY(a, floats_padded(n), float));
    LEAST_LISTS(LEAST_NEW)
#undef LEAST_NEW
    for (int i = 0; i < ODD; i++) {
        TRY_ALLOC(l->round_4[i] = ARENA_ARRAY(a, floats_padded(n), float));
        TRY_ALLOC(l->one_4[i] = ARENA_ARRAY(a, floats_padded(n), float));
        TRY_ALLOC(l->more_4[i] = ARENA_ARRAY(a, floats_padded(n), float));
        TRY_ALLOC(l->copy_s[i] = ARENA_ARRAY(a, floats_padded(n), float));
    }
    for (int i = 0; i < MODEL_SHAPE; i++)
        TRY_ALLOC(l->coefficient[i] = ARENA_ARRAY(a, floats_padded(n), float));
    return ERR_OK;
}

static double most(double a, double b) { return a > b ? a : b; }

/* The part of a round's tiles that is inside D, at least, along a square's side. */
static const double EDGES = 0.7;

static double fourth(double x) { return x * x * x * x; }

/* Register tiles of all threads, one element of K at a time. */
static void least_of_host(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r)
{
    const double unit = 2.0 * k->unit_m * k->unit_n;
    l->per_m[i] = 1 / (float)k->unit_m, l->per_n[i] = 1 / (float)k->unit_n;
    l->each[i] = l->per_k[i] = l->slots[i] = l->per_slot[i] = l->per_cu[i] = l->rest[i] = 1;
    for (int odd = 0; odd < ODD; odd++) {
        l->round_4[odd][i] = (float)fourth(1e6 * unit / ((double)k->rate * r->math * d->clock_hz * d->n_cu));
        l->one_4[odd][i] = l->more_4[odd][i] = l->copy_s[odd][i] = 0;
    }
    l->round_a[i] = l->round_b[i] = l->one_a[i] = l->one_b[i] = 0;
    l->wastes_a[i] = l->wastes_b[i] = l->dram[i] = l->power[i] = l->powers[i] = 0, l->stays[i] = 1;
    l->end_s[i] = l->last_s[i] = l->sum_s[i] = 0;
    l->end_odd_s[i] = l->last_odd_s[i] = l->first_s[i] = l->first_odd_s[i] = 0;
    l->copy_a_s[i] = l->copy_a_odd_s[i] = l->copy_b_s[i] = l->copy_b_odd_s[i] = 0;
    l->fixed_s[i] = (float)r->launch_s;
}

/* The most that an aligned operand, and a misaligned one, is aligned to. */
static const int32_t ALIGN[] = {MODEL_ALIGN_MAX, MODEL_ENGINE_ALIGN / 2};

/* What copies of A and B take that is known without the size. */
static void least_of_copies(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                            const ModelRates *r)
{
    const float element = (float)model_copy_seconds(k, d, r);
    l->copy_a_s[i] = model_is_copied(k->pack_a, ALIGN[0]) ? element : 0;
    l->copy_b_s[i] = model_is_copied(k->pack_b, ALIGN[0]) ? element : 0;
    l->copy_a_odd_s[i] = model_is_copied(k->pack_a, ALIGN[1]) ? element : 0;
    l->copy_b_odd_s[i] = model_is_copied(k->pack_b, ALIGN[1]) ? element : 0;
    for (int odd = 0; odd < ODD; odd++) {
        const bool any =
            model_is_copied(k->pack_a, ALIGN[odd & 1]) || model_is_copied(k->pack_b, ALIGN[odd >> 1]);
        l->copy_s[odd][i] = any ? (float)r->split_s : 0;
    }
}

/* A chunk of K without the L2 cache and DRAM. */
static void least_of_chunk(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                           const ModelRates *r, int odd)
{
    const ModelChunk c = model_chunk(k, d, r, ALIGN[odd & 1], ALIGN[odd >> 1]);
    const double us = 1e6 / d->clock_hz, groups = k->groups;
    l->one_4[odd][i] = (float)(fourth(us * c.math) + fourth(us * c.local) + fourth(us * c.latency));
    l->more_4[odd][i] = (float)(fourth(us * c.math) + fourth(us * c.local) + fourth(us * c.latency / groups));
    l->round_4[odd][i] =
        (float)(fourth(us * groups * c.math) + fourth(us * groups * c.local) + fourth(us * c.latency));
}

/* 1: the copy engine reads rows of the operand itself that are as long as a line of the L2 cache. */
static float wastes(const ModelKernel *k, int32_t pack, int32_t contiguous, int32_t side)
{
    const int32_t row = (contiguous ? side : k->depth) * k->bytes_ab;
    return k->class == MODEL_ENGINE && pack != MODEL_PACK_ALWAYS && row >= MODEL_ALIGN_MAX;
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
    const double ab = (double)k->bytes_ab * depth;
    const bool workspace = k->split_kind == MODEL_SPLIT_WORKSPACE || k->split_kind == MODEL_SPLIT_JOINED;
    const double out = workspace ? k->bytes_sum : k->bytes_d;
    const double stored = (double)k->tile_m * k->tile_n * out;
    double store = stored / (32 * r->store) * s, odd = 0;
    if (k->split_kind == MODEL_SPLIT_CLUSTER) store /= k->split;
    if (k->class == MODEL_ENGINE) {
        store += model_element_clocks(k, true) * s;
        odd = (model_element_clocks(k, false) - model_element_clocks(k, true)) * s;
    } else
        store += model_access_clocks(stored, k->store) * s;
    l->per_m[i] = (float)(1.0 / k->tile_m / k->cluster_m),
    l->per_n[i] = (float)(1.0 / k->tile_n / k->cluster_n);
    l->each[i] = (float)(cluster * k->split);
    l->per_k[i] = (float)(1 / depth / k->split);
    l->slots[i] = (float)(cus * groups), l->per_slot[i] = (float)(1 / (cus * groups));
    l->per_cu[i] = (float)(1 / cus);
    const double fill = (r->group_clocks + r->load_clocks) * s, again = k->persistent ? 0 : fill / groups;
    const double us = 1e6;
    for (int which = 0; which < ODD; which++) least_of_chunk(l, i, k, d, r, which);
    /* a compute unit takes 64 bytes in a clock from the L2 cache, and all of them what it can give */
    const double of_a = k->tile_m * ab / k->cluster_n / r->l2, of_b = k->tile_n * ab / k->cluster_m / r->l2,
                 byte = s / 64, all = groups * most(byte, cus / d->l2_rate);
    l->one_a[i] = (float)(us * of_a * byte), l->one_b[i] = (float)(us * of_b * byte);
    l->round_a[i] = (float)(us * of_a * all), l->round_b[i] = (float)(us * of_b * all);
    l->wastes_a[i] = wastes(k, k->pack_a, k->free_a, k->tile_m),
    l->wastes_b[i] = wastes(k, k->pack_b, k->free_b, k->tile_n);
    /* the rows and columns of a round's tiles are at least two sides of a square of them */
    const double sides = 2 * sqrt((double)k->tile_m * k->tile_n * cus * groups * k->split);
    l->dram[i] = (float)(us * EDGES * sides * ab / (d->dram_rate * r->dram));
    l->stays[i] = (float)(MODEL_RESIDENT * d->l2_bytes / k->bytes_ab);
    l->power[i] = (float)(us * math * r->math * r->power);
    l->powers[i] = (float)groups * l->power[i];
    const double part = k->persistent > 1 ? 0.3 : 1;
    l->end_s[i] = (float)(store * groups * part + again), l->last_s[i] = (float)(store * part + again);
    l->end_odd_s[i] = (float)((store + odd) * groups * part + again);
    l->last_odd_s[i] = (float)((store + odd) * part + again);
    l->first_s[i] = (float)(store * (1 - part)), l->first_odd_s[i] = (float)((store + odd) * (1 - part));
    least_of_copies(l, i, k, d, r);
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

FLOATS_INLINE Floats fourth_of(Floats x) { return x * x * x * x; }

/* model_line_waste of whole lines. Misaligned operands are copied, or not read by the copy engine. */
static float waste_of(int32_t align)
{
    return align < MODEL_ENGINE_ALIGN ? 0 : (float)model_line_waste(MODEL_ALIGN_MAX, align);
}

FLOATS_CLONES
static void seconds_of(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction)
{
    const float m = (float)z->m, nn = (float)z->n, kk = (float)z->k, batch = (float)z->batch,
                elements = m * nn * batch;
    const bool odd = z->align_d < MODEL_ENGINE_ALIGN, odd_a = z->align_a < MODEL_ENGINE_ALIGN,
               odd_b = z->align_b < MODEL_ENGINE_ALIGN;
    const int which = odd_a + 2 * odd_b;
    const float *const end = odd ? l->end_odd_s : l->end_s;
    const float *const end_last = odd ? l->last_odd_s : l->last_s;
    const float *const first = odd ? l->first_odd_s : l->first_s;
    const float *const copy_a = odd_a ? l->copy_a_odd_s : l->copy_a_s;
    const float *const copy_b = odd_b ? l->copy_b_odd_s : l->copy_b_s;
    const float *const round_4 = l->round_4[which], *const one_4 = l->one_4[which];
    const float *const more_4 = l->more_4[which], *const copy = l->copy_s[which];
    const float in_a = m * kk * batch, in_b = nn * kk * batch;
    const float once_a = z->once_a > 0 ? (float)z->once_a : 1, once_b = z->once_b > 0 ? (float)z->once_b : 1;
    const float once_least = once_a < once_b ? once_a : once_b, distinct = in_a * once_a + in_b * once_b;
    const float waste_a = waste_of(z->align_a), waste_b = waste_of(z->align_b);
    float size[SHAPE_SIZE];
    shape_of_size(z, size);
    for (size_t i = 0; i < n; i += FLOATS) {
        const Rounds r = rounds_of(l, i, m, nn, batch);
        const Floats chunks = up(kk * LIST(per_k)) * 1e-6F; /* of microseconds */
        const Floats on_cu = up(r.rest * LIST(per_cu));
        const Floats wide_a = 1 + waste_a * LIST(wastes_a), wide_b = 1 + waste_b * LIST(wastes_b);
        const Floats l2 = fourth_of(wide_a * LIST(round_a) + wide_b * LIST(round_b)),
                     l2_one = fourth_of(wide_a * LIST(one_a) + wide_b * LIST(one_b));
        const Floats stays = LIST(stays) / distinct, bytes = once_least * LIST(dram);
        const Floats dram = fourth_of(floats_pick(stays < 1, 1 - stays, floats_of(0)) * bytes);
        const Floats filled =
            r.rest * LIST(per_slot); /* of a single round; the sides of its tiles are its root */
        const Floats dram_one = floats_pick(r.full < 0.5F, fourth_of(bytes) * filled * filled, floats_of(0));
        const Floats one = floats_load(&one_4[i]) + l2_one,
                     more = fourth_of(on_cu) * (floats_load(&more_4[i]) + l2_one);
        const Floats last = floats_root4(floats_pick(more > one, more, one) + dram_one) + on_cu * LIST(power);
        const Floats in_rest = chunks * last * LIST(rest) + floats_load(&end_last[i]);
        const Floats part = floats_pick(r.rest > 0.5F, in_rest, floats_of(0));
        const Floats round = floats_root4(floats_load(&round_4[i]) + l2 + dram) + LIST(powers);
        const Floats whole = r.full * (chunks * round + floats_load(&end[i]));
        const Floats copies =
            floats_load(&copy[i]) + in_a * floats_load(&copy_a[i]) + in_b * floats_load(&copy_b[i]);
        const Floats once = LIST(fixed_s) + floats_load(&first[i]) + elements * LIST(sum_s);
        floats_store(&out[i], whole + part + once + copies);
        floats_store(&correction[i], correction_of(l, i, size, &r));
    }
}

void model_least_seconds(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction)
{
    seconds_of(l, n, z, out, correction);
}
