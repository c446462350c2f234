/* Lower bounds and corrections of predicted times. See model_least.h.
 *
 * A launch is rounds of all compute units. A round takes at least as long as its work-groups multiply, wait,
 * fill the pipeline and store, and load from DRAM what does not stay in the L2 cache. Operands that the copy
 * engine cannot read are copied first. The numbers are arrays over the kernels, so that the compiler
 * vectorises the loop; of those that depend on the alignment of A, B or D there is an array for each case.
 * Most bounds are the model's time itself: only rounds of work-groups beside others differ, in the bytes that
 * they load from DRAM, and kernels that cut tiles.
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
    L(per_cu) /* shares of a compute unit of a work-group */                                                 \
    L(whole)  /* almost 1: shares count as whole ones; 0: parts of them count */                             \
    L(once)   /* microseconds of DRAM for a chunk of a row of A or B in a single round */                    \
    L(dram)   /* of a chunk of a whole round that is not in the L2 cache */                                  \
    L(stays)  /* elements of A and B that stay there */                                                      \
    L(waits)  /* microseconds of waits for others of a cluster in a chunk */                                 \
    L(power)  /* that the clock loses to power in a chunk of one share */                                    \
    L(sum)    /* of an element of D, of adding up parts of K */                                              \
    L(copy_a) /* of copying an element of A that is aligned; one that is not */                              \
    L(copy_a_odd)                                                                                            \
    L(copy_b)                                                                                                \
    L(copy_b_odd)

/* Of a chunk of K, by the alignments of A and B: microseconds of a whole round with what stays in the L2
 * cache, waits and power included; fourth powers of those of a whole round without DRAM, waits and power; of
 * what grows with the shares on a compute unit, for one of them; of what does not. Microseconds of the launch
 * that copies A or B. */
#define LEAST_AB_LISTS(L) L(round) L(round_4) L(share_4) L(still_4) L(copy)
/* Microseconds by the alignment of D: of stores and first loads of a whole round; of the stores of a share
 * in a round that is not, and of its first loads; of what there is once in a launch. */
#define LEAST_D_LISTS(L) L(end) L(store) L(again) L(fixed)

/* Alignments of an operand: powers of two up to MODEL_ALIGN_MAX. */
enum { ALIGNS = MODEL_ALIGNS, ALIGNS_AB = ALIGNS * ALIGNS };
_Static_assert(1 << (ALIGNS - 1) == MODEL_ALIGN_MAX, "the last alignment is the largest");
static int level_of(int32_t align) { return __builtin_ctz((unsigned)align | MODEL_ALIGN_MAX); }

/* The lists of FLOATS kernels lie side by side. */
typedef struct {
#define LEAST_FIELD(name) float name[FLOATS];
    LEAST_LISTS(LEAST_FIELD)
    float coefficient[MODEL_SHAPE][FLOATS];
} LeastPart;
typedef struct {
    LEAST_AB_LISTS(LEAST_FIELD)
} LeastChunk;
typedef struct {
    LEAST_D_LISTS(LEAST_FIELD)
#undef LEAST_FIELD
} LeastEnds;

struct ModelLeast {
    LeastPart *part;
    LeastChunk *chunk[ALIGNS_AB];
    LeastEnds *ends[ALIGNS];
    bool copies[ALIGNS_AB]; /* any kernel copies A or B then */
    float least_stays;      /* the least of `stays` */
};

Err model_least_new(Arena *a, size_t n, ModelLeast **out)
{
    const size_t parts = floats_padded(n) / FLOATS;
    ModelLeast *l = *out = ARENA_NEW(a, ModelLeast);
    TRY_ALLOC(l);
    TRY_ALLOC(l->part = ARENA_LINES(a, parts, LeastPart));
    for (int ab = 0; ab < ALIGNS_AB; ab++) TRY_ALLOC(l->chunk[ab] = ARENA_LINES(a, parts, LeastChunk));
    for (int d = 0; d < ALIGNS; d++) TRY_ALLOC(l->ends[d] = ARENA_LINES(a, parts, LeastEnds));
    l->least_stays = INFINITY;
    return ERR_OK;
}

