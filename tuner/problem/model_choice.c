/* The choice of a kernel by its predicted time. See model_choice.h. */
#include "problem/model_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/floats.h"

/* A kernel is good on a point where it takes at most so many times as long as the best one; the points behind
 * the first N_GOOD are far ones. With less of it the kernels are missed that a choice among all would find
 * (test/README.md). Libraries without trees have few points, which stand for sizes farther away. */
static const float GOOD[][MODEL_GOODS] = {{1.5F, 1.3F}, {1.15F, 1.1F}}; /* without trees, with them */
enum { N_GOOD = 3, WORD = 64 /* bits */ };

/* ---- preparation ---- */

Err model_choice_new(Arena *a, size_t n_kernels, size_t n_points, ModelChoice **out)
{
    ModelChoice *c = *out = ARENA_NEW(a, ModelChoice);
    TRY_ALLOC(c);
    c->n_parts = floats_padded(n_kernels) / FLOATS;
    c->n_words = (c->n_parts + WORD - 1) / WORD, c->n_point_words = (n_points + WORD - 1) / WORD;
    TRY_ALLOC(c->place = ARENA_ARRAY(a, n_kernels + 1, uint16_t));
    TRY_ALLOC(c->kernel = ARENA_ARRAY(a, n_kernels + 1, uint16_t));
    TRY_ALLOC(c->part = ARENA_ARRAY(a, c->n_parts + 1, uint16_t));
    TRY_ALLOC(c->is_time = ARENA_ARRAY(a, n_kernels + 1, bool));
    TRY_ALLOC(c->launch = ARENA_ARRAY(a, n_kernels + 1, ModelLaunchKernel));
    TRY_ALLOC(c->of = ARENA_LINES(a, (n_points + 1) * c->n_parts, ModelChoicePart));
    for (int i = 0; i < MODEL_GOODS; i++) {
        TRY_ALLOC(c->on[i] = ARENA_ARRAY(a, n_kernels * c->n_point_words + 1, uint64_t));
        TRY_ALLOC(c->good[i] = ARENA_ARRAY(a, n_points * c->n_words + 1, uint64_t));
    }
    return ERR_OK;
}

/* Of a kernel, an element of ModelChoicePart. */
static int32_t said_of(int16_t expected, int16_t near)
{
    return (int32_t)((uint32_t)(uint16_t)expected << 16 | (uint16_t)near);
}

static int16_t units_of(float x)
{
    const float units = x * MODEL_CHOICE_UNITS;
    return units < INT16_MIN ? INT16_MIN : units < INT16_MAX ? (int16_t)lrintf(units) : INT16_MAX;
}

/* Of a point, in the order of the kernels. */
typedef struct {
    int32_t said[MODEL_KERNELS_MAX];
    float seconds[MODEL_KERNELS_MAX], best;
} PointTimes;

static void point_times(const ModelSelector *s, size_t p, PointTimes *out)
{
    const ModelSize *z = &s->size[p];
    ModelNear near;
    ModelForestSize of;
    model_near(s, z, &near);
    if (s->forest) model_forest_size(s->forest, z, &of);
    out->best = INFINITY;
    for (size_t i = 0; i < s->n_kernels; i += MODEL_FOREST_LAUNCHES) {
        ModelExpected x[MODEL_FOREST_LAUNCHES];
        size_t kernel[MODEL_FOREST_LAUNCHES];
        int n = 0;
        for (; n < MODEL_FOREST_LAUNCHES && i + (size_t)n < s->n_kernels; n++) kernel[n] = i + (size_t)n;
        model_expected(s, &near, n, kernel, z, &of, x);
        for (int q = 0; q < n; q++) {
            const size_t k = kernel[q];
            const bool reads = model_can_read(&s->entry[k].kernel, z->align_a, z->align_b);
            out->said[k] = said_of(units_of(x[q].all), units_of(x[q].near));
            out->seconds[k] = reads ? (float)x[q].seconds : INFINITY;
            out->best = out->seconds[k] < out->best ? out->seconds[k] : out->best;
        }
    }
}

