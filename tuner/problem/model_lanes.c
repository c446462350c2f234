/* Predicted times of many kernels at once. See model_lanes.h.
 *
 * A launch is rounds of all compute units, as in model.c: of work-groups that multiply, wait, fill the
 * pipeline, store, and load from DRAM what does not stay in the L2 cache. The numbers are arrays over the
 * kernels, so that the compiler vectorises the loop; of those that depend on the alignment of A, B or D there
 * is an array for each case. Times that are powers of others are added up as fourth powers.
 */
#include "problem/model_lanes.h"

#include <math.h>

#include "problem/floats.h"

#define LANES_LISTS(L)                                                                                       \
    L(per_m) /* clusters of an element of M; host: vectors */                                                \
    L(per_n)                                                                                                 \
    L(each)  /* work-groups of a cluster, parts of K included */                                             \
    L(per_k) /* chunks of an element of K */                                                                 \
    L(slots) /* work-groups that run at once */                                                              \
    L(per_slot)                                                                                              \
    L(per_cu) /* shares of a compute unit of a work-group */                                                 \
    L(cus)                                                                                                   \
    L(whole) /* almost 1: shares count as whole ones; 0: parts of them count */                              \
    L(once)  /* microseconds of DRAM for a chunk of a row of A or B in a single round */                     \
    L(rows)  /* the same in one of several rounds */                                                         \
    L(stays) /* elements of A and B that stay in the L2 cache */                                             \
    L(waits) /* microseconds of waits for others of a cluster in a chunk */                                  \
    L(power) /* that the clock loses to power in a chunk of one share */                                     \
    L(fill)  /* microseconds of first loads: of the launch, of a later round, of one share of that */        \
    L(again)                                                                                                 \
    L(again_each)                                                                                            \
    L(late) /* of a round in which parts of a tile wait for parts that do not run yet */                     \
    L(sum)  /* of an element of D, of adding up parts of K in the L2 cache; in DRAM */                       \
    L(sum_far)                                                                                               \
    L(sum_stays) /* elements of D whose parts stay in the L2 cache */                                        \
    L(copy_a)    /* of copying an element of A that is aligned; one that is not */                           \
    L(copy_a_odd)                                                                                            \
    L(copy_b)                                                                                                \
    L(copy_b_odd)

/* Of the order of work-groups: tiles of a cluster, elements of a tile, the width of a band of tiles, 1 where
 * bands lie along N, parts of K. */
#define LANES_ORDER_LISTS(L)                                                                                 \
    L(cluster_m) L(cluster_n) L(tile_m) L(tile_n) L(width) L(bands_n) L(part) L(per_part)

/* Of a chunk of K, by the alignments of A and B: microseconds of a whole round with what stays in the L2
 * cache, waits and power included; the fourth power of those without waits and power, and these; fourth
 * powers of what grows with the shares on a compute unit, for one of them, and of what does not. Microseconds
 * of the L2 cache, for a share and for each compute unit that is busy; of the launch that copies A or B. */
#define LANES_AB_LISTS(L) L(round) L(round_4) L(still) L(share_4) L(still_4) L(l2) L(l2_all) L(copy)
/* Microseconds by the alignment of D: of stores and first loads of the first whole round, and of one of the
 * others; of the stores of a share in a single round, and in the last one of several; of the stores of that
 * round in any case; of what there is once in a launch. */
#define LANES_D_LISTS(L) L(first) L(end) L(store) L(store_again) L(last) L(fixed)

/* Alignments of an operand: powers of two up to MODEL_ALIGN_MAX. */
enum { ALIGNS = MODEL_ALIGNS, ALIGNS_AB = ALIGNS * ALIGNS };
_Static_assert(1 << (ALIGNS - 1) == MODEL_ALIGN_MAX, "the last alignment is the largest");
static int level_of(int32_t align) { return __builtin_ctz((unsigned)align | MODEL_ALIGN_MAX); }

/* The lists of FLOATS kernels lie side by side, none of them in two lines of the cache. */
typedef struct {
#define LANES_FIELD(name) _Alignas(Floats) float name[FLOATS];
    LANES_LISTS(LANES_FIELD)
    LANES_ORDER_LISTS(LANES_FIELD)
    bool any_late; /* is not 0 of all kernels */
} LanesPart;
typedef struct {
    LANES_AB_LISTS(LANES_FIELD)
} LanesChunk;
typedef struct {
    LANES_D_LISTS(LANES_FIELD)
#undef LANES_FIELD
} LanesEnds;

