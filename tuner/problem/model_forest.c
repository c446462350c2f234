/* Fast evaluation of boosted trees. See model_forest.h. */
#include "problem/model_forest.h"

#include <math.h>
#include <string.h>

#include "problem/floats.h"

/* Vectors of 32 bytes: with those of 64, processors with AVX-512 are not faster in all, and compilers make
 * code for those with AVX2 that takes several times as long. Words are read a block of trees at a time. */
typedef uint32_t Words __attribute__((vector_size(32)));
typedef struct {
    Words a, b, c, d, e, f, g, h;
} Block;
enum { WORDS = sizeof(Words) / sizeof(uint32_t), BLOCK = 8 * WORDS, LEAVES = 1 << MODEL_TREES_DEPTH };
/* The compared features of a row lie in up to VECTORS vectors. */
enum { VECTORS = 3, LANES = VECTORS * FLOATS };
_Static_assert(LEAVES == 32, "a bit of a word for each leaf");
_Static_assert(MODEL_TREES_MAX % BLOCK == 0 && BLOCK % MODEL_TREES_SUMS == 0, "whole blocks");
_Static_assert((int)MODEL_SIZE_FEATURES <= (int)LANES && (int)MODEL_KERNEL_FEATURES <= (int)LANES &&
                   (int)MODEL_LAUNCH_FEATURES <= (int)LANES,
               "the lanes are enough");

/* The features of sizes, of kernels or of launches. Those that trees compare have a lane each. */
typedef struct {
    int n_features, n;
    int32_t lane[LANES];                               /* of each feature; -1: no tree compares it */
    int32_t feature[LANES];                            /* of each lane */
    float bound[VECTORS][MODEL_FOREST_BOUNDS][FLOATS]; /* ascending; behind the last one INFINITY */
    int32_t n_bounds[LANES];                           /* of each lane */
    size_t most[VECTORS];                              /* the most bounds of a vector's lanes */
    int32_t list[LANES]; /* where a lane's lists begin in a block, that of rows below all bounds first */
} Part;

typedef struct {
    float of[LEAVES];
} Leaves;

struct ModelForest {
    const ModelTrees *trees;
    size_t n_blocks, block_words;
    Part size, kernel, launch;
    bool has_others;
    uint32_t *word;  /* [block][list][tree of the block] */
    Leaves *value;   /* [tree] */
    uint32_t *known; /* [kernel][tree]: of the kernel's features */
    const ModelKernel **of;
    double *n_cu; /* of each kernel's device */
};

/* ---- preparation ---- */

static size_t padded(const ModelForest *f) { return f->n_blocks * BLOCK; }

static float *bound_at(Part *p, int32_t lane, int32_t i)
{
    return &p->bound[lane / FLOATS][i][lane % FLOATS];
}

static int32_t lane_add(Part *p, int feature)
{
    if (p->lane[feature] < 0) p->lane[feature] = p->n, p->feature[p->n++] = feature;
    return p->lane[feature];
}

/* Adds a bound of a feature, unless it is there. */
static bool bound_add(Part *p, int feature, float at)
{
    const int32_t lane = lane_add(p, feature), n = p->n_bounds[lane];
    size_t *most = &p->most[lane / FLOATS];
    int32_t to = n;
    for (int32_t i = 0; i < n; i++)
        if (*bound_at(p, lane, i) == at) return true;
    if (n == MODEL_FOREST_BOUNDS) return false;
    for (; to > 0 && *bound_at(p, lane, to - 1) > at; to--)
        *bound_at(p, lane, to) = *bound_at(p, lane, to - 1);
    *bound_at(p, lane, to) = at;
    p->n_bounds[lane]++;
    if ((size_t)n + 1 > *most) *most = (size_t)n + 1;
    return true;
}

/* The part of a feature, whose number becomes that in the part. */
static Part *part_of(ModelForest *f, int *feature)
{
    Part *const part[] = {&f->size, &f->kernel, &f->launch};
    int i = 0;
    for (; *feature >= part[i]->n_features; i++) *feature -= part[i]->n_features;
    return part[i];
}