/* Fills in a point: until the kernels have their places, these are their numbers. */
static void point_make(const ModelSelector *s, size_t p)
{
    ModelChoice *c = s->choice;
    PointTimes t;
    point_times(s, p, &t);
    for (size_t k = 0; k < s->n_kernels; k++) {
        c->of[p * c->n_parts + k / FLOATS].said[k % FLOATS] = t.said[k];
        for (int i = 0; i < MODEL_GOODS; i++)
            if (t.seconds[k] <= GOOD[s->forest != NULL][i] * t.best)
                c->on[i][k * c->n_point_words + p / WORD] |= UINT64_C(1) << p % WORD;
    }
}

FLOATS_INLINE size_t n_common(const uint64_t *a, const uint64_t *b, size_t n_words)
{
    size_t n = 0;
    for (size_t w = 0; w < n_words; w++) n += (size_t)__builtin_popcountll(a[w] & b[w]);
    return n;
}

/* Finds the kernel without a place that is good on the most of these points, and of such kernels the one that
 * is good on the fewest others. */
FLOATS_CLONES
static size_t next_kernel(const ModelChoice *c, size_t n_kernels, const bool *placed, const uint64_t *points)
{
    const size_t n_words = c->n_point_words;
    size_t best = SIZE_MAX, most = 0, least = 0;
    for (size_t k = 0; k < n_kernels; k++) {
        const uint64_t *on = &c->on[MODEL_GOOD_NEAR][k * n_words];
        if (placed[k]) continue;
        const size_t common = n_common(on, points, n_words);
        if (best != SIZE_MAX && common < most) continue;
        const size_t all = n_common(on, on, n_words);
        if (best != SIZE_MAX && common == most && all >= least) continue;
        best = k, most = common, least = all;
    }
    return best;
}

/* Places the kernels: each part begins with the kernel that is good on the most points, and goes on with
 * those that are good on the most points of the part, so that a choice looks at few parts. */
static void places_find(const ModelSelector *s, uint64_t *points)
{
    ModelChoice *c = s->choice;
    bool placed[MODEL_KERNELS_MAX] = {false};
    for (size_t i = 0; i < s->n_kernels; i++) {
        if (i % FLOATS == 0) memset(points, UINT8_MAX, c->n_point_words * sizeof *points);
        const size_t k = next_kernel(c, s->n_kernels, placed, points);
        const uint64_t *on = &c->on[MODEL_GOOD_NEAR][k * c->n_point_words];
        for (size_t w = 0; w < c->n_point_words; w++) points[w] = i % FLOATS ? points[w] | on[w] : on[w];
        placed[k] = true;
        c->kernel[i] = (uint16_t)k, c->place[k] = (uint16_t)i;
    }
}

/* Moves what there is of a point's kernels to their places. */
static void point_sort(const ModelSelector *s, size_t p)
{
    ModelChoice *c = s->choice;
    ModelChoicePart was[MODEL_KERNELS_MAX / FLOATS], *of = &c->of[p * c->n_parts];
    memcpy(was, of, c->n_parts * sizeof *of);
    for (size_t i = 0; i < s->n_kernels; i++) {
        const size_t k = c->kernel[i];
        of[i / FLOATS].said[i % FLOATS] = was[k / FLOATS].said[k % FLOATS];
        for (int q = 0; q < MODEL_GOODS; q++)
            if (c->on[q][k * c->n_point_words + p / WORD] >> p % WORD & 1)
                c->good[q][p * c->n_words + i / FLOATS / WORD] |= UINT64_C(1) << i / FLOATS % WORD;
    }
}

void model_choice_make(const ModelSelector *s)
{
    ModelChoice *c = s->choice;
    uint64_t points[MODEL_POINTS_MAX / WORD + 1];
    for (size_t k = 0; k < s->n_kernels; k++) {
        c->is_time[k] = model_lanes_is_time(&s->entry[k].kernel);
        c->launch[k] = model_launch_kernel(&s->entry[k].kernel, &s->entry[k].device);
    }
    for (size_t i = 0; i < c->n_parts; i++) c->part[i] = (uint16_t)i;
    for (size_t p = 0; p < s->n_points; p++) point_make(s, p);
    places_find(s, points);
    for (size_t p = 0; p < s->n_points; p++) point_sort(s, p);
}

/* ---- the times of parts ---- */

/* The nearest points, NEAREST of them where there are as many, and what they say, with weights that sum up to
 * 1, over MODEL_CHOICE_UNITS. Where there are fewer, the first point stands for others, with weight 0. */
