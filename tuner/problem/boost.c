/* Gradient-boosted regression trees. See boost.h. */
#include "problem/boost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 24 };

/* The sum of the weights of rows, and of their weighted pulls. */
typedef struct {
    double weight, pull;
} Sum;

/* The sums of the rows in each bin of a feature. */
typedef struct {
    Sum of[BINS + 1];
} Histogram;

typedef struct {
    const BoostRows *rows;
    const BoostOptions *o;
    float (*bound)[BINS]; /* of each feature: the quantiles, ascending; INFINITY behind the last */
    uint8_t *bin;         /* [row][feature]: the number of quantiles that are not above it */
    float *left;          /* of each row: what the trees leave */
    float *pull;          /* left, without the mean of the row's group */
    Sum *group;           /* of each group, with what is left of the rows in place of their pulls */
    Histogram *h;         /* [leaf][feature]: memory for those of a tree, in the order of its splits */
    uint32_t *row;        /* those of the tree, sorted by leaf */
    size_t n_rows;
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

typedef struct {
    size_t feature;
    int bin; /* rows of the bins below and of this one go to the left */
    double gain;
} Split;

typedef struct {
    uint32_t *row; /* these rows are in the leaf */
    size_t n;
    Histogram *h; /* of each feature */
    Split best;   /* without a gain: none */
} Leaf;

/* A tree that grows. Node i lies between the leaves i and i + 1 (model_trees.h). */
typedef struct {
    uint64_t allowed; /* features */
    int n_leaves;
    Leaf leaf[MODEL_TREES_LEAVES];
    Split node[MODEL_TREES_NODES];
    int first[MODEL_TREES_NODES];
} Tree;

static double score(Sum s, double shrink) { return s.pull * s.pull / (s.weight + shrink); }

static Sum sum_without(Sum all, Sum part) { return (Sum){all.weight - part.weight, all.pull - part.pull}; }

/* Finds the split of a feature that gains more than the best one so far. */
static void feature_split(const Training *t, const Histogram *h, size_t feature, Split *best)
{
    const double shrink = (double)t->o->shrink, least = (double)t->o->leaf_least;
    Sum all = {0}, left = {0};
    for (int b = 0; b <= BINS; b++) all.weight += h->of[b].weight, all.pull += h->of[b].pull;
    const double base = score(all, shrink);
    for (int b = 0; b < BINS && isfinite(t->bound[feature][b]); b++) {
        left.weight += h->of[b].weight, left.pull += h->of[b].pull;
        const Sum right = sum_without(all, left);
        if (left.weight < least || right.weight < least) continue;
        const double gain = score(left, shrink) + score(right, shrink) - base;
        if (gain > best->gain) *best = (Split){feature, b, gain};
    }
}

static void leaf_look(const Training *t, uint64_t allowed, Leaf *l)
{
    l->best = (Split){0};
    for (size_t f = 0; f < t->rows->n_features; f++)
        if (allowed >> f & 1) feature_split(t, &l->h[f], f, &l->best);
}

static void histograms_make(const Training *t, Leaf *l)
{
    const size_t n_features = t->rows->n_features;
    memset(l->h, 0, n_features * sizeof *l->h);
    for (size_t i = 0; i < l->n; i++) {
        const uint8_t *bin = &t->bin[l->row[i] * n_features];
        const double weight = (double)t->rows->weight[l->row[i]], pull = weight * (double)t->pull[l->row[i]];
        for (size_t f = 0; f < n_features; f++) {
            Sum *s = &l->h[f].of[bin[f]];
            s->weight += weight, s->pull += pull;
        }
    }
}

/* The histograms of `all` become those of its rows that are not in `part`. */
static void histograms_take(const Training *t, Histogram *all, const Histogram *part)
{
    for (size_t f = 0; f < t->rows->n_features; f++)
        for (int b = 0; b <= BINS; b++) all[f].of[b] = sum_without(all[f].of[b], part[f].of[b]);
}

/* Moves the rows of a leaf that go to the left before the others; returns how many there are. */
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

/* Makes room for a leaf behind leaf i, and for node i between both, whose left subtree is leaf i. */
static void tree_insert(Tree *g, int i)
{
    const int nodes = g->n_leaves++ - 1;
    memmove(&g->leaf[i + 1], &g->leaf[i], (size_t)(nodes + 1 - i) * sizeof *g->leaf);
    memmove(&g->node[i + 1], &g->node[i], (size_t)(nodes - i) * sizeof *g->node);
    memmove(&g->first[i + 1], &g->first[i], (size_t)(nodes - i) * sizeof *g->first);
    for (int k = i + 1; k <= nodes; k++) g->first[k] += g->first[k] > i;
    g->node[i] = g->leaf[i].best;
    g->first[i] = i;
}

/* Splits leaf i. free: memory for the histograms of a leaf. Those of the side with fewer rows are made, those
 * of the other side are what is left of the leaf's. */
static void leaf_split(const Training *t, Tree *g, int i, Histogram *free)
{
    tree_insert(g, i);
    Leaf *left = &g->leaf[i], *right = &g->leaf[i + 1];
    left->n = partition(t, left->row, left->n, left->best);
    right->row += left->n, right->n -= left->n;
    Leaf *fewer = left->n < right->n ? left : right, *more = fewer == left ? right : left;
    fewer->h = free;
    histograms_make(t, fewer);
    histograms_take(t, more->h, fewer->h);
    leaf_look(t, g->allowed, left);
    leaf_look(t, g->allowed, right);
}

static float leaf_value(const Training *t, const Leaf *l)
{
    Sum s = {0};
    for (size_t i = 0; i < l->n; i++) {
        const double weight = (double)t->rows->weight[l->row[i]];
        s.weight += weight, s.pull += weight * (double)t->pull[l->row[i]];
    }
    const double all = s.weight + (double)t->o->shrink;
    return all > 0 ? t->o->step * (float)(s.pull / all) : 0;
}

static void tree_grow(const Training *t, Tree *g)
{
    const size_t n_features = t->rows->n_features;
    g->n_leaves = 1;
    g->leaf[0] = (Leaf){.row = t->row, .n = t->n_rows, .h = t->h};
    histograms_make(t, &g->leaf[0]);
    leaf_look(t, g->allowed, &g->leaf[0]);
    while (g->n_leaves < t->o->leaves) {
        int best = 0;
        for (int i = 1; i < g->n_leaves; i++)
            if (g->leaf[i].best.gain > g->leaf[best].best.gain) best = i;
        if (g->leaf[best].best.gain <= 0) break;
        leaf_split(t, g, best, &t->h[(size_t)g->n_leaves * n_features]);
    }
}

static void tree_write(const Training *t, const Tree *g, ModelTrees *trees, size_t tree)
{
    const size_t nodes = tree * MODEL_TREES_NODES;
    float *value = &trees->value[tree * MODEL_TREES_LEAVES];
    for (int i = 0; i < g->n_leaves - 1; i++) {
        const Split *s = &g->node[i];
        trees->feature[nodes + (size_t)i] = (uint8_t)s->feature;
        trees->at[nodes + (size_t)i] = t->bound[s->feature][s->bin];
        trees->first[nodes + (size_t)i] = (uint8_t)g->first[i];
    }
    for (int i = 0; i < MODEL_TREES_LEAVES; i++)
        value[i] = i < g->n_leaves ? leaf_value(t, &g->leaf[i]) : value[i - 1];
}

/* ---- all of them ---- */

/* What is left of each row beside the rest of its group. */
static void pulls_make(Training *t)
{
    const BoostRows *r = t->rows;
    memset(t->group, 0, r->n_groups * sizeof *t->group);
    for (size_t i = 0; i < r->n; i++) {
        Sum *s = &t->group[r->group[i]];
        s->weight += (double)r->weight[i];
        s->pull += (double)r->weight[i] * (double)t->left[i];
    }
    for (size_t i = 0; i < r->n; i++) {
        const Sum *s = &t->group[r->group[i]];
        t->pull[i] = t->left[i] - (float)(s->pull / s->weight);
    }
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

static void tree_add(Training *t, ModelTrees *trees, size_t tree)
{
    const BoostRows *r = t->rows;
    Tree g = {.allowed = t->o->n_allowed ? t->o->allowed[tree % (size_t)t->o->n_allowed] : UINT64_MAX};
    pulls_make(t);
    t->n_rows = rows_draw(t);
    tree_grow(t, &g);
    tree_write(t, &g, trees, tree);
    for (size_t i = 0; i < r->n; i++) t->left[i] -= model_tree_value(trees, tree, &r->x[i * r->n_features]);
}

static Err training_make(Arena *a, Training *t)
{
    const BoostRows *r = t->rows;
    float *sorted = ARENA_ARRAY(a, r->n + 1, float);
    TRY_ALLOC(sorted);
    TRY_ALLOC(t->bound = arena_array(a, r->n_features, sizeof *t->bound));
    TRY_ALLOC(t->bin = ARENA_ARRAY(a, r->n * r->n_features + 1, uint8_t));
    TRY_ALLOC(t->left = ARENA_ARRAY(a, r->n + 1, float));
    TRY_ALLOC(t->pull = ARENA_ARRAY(a, r->n + 1, float));
    TRY_ALLOC(t->group = ARENA_ARRAY(a, r->n_groups + 1, Sum));
    TRY_ALLOC(t->h = ARENA_ARRAY(a, MODEL_TREES_LEAVES * r->n_features, Histogram));
    TRY_ALLOC(t->row = ARENA_ARRAY(a, r->n + 1, uint32_t));
    for (size_t f = 0; f < r->n_features; f++) bounds_find(t, f, sorted);
    memcpy(t->left, r->y, r->n * sizeof *t->left);
    return ERR_OK;
}

static Err train(Arena *scratch, Training *t, ModelTrees *trees)
{
    TRY(training_make(scratch, t));
    for (int i = 0; i < trees->n; i++) tree_add(t, trees, (size_t)i);
    return ERR_OK;
}

Err boost_train(Arena *a, const BoostRows *rows, const BoostOptions *o, ModelTrees **out)
{
    Arena scratch;
    Training t = {.rows = rows, .o = o, .state = 1};
    if (o->leaves < 2 || o->leaves > MODEL_TREES_LEAVES)
        FAIL(ERR_INPUT, "trees of %d leaves, expected 2 to %d", o->leaves, MODEL_TREES_LEAVES);
    TRY(model_trees_new(a, rows->n ? o->n_trees : 0, out));
    if (!rows->n) return ERR_OK;
    arena_init(&scratch, 0);
    const Err e = train(&scratch, &t, *out);
    arena_fini(&scratch);
    return e;
}
