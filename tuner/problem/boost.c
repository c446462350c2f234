/* Gradient-boosted regression trees. See boost.h. */
#include "problem/boost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 24 };

typedef struct {
    const BoostRows *rows;
    const BoostOptions *o;
    float (*bound)[BINS]; /* of each feature: the quantiles, ascending; INFINITY behind the last */
    uint8_t *bin;         /* [row][feature]: the number of quantiles that are not above it */
    float *left;          /* of each row: what the trees leave */
    float *pull;          /* left, without the mean of the row's group */
    double *sum, *weight; /* of each group */
    uint32_t *row;        /* those of the tree, sorted by node */
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

/* Sums of the weights and of the weighted pulls of the rows in each bin. */
typedef struct {
    double weight[BINS + 1], pull[BINS + 1];
} Histogram;

/* What each comparison of a level gains: that by which rows of the bins up to this one are told apart. */
typedef struct {
    double of[BINS];
} Gains;

typedef struct {
    size_t feature;
    int bin; /* rows of the bins below and of this one go to the first side */
    double gain;
} Split;

/* The rows of the nodes of a level: node i has those from at[i] to at[i + 1]. */
typedef struct {
    size_t at[(1 << MODEL_TREES_DEPTH) + 1];
    int n;
} Nodes;

static double score(double pull, double weight, double shrink) { return pull * pull / (weight + shrink); }

static void gains_add(const Training *t, const Histogram *h, const float *bound, Gains *g)
{
    double pull = 0, weight = 0, all_pull = 0, all_weight = 0;
    for (int b = 0; b <= BINS; b++) all_pull += h->pull[b], all_weight += h->weight[b];
    const double shrink = (double)t->o->shrink, least = (double)t->o->leaf_least,
                 base = score(all_pull, all_weight, shrink);
    for (int b = 0; b < BINS && isfinite(bound[b]); b++) {
        pull += h->pull[b], weight += h->weight[b];
        if (weight < least || all_weight - weight < least) continue;
        g->of[b] += score(pull, weight, shrink) + score(all_pull - pull, all_weight - weight, shrink) - base;
    }
}

/* Adds what comparisons gain in a node. */
static void node_add(const Training *t, const uint32_t *row, size_t n, Histogram *h, Gains *g)
{
    const size_t n_features = t->rows->n_features;
    memset(h, 0, n_features * sizeof *h);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bin = &t->bin[row[i] * n_features];
        const double weight = (double)t->rows->weight[row[i]], pull = weight * (double)t->pull[row[i]];
        for (size_t f = 0; f < n_features; f++) h[f].weight[bin[f]] += weight, h[f].pull[bin[f]] += pull;
    }
    for (size_t f = 0; f < n_features; f++) gains_add(t, &h[f], t->bound[f], &g[f]);
}

static Split split_find(const Training *t, const Nodes *nodes, Histogram *h, Gains *g)
{
    const size_t n_features = t->rows->n_features;
    Split best = {0};
    memset(g, 0, n_features * sizeof *g);
    for (int i = 0; i < nodes->n; i++)
        node_add(t, &t->row[nodes->at[i]], nodes->at[i + 1] - nodes->at[i], h, g);
    for (size_t f = 0; f < n_features; f++)
        for (int b = 0; b < BINS; b++)
            if (g[f].of[b] > best.gain) best = (Split){f, b, g[f].of[b]};
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

static void nodes_split(const Training *t, Nodes *nodes, Split s)
{
    Nodes next = {.n = 2 * nodes->n};
    for (int i = 0; i < nodes->n; i++) {
        const size_t from = nodes->at[i];
        next.at[2 * i] = from;
        next.at[2 * i + 1] = from + partition(t, &t->row[from], nodes->at[i + 1] - from, s);
    }
    next.at[next.n] = nodes->at[nodes->n];
    *nodes = next;
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

/* Fills in a tree. Where no comparison gains anything, the levels that are left compare the first feature
 * with 0 and have the same value on both sides. */
static void tree_grow(const Training *t, ModelTrees *trees, int tree, Histogram *h, Gains *g)
{
    const int depth = trees->depth;
    const size_t at = (size_t)tree * (size_t)depth;
    float *value = &trees->value[(size_t)tree << depth];
    Nodes nodes = {.at = {0, t->n_rows}, .n = 1};
    int level = 0;
    for (; level < depth; level++) {
        const Split s = split_find(t, &nodes, h, g);
        if (s.gain <= 0) break;
        trees->feature[at + (size_t)level] = (uint8_t)s.feature;
        trees->at[at + (size_t)level] = t->bound[s.feature][s.bin];
        nodes_split(t, &nodes, s);
    }
    const int same = depth - level; /* levels */
    for (int i = 0; i < 1 << depth; i++) {
        const size_t from = nodes.at[i >> same];
        value[i] = leaf_of(t, &t->row[from], nodes.at[(i >> same) + 1] - from);
    }
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

static void tree_add(Training *t, ModelTrees *trees, int tree, Histogram *h, Gains *g)
{
    const BoostRows *r = t->rows;
    pulls_make(t);
    t->n_rows = rows_draw(t);
    tree_grow(t, trees, tree, h, g);
    for (size_t i = 0; i < r->n; i++)
        t->left[i] -= model_tree_value(trees, (size_t)tree, &r->x[i * r->n_features]);
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

static Err train(Arena *scratch, Training *t, ModelTrees *trees)
{
    Histogram *h = ARENA_ARRAY(scratch, t->rows->n_features, Histogram);
    Gains *g = ARENA_ARRAY(scratch, t->rows->n_features, Gains);
    TRY_ALLOC(h);
    TRY_ALLOC(g);
    TRY(training_make(scratch, t));
    for (int i = 0; i < trees->n; i++) tree_add(t, trees, i, h, g);
    return ERR_OK;
}

Err boost_train(Arena *a, const BoostRows *rows, const BoostOptions *o, ModelTrees **out)
{
    Arena scratch;
    Training t = {.rows = rows, .o = o, .state = 1};
    TRY(model_trees_new(a, rows->n ? o->n_trees : 0, o->depth, out));
    if (!rows->n) return ERR_OK;
    arena_init(&scratch, 0);
    const Err e = train(&scratch, &t, *out);
    arena_fini(&scratch);
    return e;
}
