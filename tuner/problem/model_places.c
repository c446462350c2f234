/* The nearest of many points. See model_places.h. */
#include "problem/model_places.h"

#include <math.h>
#include <string.h>

#include "problem/floats.h"

enum { BLOCK = 16, BLOCKS_MOST = (1 << 16) / BLOCK };

struct ModelPlaces {
    size_t n, n_blocks;
    float *given[MODEL_DIMS]; /* of each point, as they were set */
    uint32_t *order;          /* of each place: its point */
    float *at;                /* of each block, by dimension: its places */
    float *lo, *hi;           /* of each FLOATS blocks, by dimension: the boxes of their points */
};

float model_distance(const ModelPoint *a, const ModelPoint *b)
{
    float sum = 0;
    for (int i = 0; i < MODEL_DIMS; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sum;
}

Err model_places_new(Arena *a, size_t n, ModelPlaces **out)
{
    ModelPlaces *p = ARENA_NEW(a, ModelPlaces);
    TRY_ALLOC(*out = p);
    p->n = n, p->n_blocks = (n + BLOCK - 1) / BLOCK;
    TRY_ALLOC(p->order = ARENA_ARRAY(a, n + 1, uint32_t));
    for (int d = 0; d < MODEL_DIMS; d++) TRY_ALLOC(p->given[d] = ARENA_ARRAY(a, n + 1, float));
    TRY_ALLOC(p->at = ARENA_LINES(a, p->n_blocks * BLOCK * MODEL_DIMS, float));
    TRY_ALLOC(p->lo = ARENA_LINES(a, floats_padded(p->n_blocks) * MODEL_DIMS, float));
    TRY_ALLOC(p->hi = ARENA_LINES(a, floats_padded(p->n_blocks) * MODEL_DIMS, float));
    return ERR_OK;
}

void model_places_set(ModelPlaces *p, size_t i, const ModelPoint *x)
{
    for (int d = 0; d < MODEL_DIMS; d++) p->given[d][i] = x->x[d];
}

/* ---- sorting ---- */

static bool is_before(const float *x, uint32_t a, uint32_t b) { return x[a] != x[b] ? x[a] < x[b] : a < b; }

static void exchange(uint32_t *order, size_t i, size_t k)
{
    const uint32_t was = order[i];
    order[i] = order[k], order[k] = was;
}

/* Moves the n_less points with the least x of order[0..n) to its start: Hoare's selection. */
static void select_least(const float *x, uint32_t *order, size_t n, size_t n_less)
{
    size_t from = 0, to = n;
    while (to - from > 1 && n_less > from && n_less < to) {
        exchange(order, from + (to - from) / 2, to - 1);
        size_t at = from;
        for (size_t i = from; i + 1 < to; i++)
            if (is_before(x, order[i], order[to - 1])) exchange(order, i, at++);
        exchange(order, at, to - 1);
        if (n_less <= at)
            to = at;
        else
            from = at + 1;
    }
}

static int widest(const ModelPlaces *p, const uint32_t *order, size_t n)
{
    int widest = 0;
    float most = -1;
    for (int d = 0; d < MODEL_DIMS; d++) {
        float lo = INFINITY, hi = -INFINITY;
        for (size_t i = 0; i < n; i++) {
            lo = fminf(lo, p->given[d][order[i]]);
            hi = fmaxf(hi, p->given[d][order[i]]);
        }
        if (hi - lo > most) most = hi - lo, widest = d;
    }
    return widest;
}

/* Halves the points along the dimension in which they are spread most, until a part is one block. */
static void split(const ModelPlaces *p, uint32_t *order, size_t n)
{
    while (n > BLOCK) {
        const size_t half = (n / 2 + BLOCK - 1) / BLOCK * BLOCK;
        select_least(p->given[widest(p, order, n)], order, n, half);
        split(p, order, half);
        order += half, n -= half;
    }
}

void model_places_sort(ModelPlaces *p)
{
    for (size_t i = 0; i < p->n; i++) p->order[i] = (uint32_t)i;
    split(p, p->order, p->n);
    for (size_t b = 0; b < floats_padded(p->n_blocks); b++)
        for (size_t d = 0; d < MODEL_DIMS; d++) {
            float lo = INFINITY, hi = -INFINITY;
            for (size_t i = 0; i < BLOCK && b < p->n_blocks; i++) {
                const size_t place = b * BLOCK + i;
                float *at = &p->at[(b * MODEL_DIMS + d) * BLOCK + i];
                *at = place < p->n ? p->given[d][p->order[place]] : INFINITY;
                if (place < p->n) lo = fminf(lo, *at), hi = fmaxf(hi, *at);
            }
            const size_t box = (b / FLOATS * MODEL_DIMS + d) * FLOATS + b % FLOATS;
            p->lo[box] = lo, p->hi[box] = hi;
        }
}

/* ---- the search ---- */

_Static_assert(MODEL_DIMS == 5, "the sums below have a term for each");

FLOATS_INLINE Floats square(Floats x) { return x * x; }

/* The nearest points by lane: a step adds FLOATS points, one to each lane, which keeps the nearest ROWS ones.
 * Lanes are sorted without branches, which the processor could not predict. A point is the bits of its
 * distance, whose last ones are replaced by the number of its step; bits of numbers that are not negative
 * have the order of the numbers. */
enum { STEPS = 128, ROWS = 3, FAR_BITS = 0x7f800000 /* of INFINITY */ };
_Static_assert(STEPS >= ROWS * FLOATS, "numbers in place of steps");
typedef struct {
    FloatsMask a, b, c; /* rows, with the nearest of each lane first */
} Rows;
typedef struct {
    size_t n;
    uint32_t place[STEPS]; /* of the step's first point */
} Steps;

/* How far x is from an interval along one dimension. */
FLOATS_INLINE Floats outside(float x, const float *lo, const float *hi)
{
    return floats_max(floats_max(floats_load(lo) - x, x - floats_load(hi)), floats_of(0));
}

/* Squares of the distances to the boxes of FLOATS blocks. */
FLOATS_INLINE Floats boxes_of(const ModelPlaces *p, const float *x, size_t b)
{
    const float *lo = &p->lo[b * MODEL_DIMS], *hi = &p->hi[b * MODEL_DIMS];
    return square(outside(x[0], lo, hi)) + square(outside(x[1], lo + FLOATS, hi + FLOATS)) +
           square(outside(x[2], lo + 2 * FLOATS, hi + 2 * FLOATS)) +
           square(outside(x[3], lo + 3 * FLOATS, hi + 3 * FLOATS)) +
           square(outside(x[4], lo + 4 * FLOATS, hi + 4 * FLOATS));
}

/* Squares of the distances to the boxes of all blocks, as bits. first: the nearest block of each lane. */
FLOATS_INLINE void all_boxes(const ModelPlaces *p, const float *x, int32_t *out, uint32_t first[FLOATS])
{
    FloatsMask number = FLOATS_LANES, least = number | FAR_BITS;
    for (size_t b = 0; b < p->n_blocks; b += FLOATS, number += FLOATS) {
        const FloatsMask box = (FloatsMask)boxes_of(p, x, b);
        floats_mask_store(&out[b], box);
        least = floats_mask_min(least, (box & -BLOCKS_MOST) | number);
    }
    least &= BLOCKS_MOST - 1;
    memcpy(first, &least, sizeof least);
}

/* Squares of the distances to FLOATS points of a block. */
FLOATS_INLINE Floats points_of(const float *x, const float *at)
{
    return square(x[0] - floats_load(at)) + square(x[1] - floats_load(at + BLOCK)) +
           square(x[2] - floats_load(at + 2 * BLOCK)) + square(x[3] - floats_load(at + 3 * BLOCK)) +
           square(x[4] - floats_load(at + 4 * BLOCK));
}

/* Keeps the nearer one of a point and of that in the row, in each lane; returns the other ones. */
FLOATS_INLINE FloatsMask insert(FloatsMask *row, FloatsMask point)
{
    const FloatsMask other = floats_mask_max(*row, point);
    *row = floats_mask_min(*row, point);
    return other;
}

FLOATS_INLINE Rows add_block(const ModelPlaces *p, const float *x, size_t b, Rows rows, Steps *steps)
{
    for (size_t i = 0; i < BLOCK; i += FLOATS) {
        FloatsMask point = (FloatsMask)points_of(x, &p->at[b * BLOCK * MODEL_DIMS + i]);
        point = (point & -STEPS) | (int32_t)steps->n;
        steps->place[steps->n++] = (uint32_t)(b * BLOCK + i);
        point = insert(&rows.a, point);
        point = insert(&rows.b, point);
        rows.c = floats_mask_min(rows.c, point);
    }
    return rows;
}

/* The numbers of all points in the rows, the nearest first. A point's rank is the number of points that are
 * nearer. Numbers replace the last bits once more, so that no two are equal. */
FLOATS_INLINE void order_of(Rows rows, uint32_t order[ROWS * FLOATS])
{
    const FloatsMask number = FLOATS_LANES;
    const FloatsMask keys[ROWS] = {(rows.a & -STEPS) | number, (rows.b & -STEPS) | (number + FLOATS),
                                   (rows.c & -STEPS) | (number + 2 * FLOATS)};
    FloatsMask ranks[ROWS] = {{0}, {0}, {0}};
    int32_t key[ROWS * FLOATS], rank[ROWS * FLOATS];
    memcpy(key, keys, sizeof key);
    for (int k = 0; k < ROWS * FLOATS; k++) {
        const int32_t x = key[k];
        const FloatsMask other = {x, x, x, x, x, x, x, x};
        for (int row = 0; row < ROWS; row++) ranks[row] -= other < keys[row]; /* true is -1 */
    }
    memcpy(rank, ranks, sizeof rank);
    for (uint32_t i = 0; i < ROWS * FLOATS; i++) order[rank[i]] = i;
}

/* Fills in the n nearest points of the rows. */
FLOATS_INLINE void take(const ModelPlaces *p, Rows rows, const Steps *steps, int n, uint32_t near[MODEL_NEAR],
                        float distance[MODEL_NEAR])
{
    uint32_t order[ROWS * FLOATS];
    int32_t key[ROWS * FLOATS];
    order_of(rows, order);
    const FloatsMask row[ROWS] = {rows.a, rows.b, rows.c};
    memcpy(key, row, sizeof key);
    for (int i = 0; i < n; i++) {
        const int32_t point = key[order[i]], at = point & -STEPS;
        near[i] = p->order[steps->place[point & (STEPS - 1)] + order[i] % FLOATS];
        memcpy(&distance[i], &at, sizeof at);
    }
}

/* The nearest block of each lane comes first, then all others whose box is nearer than the farthest of the
 * lanes' nearest points, since there are MODEL_NEAR of these, until there are STEPS steps. */
enum { WORD = 64, BLOCK_STEPS = BLOCK / FLOATS };
_Static_assert((int)MODEL_NEAR <= (int)FLOATS, "the lanes' nearest points are enough");

FLOATS_CLONES
static void near_of(const ModelPlaces *p, const ModelPoint *x, int n, uint32_t near[MODEL_NEAR],
                    float distance[MODEL_NEAR])
{
    _Alignas(FloatsMask) int32_t box[BLOCKS_MOST];
    uint32_t first[FLOATS];
    const FloatsMask far = floats_mask_of(FAR_BITS);
    Rows rows = {far, far, far};
    Steps steps;
    steps.n = 0;
    all_boxes(p, x->x, box, first);
    for (int i = 0; i < FLOATS; i++) {
        if (first[i] >= p->n_blocks) continue;
        rows = add_block(p, x->x, first[i], rows, &steps);
        box[first[i]] = FAR_BITS;
    }
    const FloatsMask limit = floats_mask_of(floats_mask_most(rows.a));
    for (size_t from = 0; from < p->n_blocks; from += WORD) {
        uint64_t word = 0; /* a bit for each block that may have near points */
        for (size_t b = 0; b < WORD && from + b < p->n_blocks; b += FLOATS)
            word |= (uint64_t)floats_bits(floats_mask_load(&box[from + b]) < limit) << b;
        for (; word && steps.n + BLOCK_STEPS <= STEPS; word &= word - 1)
            rows = add_block(p, x->x, from + (size_t)__builtin_ctzll(word), rows, &steps);
    }
    take(p, rows, &steps, n, near, distance);
}

int model_places_near(const ModelPlaces *p, const ModelPoint *x, uint32_t near[MODEL_NEAR],
                      float distance[MODEL_NEAR])
{
    const int n = p->n < MODEL_NEAR ? (int)p->n : MODEL_NEAR;
    if (n > 0) near_of(p, x, n, near, distance);
    return n;
}
