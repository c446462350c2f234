/* Fast evaluation of boosted trees. See model_forest.h. */
#include "problem/model_forest.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "problem/floats.h"

/* A word for each tree says which leaves are removed: bit 31 - i is set where leaf i is. The trees are in
 * groups, whose words are one vector, and these in quads, whose values one instruction finds. */
typedef uint32_t Words __attribute__((vector_size(64)));
enum { LEAVES = MODEL_TREES_LEAVES, NODES = MODEL_TREES_NODES };
enum { QUAD = 4 /* trees */, GROUP = sizeof(Words) / sizeof(uint32_t), QUADS = GROUP / QUAD };
/* A row's features lie in up to VECTORS vectors. */
enum { VECTORS = 3, LANES = VECTORS * FLOATS };
_Static_assert(LEAVES == 32, "a bit of a word for each leaf");
_Static_assert((int)MODEL_TREES_MAX % (int)GROUP == 0, "whole groups");
_Static_assert((int)MODEL_SIZE_FEATURES <= (int)FLOATS && (int)MODEL_LAUNCH_FEATURES <= (int)FLOATS &&
                   (int)MODEL_KERNEL_FEATURES <= (int)LANES,
               "the lanes are enough");

/* The features of sizes, of kernels or of launches. */
typedef struct {
    _Alignas(64) float bound[VECTORS][MODEL_FOREST_BOUNDS][FLOATS]; /* ascending; behind them INFINITY */
    int n;                                                          /* features */
    int32_t n_bounds[LANES];                                        /* of each feature */
    size_t most[VECTORS]; /* the most bounds of a vector's features */
    int32_t list[LANES];  /* where a feature's lists begin, that of rows below all bounds first */
} Part;

/* The values of a quad, in its units. */
typedef struct {
    int8_t of[QUAD * LEAVES];
} Values;

/* A group of trees: the units of its quads' values, each for all launches, and the features of launches that
 * its trees compare. */
enum { LAUNCHES = MODEL_FOREST_LAUNCHES };
typedef struct {
    _Alignas(64) float unit[QUADS * LAUNCHES];
    int n; /* features of launches */
    uint8_t launch[MODEL_LAUNCH_FEATURES];
} Group;

/* What the trees are asked of: the words of the size and of each kernel, and where the lists of each launch
 * begin. */
typedef struct {
    int n; /* launches */
    const uint32_t *size;
    int32_t known[LAUNCHES], list[LAUNCHES][FLOATS];
} Asked;
typedef void Sums(const ModelForest *f, const Asked *q, float sum[LAUNCHES]);

struct ModelForest {
    Sums *sums;
    size_t n, padded; /* trees; a multiple of GROUP */
    Part size, kernel, launch;
    /* Trees that compare the same features of launches lie side by side, of these those with the largest
     * values first, so that a group has few such features and a quad has values alike. */
    uint32_t *order;
    uint32_t *words; /* [list][tree]; the first list removes nothing, the last ones are those of kernels */
    Values *value;   /* [quad of trees] */
    Group *group;
    int32_t known; /* where the kernels' lists begin: what all features of each remove */
};

/* ---- the sums of values ---- */

/* The words of a launch. */
FLOATS_CLONES
static void words_of(const ModelForest *f, const Asked *q, int launch, Words *out)
{
    const Words *size = (const Words *)q->size, *known = (const Words *)&f->words[q->known[launch]];
    for (size_t g = 0; g < f->padded / GROUP; g++) {
        const Group *group = &f->group[g];
        out[g] = size[g] | known[g];
        for (int i = 0; i < group->n; i++)
            out[g] |= ((const Words *)&f->words[q->list[launch][group->launch[i]]])[g];
    }
}

/* The first leaf that is left. No node removes the last one. */
static inline size_t leaf_of(uint32_t word) { return (size_t)__builtin_clz(~word); }

