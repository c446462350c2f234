/* The nearest of many points. See model_places.h. */
#include "problem/model_places.h"

#include <math.h>
#include <string.h>

#include "problem/floats.h"

enum { BLOCK = 16 };

struct ModelPlaces {
    size_t n, n_blocks;
    float *given[MODEL_DIMS];               /* of each point, as they were set */
    uint32_t *order;                        /* of each place: its point */
    float *at[MODEL_DIMS];                  /* of each place */
    float *lo[MODEL_DIMS], *hi[MODEL_DIMS]; /* of each block: the box of its points */
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
    for (int d = 0; d < MODEL_DIMS; d++) {
        TRY_ALLOC(p->given[d] = ARENA_ARRAY(a, n + 1, float));
        TRY_ALLOC(p->at[d] = ARENA_ARRAY(a, p->n_blocks * BLOCK + 1, float));
        TRY_ALLOC(p->lo[d] = ARENA_ARRAY(a, floats_padded(p->n_blocks) + 1, float));
        TRY_ALLOC(p->hi[d] = ARENA_ARRAY(a, floats_padded(p->n_blocks) + 1, float));
    }
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
    for (int d = 0; d < MODEL_DIMS; d++)
        for (size_t b = 0; b < p->n_blocks; b++) {
            p->lo[d][b] = INFINITY, p->hi[d][b] = -INFINITY;
            for (size_t i = b * BLOCK; i < p->n && i < (b + 1) * BLOCK; i++) {
                const float x = p->at[d][i] = p->given[d][p->order[i]];
                p->lo[d][b] = fminf(p->lo[d][b], x);
                p->hi[d][b] = fmaxf(p->hi[d][b], x);
            }
        }
}

/* ---- the search ---- */

FLOATS_INLINE Floats more(Floats a, Floats b) { return floats_pick(a > b, a, b); }

/* Squares of the distances to the boxes of all blocks. */
FLOATS_INLINE void boxes_of(const ModelPlaces *p, const ModelPoint *x, float *out)
{
    for (size_t b = 0; b < p->n_blocks; b += FLOATS) {
        Floats sum = floats_of(0);
        for (int d = 0; d < MODEL_DIMS; d++) {
            const Floats below = floats_load(&p->lo[d][b]) - x->x[d],
                         above = x->x[d] - floats_load(&p->hi[d][b]);
            const Floats apart = more(more(below, above), floats_of(0));
            sum += apart * apart;
        }
        floats_store(&out[b], sum);
    }
    for (size_t b = p->n_blocks; b < floats_padded(p->n_blocks); b++) out[b] = INFINITY;
}

/* The nearest points of a block are selected by repeatedly taking the least key, because the processor cannot
 * predict the branches of an insertion sort. A key is a distance whose last bits are the point's number
 * within its block. */
static float key_of(float distance, uint32_t number)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    bits = (bits & ~(uint32_t)(BLOCK - 1)) | number;
    memcpy(&distance, &bits, sizeof bits);
    return distance;
}

static uint32_t number_of(float key)
{
    uint32_t bits;
    memcpy(&bits, &key, sizeof bits);
    return bits & (BLOCK - 1);
}

FLOATS_INLINE void keys_of(const ModelPlaces *p, const ModelPoint *x, size_t first, size_t n,
                           float key[BLOCK])
{
    for (size_t i = 0; i < BLOCK; i += FLOATS) {
        Floats sum = floats_of(0);
        for (int d = 0; d < MODEL_DIMS; d++) {
            const Floats apart = x->x[d] - floats_load(&p->at[d][first + i]);
            sum += apart * apart;
        }
        floats_store(&key[i], sum);
    }
    for (size_t i = 0; i < n; i++) key[i] = key_of(key[i], (uint32_t)i);
    for (size_t i = n; i < BLOCK; i++) key[i] = INFINITY;
}

/* Inserts points of a block into the list of n, which is sorted by key, while they are nearer than its last
 * one; returns how many there are then. */
FLOATS_INLINE int insert(const ModelPlaces *p, float *key, size_t first, size_t n_block, int n,
                         uint32_t near[MODEL_NEAR], float distance[MODEL_NEAR])
{
    for (size_t taken = 0; taken < MODEL_NEAR && taken < n_block; taken++) {
        const float k = floats_least(key, BLOCK);
        if (n == MODEL_NEAR && k >= distance[MODEL_NEAR - 1]) break;
        int at = n < MODEL_NEAR ? n++ : MODEL_NEAR - 1;
        for (; at > 0 && distance[at - 1] > k; at--) distance[at] = distance[at - 1], near[at] = near[at - 1];
        distance[at] = k, near[at] = p->order[first + number_of(k)];
        key[number_of(k)] = INFINITY;
    }
    return n;
}

enum { BLOCKS_MOST = (1 << 16) / BLOCK };

FLOATS_CLONES
static int near_of(const ModelPlaces *p, const ModelPoint *x, uint32_t near[MODEL_NEAR],
                   float distance[MODEL_NEAR])
{
    float box[BLOCKS_MOST + FLOATS], key[BLOCK];
    int n = 0;
    if (!p->n_blocks) return 0;
    boxes_of(p, x, box);
    for (size_t done = 0; done < p->n_blocks; done++) {
        const float least = floats_least(box, p->n_blocks);
        if (n == MODEL_NEAR && least >= distance[MODEL_NEAR - 1]) break;
        size_t b = 0;
        while (box[b] != least) b++;
        box[b] = INFINITY;
        const size_t first = b * BLOCK, n_block = p->n - first < BLOCK ? p->n - first : BLOCK;
        keys_of(p, x, first, n_block, key);
        n = insert(p, key, first, n_block, n, near, distance);
    }
    return n;
}

int model_places_near(const ModelPlaces *p, const ModelPoint *x, uint32_t near[MODEL_NEAR],
                      float distance[MODEL_NEAR])
{
    return near_of(p, x, near, distance);
}
