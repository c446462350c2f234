/* Training and asking a decision tree. See model_tree.h. */
#include "measure/model_tree.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CANDIDATES: kernels that a tree tells apart, those that win most sizes. POINTS_MAX: sizes with those around
 * them. */
enum { CANDIDATES = 64, POINTS_MAX = 8000, AROUND = 6, TILES = 3 };
/* A loss above LOSS_MAX counts as LOSS_MAX, so that one size does not decide a split. A measured size weighs
 * 1, a predicted one PREDICTED_WEIGHT; the predicted time of a kernel that was not measured on a measured
 * size counts UNSURE times. */
#define LOSS_MAX 2.0
#define PREDICTED_WEIGHT 0.25
#define UNSURE 1.05
/* A split has to leave LEAF_WEIGHT on either side, and to save SPLIT_GAIN of the weight of all points. */
#define LEAF_WEIGHT 1.5
#define SPLIT_GAIN 0.0005

typedef struct {
    float feature[MODEL_TREE_FEATURES];
    float weight;
    float loss[CANDIDATES];
} Point;

typedef struct {
    float value;
    const Point *point;
} Sorted;

/* A leaf that may still be split: points[from, to). */
typedef struct {
    size_t from, to;
    int depth;
    int32_t *parent; /* where its number stands */
    int32_t kernel;  /* position in the candidates */
    double gain;     /* of the best split; 0: there is none */
    int feature;
    float threshold;
} Leaf;

typedef struct {
    const ModelMatrix *m;
    const ModelSelector *s;
    ModelTree *tree;
    size_t candidate[CANDIDATES];
    int n_candidates;
    Point *all;
    const Point **point; /* in the order of the leaves */
    Sorted *sorted;
    size_t n, cap;
    double weight;
} Train;

/* ---- features: in floats, as Tensile's MLFeatures.hpp has them ---- */

static float feature_of(const ModelTreeFeature *f, const ModelSize *z)
{
    float x = ceilf((float)z->m * f->mt0) * ceilf((float)z->n * f->mt1) * f->cus;
    switch (f->kind) {
    case TREE_FREE_A:
        return (float)z->m;
    case TREE_FREE_B:
        return (float)z->n;
    case TREE_BOUND:
        return (float)z->k;
    case TREE_BATCH:
        return (float)z->batch;
    case TREE_CU_GRANULARITY:
        return x / ceilf(x);
    case TREE_WAVES:
        return ceilf(x);
    }
    return 0;
}

size_t model_tree_choose(const ModelTree *t, const ModelSize *z)
{
    int32_t at = t->root;
    while (at >= 0 && at != MODEL_TREE_NONE) {
        const ModelTreeNode *n = &t->node[at];
        at = feature_of(&t->feature[n->feature], z) <= n->threshold ? n->lte : n->gt;
    }
    return at == MODEL_TREE_NONE ? SIZE_MAX : (size_t)~at;
}

/* The sizes themselves, and for the tiles of the kernels that win most: how many there are, and how full the
 * last round of them is. */
static void features_take(Train *t, const ModelDevice *d)
{
    ModelTree *tree = t->tree;
    for (ModelTreeKind k = TREE_FREE_A; k <= TREE_BATCH; k++)
        tree->feature[tree->n_features++] = (ModelTreeFeature){.kind = k};
    int n_tiles = 0;
    for (int c = 0; c < t->n_candidates && n_tiles < TILES; c++) {
        const ModelKernel *k = &t->m->kernel[t->candidate[c]];
        bool seen = k->tile_m <= 0 || k->tile_n <= 0 || d->n_cu < 1;
        for (int b = 0; b < c && !seen; b++) {
            const ModelKernel *other = &t->m->kernel[t->candidate[b]];
            seen = other->tile_m == k->tile_m && other->tile_n == k->tile_n;
        }
        if (seen) continue;
        ModelTreeFeature f = {TREE_CU_GRANULARITY, 1.0f / (float)k->tile_m, 1.0f / (float)k->tile_n,
                              (float)(1 / d->n_cu)};
        tree->feature[tree->n_features++] = f;
        f.kind = TREE_WAVES;
        f.cus = 1; /* tiles: finer than waves of them */
        tree->feature[tree->n_features++] = f;
        n_tiles++;
    }
}

/* ---- kernels ---- */

