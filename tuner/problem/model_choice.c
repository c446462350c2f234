/* The choice of a kernel by its predicted time. See model_choice.h. */
#include "problem/model_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/floats.h"

/* A kernel is good on a point where it takes at most GOOD times as long as the best one; on the points behind
 * the first N_GOOD, GOOD_FAR times. With less of it the kernels are missed that a choice among all would find
 * (test/README.md). */
static const float GOOD = 1.2F, GOOD_FAR = 1.15F;
enum { N_GOOD = 3 };

/* ---- preparation ---- */

Err model_choice_new(Arena *a, size_t n_kernels, size_t n_points, ModelChoice **out)
{
    ModelChoice *c = *out = ARENA_NEW(a, ModelChoice);
    TRY_ALLOC(c);
    c->n_parts = floats_padded(n_kernels) / FLOATS, c->n_words = (c->n_parts + 63) / 64;
    TRY_ALLOC(c->place = ARENA_ARRAY(a, n_kernels + 1, uint16_t));
    TRY_ALLOC(c->kernel = ARENA_ARRAY(a, n_kernels + 1, uint16_t));
    TRY_ALLOC(c->part = ARENA_ARRAY(a, c->n_parts + 1, uint16_t));
    TRY_ALLOC(c->is_time = ARENA_ARRAY(a, n_kernels + 1, bool));
    TRY_ALLOC(c->expected = ARENA_LINES(a, (n_points + 1) * c->n_parts * FLOATS, float));
    for (int i = 0; i < 2; i++) TRY_ALLOC(c->good[i] = ARENA_ARRAY(a, n_points * c->n_words + 1, uint64_t));
    return ERR_OK;
}

Err model_choice_trees(Arena *a, const ModelSelector *s)
{
    ModelChoice *c = s->choice;
    TRY_ALLOC(c->near = ARENA_ARRAY(a, (s->n_points + 1) * c->n_parts * FLOATS, float));
    return ERR_OK;
}

/* By the area of their tiles, then by one side of it, then by their numbers. */
typedef struct {
    int64_t area;
    int32_t side, kernel;
} Tile;

static int by_tile(const void *a, const void *b)
{
    const Tile *x = a, *y = b;
    if (x->area != y->area) return x->area < y->area ? -1 : 1;
    if (x->side != y->side) return x->side < y->side ? -1 : 1;
    return x->kernel < y->kernel ? -1 : x->kernel > y->kernel;
}

void model_choice_places(const ModelSelector *s)
{
    ModelChoice *c = s->choice;
    Tile tile[MODEL_KERNELS_MAX];
    for (size_t k = 0; k < s->n_kernels; k++) {
        const ModelKernel *x = &s->entry[k].kernel;
        tile[k] = (Tile){(int64_t)x->tile_m * x->tile_n, x->tile_m, (int32_t)k};
        c->is_time[k] = model_lanes_is_time(x);
    }
    qsort(tile, s->n_kernels, sizeof *tile, by_tile);
    for (size_t i = 0; i < s->n_kernels; i++) {
        c->kernel[i] = (uint16_t)tile[i].kernel;
        c->place[tile[i].kernel] = (uint16_t)i;
    }
    for (size_t i = 0; i < c->n_parts; i++) c->part[i] = (uint16_t)i;
}

static size_t row_of(const ModelChoice *c, size_t point) { return point * c->n_parts * FLOATS; }

static void point_make(const ModelSelector *s, size_t p)
{
    ModelChoice *c = s->choice;
    const ModelSize *z = &s->size[p];
    float time[MODEL_KERNELS_MAX], best = INFINITY;
    ModelNear near;
    ModelForestSize of;
    model_near(s, z, &near);
    if (s->forest) model_forest_size(s->forest, z, &of);
    for (size_t i = 0; i < s->n_kernels; i += MODEL_FOREST_LAUNCHES) {
        ModelExpected x[MODEL_FOREST_LAUNCHES];
        size_t kernel[MODEL_FOREST_LAUNCHES];
        int n = 0;
        for (; n < MODEL_FOREST_LAUNCHES && i + (size_t)n < s->n_kernels; n++)
            kernel[n] = c->kernel[i + (size_t)n];
        model_expected(s, &near, n, kernel, z, &of, x);
        for (int q = 0; q < n; q++) {
            const size_t place = i + (size_t)q, at = row_of(c, p) + place;
            const ModelKernel *k = &s->entry[kernel[q]].kernel;
            c->expected[at] = x[q].all;
            if (s->forest) c->near[at] = x[q].near;
            time[place] = model_can_read(k, z->align_a, z->align_b) ? (float)x[q].seconds : INFINITY;
            best = time[place] < best ? time[place] : best;
        }
    }
    for (size_t i = 0; i < s->n_kernels; i++)
        for (int far = 0; far < 2; far++)
            if (time[i] <= (far ? GOOD_FAR : GOOD) * best)
                c->good[far][p * c->n_words + i / FLOATS / 64] |= UINT64_C(1) << i / FLOATS % 64;
}