struct ModelLanes {
    LanesPart *part;
    LanesChunk *chunk[ALIGNS_AB];
    LanesEnds *ends[ALIGNS][2]; /* without and with C */
    bool copies[ALIGNS_AB];     /* any kernel copies A or B then */
    float least_stays;          /* the least of `stays` */
};

Err model_lanes_new(Arena *a, size_t n, ModelLanes **out)
{
    const size_t parts = floats_padded(n) / FLOATS;
    ModelLanes *l = *out = ARENA_NEW(a, ModelLanes);
    TRY_ALLOC(l);
    TRY_ALLOC(l->part = ARENA_LINES(a, parts, LanesPart));
    for (int ab = 0; ab < ALIGNS_AB; ab++) TRY_ALLOC(l->chunk[ab] = ARENA_LINES(a, parts, LanesChunk));
    for (int d = 0; d < 2 * ALIGNS; d++) TRY_ALLOC(l->ends[d / 2][d % 2] = ARENA_LINES(a, parts, LanesEnds));
    l->least_stays = INFINITY;
    return ERR_OK;
}

static double most(double a, double b) { return a > b ? a : b; }

/* A share of a compute unit is a work-group. Of kernels that cut tiles it is a small part of one, so that
 * bounds have no steps. */
static const double CUTS = 64;
/* A number below this one counts as the whole number below it when it is rounded up. */
static const float WHOLE = 0.9999F;

static double fourth(double x) { return x * x * (x * x); }

static bool is_cut(const ModelKernel *k) { return k->split_kind == MODEL_SPLIT_STREAM; }

bool model_lanes_is_time(const ModelKernel *k) { return model_is_plain(k) && !is_cut(k); }

static double shares_of(const ModelKernel *k) { return is_cut(k) ? CUTS : 1; }

/* What the clock loses to power in a chunk of a work-group. */
static double power_us(const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    const double math = 2.0 * k->tile_m * k->tile_n * k->depth / (double)k->rate;
    return 1e6 / d->clock_hz * r->power * (r->math < 1 ? math : math / r->math);
}

/* Whole vectors and columns of all threads, one element of K at a time. lane: of the kernel in its parts. */
static void lanes_of_host(ModelLanes *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r)
{
    const size_t at = i / FLOATS, lane = i % FLOATS;
    const double step_m = model_host_step(k->load_a, k->bytes_ab, k->unit_m),
                 step_n = model_host_step(k->load_b, k->bytes_ab, k->unit_n), unit = 2.0 * step_m * step_n,
                 round = 1e6 * unit / (model_host_rate(k, r) * d->clock_hz * d->n_cu);
    LanesPart *x = &l->part[at];
    x->per_m[lane] = (float)(1 / step_m), x->per_n[lane] = (float)(1 / step_n);
    x->each[lane] = x->per_k[lane] = x->slots[lane] = x->per_slot[lane] = x->per_cu[lane] = 1;
    x->cluster_m[lane] = x->cluster_n[lane] = x->width[lane] = x->part[lane] = 1;
    x->whole[lane] = 1, x->stays[lane] = INFINITY;
    for (int ab = 0; ab < ALIGNS_AB; ab++) {
        l->chunk[ab][at].round[lane] = (float)round;
        l->chunk[ab][at].round_4[lane] = (float)fourth(round);
    }
    for (int level = 0; level < 2 * ALIGNS; level++)
        l->ends[level / 2][level % 2][at].fixed[lane] = (float)(1e6 * r->launch_s);
}