enum { NEAREST = 6 };
typedef struct {
    int n;
    uint32_t point[MODEL_NEAR];
    const ModelChoicePart *of[NEAREST];
    _Alignas(Floats) float weight[FLOATS];
} Nearest;
_Static_assert((int)MODEL_NEAR <= (int)FLOATS && (int)NEAREST <= (int)MODEL_NEAR, "a vector holds them");

/* distance: of n points. There may be none. */
FLOATS_CLONES
static void weigh(const float distance[FLOATS], int n, float weight[FLOATS])
{
    static const float NOTHING = 1e-30F;
    const Floats w = MODEL_NEAR_WEIGHT(floats_load(distance));
    const Floats square = (Floats)((FloatsMask)(w * w) & (FLOATS_LANES < n));
    floats_store(weight, square * (1.0F / MODEL_CHOICE_UNITS / (floats_sum(square) + NOTHING)));
}

/* of: what the size says to the trees, if there are any. */
static void nearest_of(const ModelSelector *s, const ModelSize *z, ModelForestSize *of, Nearest *out)
{
    const ModelPoint x = model_point(z);
    _Alignas(Floats) float distance[FLOATS];
    const ModelCell *cell = model_places_cell(s->places, &x);
    if (s->forest) model_forest_size(s->forest, z, of);
    const int n = model_places_near(s->places, &x, cell, out->point, distance);
    out->n = n < NEAREST ? n : NEAREST;
    weigh(distance, out->n, out->weight);
    for (int i = 0; i < NEAREST; i++)
        out->of[i] = &s->choice->of[i < out->n ? out->point[i] * s->choice->n_parts : 0];
}

/* A bound and its place in one number, so that the least of them tells its place. The last bits of the bound
 * are lost. Positive numbers have the order of their bits. */
enum { PLACES_MASK = MODEL_KERNELS_MAX - 1 };
_Static_assert((MODEL_KERNELS_MAX & PLACES_MASK) == 0, "a power of two");

FLOATS_INLINE float bound_of(int32_t key)
{
    float bound;
    key &= ~PLACES_MASK;
    memcpy(&bound, &key, sizeof bound);
    return bound;
}

/* Kernels without numbers have infinite bounds. */
FLOATS_INLINE FloatsMask keys_of(Floats us, Floats factor, FloatsMask number)
{
    const Floats bound = us * 0.999e-6F * factor;
    return ((FloatsMask)floats_min(bound, floats_of(INFINITY)) & ~PLACES_MASK) | number;
}

/* What a choice knows of the kernels of n parts. */
typedef struct {
    uint16_t part[MODEL_KERNELS_MAX / FLOATS];
    size_t n;
    /* of the kernels in these parts */
    ModelLanesTimes times[MODEL_KERNELS_MAX / FLOATS];
    _Alignas(Floats) float factor[MODEL_KERNELS_MAX]; /* what is expected over the model's time */
    _Alignas(Floats) int32_t key[MODEL_KERNELS_MAX];
} Parts;

FLOATS_INLINE Floats expected_of(const ModelChoicePart *p)
{
    return __builtin_convertvector(floats_mask_load(p->said) >> 16, Floats);
}

FLOATS_INLINE Floats near_of(const ModelChoicePart *p)
{
    const FloatsBits upper = (FloatsBits)floats_mask_load(p->said) << 16;
    return __builtin_convertvector((FloatsMask)upper >> 16, Floats);
}

/* A mean of what the nearest points say of the part `at`. All NEAREST points are added, with weight 0 where
 * there are fewer, because compilers do not unroll a loop over them. */
#define POINT(i, what) near->weight[i] * what(&near->of[i][at])
#define POINTS(what)                                                                                         \
    (POINT(0, what) + POINT(1, what)) + (POINT(2, what) + POINT(3, what)) + (POINT(4, what) + POINT(5, what))
_Static_assert(NEAREST == 6, "a term for each");