static void part_init(Part *p, int n_features)
{
    *p = (Part){.n_features = n_features};
    for (int i = 0; i < LANES; i++) {
        p->lane[i] = -1;
        for (int32_t k = 0; k < MODEL_FOREST_BOUNDS; k++) *bound_at(p, i, k) = INFINITY;
    }
}

/* Places the lists of a part's lanes from `list` on; returns where they end. */
static int32_t part_place(Part *p, int32_t list)
{
    for (int i = 0; i < p->n; i++) p->list[i] = list, list += (p->n_bounds[i] + 1) * BLOCK;
    return list;
}

static Err bounds_find(ModelForest *f)
{
    const ModelTrees *t = f->trees;
    part_init(&f->size, MODEL_SIZE_FEATURES);
    part_init(&f->kernel, MODEL_KERNEL_FEATURES);
    part_init(&f->launch, MODEL_LAUNCH_FEATURES);
    for (size_t i = 0; i < (size_t)t->n * model_trees_nodes(t); i++) {
        int feature = t->feature[i];
        Part *p = part_of(f, &feature);
        f->has_others |= !model_trees_offers(t->feature[i]);
        if (!bound_add(p, feature, t->at[i]))
            FAIL(ERR_INPUT, "trees with more than %d bounds of a feature", MODEL_FOREST_BOUNDS);
    }
    f->block_words = (size_t)part_place(&f->launch, part_place(&f->kernel, part_place(&f->size, 0)));
    return ERR_OK;
}

bool model_forest_has_terms(const ModelForest *f) { return f->has_others; }

/* Clears the leaves on the left side of a node in the lists of rows that do not pass its comparison. first,
 * n: leaves below the node. */
static void node_set(ModelForest *f, size_t tree, size_t node, uint32_t first, uint32_t n)
{
    const size_t at = tree * model_trees_nodes(f->trees) + node;
    int feature = f->trees->feature[at];
    Part *p = part_of(f, &feature);
    const int32_t lane = p->lane[feature];
    const uint32_t left = ((UINT32_C(1) << n / 2) - 1) << first;
    uint32_t *word = &f->word[tree / BLOCK * f->block_words + (size_t)p->list[lane] + tree % BLOCK];
    for (int32_t i = 0; i < p->n_bounds[lane]; i++)
        if (*bound_at(p, lane, i) >= f->trees->at[at]) word[(i + 1) * BLOCK] &= ~left;
}

static void tree_set(ModelForest *f, size_t tree)
{
    const ModelTrees *t = f->trees;
    const size_t nodes = model_trees_nodes(t);
    size_t node = 0;
    for (int d = 0; d < t->depth; d++)
        for (uint32_t i = 0; i < UINT32_C(1) << d; i++) {
            const uint32_t n = UINT32_C(1) << (t->depth - d);
            node_set(f, tree, node++, i * n, n);
        }
    memcpy(f->value[tree].of, &t->value[tree * (nodes + 1)], (nodes + 1) * sizeof *t->value);
}

Err model_forest_new(Arena *a, const ModelTrees *trees, size_t n_kernels, ModelForest **out)
{
    ModelForest *f = *out = ARENA_NEW(a, ModelForest);
    TRY_ALLOC(f);
    f->trees = trees;
    f->n_blocks = ((size_t)trees->n + BLOCK - 1) / BLOCK;
    TRY(bounds_find(f));
    const size_t words = f->n_blocks * f->block_words;
    TRY_ALLOC(f->word = ARENA_LINES(a, words, uint32_t));
    TRY_ALLOC(f->value = ARENA_LINES(a, padded(f), Leaves));
    TRY_ALLOC(f->known = ARENA_LINES(a, n_kernels * padded(f), uint32_t));
    TRY_ALLOC(f->of = ARENA_ARRAY(a, n_kernels + 1, const ModelKernel *));
    TRY_ALLOC(f->n_cu = ARENA_ARRAY(a, n_kernels + 1, double));
    memset(f->word, 0xff, words * sizeof *f->word);
    for (size_t i = 0; i < (size_t)trees->n; i++) tree_set(f, i);
    return ERR_OK;
}

/* ---- evaluation ---- */