static double most(double a, double b) { return a > b ? a : b; }

/* The part of a round's tiles that is inside D, at least, along a square's side. */
static const double EDGES = 0.7;
/* A share of a compute unit is a work-group. Of kernels that cut tiles it is a small part of one, so that
 * bounds have no steps. */
static const double CUTS = 64;
/* A number below this one counts as the whole number below it when it is rounded up. */
static const float WHOLE = 0.9999F;

static double fourth(double x) { return x * x * (x * x); }

static bool is_cut(const ModelKernel *k) { return k->split_kind == MODEL_SPLIT_STREAM; }
static double shares_of(const ModelKernel *k) { return is_cut(k) ? CUTS : 1; }

/* What the clock loses to power in a chunk of a work-group. */
static double power_us(const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    const double math = 2.0 * k->tile_m * k->tile_n * k->depth / (double)k->rate;
    return 1e6 / d->clock_hz * r->power * (r->math < 1 ? math : math / r->math);
}

/* Register tiles of all threads, one element of K at a time. lane: of the kernel in its parts. */
static void least_of_host(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r)
{
    const size_t at = i / FLOATS, lane = i % FLOATS;
    const double unit = 2.0 * k->unit_m * k->unit_n,
                 round = 1e6 * unit / ((double)k->rate * r->math * d->clock_hz * d->n_cu);
    LeastPart *x = &l->part[at];
    x->per_m[lane] = 1 / (float)k->unit_m, x->per_n[lane] = 1 / (float)k->unit_n;
    x->each[lane] = x->per_k[lane] = x->slots[lane] = x->per_slot[lane] = x->per_cu[lane] = 1;
    x->whole[lane] = 1, x->stays[lane] = INFINITY;
    for (int ab = 0; ab < ALIGNS_AB; ab++) {
        l->chunk[ab][at].round[lane] = (float)round;
        l->chunk[ab][at].round_4[lane] = (float)fourth(round);
    }
    for (int level = 0; level < ALIGNS; level++) l->ends[level][at].fixed[lane] = (float)(1e6 * r->launch_s);
}

/* A chunk of K for operands with these alignments. */
static void least_of_chunk(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                           const ModelRates *r, int level_a, int level_b)
{
    const size_t lane = i % FLOATS;
    const int32_t a = 1 << level_a, b = 1 << level_b;
    const int ab = level_a + ALIGNS * level_b;
    const ModelChunk c = model_chunk(k, d, r, a, b);
    /* a compute unit takes 64 bytes in a clock from the L2 cache, and all of them what it can give */
    const double us = 1e6 / d->clock_hz, groups = k->groups, l2 = model_l2_bytes(k, a, b, NULL) / r->l2,
                 one = us * l2 / 64, all = most(one, 1e6 * l2 / d->l2_rate * model_cus(k, d));
    const double round_4 = fourth(us * groups * c.math) + fourth(us * groups * c.local) +
                           fourth(groups * all) + fourth(us * c.latency);
    const bool copied = model_is_copied(k->pack_a, a) || model_is_copied(k->pack_b, b);
    LeastChunk *x = &l->chunk[ab][i / FLOATS];
    x->round_4[lane] = (float)round_4;
    x->round[lane] = (float)(sqrt(sqrt(round_4)) + us * model_wait_clocks(k, r) + groups * power_us(k, d, r));
    x->share_4[lane] = (float)(fourth(us * c.math) + fourth(us * c.local) + fourth(one));
    x->still_4[lane] = (float)fourth(us * c.latency);
    if (is_cut(k)) x->share_4[lane] = (float)(round_4 / fourth(CUTS * groups)), x->still_4[lane] = 0;
    x->copy[lane] = copied ? (float)(1e6 * r->split_s) : 0;
    l->copies[ab] |= copied;
}

