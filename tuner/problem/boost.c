/* Gradient-boosted regression trees. See boost.h. */
#include "problem/boost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 24 };

/* Of a leaf, feature is -1 and `at` the value; else rows whose feature is below `at` are in the node
 * `less`, the others in the one after it. */
typedef struct {
    int32_t feature;
    uint32_t less;
    float at;
} BoostNode;

struct Boost {
    int depth;
    size_t n_trees, n_nodes; /* nodes of a tree */
    BoostNode *node;         /* [tree][node], the root first */
};

typedef struct {
    const BoostRows *rows;
    const BoostOptions *o;
    float (*bound)[BINS]; /* of each feature: the quantiles, ascending; INFINITY behind the last */
    uint8_t *bin;         /* [row][feature]: the number of quantiles that are not above it */
    float *left;          /* of each row: what the trees leave */
    float *pull;          /* left, without the mean of the row's group */
    double *sum, *weight; /* of each group */
    uint32_t *row;        /* those of the tree, sorted by node */
    BoostNode *node;
    size_t n_nodes;
    uint64_t state;
} Training;

/* ---- bins ---- */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void bounds_find(Training *t, size_t f, float *sorted)
{
    const BoostRows *r = t->rows;
    int n = 0;
    for (size_t i = 0; i < r->n; i++) sorted[i] = r->x[i * r->n_features + f];
    qsort(sorted, r->n, sizeof *sorted, by_value);
    for (int q = 1; q < BINS; q++) {
        const float x = sorted[(size_t)q * (r->n - 1) / BINS];
        if (n == 0 || x > t->bound[f][n - 1]) t->bound[f][n++] = x;
    }
    for (; n < BINS; n++) t->bound[f][n] = INFINITY;
    for (size_t i = 0; i < r->n; i++) {
        const float x = r->x[i * r->n_features + f];
        uint8_t bin = 0;
        while (bin < BINS && t->bound[f][bin] <= x) bin++;
        t->bin[i * r->n_features + f] = bin;
    }
}

/* ---- a tree ---- */

/* Sums of the weights and of the weighted pulls of the rows in each bin. */
typedef struct {
    double weight[BINS + 1], pull[BINS + 1];
} Histogram;

typedef struct {
    double gain;
    size_t feature;
    int bin; /* rows of the bins below and of this one go to the first node */
} Split;

static double score(double pull, double weight, double shrink) { return pull * pull / (weight + shrink); }

static void split_try(const Training *t, const Histogram *h, size_t f, Split *best)
{
    double pull = 0, weight = 0, all_pull = 0, all_weight = 0;
    for (int b = 0; b <= BINS; b++) all_pull += h->pull[b], all_weight += h->weight[b];
    const double shrink = (double)t->o->shrink, least = (double)t->o->leaf_least,
                 base = score(all_pull, all_weight, shrink);
    for (int b = 0; b < BINS && isfinite(t->bound[f][b]); b++) {
        pull += h->pull[b], weight += h->weight[b];
        if (weight < least || all_weight - weight < least) continue;
        const double gain =
            score(pull, weight, shrink) + score(all_pull - pull, all_weight - weight, shrink) - base;
        if (gain > best->gain) *best = (Split){gain, f, b};
    }
}

static Split split_find(const Training *t, const uint32_t *row, size_t n, Histogram *h)
{
    const size_t n_features = t->rows->n_features;
    Split best = {0};
    memset(h, 0, n_features * sizeof *h);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bin = &t->bin[row[i] * n_features];
        const double weight = (double)t->rows->weight[row[i]], pull = weight * (double)t->pull[row[i]];
        for (size_t f = 0; f < n_features; f++) h[f].weight[bin[f]] += weight, h[f].pull[bin[f]] += pull;
    }
    for (size_t f = 0; f < n_features; f++) split_try(t, &h[f], f, &best);
    return best;
}

static size_t partition(const Training *t, uint32_t *row, size_t n, Split s)
{
    size_t n_less = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t at = row[i];
        if (t->bin[at * t->rows->n_features + s.feature] > s.bin) continue;
        row[i] = row[n_less], row[n_less++] = at;
    }
    return n_less;
}

static float leaf_of(const Training *t, const uint32_t *row, size_t n)
{
    double pull = 0, weight = 0;
    for (size_t i = 0; i < n; i++) {
        weight += (double)t->rows->weight[row[i]];
        pull += (double)t->rows->weight[row[i]] * (double)t->pull[row[i]];
    }
    return t->o->step * (float)(pull / (weight + (double)t->o->shrink));
}

static void node_grow(Training *t, size_t at, uint32_t *row, size_t n, int depth, Histogram *h)
{
    const Split s = depth > 0 && n > 1 ? split_find(t, row, n, h) : (Split){0};
    if (s.gain <= 0) {
        t->node[at] = (BoostNode){-1, 0, leaf_of(t, row, n)};
        return;
    }
    const size_t less = t->n_nodes, n_less = partition(t, row, n, s);
    t->n_nodes += 2;
    t->node[at] = (BoostNode){(int32_t)s.feature, (uint32_t)less, t->bound[s.feature][s.bin]};
    node_grow(t, less, row, n_less, depth - 1, h);
    node_grow(t, less + 1, row + n_less, n - n_less, depth - 1, h);
}

static float tree_value(const BoostNode *node, const float *x)
{
    const BoostNode *at = node;
    while (at->feature >= 0) at = &node[at->less + !(x[at->feature] < at->at)];
    return at->at;
}