/* A chunk of K for operands with these alignments. */
static void lanes_of_chunk(ModelLanes *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                           const ModelRates *r, int level_a, int level_b)
{
    const size_t lane = i % FLOATS;
    const int32_t a = 1 << level_a, b = 1 << level_b;
    const int ab = level_a + ALIGNS * level_b;
    const ModelChunk c = model_chunk(k, d, r, a, b);
    /* a compute unit takes 64 bytes in a clock from the L2 cache, and all of them what it can give */
    const double us = 1e6 / d->clock_hz, groups = k->groups, l2 = model_l2_bytes(k, a, b, NULL) / r->l2,
                 one = us * l2 / 64, all = 1e6 * l2 / d->l2_rate, busy = most(one, all * model_cus(k, d));
    const double round_4 = fourth(us * groups * c.math) + fourth(us * groups * c.local) +
                           fourth(groups * busy) + fourth(us * c.latency);
    const bool copied = model_is_copied(k->pack_a, a) || model_is_copied(k->pack_b, b);
    LanesChunk *x = &l->chunk[ab][i / FLOATS];
    x->round_4[lane] = (float)round_4;
    x->still[lane] = (float)(us * model_wait_clocks(k, r) + groups * power_us(k, d, r));
    x->round[lane] = (float)sqrt(sqrt(round_4)) + x->still[lane];
    x->share_4[lane] = (float)(fourth(us * c.math) + fourth(us * c.local));
    x->still_4[lane] = (float)fourth(us * c.latency);
    x->l2[lane] = (float)one, x->l2_all[lane] = model_lanes_is_time(k) ? (float)all : 0;
    if (is_cut(k)) {
        x->share_4[lane] = (float)(round_4 / fourth(CUTS * groups));
        x->still_4[lane] = x->l2[lane] = 0;
    }
    x->copy[lane] = copied ? (float)(1e6 * r->split_s) : 0;
    if (!model_can_read(k, a, b)) x->copy[lane] = INFINITY;
    l->copies[ab] |= x->copy[lane] > 0;
}

/* Microseconds of a work-group's first loads in later rounds, where `groups` of a compute unit share them. */
static double again_us(const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    const double us = 1e6 / d->clock_hz, group = us * r->group_clocks;
    return k->persistent == 0 ? (group + us * r->load_clocks) / k->groups : k->persistent == 1 ? group : 0;
}

/* Stores and what there is once, for results with this alignment. */
static void lanes_of_ends(ModelLanes *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r, int level, bool reads_c)
{
    const size_t lane = i % FLOATS;
    const double us = 1e6 / d->clock_hz, again = again_us(k, d, r),
                 fill = us * (r->group_clocks + r->load_clocks), part = k->persistent > 1 ? 0.3 : 1,
                 store = us * model_store_clocks(k, d, r, 1 << level, reads_c),
                 launch = 1e6 * (r->launch_s + model_sums(k, d, r).launch_s);
    LanesEnds *x = &l->ends[level][reads_c][i / FLOATS];
    x->end[lane] = (float)(store * k->groups * part + again);
    if (model_lanes_is_time(k)) {
        x->first[lane] = (float)(fill + store * k->groups);
        x->store[lane] = (float)store, x->store_again[lane] = (float)(store * part);
        x->fixed[lane] = (float)launch;
        return;
    }
    x->first[lane] = x->end[lane];
    x->store[lane] = x->store_again[lane] = is_cut(k) ? 0 : (float)(store * part);
    x->last[lane] = is_cut(k) ? (float)(store * part) : 0;
    x->fixed[lane] = (float)(launch + fill - again + store * (1 - part));
}

/* What depends on the order of work-groups. */
static void lanes_of_order(LanesPart *x, size_t lane, const ModelKernel *k)
{
    x->cluster_m[lane] = (float)k->cluster_m, x->cluster_n[lane] = (float)k->cluster_n;
    x->tile_m[lane] = (float)k->tile_m, x->tile_n[lane] = (float)k->tile_n;
    x->width[lane] = (float)(k->mapping < 0 ? -k->mapping : k->mapping > 1 ? k->mapping : 1);
    x->bands_n[lane] = k->mapping >= 0, x->part[lane] = (float)k->split;
    x->per_part[lane] = (float)(1.0 / k->split);
}

