/* The nearest of many points. See model_places.h. */
#include "problem/model_places.h"

#include <math.h>
#include <string.h>

#include "problem/floats.h"

enum { BLOCK = 16, BLOCKS_MOST = (1 << 16) / BLOCK, GROUP = BLOCK * FLOATS };

/* The nearest points of a place, or nearly, itself among them; where there are fewer, points that are far
 * from everything. */
enum { AROUND = 3 * FLOATS };
typedef struct {
    float at[MODEL_DIMS * AROUND]; /* by dimension */
    uint32_t point[AROUND];
} Around;

/* Of each FLOATS of them, by dimension: the least and the largest numbers. */
typedef struct {
    size_t n;
    float *lo, *hi;
} Boxes;

struct ModelPlaces {
    size_t n, n_blocks;
    float *given[MODEL_DIMS]; /* of each point, as they were set */
    uint32_t *order;          /* of each place: its point */
    float *at;                /* of each block, by dimension: its places */
    Boxes block;              /* of the blocks' points */
    Boxes group;              /* of those of each FLOATS blocks */
    Around *around;           /* of each place */
};

float model_distance(const ModelPoint *a, const ModelPoint *b)
{
    float sum = 0;
    for (int i = 0; i < MODEL_DIMS; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sum;
}

static Err boxes_new(Arena *a, size_t n, Boxes *out)
{
    out->n = n;
    TRY_ALLOC(out->lo = ARENA_LINES(a, floats_padded(n) * MODEL_DIMS, float));
    TRY_ALLOC(out->hi = ARENA_LINES(a, floats_padded(n) * MODEL_DIMS, float));
    return ERR_OK;
}

Err model_places_new(Arena *a, size_t n, ModelPlaces **out)
{
    ModelPlaces *p = ARENA_NEW(a, ModelPlaces);
    TRY_ALLOC(*out = p);
    p->n = n, p->n_blocks = (n + BLOCK - 1) / BLOCK;
    TRY_ALLOC(p->order = ARENA_ARRAY(a, n + 1, uint32_t));
    for (int d = 0; d < MODEL_DIMS; d++) TRY_ALLOC(p->given[d] = ARENA_ARRAY(a, n + 1, float));
    TRY_ALLOC(p->at = ARENA_LINES(a, p->n_blocks * BLOCK * MODEL_DIMS, float));
    TRY_ALLOC(p->around = ARENA_LINES(a, n + 1, Around));
    TRY(boxes_new(a, p->n_blocks, &p->block));
    return boxes_new(a, floats_padded(p->n_blocks) / FLOATS, &p->group);
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

/* Halves the points along the dimension in which they are spread most, until a part is one block. Halves are
 * whole groups of blocks where there are several. */
static void split(const ModelPlaces *p, uint32_t *order, size_t n)
{
    while (n > BLOCK) {
        const size_t unit = n > GROUP ? GROUP : BLOCK, half = (n / 2 + unit - 1) / unit * unit;
        select_least(p->given[widest(p, order, n)], order, n, half);
        split(p, order, half);
        order += half, n -= half;
    }
}

/* ---- distances ---- */

_Static_assert(MODEL_DIMS == 5, "the sums below have a term for each");

FLOATS_INLINE Floats square(Floats x) { return x * x; }

/* How far x is from an interval along one dimension. */
FLOATS_INLINE Floats outside(float x, const float *lo, const float *hi)
{
    return floats_max(floats_max(floats_load(lo) - x, x - floats_load(hi)), floats_of(0));
}

/* Squares of the distances to FLOATS boxes. */
FLOATS_INLINE Floats boxes_of(const Boxes *boxes, const float *x, size_t b)
{
    const float *lo = &boxes->lo[b * MODEL_DIMS], *hi = &boxes->hi[b * MODEL_DIMS];
    return square(outside(x[0], lo, hi)) + square(outside(x[1], lo + FLOATS, hi + FLOATS)) +
           square(outside(x[2], lo + 2 * FLOATS, hi + 2 * FLOATS)) +
           square(outside(x[3], lo + 3 * FLOATS, hi + 3 * FLOATS)) +
           square(outside(x[4], lo + 4 * FLOATS, hi + 4 * FLOATS));
}

/* Squares of the distances to FLOATS points, whose dimensions are `step` numbers apart. */
FLOATS_INLINE Floats points_of(const float *x, const float *at, int step)
{
    return square(x[0] - floats_load(at)) + square(x[1] - floats_load(at + step)) +
           square(x[2] - floats_load(at + 2 * step)) + square(x[3] - floats_load(at + 3 * step)) +
           square(x[4] - floats_load(at + 4 * step));
}

/* ---- what is around a place ---- */

/* The nearest points that were seen. */
typedef struct {
    int n;
    float distance[AROUND];
    uint32_t point[AROUND];
} Nearest;

static void nearest_add(Nearest *x, float distance, uint32_t point)
{
    if (x->n == AROUND && !(distance < x->distance[AROUND - 1])) return;
    int at = x->n < AROUND ? x->n++ : AROUND - 1;
    for (; at > 0 && x->distance[at - 1] > distance; at--)
        x->distance[at] = x->distance[at - 1], x->point[at] = x->point[at - 1];
    x->distance[at] = distance, x->point[at] = point;
}

static void nearest_add_block(const ModelPlaces *p, const float *x, size_t block, Nearest *nearest)
{
    float distance[BLOCK];
    for (int i = 0; i < BLOCK; i += FLOATS)
        floats_store(&distance[i], points_of(x, &p->at[block * BLOCK * MODEL_DIMS + (size_t)i], BLOCK));
    for (size_t i = 0; i < BLOCK && block * BLOCK + i < p->n; i++)
        nearest_add(nearest, distance[i], p->order[block * BLOCK + i]);
}

/* The place's own block comes first, so that most others are too far. */
FLOATS_CLONES
static void around_set(ModelPlaces *p, size_t place)
{
    static const float FAR = 1e9F; /* octaves */
    Around *a = &p->around[place];
    Nearest nearest;
    float x[MODEL_DIMS], box[FLOATS];
    nearest.n = 0;
    for (int d = 0; d < MODEL_DIMS; d++) x[d] = p->given[d][p->order[place]];
    nearest_add_block(p, x, place / BLOCK, &nearest);
    for (size_t b = 0; b < p->n_blocks; b++) {
        if (b % FLOATS == 0) floats_store(box, boxes_of(&p->block, x, b));
        if (b == place / BLOCK) continue;
        if (nearest.n < AROUND || box[b % FLOATS] < nearest.distance[AROUND - 1])
            nearest_add_block(p, x, b, &nearest);
    }
    for (int i = 0; i < AROUND; i++) {
        a->point[i] = i < nearest.n ? nearest.point[i] : 0;
        for (int d = 0; d < MODEL_DIMS; d++)
            a->at[d * AROUND + i] = i < nearest.n ? p->given[d][nearest.point[i]] : FAR;
    }
}

/* Sets one number of a box. */
static void box_set(Boxes *boxes, size_t box, size_t dim, float lo, float hi)
{
    const size_t at = (box / FLOATS * MODEL_DIMS + dim) * FLOATS + box % FLOATS;
    boxes->lo[at] = lo, boxes->hi[at] = hi;
}

/* The box of the points of n places; that of none is far from everything. */
static void places_box(const ModelPlaces *p, size_t from, size_t n, Boxes *boxes, size_t box)
{
    for (size_t d = 0; d < MODEL_DIMS; d++) {
        float lo = INFINITY, hi = -INFINITY;
        for (size_t i = from; i < from + n && i < p->n; i++) {
            lo = fminf(lo, p->given[d][p->order[i]]);
            hi = fmaxf(hi, p->given[d][p->order[i]]);
        }
        box_set(boxes, box, d, lo, hi);
    }
}

void model_places_sort(ModelPlaces *p)
{
    for (size_t i = 0; i < p->n; i++) p->order[i] = (uint32_t)i;
    split(p, p->order, p->n);
    for (size_t place = 0; place < p->n_blocks * BLOCK; place++)
        for (size_t d = 0; d < MODEL_DIMS; d++)
            p->at[(place / BLOCK * MODEL_DIMS + d) * BLOCK + place % BLOCK] =
                place < p->n ? p->given[d][p->order[place]] : INFINITY;
    for (size_t b = 0; b < floats_padded(p->block.n); b++) places_box(p, b * BLOCK, BLOCK, &p->block, b);
    for (size_t g = 0; g < floats_padded(p->group.n); g++) places_box(p, g * GROUP, GROUP, &p->group, g);
    for (size_t q = 0; q < p->n; q++) around_set(p, q);
}

/* ---- the search ---- */

/* Numbers replace the last bits of distances, so that the least of them tells what it belongs to. Bits of
 * numbers that are not negative have the order of the numbers. Compilers keep loops over few vectors, and
 * what these have in memory: steps are macros. */
enum { FAR_BITS = 0x7f800000 /* of INFINITY */, BLOCKS = 2, NUMBERS = 64, AROUND_MASK = 31 };
_Static_assert((int)BLOCKS *(int)BLOCK <= (int)NUMBERS && (int)AROUND <= (int)AROUND_MASK, "numbers fit");

/* Takes boxes into the nearest ones of each lane, with their numbers. */
FLOATS_INLINE FloatsMask boxes_add(const Boxes *boxes, const float *x, size_t b, FloatsMask least)
{
    const FloatsMask number = FLOATS_LANES + (int32_t)b;
    return floats_mask_min(least, ((FloatsMask)boxes_of(boxes, x, b) & -BLOCKS_MOST) | number);
}

/* Of each lane the box of a block that is the nearest one, with the block's number: among all blocks where
 * there are few, else among those of the nearest groups. */
FLOATS_INLINE FloatsMask nearest_boxes(const ModelPlaces *p, const float *x)
{
    enum { FEW_GROUPS = 8 };
    const FloatsMask none = FLOATS_LANES | FAR_BITS;
    FloatsMask least = none, group = none;
    if (p->group.n <= FEW_GROUPS) {
        for (size_t b = 0; b < p->n_blocks; b += FLOATS) least = boxes_add(&p->block, x, b, least);
        return least;
    }
    for (size_t g = 0; g < p->group.n; g += FLOATS) group = boxes_add(&p->group, x, g, group);
#define NEXT_GROUP                                                                                           \
    do {                                                                                                     \
        const int32_t box = floats_mask_least(group);                                                        \
        group |= (group == floats_mask_of(box)) & INT32_MAX;                                                 \
        const size_t g = (size_t)box & (BLOCKS_MOST - 1);                                                    \
        least = boxes_add(&p->block, x, (g < p->group.n ? g : 0) * FLOATS, least);                           \
    } while (0)
    NEXT_GROUP;
    NEXT_GROUP;
    NEXT_GROUP;
#undef NEXT_GROUP
    return least;
}

/* The place of the nearest point in the BLOCKS nearest blocks. */
FLOATS_INLINE size_t nearest_place(const ModelPlaces *p, const float *x)
{
    FloatsMask boxes = nearest_boxes(p, x), number = FLOATS_LANES, least = floats_mask_of(INT32_MAX);
    size_t block[BLOCKS];
#define POINTS(at)                                                                                           \
    least = floats_mask_min(least, ((FloatsMask)points_of(x, at, BLOCK) & -NUMBERS) | number);               \
    number += FLOATS
#define NEXT_BLOCK(i)                                                                                        \
    do {                                                                                                     \
        const int32_t box = floats_mask_least(boxes);                                                        \
        boxes |= (boxes == floats_mask_of(box)) & INT32_MAX;                                                 \
        block[i] = (size_t)box & (BLOCKS_MOST - 1);                                                          \
        if (block[i] >= p->n_blocks) block[i] = 0;                                                           \
        const float *at = &p->at[block[i] * BLOCK * MODEL_DIMS];                                             \
        POINTS(at);                                                                                          \
        POINTS(at + FLOATS);                                                                                 \
    } while (0)
    NEXT_BLOCK(0);
    NEXT_BLOCK(1);
    _Static_assert((int)BLOCK == 2 * (int)FLOATS, "two steps for each block");
    const size_t found = (size_t)floats_mask_least(least) & (NUMBERS - 1);
    return block[found / BLOCK] * BLOCK + found % BLOCK;
}

/* The order of all keys. A key's rank is the number of keys that are less. */
FLOATS_INLINE void order_of(FloatsMask a, FloatsMask b, FloatsMask c, const int32_t key[AROUND],
                            uint32_t order[AROUND])
{
    FloatsMask ranks[3] = {{0}, {0}, {0}};
    int32_t rank[AROUND];
#define RANK(i)                                                                                              \
    do {                                                                                                     \
        const FloatsMask x = floats_mask_of(key[i]);                                                         \
        ranks[0] -= x < a, ranks[1] -= x < b, ranks[2] -= x < c; /* true is -1 */                            \
    } while (0)
#define RANK_4(i)                                                                                            \
    do {                                                                                                     \
        RANK(i);                                                                                             \
        RANK(i + 1);                                                                                         \
        RANK(i + 2);                                                                                         \
        RANK(i + 3);                                                                                         \
    } while (0)
    RANK_4(0);
    RANK_4(4);
    RANK_4(8);
    RANK_4(12);
    RANK_4(16);
    RANK_4(20);
    _Static_assert((int)AROUND == 24, "a rank for each");
    memcpy(rank, ranks, sizeof rank);
    for (uint32_t i = 0; i < AROUND; i++) order[rank[i]] = i;
}

FLOATS_CLONES
static void near_of(const ModelPlaces *p, const ModelPoint *x, int n, uint32_t near[MODEL_NEAR],
                    float distance[MODEL_NEAR])
{
    const Around *around = &p->around[nearest_place(p, x->x)];
    int32_t key[AROUND];
    uint32_t order[AROUND];
#define KEYS(i)                                                                                              \
    ((FloatsMask)points_of(x->x, &around->at[(i)*FLOATS], AROUND) & ~AROUND_MASK) |                          \
        (FLOATS_LANES + (i)*FLOATS)
    const FloatsMask keys[] = {KEYS(0), KEYS(1), KEYS(2)};
    memcpy(key, keys, sizeof key);
    order_of(keys[0], keys[1], keys[2], key, order);
    for (int i = 0; i < n; i++) {
        const int32_t bits = key[order[i]] & ~AROUND_MASK;
        near[i] = around->point[order[i]];
        memcpy(&distance[i], &bits, sizeof bits);
    }
}

int model_places_near(const ModelPlaces *p, const ModelPoint *x, uint32_t near[MODEL_NEAR],
                      float distance[MODEL_NEAR])
{
    const int n = p->n < MODEL_NEAR ? (int)p->n : MODEL_NEAR;
    if (n > 0) near_of(p, x, n, near, distance);
    return n;
}
