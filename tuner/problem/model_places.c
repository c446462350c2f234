/* The nearest of many points. See model_places.h. */
#include "problem/model_places.h"

#include <math.h>
#include <string.h>

#include "problem/floats.h"

/* A node divides its part of the space by LEVELS levels of halves into CHILDREN parts. The parts of the last
 * nodes are the cells, of which there are a few times as many as points. */
enum { LEVELS = 3, CHILDREN = 1 << LEVELS, SPLITS = CHILDREN - 1, CELLS_PER_POINT = 4 };

/* The splits of a node: that into its halves, those of these, and those of theirs. A place is in the upper
 * half where its number is not below. */
enum { DIM_BITS = 4 };
typedef struct {
    float at[SPLITS];
    uint32_t dims; /* DIM_BITS of each split */
} Node;
_Static_assert(sizeof(Node) == sizeof(Floats) && (int)MODEL_DIMS <= (int)FLOATS, "a vector holds them");

/* The points that are the nearest ones to the middle of a cell, or nearly. */
enum { AROUND = 2 * FLOATS };
struct ModelCell {
    uint16_t point[AROUND];
};

/* A node of the last step and its cells, side by side, so that a search waits for memory once, not for the
 * node and then for a cell. */
typedef struct {
    Node node;
    ModelCell cell[CHILDREN];
} Last;

/* Of the points that are near the middle of a node's part, so many are looked at for the cells in it; for
 * each step before the last one NARROW times as many. */
enum { NEAR_NODE = 64, NARROW = 4, STEPS_MOST = 6 };
_Static_assert(CELLS_PER_POINT *(int)MODEL_PLACES_MAX <= 1 << LEVELS * STEPS_MOST, "enough steps");

struct ModelPlaces {
    size_t n;
    int steps;                  /* nodes on the way to a cell */
    ModelPoint *point;          /* behind the last one a far one */
    Node *node;                 /* of each step but the last one, one after the other */
    Last *last;                 /* of each node of the last step */
    uint8_t child[1 << SPLITS]; /* by the splits of which a place is in the upper half, a bit for each */
    /* while they are sorted */
    uint32_t *order;            /* the points of each part lie side by side */
    uint32_t *near[STEPS_MOST]; /* the points near the middle of a node's part, of each step */
    float *number;              /* of each point, by which points are compared */
};

/* Octaves. Where there are fewer points than room, a point stands there that is far from everything. */
static const float FAR = 1e9F;

float model_distance(const ModelPoint *a, const ModelPoint *b)
{
    float sum = 0;
    for (int i = 0; i < MODEL_DIMS; i++) sum += (a->x[i] - b->x[i]) * (a->x[i] - b->x[i]);
    return sum;
}

/* The child that a place is in. upper: a bit for each split in whose upper half it is. */
static uint8_t child_by(unsigned upper)
{
    unsigned child = 0;
    for (unsigned level = 0; level < LEVELS; level++)
        child = 2 * child + (upper >> ((1U << level) - 1 + child) & 1);
    return (uint8_t)child;
}

Err model_places_new(Arena *a, size_t n, ModelPlaces **out)
{
    if (n > MODEL_PLACES_MAX) FAIL(ERR_INPUT, "%zu points, at most %d", n, MODEL_PLACES_MAX);
    ModelPlaces *p = ARENA_NEW(a, ModelPlaces);
    size_t n_last = 1, n_nodes = 0;
    TRY_ALLOC(*out = p);
    p->n = n, p->steps = 1;
    for (; n_last * CHILDREN < CELLS_PER_POINT * n; n_last *= CHILDREN) n_nodes += n_last, p->steps++;
    TRY_ALLOC(p->point = ARENA_LINES(a, n + 1, ModelPoint));
    TRY_ALLOC(p->node = ARENA_LINES(a, n_nodes + 1, Node));
    TRY_ALLOC(p->last = ARENA_LINES(a, n_last, Last));
    TRY_ALLOC(p->order = ARENA_ARRAY(a, n + 1, uint32_t));
    TRY_ALLOC(p->number = ARENA_ARRAY(a, n + 1, float));
    for (int s = 0; s < p->steps; s++) TRY_ALLOC(p->near[s] = ARENA_ARRAY(a, n + 1, uint32_t));
    for (unsigned i = 0; i < 1U << SPLITS; i++) p->child[i] = child_by(i);
    for (int d = 0; d < MODEL_DIMS; d++) p->point[n].x[d] = FAR;
    return ERR_OK;
}