static void sums_of(const ModelForest *f, const Asked *q, float sum[LAUNCHES])
{
    Words words[MODEL_TREES_MAX / GROUP];
    for (int k = 0; k < q->n; k++) {
        sum[k] = 0;
        words_of(f, q, k, words);
        for (size_t g = 0; g < f->padded / GROUP; g++) {
            for (size_t quad = 0; quad < QUADS; quad++) {
                const int8_t *value = f->value[g * QUADS + quad].of;
                int32_t of = 0;
                for (size_t i = 0; i < QUAD; i++)
                    of += value[i * LEAVES + leaf_of(words[g][quad * QUAD + i])];
                sum[k] += f->group[g].unit[quad * LAUNCHES] * (float)of;
            }
        }
    }
}

#ifdef __x86_64__
#define TARGET_512                                                                                           \
    __attribute__((target("avx512f,avx512vbmi,avx512vnni,avx512bw,avx512cd,avx512dq,avx512vl,fma")))
#define INLINE_512 static inline __attribute__((always_inline)) TARGET_512

INLINE_512 __m512i load_512(const void *p) { return _mm512_load_si512(p); }

enum { NONE_OF_3 = 0x01, ANY_OF_3 = 0xfe }; /* truth tables of three operands */

/* The leaves of a launch in a group, whose words begin at `first`. one: the group has one feature of
 * launches. */
INLINE_512 __m512i leaves_512(const ModelForest *f, const Asked *q, const Group *group, size_t first,
                              int launch, bool one)
{
    const int32_t *list = q->list[launch];
    const uint32_t *words = f->words + first;
    __m512i x = load_512(words + list[group->launch[0]]);
    for (int i = 1; !one && i < group->n; i++)
        x = _mm512_or_si512(x, load_512(words + list[group->launch[i]]));
    return _mm512_lzcnt_epi32(_mm512_ternarylogic_epi32(x, load_512(q->size + first),
                                                        load_512(words + q->known[launch]), NONE_OF_3));
}

/* Of all launches, a byte of each tree's word for each. */
INLINE_512 __m512i all_leaves_512(const ModelForest *f, const Asked *q, const Group *group, size_t first,
                                  bool one)
{
    const __m512i a = leaves_512(f, q, group, first, 0, one), b = leaves_512(f, q, group, first, 1, one),
                  c = leaves_512(f, q, group, first, 2, one), d = leaves_512(f, q, group, first, 3, one);
    const __m512i ab = _mm512_or_si512(a, _mm512_slli_epi32(b, 8)),
                  cd = _mm512_or_si512(c, _mm512_slli_epi32(d, 8));
    return _mm512_or_si512(ab, _mm512_slli_epi32(cd, 16));
}

/* What a group's values with these leaves add up to: for each quad of trees, those of each launch. A lane of
 * 16 bytes has the leaves of a quad, and one instruction finds the values of a quad in two registers. */
INLINE_512 __m512i values_512(const Values *value, __m512i leaf)
{
    /* the number of the tree in its quad is above that of the leaf */
    const __m512i tree = _mm512_set4_epi32(0x60606060, 0x40404040, 0x20202020, 0),
                  launch = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    leaf = _mm512_or_si512(leaf, tree);
#define FIND(i)                                                                                              \
    _mm512_maskz_permutex2var_epi8((__mmask64)0xffff << (16 * (i)), load_512(value[i].of), leaf,             \
                                   load_512(value[i].of + sizeof(__m512i)))
    const __m512i found =
        _mm512_ternarylogic_epi32(FIND(0), FIND(1), _mm512_or_si512(FIND(2), FIND(3)), ANY_OF_3);
#undef FIND
    return _mm512_dpbusd_epi32(_mm512_setzero_si512(), _mm512_set1_epi8(1),
                               _mm512_shuffle_epi8(found, launch));
}
_Static_assert((int)QUADS == 4 && (int)LAUNCHES == 4 && sizeof(Values) == 2 * sizeof(__m512i),
               "a lane of 16 bytes for each quad");

TARGET_512 static void sums_of_512(const ModelForest *f, const Asked *q, float sum[LAUNCHES])
{
    const Values *value = f->value;
    __m512 all = _mm512_setzero_ps();
    const Group *group = f->group;
    for (size_t first = 0; first < f->padded; first += GROUP, value += QUADS, group++) {
        const __m512i leaf = group->n == 1 ? all_leaves_512(f, q, group, first, true)
                                           : all_leaves_512(f, q, group, first, false);
        all = _mm512_fmadd_ps(_mm512_cvtepi32_ps(values_512(value, leaf)), _mm512_load_ps(group->unit), all);
    }
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    _mm_storeu_ps(sum, _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1)));
}