static size_t winner_of(const ModelMatrix *m, const bool *usable, size_t z)
{
    const double *t = &m->seconds[z * m->n_kernels];
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < m->n_kernels; k++)
        if (t[k] > 0 && m->known[k] && (!usable || usable[k]) && (best == SIZE_MAX || t[k] < t[best]))
            best = k;
    return best;
}

/* The kernels with most wins; of equal ones the first. */
static Err candidates_take(Train *t, const bool *out, const bool *usable)
{
    uint32_t *wins = calloc(t->m->n_kernels + 1, sizeof *wins);
    TRY_ALLOC(wins);
    for (size_t z = 0; z < t->m->n_sizes; z++) {
        size_t k = out && out[z] ? SIZE_MAX : winner_of(t->m, usable, z);
        if (k != SIZE_MAX) wins[k]++;
    }
    while (t->n_candidates < CANDIDATES) {
        size_t best = 0;
        for (size_t k = 1; k < t->m->n_kernels; k++)
            if (wins[k] > wins[best]) best = k;
        if (t->m->n_kernels == 0 || wins[best] == 0) break;
        t->candidate[t->n_candidates++] = best;
        wins[best] = 0;
    }
    free(wins);
    return ERR_OK;
}

/* ---- points ---- */

/* measured: times of the size, or NULL. */
static void point_add(Train *t, const ModelSize *z, const double *measured, double weight)
{
    double best = 0, seconds[CANDIDATES];
    ModelNear near;
    Point *p = &t->all[t->n];
    model_near(t->s, z, &near);
    for (int c = 0; c < t->n_candidates; c++) {
        double known = measured ? measured[t->candidate[c]] : 0;
        seconds[c] =
            known > 0 ? known : model_predict(t->s, &near, t->candidate[c], z) * (measured ? UNSURE : 1);
        if (c == 0 || seconds[c] < best) best = seconds[c];
    }
    for (int c = 0; c < t->n_candidates; c++) p->loss[c] = (float)fmin(seconds[c] / best - 1, LOSS_MAX);
    for (int f = 0; f < t->tree->n_features; f++) p->feature[f] = feature_of(&t->tree->feature[f], z);
    p->weight = (float)weight;
    t->point[t->n++] = p;
    t->weight += weight;
}

/* x times factor, divisible by what x is divisible by (up to 64). */
static double scaled(double x, double factor)
{
    double unit = 1;
    while (unit < 64 && fmod(x, 2 * unit) == 0) unit *= 2;
    return fmax(unit, round(x * factor / unit) * unit);
}

static Err points_take(Train *t, const bool *out)
{
    const ModelMatrix *m = t->m;
    bool around = m->n_sizes * (AROUND + 1) <= POINTS_MAX;
    t->cap = m->n_sizes * (around ? AROUND + 1 : 1) + 1;
    TRY_ALLOC(t->all = calloc(t->cap, sizeof *t->all));
    TRY_ALLOC(t->point = calloc(t->cap, sizeof(const Point *)));
    TRY_ALLOC(t->sorted = calloc(t->cap, sizeof *t->sorted));
    for (size_t z = 0; z < m->n_sizes; z++) {
        const double *measured = &m->seconds[z * m->n_kernels];
        if ((out && out[z]) || winner_of(m, NULL, z) == SIZE_MAX) continue;
        point_add(t, &m->size[z], measured, 1);
        for (int i = 0; around && i < AROUND; i++) {
            ModelSize at = m->size[z];
            double *x = i < 2 ? &at.m : i < 4 ? &at.n : &at.k, was = *x;
            *x = scaled(was, i & 1 ? sqrt(0.5) : sqrt(2));
            if (*x != was) point_add(t, &at, NULL, PREDICTED_WEIGHT);
        }
    }
    return ERR_OK;
}

/* ---- splits ---- */

static int least(const double *sum, int n)
{
    int best = 0;
    for (int c = 1; c < n; c++)
        if (sum[c] < sum[best]) best = c;
    return best;
}

static void sum_add(const Train *t, double *sum, const Point *p, double sign)
{
    for (int c = 0; c < t->n_candidates; c++) sum[c] += sign * (double)p->weight * (double)p->loss[c];
}

static int by_value(const void *x, const void *y)
{
    const Sorted *a = x, *b = y;
    if (a->value != b->value) return a->value < b->value ? -1 : 1;
    return (a->point > b->point) - (a->point < b->point);
}