void model_places_set(ModelPlaces *p, size_t i, const ModelPoint *x) { p->point[i] = *x; }

/* ---- order ---- */

static bool is_before(const float *x, uint32_t a, uint32_t b) { return x[a] != x[b] ? x[a] < x[b] : a < b; }

static void exchange(uint32_t *order, size_t i, size_t k)
{
    const uint32_t was = order[i];
    order[i] = order[k], order[k] = was;
}

/* Moves the n_less points with the least numbers of order[0..n) to its start: Hoare's selection. */
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

/* Writes the nearest ones of n points, or all, in no order; returns their number. */
static size_t nearest(ModelPlaces *p, const ModelPoint *x, const uint32_t *point, size_t n, size_t most,
                      uint32_t *out)
{
    memcpy(out, point, n * sizeof *out);
    if (n <= most) return n;
    for (size_t i = 0; i < n; i++) p->number[point[i]] = model_distance(x, &p->point[point[i]]);
    select_least(p->number, out, n, most);
    return most;
}

/* ---- the tree ---- */

/* A part of the space: the points order[0..n) are in it. Those of `near` are near its middle. */
typedef struct {
    ModelPoint lo, hi;
    uint32_t *order;
    size_t n;
    const uint32_t *near;
    size_t n_near;
} Region;

static ModelPoint middle_of(const Region *r)
{
    ModelPoint x = {{0}};
    for (int d = 0; d < MODEL_DIMS; d++) x.x[d] = (r->lo.x[d] + r->hi.x[d]) / 2;
    return x;
}

/* The bounds of a region's points; zeros where there are none. */
static void bounds_of(const ModelPlaces *p, const Region *r, ModelPoint *lo, ModelPoint *hi)
{
    *lo = *hi = r->n ? p->point[r->order[0]] : (ModelPoint){{0}};
    for (size_t i = 1; i < r->n; i++)
        for (int d = 0; d < MODEL_DIMS; d++) {
            const float x = p->point[r->order[i]].x[d];
            lo->x[d] = fminf(lo->x[d], x), hi->x[d] = fmaxf(hi->x[d], x);
        }
}

static int widest(const ModelPoint *lo, const ModelPoint *hi)
{
    int widest = 0;
    for (int d = 1; d < MODEL_DIMS; d++)
        if (hi->x[d] - lo->x[d] > hi->x[widest] - lo->x[widest]) widest = d;
    return widest;
}

/* The middle between the lower half of a region's points and the others. They are not all the same; those
 * that are the same stay together. */
static float median(ModelPlaces *p, const Region *r, int dim)
{
    float below = -INFINITY, at = INFINITY, above = INFINITY;
    for (size_t i = 0; i < r->n; i++) p->number[r->order[i]] = p->point[r->order[i]].x[dim];
    select_least(p->number, r->order, r->n, r->n / 2);
    for (size_t i = r->n / 2; i < r->n; i++) at = fminf(at, p->number[r->order[i]]);
    for (size_t i = 0; i < r->n; i++) {
        const float x = p->number[r->order[i]];
        if (x < at) below = fmaxf(below, x);
        if (x > at) above = fminf(above, x);
    }
    return below > -INFINITY ? below + (at - below) / 2 : at + (above - at) / 2;
}

/* Where a region is divided: along the dimension in which its points are spread most, or it is itself. */
static float split_of(ModelPlaces *p, const Region *r, int *dim)
{
    ModelPoint lo, hi;
    bounds_of(p, r, &lo, &hi);
    *dim = widest(&lo, &hi);
    if (hi.x[*dim] > lo.x[*dim]) return median(p, r, *dim);
    *dim = widest(&r->lo, &r->hi);
    return middle_of(r).x[*dim];
}

static Node *node_at(ModelPlaces *p, int step, size_t index)
{
    size_t first = 0;
    if (step == p->steps - 1) return &p->last[index].node;
    for (int s = 0; s < step; s++) first = first * CHILDREN + 1;
    return &p->node[first + index];
}

