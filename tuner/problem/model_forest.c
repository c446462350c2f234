/* Fast evaluation of boosted trees. See model_forest.h. */
#include "problem/model_forest.h"

#include <math.h>
#include <string.h>

#include "problem/floats.h"

/* Words of the widest vectors that processors have; compilers make several vectors of one where they are
 * narrower. Words are read a block of trees at a time. */
typedef uint32_t Words __attribute__((vector_size(64)));
typedef struct {
    Words a, b, c, d;
} Block;
enum { WORDS = sizeof(Words) / sizeof(uint32_t), BLOCK = 4 * WORDS, LEAVES = 1 << MODEL_TREES_DEPTH };
/* A row of features is padded to LANES. */
enum { LANES = 3 * FLOATS };
_Static_assert(LEAVES == 32, "a bit of a word for each leaf");
_Static_assert(MODEL_TREES_MAX % BLOCK == 0 && BLOCK % MODEL_TREES_SUMS == 0, "whole blocks");
_Static_assert((int)MODEL_SIZE_FEATURES <= (int)LANES && (int)MODEL_KERNEL_FEATURES <= (int)LANES &&
                   (int)MODEL_LAUNCH_FEATURES <= (int)LANES,
               "the lanes are enough");

/* The features of sizes, of kernels or of launches. */
typedef struct {
    int n;
    size_t n_bounds;                         /* the most that one of them has */
    float bound[MODEL_FOREST_BOUNDS][LANES]; /* of each feature, ascending; behind its last one INFINITY */
    int32_t most[LANES];                     /* the number of its bounds */
    int32_t list[LANES]; /* where its lists begin in a block, that of rows below all bounds first */
} Part;

typedef struct {
    float of[LEAVES];
} Leaves;

struct ModelForest {
    const ModelTrees *trees;
    size_t n_blocks, block_words;
    Part size, kernel, launch;
    uint32_t *word;  /* [block][list][tree of the block] */
    Leaves *value;   /* [tree] */
    uint32_t *known; /* [kernel][tree]: of the kernel's features */
    const ModelKernel **of;
    double *n_cu; /* of each kernel's device */
};

/* ---- preparation ---- */

static size_t padded(const ModelForest *f) { return f->n_blocks * BLOCK; }

/* Adds a bound of a feature, unless it is there. */
static bool bound_add(Part *p, int feature, float at)
{
    const int32_t n = p->most[feature];
    int32_t to = n;
    for (int32_t i = 0; i < n; i++)
        if (p->bound[i][feature] == at) return true;
    if (n == MODEL_FOREST_BOUNDS) return false;
    for (; to > 0 && p->bound[to - 1][feature] > at; to--) p->bound[to][feature] = p->bound[to - 1][feature];
    p->bound[to][feature] = at;
    p->most[feature]++;
    if ((size_t)p->most[feature] > p->n_bounds) p->n_bounds = (size_t)p->most[feature];
    return true;
}

/* The part of a feature, whose number becomes that in the part. */
static Part *part_of(ModelForest *f, int *feature)
{
    Part *const part[] = {&f->size, &f->kernel, &f->launch};
    int i = 0;
    for (; *feature >= part[i]->n; i++) *feature -= part[i]->n;
    return part[i];
}

static void part_init(Part *p, int n)
{
    *p = (Part){.n = n};
    for (size_t i = 0; i < MODEL_FOREST_BOUNDS; i++)
        for (size_t k = 0; k < LANES; k++) p->bound[i][k] = INFINITY;
}

/* Places the lists of a part's features from `list` on; returns where they end. */
static int32_t part_place(Part *p, int32_t list)
{
    for (int i = 0; i < p->n; i++) p->list[i] = list, list += (p->most[i] + 1) * BLOCK;
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
        if (!bound_add(p, feature, t->at[i]))
            FAIL(ERR_INPUT, "trees with more than %d bounds of a feature", MODEL_FOREST_BOUNDS);
    }
    f->block_words = (size_t)part_place(&f->launch, part_place(&f->kernel, part_place(&f->size, 0)));
    return ERR_OK;
}