/* A float from a on and below b. */
static float between(float a, float b)
{
    float mid = a + (b - a) / 2;
    return mid >= a && mid < b ? mid : a;
}

static void feature_split(Train *t, Leaf *leaf, int f, const double *total, double weight)
{
    double left[CANDIDATES] = {0}, right[CANDIDATES], w = 0, whole = total[leaf->kernel];
    size_t n = leaf->to - leaf->from;
    memcpy(right, total, sizeof right);
    for (size_t i = 0; i < n; i++) {
        const Point *p = t->point[leaf->from + i];
        t->sorted[i] = (Sorted){p->feature[f], p};
    }
    qsort(t->sorted, n, sizeof *t->sorted, by_value);
    for (size_t i = 0; i + 1 < n; i++) {
        const Sorted *at = &t->sorted[i];
        sum_add(t, left, at->point, 1);
        sum_add(t, right, at->point, -1);
        w += (double)at->point->weight;
        if (at[0].value == at[1].value || w < LEAF_WEIGHT || weight - w < LEAF_WEIGHT) continue;
        double gain = whole - left[least(left, t->n_candidates)] - right[least(right, t->n_candidates)];
        if (gain > leaf->gain * (1 + 1e-9) + 1e-12) {
            leaf->gain = gain;
            leaf->feature = f;
            leaf->threshold = between(at[0].value, at[1].value);
        }
    }
}

static void leaf_judge(Train *t, Leaf *leaf)
{
    double total[CANDIDATES] = {0}, weight = 0;
    for (size_t i = leaf->from; i < leaf->to; i++) {
        sum_add(t, total, t->point[i], 1);
        weight += (double)t->point[i]->weight;
    }
    leaf->kernel = least(total, t->n_candidates);
    leaf->gain = 0;
    *leaf->parent = ~(int32_t)t->candidate[leaf->kernel];
    if (leaf->depth >= MODEL_TREE_DEPTH) return;
    for (int f = 0; f < t->tree->n_features; f++) feature_split(t, leaf, f, total, weight);
    if (leaf->gain < SPLIT_GAIN * t->weight) leaf->gain = 0;
}

/* Moves the points with feature <= threshold to the front, in order; returns where the others begin. */
static size_t partition(Train *t, const Leaf *leaf)
{
    size_t to = leaf->from, n_other = 0;
    for (size_t i = leaf->from; i < leaf->to; i++) {
        const Point *p = t->point[i];
        if (p->feature[leaf->feature] <= leaf->threshold)
            t->point[to++] = p;
        else
            t->sorted[n_other++].point = p;
    }
    for (size_t i = 0; i < n_other; i++) t->point[to + i] = t->sorted[i].point;
    return to;
}

static void grow(Train *t)
{
    Leaf leaf[MODEL_TREE_LEAVES];
    int n = 1;
    leaf[0] = (Leaf){.from = 0, .to = t->n, .parent = &t->tree->root};
    leaf_judge(t, &leaf[0]);
    while (n < MODEL_TREE_LEAVES) {
        int best = 0;
        for (int i = 1; i < n; i++)
            if (leaf[i].gain > leaf[best].gain) best = i;
        Leaf was = leaf[best];
        if (was.gain <= 0) break;
        ModelTreeNode *node = &t->tree->node[t->tree->n_nodes];
        *node = (ModelTreeNode){.feature = was.feature, .threshold = was.threshold};
        *was.parent = t->tree->n_nodes++;
        size_t mid = partition(t, &was);
        leaf[best] = (Leaf){.from = was.from, .to = mid, .depth = was.depth + 1, .parent = &node->lte};
        leaf[n] = (Leaf){.from = mid, .to = was.to, .depth = was.depth + 1, .parent = &node->gt};
        leaf_judge(t, &leaf[best]);
        leaf_judge(t, &leaf[n++]);
    }
}

Err model_tree_train(const ModelMatrix *m, const bool *out, const bool *usable, const ModelSelector *s,
                     const ModelDevice *d, ModelTree *tree)
{
    Train t = {.m = m, .s = s, .tree = tree};
    *tree = (ModelTree){.root = MODEL_TREE_NONE};
    TRY(candidates_take(&t, out, usable));
    if (!t.n_candidates) return ERR_OK;
    features_take(&t, d);
    Err e = points_take(&t, out);
    if (!e && t.n) grow(&t);
    free(t.all);
    free(t.point);
    free(t.sorted);
    return e;
}