/* Fills in factor and key. */
FLOATS_CLONES
static void expect(const ModelSelector *s, const Nearest *near, Parts *p)
{
    const ModelChoice *c = s->choice;
    FloatsMask number = FLOATS_LANES;
    for (size_t i = 0; i < p->n; i++, number += FLOATS) {
        const size_t at = p->part[i];
        const Floats factor = floats_exp(POINTS(expected_of));
        floats_store(&p->factor[i * FLOATS], factor);
        floats_mask_store(&p->key[i * FLOATS], keys_of(floats_load(p->times[i].us), factor, number));
    }
    if (p->n && p->part[p->n - 1] == c->n_parts - 1) /* the last part's padding */
        for (size_t k = p->n * FLOATS - (c->n_parts * FLOATS - s->n_kernels); k < p->n * FLOATS; k++)
            p->key[k] = INT32_MAX;
}

/* The least key above the last one. */
FLOATS_CLONES
static int32_t next_key(const int32_t *key, size_t n, int32_t last)
{
    const FloatsMask most = floats_mask_of(INT32_MAX), after = floats_mask_of(last);
    FloatsMask least = most;
    for (size_t k = 0; k < n; k += FLOATS) {
        const FloatsMask x = floats_mask_load(&key[k]), is_after = x > after;
        least = floats_mask_min(least, (x & is_after) | (most & ~is_after));
    }
    return floats_mask_least(least);
}

/* The parts with kernels that are good on a near point; all of a small library. */
static void parts_near(const ModelChoice *c, const Nearest *near, Parts *p)
{
    enum { FEW_PARTS = 4 };
    p->n = 0;
    if (near->n == 0 || c->n_parts <= FEW_PARTS) {
        memcpy(p->part, c->part, c->n_parts * sizeof *c->part);
        p->n = c->n_parts;
        return;
    }
    for (size_t w = 0; w < c->n_words; w++) {
        uint64_t word = 0;
        for (int i = 0; i < near->n; i++)
            word |= c->good[i < N_GOOD ? MODEL_GOOD_NEAR : MODEL_GOOD_FAR][near->point[i] * c->n_words + w];
        for (; word; word &= word - 1) p->part[p->n++] = (uint16_t)(w * WORD + (size_t)__builtin_ctzll(word));
    }
}

static void parts_others(const ModelChoice *c, Parts *p)
{
    bool done[MODEL_KERNELS_MAX / FLOATS] = {false};
    for (size_t i = 0; i < p->n; i++) done[p->part[i]] = true;
    p->n = 0;
    for (size_t i = 0; i < c->n_parts; i++)
        if (!done[i]) p->part[p->n++] = (uint16_t)i;
}

/* ---- the first kernels ---- */

/* The kernels with the least expected times, the fastest one first. With trees these are asked of up to
 * FINALISTS that take at most NEAR_BEST times as long as the first one. */
enum { FINALISTS = MODEL_FOREST_LAUNCHES };
static const double NEAR_BEST = 1.3;

typedef struct {
    size_t kernel;
    double seconds;     /* expected */
    ModelLaunch launch; /* where the lanes have the kernel's time */
    ModelTime *time;    /* else, with trees */
} Finalist;

typedef struct {
    int n, most;
    Finalist of[FINALISTS];
    ModelTime time[FINALISTS + 1];
    ModelTime *unused;
    double refused; /* the least expected seconds of a kernel that may not run */
} Finalists;

static void finalists_init(Finalists *f, int most)
{
    f->n = 0, f->most = most;
    f->unused = f->time;
    f->refused = (double)INFINITY;
}

/* Whether a kernel that takes that long, or has that bound, can be among them. */
static bool can_be_among(const Finalists *f, double seconds)
{
    if (f->n == 0) return true;
    if (f->n == f->most && seconds >= f->of[f->n - 1].seconds) return false;
    return seconds < NEAR_BEST * f->of[0].seconds;
}

/* Adds a kernel whose ModelTime is f->unused. */
static void finalist_add(Finalists *f, size_t kernel, double seconds, ModelLaunch launch)
{
    const Finalist x = {kernel, seconds, launch, f->unused};
    int at = f->n;
    if (f->n < f->most)
        f->unused = &f->time[++f->n];
    else
        f->unused = f->of[--at].time;
    for (; at > 0 && f->of[at - 1].seconds > seconds; at--) f->of[at] = f->of[at - 1];
    f->of[at] = x;
}

typedef struct {
    const ModelSelector *s;
    const ModelSize *z;
    ModelAllowed *allowed;
    void *ctx;
} Ask;