static Sums *sums_best(void)
{
    const bool has_512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vbmi") &&
                         __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
    return has_512 ? sums_of_512 : sums_of;
}
#else
static Sums *sums_best(void) { return sums_of; }
#endif

/* ---- preparation ---- */

static float *bound_at(Part *p, int feature, int32_t i)
{
    return &p->bound[feature / FLOATS][i][feature % FLOATS];
}

/* Adds a bound of a feature, unless it is there. */
static bool bound_add(Part *p, int feature, float at)
{
    const int32_t n = p->n_bounds[feature];
    size_t *most = &p->most[feature / FLOATS];
    int32_t to = n;
    for (int32_t i = 0; i < n; i++)
        if (*bound_at(p, feature, i) == at) return true;
    if (n == MODEL_FOREST_BOUNDS) return false;
    for (; to > 0 && *bound_at(p, feature, to - 1) > at; to--)
        *bound_at(p, feature, to) = *bound_at(p, feature, to - 1);
    *bound_at(p, feature, to) = at;
    p->n_bounds[feature]++;
    if ((size_t)n + 1 > *most) *most = (size_t)n + 1;
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
    for (int i = 0; i < LANES; i++)
        for (int32_t k = 0; k < MODEL_FOREST_BOUNDS; k++) *bound_at(p, i, k) = INFINITY;
}

/* Places the lists of a part's features from the place `list` on; returns where they end. Features without
 * bounds have the first list of all. */
static int32_t part_place(Part *p, int32_t list, size_t padded)
{
    for (int i = 0; i < p->n; i++)
        if (p->n_bounds[i]) p->list[i] = list, list += (p->n_bounds[i] + 1) * (int32_t)padded;
    return list;
}

static Err bounds_find(ModelForest *f, const ModelTrees *t)
{
    part_init(&f->size, MODEL_SIZE_FEATURES);
    part_init(&f->kernel, MODEL_KERNEL_FEATURES);
    part_init(&f->launch, MODEL_LAUNCH_FEATURES);
    for (size_t i = 0; i < (size_t)t->n * NODES; i++) {
        int feature = t->feature[i];
        Part *p = part_of(f, &feature);
        if (!bound_add(p, feature, t->at[i]))
            FAIL(ERR_INPUT, "trees with more than %d bounds of a feature", MODEL_FOREST_BOUNDS);
    }
    return ERR_OK;
}

/* Adds what a node of the tree that is number i removes to the lists of rows that are not below its bound. */
static void node_set(ModelForest *f, const ModelTrees *t, size_t i, size_t node)
{
    const size_t at = f->order[i] * NODES + node;
    const uint32_t removed = (UINT32_MAX >> t->first[at]) & ~(UINT32_MAX >> (node + 1));
    int feature = t->feature[at];
    Part *p = part_of(f, &feature);
    uint32_t *words = &f->words[(size_t)p->list[feature] + i];
    for (int32_t b = 0; b < p->n_bounds[feature]; b++)
        if (*bound_at(p, feature, b) >= t->at[at]) words[(size_t)(b + 1) * f->padded] |= removed;
}

static float largest_of(const ModelTrees *t, size_t tree)
{
    float most = 0;
    for (size_t i = 0; i < LEAVES; i++) most = fmaxf(most, fabsf(t->value[tree * LEAVES + i]));
    return most;
}

/* Fills in the values of a quad, in units of 1 / INT8_MAX of the largest one. */
static void quad_set(ModelForest *f, const ModelTrees *t, size_t quad)
{
    static const float NOTHING = 1e-30F; /* smaller values are 0 */
    const size_t end = (quad + 1) * QUAD < f->n ? (quad + 1) * QUAD : f->n;
    float *unit = &f->group[quad / QUADS].unit[quad % QUADS * LAUNCHES], largest = 0;
    for (size_t i = quad * QUAD; i < end; i++) largest = fmaxf(largest, largest_of(t, f->order[i]));
    for (int i = 0; i < LAUNCHES; i++) unit[i] = largest > NOTHING ? largest / INT8_MAX : 1;
    for (size_t i = quad * QUAD; i < end; i++)
        for (size_t k = 0; k < LEAVES; k++)
            f->value[quad].of[i % QUAD * LEAVES + k] =
                (int8_t)lrintf(t->value[f->order[i] * LEAVES + k] / *unit);
}

