/* Library: the nearest size of a Matching table, for distances that grow with every dimension (Euclidean,
 * Manhattan).
 *
 * The entries are in the blocks of a k-d tree (Bentley 1975) with a bounding box per node; a node is visited
 * when its box is not farther than the best entry so far. The distance to a box uses the same terms in the
 * same order as that to an entry, and rounding is monotone, so a box is never farther than its entries. The
 * tree is built when the table is read; the search does not allocate.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/runtime/library_priv.h"

/* ---- building ---- */

typedef struct {
    int64_t v;
    uint32_t order;
} Ranked;

typedef struct {
    Table *t;
    const int64_t *key;
    Ranked *ranked, *other; /* scratch of split */
    uint64_t random;
    uint32_t n_nodes;
} Build;

static int64_t coordinate(const Build *b, size_t at, int dim)
{
    return b->key[(size_t)b->t->order[at] * (size_t)b->t->n_dims + (size_t)dim];
}

/* Moves the values below the pivot (equal: not above it) to the front. It works out of place and without a
 * branch that depends on the values, which is five times as fast as swapping. */
static size_t part(Build *b, size_t from, size_t to, int64_t pivot, bool equal)
{
    Ranked *e = b->ranked, *other = b->other;
    size_t less = 0, more = to - from;
    for (size_t i = from; i < to; i++) {
        int64_t v = e[i].v;
        uint32_t order = e[i].order;
        size_t below = (v < pivot) | (equal & (v == pivot));
        other[less].v = v;
        other[less].order = order;
        other[more - 1].v = v;
        other[more - 1].order = order;
        less += below;
        more -= 1 - below;
    }
    memcpy(e + from, other, (to - from) * sizeof *e);
    return from + less;
}

static uint64_t next_random(Build *b)
{
    b->random = b->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return b->random >> 33;
}

/* The median of three random entries. */
static int64_t pivot_of(Build *b, size_t from, size_t to)
{
    int64_t x = b->ranked[from + next_random(b) % (to - from)].v;
    int64_t y = b->ranked[from + next_random(b) % (to - from)].v;
    int64_t z = b->ranked[from + next_random(b) % (to - from)].v;
    int64_t lo = x < y ? x : y, hi = x < y ? y : x;
    return z < lo ? lo : z > hi ? hi : z;
}

/* Quickselect: afterwards no value of [from, mid) is above any value of [mid, to). */
static void split(Build *b, size_t from, size_t to, size_t mid, int dim)
{
    Ranked *e = b->ranked;
    const size_t first = from, end = to;
    for (size_t i = from; i < to; i++) e[i] = (Ranked){coordinate(b, i, dim), b->t->order[i]};
    while (to - from > 1) {
        int64_t pivot = pivot_of(b, from, to);
        size_t less = part(b, from, to, pivot, false);
        if (less == from) { /* the pivot is the least value: entries that equal it come first */
            less = part(b, from, to, pivot, true);
            if (mid < less) break;
        }
        if (mid < less)
            to = less;
        else
            from = less;
    }
    for (size_t i = first; i < end; i++) b->t->order[i] = e[i].order;
}

static int near_dims(const Table *t) { return t->n_dims < NEAR_DIMS ? t->n_dims : NEAR_DIMS; }

/* The dimension with the widest range in a sample. Any choice is correct; the widest makes the smallest
 * boxes. */
static int widest(const Build *b, size_t from, size_t to)
{
    size_t step = (to - from) / 32 + 1;
    int64_t best = -1;
    int dim = 0;
    for (int d = 0; d < near_dims(b->t); d++) {
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (size_t i = from; i < to; i += step) {
            int64_t v = coordinate(b, i, d);
            if (v < lo) lo = v;
            if (v > hi) hi = v;
        }
        if (hi - lo > best) {
            best = hi - lo;
            dim = d;
        }
    }
    return dim;
}

static void box_of_entries(const Build *b, NearNode *n, size_t from, size_t to)
{
    for (int d = 0; d < near_dims(b->t); d++) {
        int64_t lo = INT64_MAX, hi = INT64_MIN;
        for (size_t i = from; i < to; i++) {
            int64_t v = coordinate(b, i, d);
            if (v < lo) lo = v;
            if (v > hi) hi = v;
        }
        n->lo[d] = (double)lo;
        n->hi[d] = (double)hi;
    }
}

static void box_of_children(NearNode *n, const NearNode *x, const NearNode *y)
{
    for (int d = 0; d < NEAR_DIMS; d++) {
        n->lo[d] = x->lo[d] < y->lo[d] ? x->lo[d] : y->lo[d];
        n->hi[d] = x->hi[d] > y->hi[d] ? x->hi[d] : y->hi[d];
    }
}