/* The model's seconds of a kernel, whose microseconds are known up to what model_lanes_times leaves. */
static double seconds_of(const Ask *a, size_t k, float us, ModelTime *time)
{
    const ModelSelector *s = a->s;
    const ModelEntry *e = &s->entry[k];
    if (!s->choice->is_time[k])
        return model_time_ready(&s->ready[k], &e->kernel, &e->device, &e->rates, a->z,
                                s->forest ? time : NULL);
    return (double)us * 1e-6;
}

/* The least keys, of each lane first and then of all. */
FLOATS_CLONES
static void first_keys(const int32_t *key, size_t n, int32_t first[FINALISTS])
{
    FloatsMask a = floats_mask_of(INT32_MAX), b = a, c = a, d = a;
    _Static_assert((int)FINALISTS == 4, "a vector for each");
    for (size_t k = 0; k < n; k += FLOATS) {
        FloatsMask x = floats_mask_load(&key[k]), most;
#define PUT(v) most = floats_mask_max(v, x), v = floats_mask_min(v, x), x = most
        PUT(a);
        PUT(b);
        PUT(c);
        d = floats_mask_min(d, x);
#undef PUT
    }
    for (int i = 0; i < FINALISTS; i++) {
        first[i] = floats_mask_least(a);
        const FloatsMask taken = a == floats_mask_of(first[i]);
        a = (b & taken) | (a & ~taken), b = (c & taken) | (b & ~taken), c = (d & taken) | (c & ~taken);
    }
}

static size_t kernel_of(const ModelChoice *c, const Parts *p, size_t i)
{
    return c->kernel[p->part[i / FLOATS] * (size_t)FLOATS + i % FLOATS];
}

static ModelLaunch launch_at(const Parts *p, size_t i)
{
    const ModelLanesTimes *x = &p->times[i / FLOATS];
    return (ModelLaunch){x->us[i % FLOATS], x->groups[i % FLOATS], x->rounds[i % FLOATS],
                         x->rest[i % FLOATS]};
}

/* Most choices find kernels that may run and whose times the lanes have, so that the first ones are the
 * finalists. False: this one does not. */
static bool finalists_first(const Ask *a, const Parts *p, Finalists *f)
{
    const ModelChoice *c = a->s->choice;
    int32_t first[FINALISTS];
    first_keys(p->key, p->n * FLOATS, first);
    const float most = (float)NEAR_BEST * bound_of(first[0]);
    int n = 0;
    for (; n < FINALISTS; n++) {
        const float bound = bound_of(first[n]);
        if (!(bound < INFINITY && bound <= most)) break;
        const size_t i = (size_t)(first[n] & PLACES_MASK), k = kernel_of(c, p, i);
        if (!c->is_time[k] || (a->allowed && !a->allowed(a->ctx, k))) return false;
        const ModelLaunch launch = launch_at(p, i);
        f->of[n] = (Finalist){k, (double)(1e-6F * launch.us * p->factor[i]), launch, NULL};
    }
    f->n = n;
    return n > 0;
}

/* Kernels are taken in the order of their bounds, until these are above the finalists. */
static void finalists_find(const Ask *a, Parts *p, Finalists *f)
{
    int32_t next = -1; /* below all keys */
    if (f->most == FINALISTS && f->n == 0 && finalists_first(a, p, f)) return;
    for (size_t done = 0; done < p->n * FLOATS; done++) {
        next = next_key(p->key, p->n * FLOATS, next);
        const float bound = bound_of(next);
        if (!(bound < INFINITY) || !can_be_among(f, (double)bound)) break;
        const size_t i = (size_t)(next & PLACES_MASK), k = kernel_of(a->s->choice, p, i);
        const ModelLaunch launch = launch_at(p, i);
        const double t = seconds_of(a, k, launch.us, f->unused) * (double)p->factor[i];
        if (!(t < INFINITY) || !can_be_among(f, t)) continue;
        if (!a->allowed || a->allowed(a->ctx, k))
            finalist_add(f, k, t, launch);
        else if (t < f->refused)
            f->refused = t;
    }
}

/* ---- the choice ---- */