/* The features of launches that a tree compares, a bit for each. */
static uint32_t launch_of(const ModelTrees *t, size_t tree)
{
    uint32_t of = 0;
    for (size_t i = tree * NODES; i < (tree + 1) * NODES; i++) {
        const int feature = t->feature[i] - MODEL_SIZE_FEATURES - MODEL_KERNEL_FEATURES;
        if (feature >= 0) of |= UINT32_C(1) << feature;
    }
    return of;
}

static void group_set(ModelForest *f, const ModelTrees *t, size_t group)
{
    const size_t end = (group + 1) * GROUP < f->n ? (group + 1) * GROUP : f->n;
    Group *g = &f->group[group];
    uint32_t of = 0;
    for (size_t i = group * GROUP; i < end; i++) of |= launch_of(t, f->order[i]);
    of |= !of; /* there is one at least, whose lists may remove nothing */
    for (; of; of &= of - 1) g->launch[g->n++] = (uint8_t)__builtin_ctz(of);
}

typedef struct {
    uint32_t launch; /* launch_of */
    float largest;
    uint32_t tree;
} Sorted;

static int by_launch(const void *a, const void *b)
{
    const Sorted *x = a, *y = b;
    if (x->launch != y->launch) return x->launch < y->launch ? -1 : 1;
    if (x->largest != y->largest) return x->largest > y->largest ? -1 : 1;
    return (x->tree > y->tree) - (x->tree < y->tree);
}

static void trees_sort(ModelForest *f, const ModelTrees *t)
{
    Sorted sorted[MODEL_TREES_MAX];
    for (uint32_t i = 0; i < f->n; i++) sorted[i] = (Sorted){launch_of(t, i), largest_of(t, i), i};
    qsort(sorted, f->n, sizeof *sorted, by_launch);
    for (size_t i = 0; i < f->n; i++) f->order[i] = sorted[i].tree;
}

Err model_forest_new(Arena *a, const ModelTrees *trees, size_t n_kernels, ModelForest **out)
{
    ModelForest *f = *out = ARENA_LINES(a, 1, ModelForest);
    TRY_ALLOC(f);
    f->sums = sums_best();
    f->n = (size_t)trees->n;
    f->padded = (f->n + GROUP - 1) / GROUP * GROUP;
    TRY(bounds_find(f, trees));
    int32_t end = part_place(&f->size, (int32_t)f->padded, f->padded);
    end = part_place(&f->launch, part_place(&f->kernel, end, f->padded), f->padded);
    f->known = end;
    TRY_ALLOC(f->words = ARENA_LINES(a, (size_t)end + n_kernels * f->padded, uint32_t));
    TRY_ALLOC(f->order = ARENA_ARRAY(a, f->padded + 1, uint32_t));
    TRY_ALLOC(f->value = ARENA_LINES(a, f->padded / QUAD, Values));
    TRY_ALLOC(f->group = ARENA_LINES(a, f->padded / GROUP + 1, Group));
    trees_sort(f, trees);
    for (size_t i = 0; i < f->n; i++)
        for (size_t node = 0; node < NODES; node++) node_set(f, trees, i, node);
    for (size_t i = 0; i < f->padded / QUAD; i++) quad_set(f, trees, i);
    for (size_t i = 0; i < f->padded / GROUP; i++) group_set(f, trees, i);
    return ERR_OK;
}

void model_forest_portable(ModelForest *f) { f->sums = sums_of; }

/* ---- evaluation ---- */

/* Where the lists of a vector of features begin: one list further for each bound that these are not below.
 * below: minus the number of bounds that each feature is below. */
FLOATS_INLINE void lists_of(const ModelForest *f, const Part *p, int vector, const FloatsMask *below,
                            int32_t *list)
{
    /* what is not a number is not below the padding either */
    const FloatsMask passed =
        floats_mask_min(*below + (int32_t)p->most[vector], floats_mask_load(&p->n_bounds[vector * FLOATS]));
    floats_mask_store(list, passed * (int32_t)f->padded + floats_mask_load(&p->list[vector * FLOATS]));
}