void model_choice_make(const ModelSelector *s)
{
    for (size_t p = 0; p < s->n_points; p++) point_make(s, p);
}

/* ---- the times of parts ---- */

/* The nearest points, NEAREST of them where there are as many, with weights that sum up to 1. */
enum { NEAREST = 6 };
typedef struct {
    int n;
    uint32_t point[MODEL_NEAR];
    float weight[MODEL_NEAR];
} Nearest;

static void nearest_of(const ModelSelector *s, const ModelSize *z, Nearest *out)
{
    const ModelPoint x = model_point(z);
    float distance[MODEL_NEAR], sum = 0;
    const int n = model_places_near(s->places, &x, out->point, distance);
    out->n = n < NEAREST ? n : NEAREST;
    for (int i = 0; i < out->n; i++) {
        const float w = model_near_weight(distance[i]);
        out->weight[i] = w * w, sum += w * w;
    }
    for (int i = 0; i < out->n; i++) out->weight[i] *= 1 / sum;
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

/* exp(x) is at least 1 + x + x^2 / 2 + x^3 / 6. Kernels without numbers have infinite bounds. */
FLOATS_INLINE FloatsMask keys_of(Floats us, Floats x, FloatsMask number)
{
    const Floats factor = 1 + x * (1 + x * (0.5F + x * (1 / 6.0F))), bound = us * 0.999e-6F * factor;
    return ((FloatsMask)floats_min(bound, floats_of(INFINITY)) & ~PLACES_MASK) | number;
}

/* What a choice knows of the kernels of n parts. */
typedef struct {
    uint16_t part[MODEL_KERNELS_MAX / FLOATS];
    size_t n;
    /* of the kernels in these parts */
    _Alignas(Floats) float us[MODEL_KERNELS_MAX]; /* of the model */
    _Alignas(Floats) float expected[MODEL_KERNELS_MAX];
    _Alignas(Floats) int32_t key[MODEL_KERNELS_MAX];
} Parts;

/* Fills in expected and key. All NEAREST points are added, with weight 0 where there are fewer, because
 * compilers do not unroll a loop over them. */
FLOATS_CLONES
static void expect(const ModelSelector *s, const Nearest *near, Parts *p)
{
    const ModelChoice *c = s->choice;
    const float *row[NEAREST];
    float w[NEAREST];
    FloatsMask number = FLOATS_LANES;
    for (int i = 0; i < NEAREST; i++) {
        row[i] = &c->expected[i < near->n ? row_of(c, near->point[i]) : 0];
        w[i] = i < near->n ? near->weight[i] : 0;
    }
    for (size_t i = 0; i < p->n; i++, number += FLOATS) {
        const size_t at = p->part[i] * (size_t)FLOATS;
#define POINT(i) w[i] * floats_load(&row[i][at])
        const Floats x = (POINT(0) + POINT(1)) + (POINT(2) + POINT(3)) + (POINT(4) + POINT(5));
        _Static_assert(NEAREST == 6, "a term for each");
        floats_store(&p->expected[i * FLOATS], x);
        floats_mask_store(&p->key[i * FLOATS], keys_of(floats_load(&p->us[i * FLOATS]), x, number));
    }
    if (p->n && p->part[p->n - 1] == c->n_parts - 1) /* the last part's padding */
        for (size_t k = p->n * FLOATS - (c->n_parts * FLOATS - s->n_kernels); k < p->n * FLOATS; k++)
            p->key[k] = INT32_MAX;
}

FLOATS_CLONES
static int32_t least_key(const int32_t *key, size_t n)
{
    FloatsMask least = floats_mask_of(INT32_MAX);
    for (size_t k = 0; k < n; k += FLOATS) least = floats_mask_min(least, floats_mask_load(&key[k]));
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
        for (int i = 0; i < near->n; i++) word |= c->good[i >= N_GOOD][near->point[i] * c->n_words + w];
        for (; word; word &= word - 1) p->part[p->n++] = (uint16_t)(w * 64 + (size_t)__builtin_ctzll(word));
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
    double seconds;  /* expected */
    ModelTime *time; /* of the model, with trees */
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

/* Adds a kernel whose time is f->unused. */
static void finalist_add(Finalists *f, size_t kernel, double seconds)
{
    const Finalist x = {kernel, seconds, f->unused};
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

/* The model's seconds of a kernel, whose microseconds are known up to what model_lanes_us leaves. */
static double seconds_of(const Ask *a, size_t k, float us, ModelTime *time)
{
    const ModelSelector *s = a->s;
    const ModelEntry *e = &s->entry[k];
    if (!s->choice->is_time[k])
        return model_time_ready(&s->ready[k], &e->kernel, &e->device, &e->rates, a->z,
                                s->forest ? time : NULL);
    return time->seconds = (double)us * 1e-6;
}

/* Kernels are taken in the order of their bounds, until these are above the finalists. */
static void finalists_find(const Ask *a, Parts *p, Finalists *f)
{
    for (size_t done = 0; done < p->n * FLOATS; done++) {
        const int32_t next = least_key(p->key, p->n * FLOATS);
        const float bound = bound_of(next);
        if (!(bound < INFINITY) || !can_be_among(f, (double)bound)) break;
        const size_t i = (size_t)(next & PLACES_MASK),
                     k = a->s->choice->kernel[p->part[i / FLOATS] * (size_t)FLOATS + i % FLOATS];
        p->key[i] = INT32_MAX;
        const double t = seconds_of(a, k, p->us[i], f->unused) * (double)expf(p->expected[i]);
        if (!(t < INFINITY) || !can_be_among(f, t)) continue;
        if (!a->allowed || a->allowed(a->ctx, k))
            finalist_add(f, k, t);
        else if (t < f->refused)
            f->refused = t;
    }
}

/* ---- the choice ---- */

static float near_of(const ModelChoice *c, const Nearest *near, size_t k)
{
    float sum = 0;
    for (int i = 0; i < near->n; i++)
        sum += near->weight[i] * c->near[row_of(c, near->point[i]) + c->place[k]];
    return sum;
}

static size_t best_by_trees(const Ask *a, const Nearest *near, const Finalists *f, double *seconds)
{
    const ModelSelector *s = a->s;
    size_t best = SIZE_MAX, kernel[FINALISTS];
    const ModelTime *time[FINALISTS];
    float value[FINALISTS], least = INFINITY;
    int n = 0;
    ModelForestSize of;
    model_forest_size(s->forest, a->z, &of);
    for (; n < f->n && f->of[n].seconds <= NEAR_BEST * f->of[0].seconds; n++) {
        const size_t k = kernel[n] = f->of[n].kernel;
        time[n] = f->of[n].time;
        if (s->choice->is_time[k]) model_launch_ready(&s->ready[k], a->z, f->of[n].time);
    }
    model_forest_values(s->forest, &of, n, kernel, time, value);
    for (int i = 0; i < n; i++) {
        value[i] += near_of(s->choice, near, kernel[i]) + logf((float)time[i]->seconds);
        if (value[i] < least) best = kernel[i], least = value[i];
    }
    *seconds = (double)expf(least);
    return best;
}

static void parts_add(const Ask *a, const Nearest *near, Parts *p, Finalists *f)
{
    model_lanes_us(a->s->lanes, p->part, p->n, a->z, p->us);
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
    if (!s->n_kernels) return SIZE_MAX;
    finalists_init(&f, s->forest ? FINALISTS : 1);
    nearest_of(s, z, &near);
    parts_near(s->choice, &near, &p);
    parts_add(&a, &near, &p, &f);
    if (p.n < s->choice->n_parts && (f.n == 0 || f.refused < f.of[0].seconds)) {
        parts_others(s->choice, &p);
        parts_add(&a, &near, &p, &f);
    }
    if (f.n == 0) return SIZE_MAX;
    *seconds = f.of[0].seconds;
    return s->forest ? best_by_trees(&a, &near, &f, seconds) : f.of[0].kernel;
}