/* Where the lists of a vector's values begin: one list further for each bound that a value is not below. */
FLOATS_INLINE void lists_of_vector(const Part *p, int vector, Floats value, int32_t *list)
{
    const size_t most = p->most[vector];
    FloatsMask below = {0};
    for (size_t b = 0; b < most; b++) below += value < floats_load(p->bound[vector][b]); /* true is -1 */
    /* what is not a number is not below the padding either */
    const FloatsMask passed =
        floats_mask_min(below + (int32_t)most, floats_mask_load(&p->n_bounds[vector * FLOATS]));
    floats_mask_store(list, passed * BLOCK + floats_mask_load(&p->list[vector * FLOATS]));
}

/* Where the list of each lane's feature begins for a row of all features. */
FLOATS_INLINE void lists_of(const Part *p, const float *row, int32_t list[LANES])
{
    float x[LANES] = {0};
    for (int i = 0; i < p->n; i++) x[i] = row[p->feature[i]];
    for (int v = 0; v * FLOATS < p->n; v++)
        lists_of_vector(p, v, floats_load(&x[v * FLOATS]), &list[v * FLOATS]);
}

FLOATS_INLINE Words words_load(const uint32_t *w)
{
    Words v;
    memcpy(&v, w, sizeof v);
    return v;
}

FLOATS_INLINE Block block_load(const uint32_t *w)
{
    return (Block){words_load(w),
                   words_load(w + WORDS),
                   words_load(w + 2 * WORDS),
                   words_load(w + 3 * WORDS),
                   words_load(w + 4 * WORDS),
                   words_load(w + 5 * WORDS),
                   words_load(w + 6 * WORDS),
                   words_load(w + 7 * WORDS)};
}

FLOATS_INLINE void words_store(uint32_t *w, Words v) { memcpy(w, &v, sizeof v); }

FLOATS_INLINE void block_store(uint32_t *w, Block b)
{
    words_store(w, b.a), words_store(w + WORDS, b.b);
    words_store(w + 2 * WORDS, b.c), words_store(w + 3 * WORDS, b.d);
    words_store(w + 4 * WORDS, b.e), words_store(w + 5 * WORDS, b.f);
    words_store(w + 6 * WORDS, b.g), words_store(w + 7 * WORDS, b.h);
}

FLOATS_INLINE Block both(Block x, Block y)
{
    return (Block){x.a & y.a, x.b & y.b, x.c & y.c, x.d & y.d, x.e & y.e, x.f & y.f, x.g & y.g, x.h & y.h};
}

/* What the lists of n features leave of a block of trees. */
FLOATS_INLINE Block block_of(const ModelForest *f, size_t block, int n, const int32_t list[LANES], Block left)
{
    const uint32_t *word = &f->word[block * f->block_words];
    for (int i = 0; i < n; i++) left = both(left, block_load(&word[(uint32_t)list[i]]));
    return left;
}

/* What a part's features leave of all trees. */
FLOATS_CLONES
static void words_of(const ModelForest *f, const Part *p, size_t blocks, const float *row, uint32_t *word)
{
    const Words all = ~(Words){0};
    int32_t list[LANES];
    lists_of(p, row, list);
    for (size_t b = 0; b < blocks; b++)
        block_store(&word[b * BLOCK],
                    block_of(f, b, p->n, list, (Block){all, all, all, all, all, all, all, all}));
}

/* Adds the values of the leaves that words of a block begin with to the sums. */
FLOATS_INLINE void sums_add(const uint32_t word[BLOCK], const Leaves *value, float sum[MODEL_TREES_SUMS])
{
#define SUM_ADD(i) sum[i] += value[i].of[__builtin_ctz(word[i])]
    for (int k = 0; k < BLOCK; k += MODEL_TREES_SUMS, word += MODEL_TREES_SUMS, value += MODEL_TREES_SUMS)
        SUM_ADD(0), SUM_ADD(1), SUM_ADD(2), SUM_ADD(3), SUM_ADD(4), SUM_ADD(5), SUM_ADD(6), SUM_ADD(7);
#undef SUM_ADD
}
_Static_assert(MODEL_TREES_SUMS == 8, "a sum for each");