FLOATS_INLINE void lists_of_vector(const ModelForest *f, const Part *p, int vector, Floats x, int32_t *list)
{
    FloatsMask below = {0};
    for (size_t b = 0; b < p->most[vector]; b++) below += x < floats_load(p->bound[vector][b]); /* true: -1 */
    lists_of(f, p, vector, &below, list);
}

/* The words of a kernel's features. */
FLOATS_CLONES
static void kernel_words_of(const ModelForest *f, const float *row, uint32_t *out)
{
    int32_t list[LANES];
    for (int v = 0; v < VECTORS; v++)
        lists_of_vector(f, &f->kernel, v, floats_load(&row[v * FLOATS]), &list[v * FLOATS]);
    for (size_t t = 0; t < f->padded; t += GROUP) {
        Words of = {0};
        for (int i = 0; i < MODEL_KERNEL_FEATURES; i++) of |= *(const Words *)&f->words[(size_t)list[i] + t];
        *(Words *)&out[t] = of;
    }
}

/* Rows are made in registers: processors wait where a vector is loaded right after its parts were stored. */
FLOATS_INLINE Floats row_of(const float x[FLOATS])
{
    return (Floats){x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
}

/* The words of a size's features. */
FLOATS_CLONES
static void size_words_of(const ModelForest *f, const ModelSize *z, uint32_t *out)
{
    float x[FLOATS] = {0};
    int32_t list[FLOATS];
    model_size_features(z, x);
    lists_of_vector(f, &f->size, 0, row_of(x), list);
#define LIST(i) (*(const Words *)&f->words[(size_t)list[i] + t])
    _Static_assert((int)MODEL_SIZE_FEATURES == 7, "a list for each");
    for (size_t t = 0; t < f->padded; t += GROUP)
        *(Words *)&out[t] = LIST(0) | LIST(1) | LIST(2) | LIST(3) | LIST(4) | LIST(5) | LIST(6);
#undef LIST
}

/* The lists of all launches. */
FLOATS_CLONES
static void lists_of_launches(const ModelForest *f, int n, const ModelForestLaunch *launch,
                              int32_t list[LAUNCHES][FLOATS])
{
    const Part *p = &f->launch;
    const size_t most = p->most[0];
#define ROW(i) floats_load(launch[(i) < n ? i : 0].x)
    const Floats a = ROW(0), b = ROW(1), c = ROW(2), d = ROW(3);
#undef ROW
    FloatsMask of_a = {0}, of_b = {0}, of_c = {0}, of_d = {0};
    for (size_t i = 0; i < most; i++) {
        const Floats bound = floats_load(p->bound[0][i]);
        of_a += a < bound, of_b += b < bound, of_c += c < bound, of_d += d < bound;
    }
    lists_of(f, p, 0, &of_a, list[0]), lists_of(f, p, 0, &of_b, list[1]);
    lists_of(f, p, 0, &of_c, list[2]), lists_of(f, p, 0, &of_d, list[3]);
}

void model_forest_set(ModelForest *f, size_t i, const ModelKernel *k)
{
    float x[LANES] = {0};
    model_kernel_features(k, x);
    kernel_words_of(f, x, &f->words[(size_t)f->known + i * f->padded]);
}

void model_forest_launch(const ModelTime *t, ModelForestLaunch *out)
{
    *out = (ModelForestLaunch){{0}};
    model_launch_features(t, out->x);
}

void model_forest_size(const ModelForest *f, const ModelSize *z, ModelForestSize *out)
{
    size_words_of(f, z, out->words);
}

void model_forest_values(const ModelForest *f, const ModelForestSize *z, int n, const size_t *kernel,
                         const ModelForestLaunch *launch, float *value)
{
    float sum[LAUNCHES];
    Asked q = {n, z->words, {0}, {{0}}};
    for (int i = 0; i < n; i++) q.known[i] = f->known + (int32_t)(kernel[i] * f->padded);
    lists_of_launches(f, n, launch, q.list);
    f->sums(f, &q, sum);
    memcpy(value, sum, (size_t)n * sizeof *value);
}