/* Each half has a whole number of blocks, so the depth is log2 of the number of blocks. */
static uint32_t build(Build *b, size_t from, size_t to)
{
    uint32_t at = b->n_nodes++;
    NearNode *n = &b->t->near[at];
    n->block = (uint32_t)(from / TABLE_BLOCK);
    size_t blocks = (to - from + TABLE_BLOCK - 1) / TABLE_BLOCK;
    if (blocks <= 1) {
        box_of_entries(b, n, from, to);
        return at;
    }
    size_t mid = from + blocks / 2 * TABLE_BLOCK;
    split(b, from, to, mid, widest(b, from, to));
    uint32_t left = build(b, from, mid);
    n->right = build(b, mid, to);
    box_of_children(n, &b->t->near[left], &b->t->near[n->right]);
    return at;
}

Err near_build(Arena *a, Table *t)
{
    Build b = {.t = t, .key = t->key, .random = 1};
    size_t padded = t->n_blocks * TABLE_BLOCK;
    t->order = ARENA_ARRAY(a, t->n, uint32_t);
    t->near = ARENA_ARRAY(a, 2 * t->n_blocks, NearNode);
    if (!t->order || !t->near) FAIL(ERR_FAILED, "out of memory for a table of %zu sizes", t->n);
    b.ranked = calloc(2 * t->n + 1, sizeof *b.ranked);
    b.other = b.ranked + t->n;
    if (!b.ranked) FAIL(ERR_FAILED, "out of memory for a table of %zu sizes", t->n);
    for (size_t i = 0; i < t->n; i++) t->order[i] = (uint32_t)i;
    if (t->n) build(&b, 0, t->n);
    free(b.ranked);
    for (int d = 0; d < t->n_dims; d++) {
        t->column[d] = ARENA_ARRAY(a, padded, double);
        if (!t->column[d]) FAIL(ERR_FAILED, "out of memory for a table of %zu sizes", t->n);
        for (size_t i = 0; i < padded; i++)
            t->column[d][i] = i < t->n ? (double)coordinate(&b, i, d) : (double)INFINITY;
    }
    return ERR_OK;
}

/* ---- searching ---- */

typedef struct {
    const Table *t;
    const double *p;
    size_t at; /* SIZE_MAX: none */
    double best;
    bool tie, manhattan;
} Search;

static inline double term(bool manhattan, double x) { return manhattan ? fabs(x) : x * x; }

static inline void leaf(Search *s, uint32_t block, bool manhattan)
{
    const Table *t = s->t;
    double d[TABLE_BLOCK], least = INFINITY;
    const double *c0 = t->column[0] + (size_t)block * TABLE_BLOCK;
    for (int i = 0; i < TABLE_BLOCK; i++) d[i] = term(manhattan, s->p[0] - c0[i]);
    for (int k = 1; k < t->n_dims; k++) {
        const double *c = t->column[k] + (size_t)block * TABLE_BLOCK, p = s->p[k];
        for (int i = 0; i < TABLE_BLOCK; i++) d[i] += term(manhattan, p - c[i]);
    }
    for (int i = 0; i < TABLE_BLOCK; i++) least = d[i] < least ? d[i] : least;
    if (least > s->best) return;
    if (least < s->best) {
        s->best = least;
        s->at = SIZE_MAX;
        s->tie = false;
    }
    for (size_t i = 0; i < TABLE_BLOCK; i++)
        if (d[i] == least) {
            s->tie |= s->at != SIZE_MAX;
            s->at = (size_t)block * TABLE_BLOCK + i;
        }
}

static inline double box_distance(const Search *s, const NearNode *n, bool manhattan)
{
    double sum = 0;
    for (int d = 0; d < near_dims(s->t); d++) {
        double below = n->lo[d] - s->p[d], above = s->p[d] - n->hi[d];
        double gap = below > above ? below : above;
        sum += term(manhattan, gap > 0 ? gap : 0);
    }
    return sum;
}

/* Searches with an explicit stack: the tree has at most 32 levels. */
static inline void search(Search *s, bool manhattan)
{
    struct {
        uint32_t node;
        double distance;
    } stack[64];
    int n = 0;
    uint32_t at = 0;
    for (;;) {
        const NearNode *node = &s->t->near[at];
        if (node->right) {
            uint32_t near = at + 1, far = node->right;
            double dn = box_distance(s, &s->t->near[near], manhattan);
            double df = box_distance(s, &s->t->near[far], manhattan);
            if (df < dn) {
                uint32_t t = near;
                double d = dn;
                near = far;
                dn = df;
                far = t;
                df = d;
            }
            if (df <= s->best) {
                stack[n].node = far;
                stack[n++].distance = df;
            }
            at = near;
            if (dn <= s->best) continue;
        } else {
            leaf(s, node->block, manhattan);
        }
        do {
            if (n == 0) return;
            n--;
        } while (stack[n].distance > s->best);
        at = stack[n].node;
    }
}

bool near_find(const Table *t, const double *p, size_t *at, double *distance)
{
    Search s = {.t = t, .p = p, .at = SIZE_MAX, .best = DBL_MAX};
    if (t->distance == DIST_MANHATTAN)
        search(&s, true);
    else
        search(&s, false);
    if (s.at == SIZE_MAX || s.tie) return false;
    *at = t->order[s.at];
    *distance = s.best;
    return true;
}