/* Adds what a block's trees say of a launch whose lists are given. */
FLOATS_INLINE void block_add(const ModelForest *f, size_t b, const int32_t list[LANES], const uint32_t *size,
                             const uint32_t *kernel, float sum[MODEL_TREES_SUMS])
{
    _Alignas(Words) uint32_t word[BLOCK];
    const Block known = both(block_load(&size[b * BLOCK]), block_load(&kernel[b * BLOCK]));
    block_store(word, block_of(f, b, f->launch.n, list, known));
    sums_add(word, &f->value[b * BLOCK], sum);
}

/* The comparisons of all launches come first, so that the processor reads the lists of one while it adds up
 * the values of another. */
FLOATS_CLONES
static void values_of(const ModelForest *f, size_t from, size_t to, const uint32_t *size, int n,
                      float (*const row)[MODEL_LAUNCH_FEATURES], const size_t *kernel, float *value)
{
    int32_t list[MODEL_FOREST_LAUNCHES][LANES];
    for (int i = 0; i < n; i++) lists_of(&f->launch, row[i], list[i]);
    for (int i = 0; i < n; i++) {
        float sum[MODEL_TREES_SUMS] = {0};
        for (size_t b = from; b < to; b++)
            block_add(f, b, list[i], size, &f->known[kernel[i] * padded(f)], sum);
        value[i] = model_trees_sum(sum);
    }
}

void model_forest_set(ModelForest *f, size_t i, const ModelKernel *k, double n_cu)
{
    float x[MODEL_KERNEL_FEATURES];
    f->of[i] = k, f->n_cu[i] = n_cu;
    model_kernel_features(k, x);
    words_of(f, &f->kernel, f->n_blocks, x, &f->known[i * padded(f)]);
}

/* Blocks of the first trees, or of all. */
static size_t blocks_of(const ModelForest *f, ModelForestTrees trees)
{
    enum { FIRST = MODEL_FOREST_FIRST / BLOCK };
    return trees == MODEL_FOREST_ALL || f->n_blocks < FIRST ? f->n_blocks : FIRST;
}
_Static_assert(MODEL_FOREST_FIRST % BLOCK == 0, "whole blocks");

void model_forest_size(const ModelForest *f, const ModelSize *z, ModelForestTrees trees, ModelForestSize *out)
{
    float x[MODEL_SIZE_FEATURES];
    out->size = *z;
    model_size_features(z, x);
    words_of(f, &f->size, blocks_of(f, trees), x, out->word);
}

static void blocks_add(const ModelForest *f, size_t from, size_t to, const ModelForestSize *z, int n,
                       const size_t *kernel, const ModelTime *const *t, float *value)
{
    float x[MODEL_FOREST_LAUNCHES][MODEL_LAUNCH_FEATURES];
    for (int i = 0; i < n; i++)
        model_launch_features(f->of[kernel[i]], &z->size, f->n_cu[kernel[i]], t[i], f->has_others, x[i]);
    values_of(f, from, to, z->word, n, x, kernel, value);
}

void model_forest_first(const ModelForest *f, const ModelForestSize *z, int n, const size_t *kernel,
                        const ModelTime *const *t, float *value)
{
    blocks_add(f, 0, blocks_of(f, MODEL_FOREST_FIRST_ONES), z, n, kernel, t, value);
}

void model_forest_both(const ModelForest *f, size_t i, const ModelForestSize *z, const ModelTime *t,
                       float *first, float *others)
{
    float x[1][MODEL_LAUNCH_FEATURES];
    const size_t blocks = blocks_of(f, MODEL_FOREST_FIRST_ONES);
    model_launch_features(f->of[i], &z->size, f->n_cu[i], t, f->has_others, x[0]);
    values_of(f, 0, blocks, z->word, 1, x, &i, first);
    values_of(f, blocks, f->n_blocks, z->word, 1, x, &i, others);
}

float model_forest_value(const ModelForest *f, size_t i, const ModelForestSize *z, const ModelTime *t)
{
    float value;
    blocks_add(f, 0, f->n_blocks, z, 1, &i, &t, &value);
    return value;
}