/* Clears the leaves on the left side of a node in the lists of rows that do not pass its comparison. first,
 * n: leaves below the node. */
static void node_set(ModelForest *f, size_t tree, size_t node, uint32_t first, uint32_t n)
{
    const size_t at = tree * model_trees_nodes(f->trees) + node;
    int feature = f->trees->feature[at];
    const Part *p = part_of(f, &feature);
    const uint32_t left = ((UINT32_C(1) << n / 2) - 1) << first;
    uint32_t *word = &f->word[tree / BLOCK * f->block_words + (size_t)p->list[feature] + tree % BLOCK];
    for (int32_t i = 0; i < p->most[feature]; i++)
        if (p->bound[i][feature] >= f->trees->at[at]) word[(i + 1) * BLOCK] &= ~left;
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

/* Loads of a vector that lies in two cache lines take twice as long. */
static uint32_t *words_new(Arena *a, size_t n)
{
    uint8_t *p = arena_alloc(a, n * sizeof(uint32_t) + sizeof(Words));
    return p ? (uint32_t *)(void *)(p + (sizeof(Words) - (uintptr_t)p % sizeof(Words))) : NULL;
}

Err model_forest_new(Arena *a, const ModelTrees *trees, size_t n_kernels, ModelForest **out)
{
    ModelForest *f = *out = ARENA_NEW(a, ModelForest);
    TRY_ALLOC(f);
    f->trees = trees;
    f->n_blocks = ((size_t)trees->n + BLOCK - 1) / BLOCK;
    TRY(bounds_find(f));
    const size_t words = f->n_blocks * f->block_words;
    TRY_ALLOC(f->word = words_new(a, words));
    TRY_ALLOC(f->value = ARENA_ARRAY(a, padded(f) + 1, Leaves));
    TRY_ALLOC(f->known = words_new(a, n_kernels * padded(f)));
    TRY_ALLOC(f->of = ARENA_ARRAY(a, n_kernels + 1, const ModelKernel *));
    TRY_ALLOC(f->n_cu = ARENA_ARRAY(a, n_kernels + 1, double));
    memset(f->word, 0xff, words * sizeof *f->word);
    for (size_t i = 0; i < (size_t)trees->n; i++) tree_set(f, i);
    return ERR_OK;
}

/* ---- evaluation ---- */

/* Where the list of each feature's value begins: one list further for each bound that it is not below. */
FLOATS_INLINE void lists_of(const Part *p, const float x[LANES], int32_t list[LANES])
{
    const Floats value[] = {floats_load(x), floats_load(x + FLOATS), floats_load(x + 2 * FLOATS)};
    FloatsMask n[] = {{0}, {0}, {0}};
    _Static_assert(LANES == 3 * FLOATS, "a vector for each");
    for (size_t b = 0; b < p->n_bounds; b++) {
        const float *bound = p->bound[b];
        n[0] += value[0] < floats_load(bound); /* true is -1 */
        n[1] += value[1] < floats_load(bound + FLOATS);
        n[2] += value[2] < floats_load(bound + 2 * FLOATS);
    }
    for (int i = 0; i < 3; i++) { /* what is not a number is not below the padding either */
        const FloatsMask passed =
            floats_mask_min(n[i] + (int32_t)p->n_bounds, floats_mask_load(&p->most[i * FLOATS]));
        floats_mask_store(&list[i * FLOATS], passed * BLOCK + floats_mask_load(&p->list[i * FLOATS]));
    }
}

FLOATS_INLINE Words words_load(const uint32_t *w)
{
    Words v;
    memcpy(&v, w, sizeof v);
    return v;
}

FLOATS_INLINE Block block_load(const uint32_t *w)
{
    return (Block){words_load(w), words_load(w + WORDS), words_load(w + 2 * WORDS),
                   words_load(w + 3 * WORDS)};
}

FLOATS_INLINE void words_store(uint32_t *w, Words v) { memcpy(w, &v, sizeof v); }

FLOATS_INLINE void block_store(uint32_t *w, Block b)
{
    words_store(w, b.a), words_store(w + WORDS, b.b);
    words_store(w + 2 * WORDS, b.c), words_store(w + 3 * WORDS, b.d);
}

FLOATS_INLINE Block both(Block x, Block y) { return (Block){x.a & y.a, x.b & y.b, x.c & y.c, x.d & y.d}; }

/* What the lists of n features leave of a block of trees. */
FLOATS_INLINE Block block_of(const ModelForest *f, size_t block, int n, const int32_t list[LANES], Block left)
{
    const uint32_t *word = &f->word[block * f->block_words];
    for (int i = 0; i < n; i++) left = both(left, block_load(&word[(uint32_t)list[i]]));
    return left;
}

/* What a part's features leave of all trees. */
FLOATS_CLONES
static void words_of(const ModelForest *f, const Part *p, const float x[LANES], uint32_t *word)
{
    const Words all = ~(Words){0};
    int32_t list[LANES];
    lists_of(p, x, list);
    for (size_t b = 0; b < f->n_blocks; b++)
        block_store(&word[b * BLOCK], block_of(f, b, p->n, list, (Block){all, all, all, all}));
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

FLOATS_INLINE float value_of(const ModelForest *f, const int32_t list[LANES], const uint32_t *size,
                             const uint32_t *kernel)
{
    float sum[MODEL_TREES_SUMS] = {0};
    for (size_t b = 0; b < f->n_blocks; b++) {
        _Alignas(Words) uint32_t word[BLOCK];
        const Block known = both(block_load(&size[b * BLOCK]), block_load(&kernel[b * BLOCK]));
        block_store(word, block_of(f, b, MODEL_LAUNCH_FEATURES, list, known));
        sums_add(word, &f->value[b * BLOCK], sum);
    }
    return model_trees_sum(sum);
}

/* The comparisons of all launches come first, so that the processor reads the lists of one while it adds up
 * the values of another. */
FLOATS_CLONES
static void values_of(const ModelForest *f, const uint32_t *size, int n, float (*const x)[LANES],
                      const size_t *kernel, float *value)
{
    int32_t list[MODEL_FOREST_LAUNCHES][LANES];
    for (int i = 0; i < n; i++) lists_of(&f->launch, x[i], list[i]);
    for (int i = 0; i < n; i++) value[i] = value_of(f, list[i], size, &f->known[kernel[i] * padded(f)]);
}

void model_forest_set(ModelForest *f, size_t i, const ModelKernel *k, double n_cu)
{
    float x[LANES] = {0};
    f->of[i] = k, f->n_cu[i] = n_cu;
    model_kernel_features(k, x);
    words_of(f, &f->kernel, x, &f->known[i * padded(f)]);
}

void model_forest_size(const ModelForest *f, const ModelSize *z, ModelForestSize *out)
{
    float x[LANES] = {0};
    out->size = *z;
    model_size_features(z, x);
    words_of(f, &f->size, x, out->word);
}

void model_forest_values(const ModelForest *f, const ModelForestSize *z, int n, const size_t *kernel,
                         const ModelTime *const *t, float *value)
{
    float x[MODEL_FOREST_LAUNCHES][LANES];
    for (int i = 0; i < n; i++) {
        for (int k = MODEL_LAUNCH_FEATURES; k < LANES; k++) x[i][k] = 0;
        model_launch_features(f->of[kernel[i]], &z->size, f->n_cu[kernel[i]], t[i], x[i]);
    }
    values_of(f, z->word, n, x, kernel, value);
}

float model_forest_value(const ModelForest *f, size_t i, const ModelForestSize *z, const ModelTime *t)
{
    float value;
    model_forest_values(f, z, 1, &i, &t, &value);
    return value;
}