/* What does not depend on alignments. */
static void lanes_of_part(LanesPart *x, size_t lane, const ModelKernel *k, const ModelDevice *d,
                          const ModelRates *r)
{
    const double cluster = (double)k->cluster_m * k->cluster_n, cus = model_cus(k, d),
                 slots = cus * k->groups, ab = (double)k->bytes_ab * k->depth,
                 row_us = 1e6 / (d->dram_rate * r->dram) * k->split * ab, again = again_us(k, d, r);
    const bool is_time = model_lanes_is_time(k);
    const ModelSums sums = model_sums(k, d, r);
    lanes_of_order(x, lane, k);
    x->per_m[lane] = (float)(1.0 / k->tile_m / k->cluster_m);
    x->per_n[lane] = (float)(1.0 / k->tile_n / k->cluster_n);
    x->each[lane] = (float)(cluster * k->split), x->per_k[lane] = (float)(1.0 / k->depth / k->split);
    x->slots[lane] = (float)slots, x->per_slot[lane] = (float)(1 / slots);
    x->per_cu[lane] = (float)(shares_of(k) / cus), x->whole[lane] = is_cut(k) ? 0 : WHOLE;
    x->cus[lane] = (float)cus;
    x->once[lane] = is_cut(k) ? 0 : (float)row_us;
    x->rows[lane] = is_time ? (float)row_us : 0;
    x->stays[lane] = (float)(MODEL_RESIDENT * d->l2_bytes / k->bytes_ab);
    x->waits[lane] = is_cut(k) ? 0 : (float)(1e6 / d->clock_hz * model_wait_clocks(k, r));
    x->power[lane] = (float)(power_us(k, d, r) / shares_of(k));
    x->fill[lane] = x->again[lane] = (float)again;
    if (is_time) {
        x->fill[lane] = (float)(1e6 / d->clock_hz * (r->group_clocks + r->load_clocks));
        x->again[lane] = k->persistent ? (float)again : 0;
        x->again_each[lane] = k->persistent ? 0 : x->fill[lane];
        x->late[lane] = (float)(1e6 * model_late_seconds(k));
        x->any_late |= x->late[lane] > 0;
    }
    x->sum[lane] =
        (float)(1e6 * sums.element_bytes / (is_time ? sums.l2_rate : most(sums.l2_rate, sums.dram_rate)));
    x->sum_far[lane] = is_time ? (float)(1e6 * sums.element_bytes / sums.dram_rate) : x->sum[lane];
    x->sum_stays[lane] = (float)(MODEL_RESIDENT * d->l2_bytes / most(sums.element_bytes, 1e-3));
    const float element = (float)(1e6 * model_copy_seconds(k, d, r));
    x->copy_a[lane] = model_is_copied(k->pack_a, MODEL_ALIGN_MAX) ? element : 0;
    x->copy_b[lane] = model_is_copied(k->pack_b, MODEL_ALIGN_MAX) ? element : 0;
    x->copy_a_odd[lane] = model_is_copied(k->pack_a, 1) ? element : 0;
    x->copy_b_odd[lane] = model_is_copied(k->pack_b, 1) ? element : 0;
}

/* Kernels with other sides than the problem have other work-groups (model.c); their launch is a bound. */
static void lanes_of_others(ModelLanes *l, size_t i, const ModelKernel *k, const ModelDevice *d,
                            const ModelRates *r)
{
    const size_t at = i / FLOATS, lane = i % FLOATS;
    LanesPart *x = &l->part[at];
    x->once[lane] = x->waits[lane] = x->power[lane] = x->fill[lane] = x->again[lane] = 0;
    x->sum[lane] = x->sum_far[lane] = 0;
    for (int ab = 0; ab < ALIGNS_AB; ab++) {
        LanesChunk *c = &l->chunk[ab][at];
        c->round[lane] = c->round_4[lane] = c->still[lane] = c->share_4[lane] = c->still_4[lane] = 0;
        c->l2[lane] = c->l2_all[lane] = c->copy[lane] = 0;
    }
    for (int level = 0; level < 2 * ALIGNS; level++) {
        LanesEnds *e = &l->ends[level / 2][level % 2][at];
        e->first[lane] = e->end[lane] = e->store[lane] = e->store_again[lane] = e->last[lane] = 0;
        e->fixed[lane] = (float)(1e6 * (r->launch_s + model_sums(k, d, r).launch_s));
    }
}

void model_lanes_set(ModelLanes *l, size_t i, const ModelKernel *k, const ModelDevice *d, const ModelRates *r)
{
    LanesPart *x = &l->part[i / FLOATS];
    const size_t lane = i % FLOATS;
    if (d->n_cu <= 0) { /* no numbers */
        for (int level = 0; level < 2 * ALIGNS; level++)
            l->ends[level / 2][level % 2][i / FLOATS].fixed[lane] = INFINITY;
        return;
    }
    if (k->class == MODEL_HOST) {
        lanes_of_host(l, i, k, d, r);
        return;
    }
    lanes_of_part(x, lane, k, d, r);
    if (model_has_other_sides(k)) {
        lanes_of_others(l, i, k, d, r);
        return;
    }
    l->least_stays = x->stays[lane] < l->least_stays ? x->stays[lane] : l->least_stays;
    for (int a = 0; a < ALIGNS; a++)
        for (int b = 0; b < ALIGNS; b++) lanes_of_chunk(l, i, k, d, r, a, b);
    for (int level = 0; level < 2 * ALIGNS; level++) lanes_of_ends(l, i, k, d, r, level / 2, level % 2);
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
    Floats groups, full, rest; /* of the last round, where it is not whole */
} Rounds;