FLOATS_CLONES
static void launches_of(const ModelChoice *c, const Finalist *const of[FINALISTS], const ModelSize *z,
                        ModelForestLaunch launch[FINALISTS])
{
    const ModelLaunchSize w = model_launch_size(z);
    for (int i = 0; i < FINALISTS; i++)
        floats_store(launch[i].x, model_launch_row(&c->launch[of[i]->kernel], &w, &of[i]->launch));
}

/* Seconds that are expected of the finalists. trees: what the trees say of them. */
FLOATS_CLONES
static void seconds_by_trees(const ModelChoice *c, const Nearest *near, const size_t kernel[FINALISTS],
                             const ModelForestLaunch launch[FINALISTS], const float trees[FINALISTS],
                             float seconds[FLOATS])
{
    float said[FINALISTS][FLOATS];
    for (int i = 0; i < FINALISTS; i++) {
        const size_t at = c->place[kernel[i]] / FLOATS;
        floats_store(said[i], POINTS(near_of));
    }
#define SAID(i) said[i][c->place[kernel[i]] % FLOATS] + trees[i]
#define SECONDS(i) launch[i].x[MODEL_LAUNCH_SECONDS]
    const Floats x = {SAID(0), SAID(1), SAID(2), SAID(3)},
                 times = {SECONDS(0), SECONDS(1), SECONDS(2), SECONDS(3)};
    _Static_assert((int)FINALISTS == 4, "an element for each");
    floats_store(seconds, times * floats_exp(x));
#undef SAID
#undef SECONDS
}

/* Where there are fewer finalists than room, the first one stands for others. */
static size_t best_by_trees(const Ask *a, const ModelForestSize *of, const Nearest *near, const Finalists *f,
                            double *seconds)
{
    const ModelSelector *s = a->s;
    const Finalist *finalist[FINALISTS];
    size_t kernel[FINALISTS];
    ModelForestLaunch launch[FINALISTS];
    float trees[FINALISTS], all[FLOATS];
    for (int i = 0; i < FINALISTS; i++) {
        finalist[i] = &f->of[i < f->n && f->of[i].seconds <= NEAR_BEST * f->of[0].seconds ? i : 0];
        kernel[i] = finalist[i]->kernel;
    }
    launches_of(s->choice, finalist, a->z, launch);
    for (int i = 0; i < FINALISTS; i++)
        if (!s->choice->is_time[kernel[i]]) model_forest_launch(finalist[i]->time, &launch[i]);
    model_forest_values(s->forest, of, FINALISTS, kernel, launch, trees);
    seconds_by_trees(s->choice, near, kernel, launch, trees, all);
    int best = 0;
    for (int i = 1; i < FINALISTS; i++) best = all[i] < all[best] ? i : best;
    *seconds = (double)all[best];
    return kernel[best];
}

/* What points say of the parts is fetched while the lanes compute. */
static void parts_add(const Ask *a, const Nearest *near, Parts *p, Finalists *f)
{
    for (size_t k = 0; k < p->n; k++)
        for (int i = 0; i < NEAREST; i++) __builtin_prefetch(&near->of[i][p->part[k]]);
    model_lanes_times(a->s->lanes, p->part, p->n, a->z, p->times);
    expect(a->s, near, p);
    finalists_find(a, p, f);
}

/* Vectors are left to functions of their own: compilers do not always clear the upper parts of registers
 * before a call, and then the model's arithmetic takes twice as long. */
size_t model_choose(const ModelSelector *s, const ModelSize *z, ModelAllowed *allowed, void *ctx,
                    double *seconds)
{
    const Ask a = {s, z, allowed, ctx};
    Nearest near;
    Finalists f;
    Parts p;
    ModelForestSize of;
    if (!s->n_kernels) return SIZE_MAX;
    finalists_init(&f, s->forest ? FINALISTS : 1);
    nearest_of(s, z, &of, &near);
    parts_near(s->choice, &near, &p);
    parts_add(&a, &near, &p, &f);
    if (p.n < s->choice->n_parts && (f.n == 0 || f.refused < f.of[0].seconds)) {
        parts_others(s->choice, &p);
        parts_add(&a, &near, &p, &f);
    }
    if (f.n == 0) return SIZE_MAX;
    *seconds = f.of[0].seconds;
    return s->forest ? best_by_trees(&a, &of, &near, &f, seconds) : f.of[0].kernel;
}