/* First loads, stores and what there is once, for results with this alignment. */
static void least_of_ends(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r, int level)
{
    const size_t lane = i % FLOATS;
    const double us = 1e6 / d->clock_hz, groups = k->groups, group = us * r->group_clocks,
                 fill = group + us * r->load_clocks, part = k->persistent > 1 ? 0.3 : 1,
                 again = k->persistent == 0   ? fill / groups
                         : k->persistent == 1 ? group
                                              : 0;
    const double store = us * model_store_clocks(k, d, r, 1 << level, false);
    LeastEnds *x = &l->ends[level][i / FLOATS];
    x->end[lane] = (float)(store * groups * part + again);
    x->store[lane] = is_cut(k) ? 0 : (float)(store * part);
    x->again[lane] = (float)(is_cut(k) ? again + store * part : again);
    x->fixed[lane] =
        (float)(1e6 * (r->launch_s + model_sums(k, d, r).launch_s) + fill - again + store * (1 - part));
}

/* What does not depend on alignments. */
static void least_of_part(LeastPart *x, size_t lane, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r)
{
    /* Corrections of files count these rounds, although there are more where parts of K are a cluster. */
    const double cluster = (double)k->cluster_m * k->cluster_n, cus = model_cluster_cus(d->n_cu, cluster),
                 slots = cus * k->groups, ab = (double)k->bytes_ab * k->depth,
                 dram_us = 1e6 / (d->dram_rate * r->dram);
    const ModelSums sums = model_sums(k, d, r);
    x->per_m[lane] = (float)(1.0 / k->tile_m / k->cluster_m);
    x->per_n[lane] = (float)(1.0 / k->tile_n / k->cluster_n);
    x->each[lane] = (float)(cluster * k->split), x->per_k[lane] = (float)(1.0 / k->depth / k->split);
    x->slots[lane] = (float)slots, x->per_slot[lane] = (float)(1 / slots);
    x->per_cu[lane] = (float)(shares_of(k) / cus), x->whole[lane] = is_cut(k) ? 0 : WHOLE;
    x->once[lane] = is_cut(k) || cus > model_cus(k, d) ? 0 : (float)(dram_us * k->split * ab);
    /* the rows and columns of a round's tiles are at least two sides of a square of them */
    const double sides = 2 * sqrt((double)k->tile_m * k->tile_n * slots * k->split);
    x->dram[lane] = (float)(dram_us * EDGES * sides * ab);
    x->stays[lane] = (float)(MODEL_RESIDENT * d->l2_bytes / k->bytes_ab);
    x->waits[lane] = is_cut(k) ? 0 : (float)(1e6 / d->clock_hz * model_wait_clocks(k, r));
    x->power[lane] = (float)(power_us(k, d, r) / shares_of(k));
    x->sum[lane] = (float)(1e6 * sums.element_bytes / most(sums.l2_rate, sums.dram_rate));
    const float element = (float)(1e6 * model_copy_seconds(k, d, r));
    x->copy_a[lane] = model_is_copied(k->pack_a, MODEL_ALIGN_MAX) ? element : 0;
    x->copy_b[lane] = model_is_copied(k->pack_b, MODEL_ALIGN_MAX) ? element : 0;
    x->copy_a_odd[lane] = model_is_copied(k->pack_a, 1) ? element : 0;
    x->copy_b_odd[lane] = model_is_copied(k->pack_b, 1) ? element : 0;
}

/* Kernels with other sides than the problem have other work-groups (model.c); their launch is a bound. */
static void least_of_others(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                            const ModelRates *r)
{
    const size_t at = i / FLOATS, lane = i % FLOATS;
    LeastPart *x = &l->part[at];
    x->once[lane] = x->dram[lane] = x->waits[lane] = x->power[lane] = x->sum[lane] = 0;
    for (int ab = 0; ab < ALIGNS_AB; ab++) {
        LeastChunk *c = &l->chunk[ab][at];
        c->round[lane] = c->round_4[lane] = c->share_4[lane] = c->still_4[lane] = c->copy[lane] = 0;
    }
    for (int level = 0; level < ALIGNS; level++) {
        LeastEnds *e = &l->ends[level][at];
        e->end[lane] = e->store[lane] = e->again[lane] = 0;
        e->fixed[lane] = (float)(1e6 * (r->launch_s + model_sums(k, d, r).launch_s));
    }
}