FLOATS_INLINE Rounds rounds_of(const LanesPart *x, float m, float n, float batch)
{
    const Floats groups = up(m * LIST(per_m)) * up(n * LIST(per_n)) * batch * LIST(each);
    const Floats full = down(floats_min(groups * LIST(per_slot), floats_of(2e9F)));
    return (Rounds){groups, full, groups - full * LIST(slots)};
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
    float once_a, once_b;                  /* parts of A and B that are distinct in memory */
    float once, distinct;                  /* elements that are, in a row of K and in all */
    bool odd_a, odd_b;
    bool copies, streams; /* any kernel copies; A and B do not stay in the L2 cache with any kernel */
} Common;

FLOATS_INLINE Common common_of(const ModelLanes *l, const ModelSize *z, bool copies)
{
    Common c = {.m = side(z->m),
                .n = side(z->n),
                .k = side(z->k),
                .batch = bounded(z->batch),
                .once_a = (float)model_once(z->once_a),
                .once_b = (float)model_once(z->once_b),
                .odd_a = z->align_a < MODEL_ENGINE_ALIGN,
                .odd_b = z->align_b < MODEL_ENGINE_ALIGN,
                .copies = copies};
    c.in_a = c.m * c.k * c.batch, c.in_b = c.n * c.k * c.batch, c.out = c.m * c.n * c.batch;
    c.once = (c.m * c.once_a + c.n * c.once_b) * c.batch, c.distinct = c.once * c.k;
    c.streams = c.distinct > l->least_stays;
    return c;
}

/* Tiles along both sides, whole clusters. */
typedef struct {
    Floats m, n;
} Tiles;

/* Rows of A and B that a round of that many work-groups loads, about as traffic_of_wave counts them. */
FLOATS_INLINE Floats rows_of(const LanesPart *x, const Common *c, Tiles t, Floats groups)
{
    const Floats matrix = t.m * t.n, in_part = floats_max(groups * LIST(per_part), floats_of(1)),
                 ids = floats_min(in_part, matrix);
    const FloatsMask along_n = LIST(bands_n) > 0.5F;
    const Floats tiles = floats_pick(along_n, t.n, t.m), across = floats_pick(along_n, t.m, t.n);
    const Floats n_along = floats_min(floats_max(floats_min(LIST(width), ids), ids / across), tiles),
                 n_across = floats_min(ids / n_along, across);
    const Floats m = floats_min(floats_pick(along_n, n_across, n_along) * LIST(tile_m), floats_of(c->m)),
                 n = floats_min(floats_pick(along_n, n_along, n_across) * LIST(tile_n), floats_of(c->n));
    const Floats rows = m * c->once_a + n * c->once_b;
    return c->batch > 1 ? rows * floats_max(in_part / matrix, floats_of(1)) : rows;
}

/* The part of A and B that does not stay in the L2 cache. */
FLOATS_INLINE Floats comes_of(const LanesPart *x, const Common *c)
{
    return floats_max(1 - LIST(stays) / c->distinct, floats_of(0));
}

/* Microseconds of whole rounds. All of A and B comes from DRAM in the first one. */
FLOATS_INLINE Floats whole_of(const LanesPart *x, const LanesChunk *chunk, const LanesEnds *ends,
                              const Common *c, Tiles t, Floats full, Floats chunks)
{
    const Floats dram = rows_of(x, c, t, LIST(slots)) * LIST(rows), round_4 = floats_load(chunk->round_4),
                 still = floats_load(chunk->still), first = floats_root4(round_4 + fourth_of(dram)) + still;
    Floats again = floats_load(chunk->round);
    if (c->streams) again = floats_root4(round_4 + fourth_of(dram * comes_of(x, c))) + still;
    return where(full > 0.5F, chunks * first + floats_load(ends->first) +
                                  (full - 1) * (chunks * again + floats_load(ends->end)));
}