/* ---- all of them ---- */

/* What is left of each row beside the rest of its group. */
static void pulls_make(Training *t)
{
    const BoostRows *r = t->rows;
    memset(t->sum, 0, r->n_groups * sizeof *t->sum);
    memset(t->weight, 0, r->n_groups * sizeof *t->weight);
    for (size_t i = 0; i < r->n; i++) {
        t->sum[r->group[i]] += (double)r->weight[i] * (double)t->left[i];
        t->weight[r->group[i]] += (double)r->weight[i];
    }
    for (size_t i = 0; i < r->n; i++)
        t->pull[i] = t->left[i] - (float)(t->sum[r->group[i]] / t->weight[r->group[i]]);
}

static size_t rows_draw(Training *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->rows->n; i++) {
        t->state = t->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if ((float)(t->state >> 40) * 0x1p-24F < t->o->share) t->row[n++] = (uint32_t)i;
    }
    return n;
}

static void tree_add(Training *t, BoostNode *node, Histogram *h)
{
    const BoostRows *r = t->rows;
    t->node = node, t->n_nodes = 1;
    pulls_make(t);
    node_grow(t, 0, t->row, rows_draw(t), t->o->depth, h);
    for (size_t i = 0; i < r->n; i++) t->left[i] -= tree_value(node, &r->x[i * r->n_features]);
}

static Err training_make(Arena *a, Training *t)
{
    const BoostRows *r = t->rows;
    float *sorted = ARENA_ARRAY(a, r->n + 1, float);
    TRY_ALLOC(sorted);
    TRY_ALLOC(t->bound = arena_alloc(a, r->n_features * sizeof *t->bound));
    TRY_ALLOC(t->bin = ARENA_ARRAY(a, r->n * r->n_features + 1, uint8_t));
    TRY_ALLOC(t->left = ARENA_ARRAY(a, r->n + 1, float));
    TRY_ALLOC(t->pull = ARENA_ARRAY(a, r->n + 1, float));
    TRY_ALLOC(t->sum = ARENA_ARRAY(a, r->n_groups + 1, double));
    TRY_ALLOC(t->weight = ARENA_ARRAY(a, r->n_groups + 1, double));
    TRY_ALLOC(t->row = ARENA_ARRAY(a, r->n + 1, uint32_t));
    for (size_t f = 0; f < r->n_features; f++) bounds_find(t, f, sorted);
    memcpy(t->left, r->y, r->n * sizeof *t->left);
    return ERR_OK;
}

Err boost_train(Arena *a, const BoostRows *rows, const BoostOptions *o, Boost **out)
{
    Boost *b = ARENA_NEW(a, Boost);
    Arena scratch;
    Training t = {.rows = rows, .o = o, .state = 1};
    TRY_ALLOC(*out = b);
    if (!rows->n) return ERR_OK;
    b->depth = o->depth, b->n_nodes = ((size_t)2 << o->depth) - 1;
    TRY_ALLOC(b->node = ARENA_ARRAY(a, b->n_nodes * (size_t)o->n_trees, BoostNode));
    arena_init(&scratch, 0);
    Histogram *h = ARENA_ARRAY(&scratch, rows->n_features, Histogram);
    const Err e =
        h ? training_make(&scratch, &t) : err_set(ERR_FAILED, "out of memory for %zu rows", rows->n);
    for (; !e && b->n_trees < (size_t)o->n_trees; b->n_trees++)
        tree_add(&t, &b->node[b->n_trees * b->n_nodes], h);
    arena_fini(&scratch);
    return e;
}

float boost_value(const Boost *b, const float *x)
{
    float sum = 0;
    for (size_t i = 0; i < b->n_trees; i++) sum += tree_value(&b->node[i * b->n_nodes], x);
    return sum;
}

/* ---- at run time ---- */

/* Fills in the part of a tree below a node. A leaf above the last nodes becomes comparisons that all rows
 * pass alike, with its value behind both sides. */
static void tree_fill(const BoostNode *node, size_t at, ModelTrees *t, size_t tree, size_t to)
{
    const size_t nodes = model_trees_nodes(t);
    const BoostNode *from = &node[at];
    if (to >= nodes) {
        t->value[tree * (nodes + 1) + to - nodes] = from->at;
        return;
    }
    const bool leaf = from->feature < 0;
    t->feature[tree * nodes + to] = (uint8_t)(leaf ? 0 : from->feature);
    t->at[tree * nodes + to] = leaf ? 0 : from->at;
    for (size_t i = 0; i < 2; i++) tree_fill(node, leaf ? at : from->less + i, t, tree, 2 * to + 1 + i);
}

Err boost_trees(Arena *a, const Boost *b, ModelTrees **out)
{
    TRY(model_trees_new(a, (int)b->n_trees, b->n_trees ? b->depth : 1, out));
    for (size_t i = 0; i < b->n_trees; i++) {
        for (size_t n = 0; n < b->n_nodes; n++)
            if (b->node[i * b->n_nodes + n].feature >= MODEL_FEATURES)
                FAIL(ERR_INPUT, "a tree of feature %d, at most %d", b->node[i * b->n_nodes + n].feature,
                     MODEL_FEATURES - 1);
        tree_fill(&b->node[i * b->n_nodes], 0, *out, i, 0);
    }
    return ERR_OK;
}