static void cell_set(ModelPlaces *p, const Region *r, ModelCell *cell)
{
    uint32_t around[NEAR_NODE];
    const ModelPoint middle = middle_of(r);
    const size_t n = nearest(p, &middle, r->near, r->n_near, AROUND, around);
    for (size_t i = 0; i < AROUND; i++) cell->point[i] = (uint16_t)(i < n ? around[i] : p->n);
}

static void near_find(ModelPlaces *p, Region *r, int step)
{
    const ModelPoint middle = middle_of(r);
    size_t most = NEAR_NODE;
    for (int s = step; s < p->steps - 1; s++) most *= NARROW;
    r->n_near = nearest(p, &middle, r->near, r->n_near, most, p->near[step]);
    r->near = p->near[step];
}

/* half: the halves on the way to the region, a bit for each level. */
static void divide(ModelPlaces *p, Region r, int level, size_t half)
{
    const int step = level / LEVELS, in_node = level % LEVELS;
    if (step == p->steps) {
        cell_set(p, &r, &p->last[half / CHILDREN].cell[half % CHILDREN]);
        return;
    }
    if (in_node == 0) near_find(p, &r, step);
    int dim;
    const float at = split_of(p, &r, &dim);
    Node *node = node_at(p, step, half >> in_node);
    const size_t first = ((size_t)1 << in_node) - 1, split = first + (half & first);
    node->at[split] = at, node->dims |= (uint32_t)dim << split * DIM_BITS;
    size_t n = 0;
    for (size_t i = 0; i < r.n; i++)
        if (p->point[r.order[i]].x[dim] < at) exchange(r.order, i, n++);
    Region lower = r, upper = r;
    lower.n = n, upper.n = r.n - n, upper.order = r.order + n;
    lower.hi.x[dim] = upper.lo.x[dim] = at;
    divide(p, lower, level + 1, 2 * half);
    divide(p, upper, level + 1, 2 * half + 1);
}

void model_places_sort(ModelPlaces *p)
{
    Region all = {.order = p->order, .n = p->n, .near = p->order, .n_near = p->n};
    for (size_t i = 0; i < p->n; i++) p->order[i] = (uint32_t)i;
    bounds_of(p, &all, &all.lo, &all.hi);
    divide(p, all, 0, 0);
}

/* ---- the search ---- */

/* The numbers of x that a node's splits compare. The last bits of an element of `dims` name a dimension. */
FLOATS_INLINE Floats compared_of(Floats x, FloatsMask dims)
{
#ifdef __clang__
    Floats v;
    for (int i = 0; i < FLOATS; i++) v[i] = x[dims[i] & (FLOATS - 1)];
    return v;
#else
    return __builtin_shuffle(x, dims);
#endif
}

FLOATS_INLINE size_t child_of(const ModelPlaces *p, const Node *node, Floats x)
{
    const FloatsBits dims = (node->dims - (FloatsBits){0}) >> (DIM_BITS * (FloatsBits)FLOATS_LANES);
    Floats at;
    memcpy(&at, node, sizeof at);
    return p->child[~floats_negative(compared_of(x, (FloatsMask)dims) - at) & ((1U << SPLITS) - 1)];
}

FLOATS_CLONES
static const ModelCell *cell_of(const ModelPlaces *p, const ModelPoint *point)
{
    const Floats x = floats_load(point->x);
    const Node *node = p->node;
    size_t index = 0, n = 1;
    for (int s = 1; s < p->steps; s++, node += n, n *= CHILDREN)
        index = index * CHILDREN + child_of(p, &node[index], x);
    const Last *last = &p->last[index];
    for (size_t i = 1; i < CHILDREN; i += 2) __builtin_prefetch(&last->cell[i]);
    return &last->cell[child_of(p, &last->node, x)];
}

/* Squares of the distances to FLOATS points: rows of squares, whose sums are in four lanes each, then in two,
 * then in one. */