void model_least_set(ModelLeast *l, size_t i, const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    LeastPart *x = &l->part[i / FLOATS];
    const size_t lane = i % FLOATS;
    if (d->n_cu <= 0) { /* no numbers */
        for (int level = 0; level < ALIGNS; level++) l->ends[level][i / FLOATS].fixed[lane] = INFINITY;
        return;
    }
    if (k->class == MODEL_HOST) {
        least_of_host(l, i, k, d, r);
        return;
    }
    least_of_part(x, lane, k, d, r);
    if (model_has_other_sides(k)) {
        least_of_others(l, i, k, d, r);
        return;
    }
    l->least_stays = x->stays[lane] < l->least_stays ? x->stays[lane] : l->least_stays;
    for (int a = 0; a < ALIGNS; a++)
        for (int b = 0; b < ALIGNS; b++) least_of_chunk(l, i, k, d, r, a, b);
    for (int level = 0; level < ALIGNS; level++) least_of_ends(l, i, k, d, r, level);
}

/* Whole numbers towards zero, of x up to 2e9. */
FLOATS_INLINE Floats down(Floats x)
{
    return __builtin_convertvector(__builtin_convertvector(x, FloatsMask), Floats);
}

/* The whole number that is not below x; a little above a whole number counts as that. */
FLOATS_INLINE Floats up(Floats x) { return down(x + WHOLE); }

/* Numbers of a size, in bounds within which counts that follow from them can be rounded, and a little less,
 * because reciprocals round. */
static float bounded(double x) { return x < 2e9 ? (float)x : 2e9F; }
static float side(double x) { return 0.999999F * bounded(x); }

#define LIST(name) floats_load(x->name)

/* Work-groups of a kernel, and the rounds in which they run. */
typedef struct {
    Floats groups, full,
        rest; /* full: whole rounds; rest: work-groups of the last one, where it is not whole */
} Rounds;

FLOATS_INLINE Rounds rounds_of(const LeastPart *x, float m, float n, float batch)
{
    const Floats groups = up(m * LIST(per_m)) * up(n * LIST(per_n)) * batch * LIST(each);
    const Floats full = down(floats_min(groups * LIST(per_slot), floats_of(2e9F)));
    /* the least of both also keeps compilers from rounding the product and the difference once only, so that
     * corrections of one kernel and of all are the same */
    return (Rounds){groups, full, groups - floats_min(full * LIST(slots), groups)};
}

/* ---- corrections ---- */

/* Members of a shape that depend on the size alone are the first ones. */
enum { SHAPE_SIZE = 13, SHAPE_GROUPS = SHAPE_SIZE, SHAPE_LAST, SHAPE_ROUNDS };

FLOATS_INLINE void shape_of_size(const ModelSize *z, float shape[SHAPE_SIZE])
{
    const Floats x = floats_log2((Floats){(float)z->m, (float)z->n, (float)z->k, (float)z->batch}) * 0.1F;
    const float aligned = model_aligned(z);
    const float of[SHAPE_SIZE] = {
        1,           x[0],        x[1],        x[2],        2 * x[3],    aligned,    aligned * aligned,
        x[0] * x[0], x[1] * x[1], x[2] * x[2], x[0] * x[1], x[0] * x[2], x[1] * x[2]};
    for (int s = 0; s < SHAPE_SIZE; s++) shape[s] = of[s];
}

FLOATS_INLINE void shape_of_rounds(const LeastPart *x, const Rounds *r,
                                   Floats shape[MODEL_SHAPE - SHAPE_SIZE])
{
    const Floats some = floats_pick(r->rest > 0.5F, floats_of(1), floats_of(0));
    shape[SHAPE_GROUPS - SHAPE_SIZE] = floats_log2(r->groups) * 0.1F;
    shape[SHAPE_LAST - SHAPE_SIZE] = floats_pick(r->rest > 0.5F, r->rest * LIST(per_slot), floats_of(1));
    shape[SHAPE_ROUNDS - SHAPE_SIZE] = floats_log2(r->full + some) * 0.2F;
}