/* Microseconds of the last round, which is not whole. A single round loads A and B once. */
FLOATS_INLINE Floats last_of(const LanesPart *x, const LanesChunk *chunk, const LanesEnds *ends,
                             const Common *c, const Rounds *r, Tiles t, Floats chunks)
{
    const Floats shares = down(r->rest * LIST(per_cu) + LIST(whole));
    const FloatsMask single = r->full < 0.5F;
    const Floats l2 =
        floats_max(floats_load(chunk->l2), floats_load(chunk->l2_all) * floats_min(LIST(cus), r->rest));
    Floats dram = where(single, c->once * LIST(once));
    if (c->streams) dram = floats_pick(single, dram, rows_of(x, c, t, r->rest) * LIST(rows) * comes_of(x, c));
    const Floats loop = floats_root4(fourth_of(shares) * (floats_load(chunk->share_4) + fourth_of(l2)) +
                                     floats_load(chunk->still_4) + fourth_of(dram));
    const Floats of_share =
        chunks * LIST(power) + floats_pick(single, floats_load(ends->store), floats_load(ends->store_again));
    const Floats fill =
        floats_pick(single, LIST(fill), LIST(again) + LIST(again_each) / floats_max(shares, floats_of(1)));
    return where(r->rest > 0.5F,
                 chunks * (loop + LIST(waits)) + shares * of_share + fill + floats_load(ends->last));
}

/* Microseconds for which parts of a tile wait for parts that do not run yet. */
FLOATS_INLINE Floats late_of(const LanesPart *x, const Rounds *r, Tiles t)
{
    const Floats late = floats_min(LIST(part) - LIST(slots) / t.m, floats_of(1)),
                 rounds = r->full + floats_pick(r->rest > 0.5F, floats_of(1), floats_of(0));
    return LIST(late) * floats_max(late, floats_of(0)) * rounds;
}

/* Microseconds of copying A and B. */
FLOATS_INLINE Floats copies_of(const LanesPart *x, const LanesChunk *chunk, const Common *c)
{
    const Floats a = floats_load(c->odd_a ? x->copy_a_odd : x->copy_a),
                 b = floats_load(c->odd_b ? x->copy_b_odd : x->copy_b);
    return floats_load(chunk->copy) + c->in_a * a + c->in_b * b;
}

FLOATS_INLINE void times_of(const LanesPart *x, const LanesChunk *chunk, const LanesEnds *ends,
                            const Common *c, ModelLanesTimes *out)
{
    const Rounds r = rounds_of(x, c->m, c->n, c->batch);
    const Floats chunks = up(c->k * LIST(per_k));
    const Tiles t = {up(c->m * LIST(per_m)) * LIST(cluster_m), up(c->n * LIST(per_n)) * LIST(cluster_n)};
    Floats us = last_of(x, chunk, ends, c, &r, t, chunks) + floats_load(ends->fixed) +
                c->out * floats_pick(LIST(sum_stays) > c->out, LIST(sum), LIST(sum_far));
    /* most small sizes have no whole round */
    if (floats_bits(r.full > 0.5F)) us += whole_of(x, chunk, ends, c, t, r.full, chunks);
    if (x->any_late) us += late_of(x, &r, t);
    if (c->copies) us += copies_of(x, chunk, c);
    floats_store(out->us, us);
    floats_store(out->groups, r.groups), floats_store(out->rounds, r.full), floats_store(out->rest, r.rest);
}

FLOATS_CLONES
static void all_of(const ModelLanes *l, const uint16_t *part, size_t n, const ModelSize *z,
                   ModelLanesTimes *out)
{
    const int ab = level_of(z->align_a) + ALIGNS * level_of(z->align_b);
    const LanesChunk *chunk = l->chunk[ab];
    const LanesEnds *ends = l->ends[level_of(z->align_d)][z->reads_c];
    const Common c = common_of(l, z, l->copies[ab]);
    for (size_t i = 0; i < n; i++) times_of(&l->part[part[i]], &chunk[part[i]], &ends[part[i]], &c, &out[i]);
}

void model_lanes_times(const ModelLanes *l, const uint16_t *part, size_t n, const ModelSize *z,
                       ModelLanesTimes *out)
{
    all_of(l, part, n, z, out);
}