FLOATS_INLINE Floats distances_of(const ModelPlaces *p, Floats x, const uint16_t *point)
{
#define ROW(i) floats_load(p->point[point[i]].x) - x
#define SQUARE(v) (v) * (v)
#define SUM_4(a, b)                                                                                          \
    FLOATS_SHUFFLE_2(a, b, 0, 1, 2, 3, 8, 9, 10, 11) + FLOATS_SHUFFLE_2(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#define SUM_2(a, b)                                                                                          \
    FLOATS_SHUFFLE_2(a, b, 0, 1, 8, 9, 4, 5, 12, 13) + FLOATS_SHUFFLE_2(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define SUM_1(a, b)                                                                                          \
    FLOATS_SHUFFLE_2(a, b, 0, 2, 8, 10, 4, 6, 12, 14) + FLOATS_SHUFFLE_2(a, b, 1, 3, 9, 11, 5, 7, 13, 15)
    const Floats a = ROW(0), b = ROW(1), c = ROW(2), d = ROW(3), e = ROW(4), f = ROW(5), g = ROW(6),
                 h = ROW(7), aa = SQUARE(a), bb = SQUARE(b), cc = SQUARE(c), dd = SQUARE(d), ee = SQUARE(e),
                 ff = SQUARE(f), gg = SQUARE(g), hh = SQUARE(h);
    const Floats ae = SUM_4(aa, ee), bf = SUM_4(bb, ff), cg = SUM_4(cc, gg), dh = SUM_4(dd, hh);
    const Floats abef = SUM_2(ae, bf), cdgh = SUM_2(cg, dh);
    return SUM_1(abef, cdgh);
#undef ROW
#undef SQUARE
#undef SUM_4
#undef SUM_2
#undef SUM_1
}

/* Numbers replace the last bits of distances, so that no two of these are the same. Bits of numbers that are
 * not negative have the order of the numbers. Compilers keep loops over few vectors, and what these have in
 * memory: steps are macros. */
enum { AROUND_MASK = AROUND - 1 };
_Static_assert((AROUND & AROUND_MASK) == 0, "a power of two");

/* The order of all keys. A key's rank is the number of keys that are less. */
FLOATS_INLINE void order_of(FloatsMask a, FloatsMask b, const int32_t key[AROUND], uint32_t order[AROUND])
{
    FloatsMask ranks[2] = {{0}, {0}};
    int32_t rank[AROUND];
#define RANK(i)                                                                                              \
    do {                                                                                                     \
        const FloatsMask x = floats_mask_of(key[i]);                                                         \
        ranks[0] -= x < a, ranks[1] -= x < b; /* true is -1 */                                               \
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
    _Static_assert((int)AROUND == 16, "a rank for each");
    memcpy(rank, ranks, sizeof rank);
    for (uint32_t i = 0; i < AROUND; i++) order[rank[i]] = i;
#undef RANK
#undef RANK_4
}

FLOATS_CLONES
static void near_of(const ModelPlaces *p, const ModelPoint *point, const ModelCell *cell,
                    uint32_t near[MODEL_NEAR], float distance[MODEL_NEAR])
{
    const Floats x = floats_load(point->x);
    int32_t key[AROUND];
    uint32_t order[AROUND];
#define KEYS(i)                                                                                              \
    ((FloatsMask)distances_of(p, x, &cell->point[(i)*FLOATS]) & ~AROUND_MASK) | (FLOATS_LANES + (i)*FLOATS)
    const FloatsMask keys[] = {KEYS(0), KEYS(1)};
    memcpy(key, keys, sizeof key);
    order_of(keys[0], keys[1], key, order);
    for (int i = 0; i < MODEL_NEAR; i++) near[i] = cell->point[order[i]];
        /* whole, because it is loaded as a whole at once */
#define KEY(i) key[order[i]]
    const FloatsMask least = {KEY(0), KEY(1), KEY(2), KEY(3), KEY(4), KEY(5), KEY(6), KEY(7)};
    _Static_assert((int)MODEL_NEAR == 8 && (int)FLOATS == 8, "a vector of them");
    floats_store(distance, (Floats)(least & ~AROUND_MASK));
}

const ModelCell *model_places_cell(const ModelPlaces *p, const ModelPoint *x) { return cell_of(p, x); }

int model_places_near(const ModelPlaces *p, const ModelPoint *x, const ModelCell *cell,
                      uint32_t near[MODEL_NEAR], float distance[MODEL_NEAR])
{
    near_of(p, x, cell, near, distance);
    return p->n < MODEL_NEAR ? (int)p->n : MODEL_NEAR;
}