#define TERM(s) size[s] * LIST(coefficient[s])
_Static_assert(SHAPE_SIZE == 13 && MODEL_SHAPE == 16, "a term for each");

FLOATS_INLINE Floats correction_of(const LeastPart *x, const float size[SHAPE_SIZE], const Rounds *r)
{
    const Floats least = floats_of(-MODEL_CORRECTION_MOST), most_of = floats_of(MODEL_CORRECTION_MOST);
    Floats of[MODEL_SHAPE - SHAPE_SIZE];
    shape_of_rounds(x, r, of);
    /* compilers do not unroll a loop over the terms, nor add them up in parallel */
    Floats sum = ((TERM(0) + TERM(1)) + (TERM(2) + TERM(3))) + ((TERM(4) + TERM(5)) + (TERM(6) + TERM(7))) +
                 (((TERM(8) + TERM(9)) + (TERM(10) + TERM(11))) + TERM(12));
    sum += of[0] * LIST(coefficient[SHAPE_SIZE]) + of[1] * LIST(coefficient[SHAPE_SIZE + 1]) +
           of[2] * LIST(coefficient[SHAPE_SIZE + 2]);
    return floats_max(floats_min(sum, most_of), least);
}

void model_least_correct(ModelLeast *l, size_t kernel, const ModelShape coefficient)
{
    for (int s = 0; s < MODEL_SHAPE; s++)
        l->part[kernel / FLOATS].coefficient[s][kernel % FLOATS] = coefficient[s];
}

void model_shape(const ModelLeast *l, size_t kernel, const ModelSize *z, ModelShape shape)
{
    const LeastPart *x = &l->part[kernel / FLOATS];
    const Rounds r = rounds_of(x, side(z->m), side(z->n), bounded(z->batch));
    Floats of[MODEL_SHAPE - SHAPE_SIZE];
    shape_of_size(z, shape);
    shape_of_rounds(x, &r, of);
    for (int s = SHAPE_SIZE; s < MODEL_SHAPE; s++) shape[s] = of[s - SHAPE_SIZE][kernel % FLOATS];
}

float model_correction(const ModelLeast *l, size_t kernel, const ModelSize *z)
{
    const LeastPart *x = &l->part[kernel / FLOATS];
    const Rounds r = rounds_of(x, side(z->m), side(z->n), bounded(z->batch));
    float size[SHAPE_SIZE];
    shape_of_size(z, size);
    return correction_of(x, size, &r)[kernel % FLOATS];
}

/* ---- all kernels ---- */

FLOATS_INLINE Floats fourth_of(Floats x)
{
    const Floats square = x * x;
    return square * square;
}

FLOATS_INLINE Floats where(FloatsMask mask, Floats x) { return (Floats)((FloatsMask)x & mask); }

/* What the kernels have in common. */
typedef struct {
    float m, n, k, batch, in_a, in_b, out; /* elements of A, B and D */
    float once, distinct; /* elements of A and B that are distinct in memory, in a row of K and in all */
    float shared;         /* the lesser share of distinct ones */
    bool odd_a, odd_b;
    bool copies, streams; /* any kernel copies; A and B do not stay in the L2 cache with any kernel */
} Common;

FLOATS_INLINE Common common_of(const ModelLeast *l, const ModelSize *z, bool copies)
{
    const float once_a = z->once_a > 0 ? (float)z->once_a : 1, once_b = z->once_b > 0 ? (float)z->once_b : 1;
    Common c = {.m = side(z->m),
                .n = side(z->n),
                .k = side(z->k),
                .batch = bounded(z->batch),
                .shared = once_a < once_b ? once_a : once_b,
                .odd_a = z->align_a < MODEL_ENGINE_ALIGN,
                .odd_b = z->align_b < MODEL_ENGINE_ALIGN,
                .copies = copies};
    c.in_a = c.m * c.k * c.batch, c.in_b = c.n * c.k * c.batch, c.out = c.m * c.n * c.batch;
    c.once = (c.m * once_a + c.n * once_b) * c.batch, c.distinct = c.once * c.k;
    c.streams = c.distinct > l->least_stays;
    return c;
}

/* Microseconds of whole rounds. */
FLOATS_INLINE Floats whole_of(const LeastPart *x, const LeastChunk *chunk, const LeastEnds *ends,
                              const Common *c, Floats full, Floats chunks)
{
    Floats round = floats_load(chunk->round);
    if (c->streams) {
        const Floats comes = floats_max(1 - LIST(stays) / c->distinct, floats_of(0)),
                     dram_4 = fourth_of(comes * c->shared * LIST(dram));
        round = floats_max(round, floats_root4(floats_load(chunk->round_4) + dram_4) + LIST(waits));
    }
    return full * (chunks * round + floats_load(ends->end));
}

/* Microseconds of the last round, which is not whole. A single round loads A and B once. */
FLOATS_INLINE Floats last_of(const LeastPart *x, const LeastChunk *chunk, const LeastEnds *ends,
                             const Common *c, const Rounds *r, Floats chunks)
{
    const Floats shares = down(r->rest * LIST(per_cu) + LIST(whole)),
                 dram_4 = where(r->full < 0.5F, fourth_of(c->once * LIST(once)));
    const Floats loop =
        floats_root4(fourth_of(shares) * floats_load(chunk->share_4) + floats_load(chunk->still_4) + dram_4);
    const Floats of_share = chunks * LIST(power) + floats_load(ends->store);
    return where(r->rest > 0.5F,
                 chunks * (loop + LIST(waits)) + shares * of_share + floats_load(ends->again));
}

/* Microseconds of copying A and B. */
FLOATS_INLINE Floats copies_of(const LeastPart *x, const LeastChunk *chunk, const Common *c)
{
    const Floats a = floats_load(c->odd_a ? x->copy_a_odd : x->copy_a),
                 b = floats_load(c->odd_b ? x->copy_b_odd : x->copy_b);
    return floats_load(chunk->copy) + c->in_a * a + c->in_b * b;
}

/* Bounds and corrections are two loops, each over a few parts at once: the processor looks ahead over several
 * turns of a short loop only. */
enum { TURNS = 32 };

FLOATS_INLINE void bounds_of(const LeastPart *x, const LeastChunk *chunk, const LeastEnds *ends,
                             const Common *c, size_t parts, Rounds *r, float *out)
{
    for (size_t i = 0; i < parts; i++, x++, chunk++, ends++) {
        r[i] = rounds_of(x, c->m, c->n, c->batch);
        const Floats chunks = up(c->k * LIST(per_k));
        Floats all = whole_of(x, chunk, ends, c, r[i].full, chunks) +
                     last_of(x, chunk, ends, c, &r[i], chunks) + floats_load(ends->fixed) +
                     c->out * LIST(sum);
        if (c->copies) all += copies_of(x, chunk, c);
        floats_store(&out[i * FLOATS], all);
    }
}

FLOATS_CLONES
static void all_of(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction)
{
    const int ab = level_of(z->align_a) + ALIGNS * level_of(z->align_b);
    const LeastEnds *ends = l->ends[level_of(z->align_d)];
    const Common c = common_of(l, z, l->copies[ab]);
    const size_t parts = floats_padded(n) / FLOATS;
    float size[SHAPE_SIZE];
    Rounds r[TURNS];
    shape_of_size(z, size);
    for (size_t i = 0; i < parts; i += TURNS) {
        const size_t turns = parts - i < TURNS ? parts - i : TURNS;
        bounds_of(&l->part[i], &l->chunk[ab][i], &ends[i], &c, turns, r, &out[i * FLOATS]);
        for (size_t k = 0; k < turns; k++)
            floats_store(&correction[(i + k) * FLOATS], correction_of(&l->part[i + k], size, &r[k]));
    }
}

void model_least_us(const ModelLeast *l, size_t n, const ModelSize *z, float *out, float *correction)
{
    all_of(l, n, z, out, correction);
}
