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

/* Vectors of 32 bytes: processors with AVX2 have them. */
typedef uint8_t Bytes __attribute__((vector_size(32)));
enum { BLOCK = sizeof(Bytes) /* trees */, QUAD = 4 /* trees */, LEAVES = 1 << MODEL_TREES_DEPTH };
/* A row's features lie in up to VECTORS vectors. */
enum { VECTORS = 3, LANES = VECTORS * FLOATS };
_Static_assert(QUAD *LEAVES <= 1 << 8, "a byte for the number of a value of a quad");
_Static_assert(MODEL_TREES_MAX % BLOCK == 0, "whole blocks");
_Static_assert((int)MODEL_SIZE_FEATURES <= (int)FLOATS && (int)MODEL_LAUNCH_FEATURES <= (int)FLOATS &&
                   (int)MODEL_KERNEL_FEATURES <= (int)LANES,
               "the lanes are enough");

/* The features of sizes, of kernels or of launches. */
typedef struct {
    int n;                                             /* features */
    float bound[VECTORS][MODEL_FOREST_BOUNDS][FLOATS]; /* ascending; behind the last one INFINITY */
    int32_t n_bounds[LANES];                           /* of each feature */
    size_t most[VECTORS];                              /* the most bounds of a vector's features */
    int32_t list[LANES]; /* where a feature's lists begin, that of rows below all bounds first */
} Part;

/* The values of four trees, in units of their block. */
typedef struct {
    int8_t of[QUAD * LEAVES];
} Values;

/* The numbers of launches in a quad of trees, side by side for each tree. */
enum { LAUNCHES = MODEL_FOREST_LAUNCHES };
typedef struct {
    uint8_t of[QUAD][LAUNCHES];
} Numbers;
typedef void Sums(const ModelForest *f, const Numbers *number, float sum[LAUNCHES]);

struct ModelForest {
    Sums *sums;
    size_t n, padded; /* trees; a multiple of BLOCK */
    Part size, kernel, launch;
    uint32_t *order; /* the trees with the largest values first, so that those of a block are alike */
    uint8_t *bits;   /* [list][place of a tree]; the first list has no bits */
    Values *value;   /* [quad of trees] */
    float *unit;     /* [block of trees]: of their values */
    uint8_t *known;  /* [kernel][place of a tree]: of the kernel's features */
};

/* ---- the sums of values ---- */

/* Adds the values with these numbers in all trees. */
static void sums_of(const ModelForest *f, const Numbers *number, float sum[LAUNCHES])
{
    for (size_t q = 0; q < f->padded / QUAD;) {
        const float unit = f->unit[q / (BLOCK / QUAD)];
        int32_t of[LAUNCHES] = {0};
        for (size_t i = 0; i < BLOCK / QUAD; i++, q++)
            for (size_t t = 0; t < QUAD; t++)
                for (size_t k = 0; k < LAUNCHES; k++) of[k] += f->value[q].of[number[q].of[t][k]];
        for (int k = 0; k < LAUNCHES; k++) sum[k] += unit * (float)of[k];
    }
}

#ifdef __x86_64__
/* AVX-512 with VBMI takes values from two registers, which have those of a quad. */
_Static_assert(sizeof(Values) == 2 * sizeof(__m512i), "the values of a quad are two vectors");
__attribute__((target("avx512vbmi,avx512bw,avx512vl"))) static void
sums_of_512(const ModelForest *f, const Numbers *number, float sum[LAUNCHES])
{
    const Values *value = f->value;
    __m128 all = _mm_setzero_ps();
#define VALUES(i)                                                                                            \
    _mm256_cvtepi8_epi16(_mm512_castsi512_si128(                                                             \
        _mm512_permutex2var_epi8(_mm512_load_si512(value[i].of),                                             \
                                 _mm512_castsi128_si512(_mm_load_si128((const __m128i *)number[i].of)),      \
                                 _mm512_load_si512(value[i].of + sizeof(__m512i)))))
    for (size_t b = 0; b < f->padded / BLOCK; b++, value += BLOCK / QUAD, number += BLOCK / QUAD) {
        const __m256i x = _mm256_add_epi16(
            _mm256_add_epi16(_mm256_add_epi16(VALUES(0), VALUES(1)), _mm256_add_epi16(VALUES(2), VALUES(3))),
            _mm256_add_epi16(_mm256_add_epi16(VALUES(4), VALUES(5)), _mm256_add_epi16(VALUES(6), VALUES(7))));
        const __m128i half = _mm_add_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1)),
                      of = _mm_cvtepi16_epi32(_mm_add_epi16(half, _mm_bsrli_si128(half, 8)));
        all = _mm_add_ps(all, _mm_mul_ps(_mm_set1_ps(f->unit[b]), _mm_cvtepi32_ps(of)));
    }
#undef VALUES
    _Static_assert(BLOCK / QUAD == 8, "a term for each quad of a block");
    _mm_storeu_ps(sum, all);
}
static Sums *sums_best(void)
{
    const bool has_512 = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512vl");
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
    for (size_t i = 0; i < (size_t)t->n * (size_t)t->depth; i++) {
        int feature = t->feature[i];
        Part *p = part_of(f, &feature);
        if (!bound_add(p, feature, t->at[i]))
            FAIL(ERR_INPUT, "trees with more than %d bounds of a feature", MODEL_FOREST_BOUNDS);
    }
    return ERR_OK;
}

/* The place of a tree's byte in a list, from which `numbers_of` takes it to the tree's. */
static size_t place_of(size_t tree)
{
    const size_t quad = tree % BLOCK / QUAD; /* 0, 1, 2, ... from the quads 0, 4, 1, 5, 2, 6, 3, 7 */
    return tree / BLOCK * BLOCK + (quad / 2 + quad % 2 * (BLOCK / QUAD / 2)) * QUAD + tree % QUAD;
}

/* Sets the bit of a level of the tree that is number i in the lists of rows that are not below its bound. */
static void level_set(ModelForest *f, const ModelTrees *t, size_t i, size_t level)
{
    const size_t depth = (size_t)t->depth, at = f->order[i] * depth + level;
    int feature = t->feature[at];
    Part *p = part_of(f, &feature);
    uint8_t *bits = &f->bits[(size_t)p->list[feature] + place_of(i)];
    for (int32_t b = 0; b < p->n_bounds[feature]; b++)
        if (*bound_at(p, feature, b) >= t->at[at])
            bits[(size_t)(b + 1) * f->padded] |= (uint8_t)(1 << (depth - 1 - level));
}

static float largest_of(const ModelTrees *t, size_t tree)
{
    const size_t leaves = (size_t)1 << t->depth;
    float most = 0;
    for (size_t i = 0; i < leaves; i++) most = fmaxf(most, fabsf(t->value[tree * leaves + i]));
    return most;
}

static void tree_set(ModelForest *f, const ModelTrees *t, size_t i)
{
    static const float NOTHING = 1e-30F; /* smaller values are 0 */
    const size_t leaves = (size_t)1 << t->depth;
    const float largest = largest_of(t, f->order[i]), *value = &t->value[f->order[i] * leaves];
    float *unit = &f->unit[i / BLOCK];
    if (i % BLOCK == 0) *unit = largest > NOTHING ? largest / INT8_MAX : 1;
    for (size_t level = 0; level < (size_t)t->depth; level++) level_set(f, t, i, level);
    for (size_t k = 0; k < leaves; k++)
        f->value[i / QUAD].of[i % QUAD * LEAVES + k] = (int8_t)lrintf(value[k] / *unit);
}

typedef struct {
    float largest;
    uint32_t tree;
} Sorted;

static int by_largest(const void *a, const void *b)
{
    const Sorted *x = a, *y = b;
    return x->largest != y->largest ? (x->largest < y->largest) - (x->largest > y->largest)
                                    : (x->tree > y->tree) - (x->tree < y->tree);
}

static void trees_sort(ModelForest *f, const ModelTrees *t)
{
    Sorted sorted[MODEL_TREES_MAX];
    for (uint32_t i = 0; i < f->n; i++) sorted[i] = (Sorted){largest_of(t, i), i};
    qsort(sorted, f->n, sizeof *sorted, by_largest);
    for (size_t i = 0; i < f->n; i++) f->order[i] = sorted[i].tree;
}

Err model_forest_new(Arena *a, const ModelTrees *trees, size_t n_kernels, ModelForest **out)
{
    ModelForest *f = *out = ARENA_NEW(a, ModelForest);
    TRY_ALLOC(f);
    f->sums = sums_best();
    f->n = (size_t)trees->n;
    f->padded = (f->n + BLOCK - 1) / BLOCK * BLOCK;
    TRY(bounds_find(f, trees));
    int32_t end = part_place(&f->size, (int32_t)f->padded, f->padded);
    end = part_place(&f->launch, part_place(&f->kernel, end, f->padded), f->padded);
    TRY_ALLOC(f->bits = ARENA_LINES(a, (size_t)end, uint8_t));
    TRY_ALLOC(f->order = ARENA_ARRAY(a, f->padded + 1, uint32_t));
    TRY_ALLOC(f->value = ARENA_LINES(a, f->padded / QUAD, Values));
    TRY_ALLOC(f->unit = ARENA_ARRAY(a, f->padded / BLOCK + 1, float));
    TRY_ALLOC(f->known = ARENA_LINES(a, n_kernels * f->padded, uint8_t));
    trees_sort(f, trees);
    for (size_t i = 0; i < f->n; i++) tree_set(f, trees, i);
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

/* The same of a row of n features, which is padded to vectors. */
FLOATS_INLINE void lists_of_row(const ModelForest *f, const Part *p, const float *row, int32_t *list)
{
    for (int v = 0; v * FLOATS < p->n; v++) {
        const Floats x = floats_load(&row[v * FLOATS]);
        FloatsMask below = {0};
        for (size_t b = 0; b < p->most[v]; b++) below += x < floats_load(p->bound[v][b]); /* true is -1 */
        lists_of(f, p, v, &below, &list[v * FLOATS]);
    }
}

FLOATS_INLINE Bytes bytes_load(const uint8_t *p)
{
    Bytes v;
    memcpy(&v, p, sizeof v);
    return v;
}

FLOATS_INLINE void bytes_store(uint8_t *p, Bytes v) { memcpy(p, &v, sizeof v); }

/* What each tree of a quad adds to the numbers of its values. */
enum { OF_1 = LEAVES, OF_2 = 2 * LEAVES, OF_3 = 3 * LEAVES };
#define OF_QUAD 0, OF_1, OF_2, OF_3
#define TREE_OF_QUAD ((Bytes){OF_QUAD, OF_QUAD, OF_QUAD, OF_QUAD, OF_QUAD, OF_QUAD, OF_QUAD, OF_QUAD})

/* What a kernel's features say to all trees. */
FLOATS_CLONES
static void kernel_bits_of(const ModelForest *f, const float *row, uint8_t *bits)
{
    int32_t list[LANES];
    lists_of_row(f, &f->kernel, row, list);
    for (size_t t = 0; t < f->padded; t += BLOCK) {
        Bytes of = {0};
        for (int i = 0; i < MODEL_KERNEL_FEATURES; i++) of |= bytes_load(&f->bits[(size_t)list[i] + t]);
        bytes_store(&bits[t], of);
    }
}

/* What a size's features say to all trees. */
FLOATS_CLONES
static void size_bits_of(const ModelForest *f, const float row[FLOATS], uint8_t *bits)
{
    int32_t list[FLOATS];
    lists_of_row(f, &f->size, row, list);
    const uint8_t *a = &f->bits[list[0]], *b = &f->bits[list[1]], *c = &f->bits[list[2]],
                  *d = &f->bits[list[3]], *e = &f->bits[list[4]], *g = &f->bits[list[5]],
                  *h = &f->bits[list[6]];
    _Static_assert((int)MODEL_SIZE_FEATURES == 7, "a list for each");
    for (size_t t = 0; t < f->padded; t += BLOCK)
        bytes_store(&bits[t], bytes_load(&a[t]) | bytes_load(&b[t]) | bytes_load(&c[t]) | bytes_load(&d[t]) |
                                  bytes_load(&e[t]) | bytes_load(&g[t]) | bytes_load(&h[t]) | TREE_OF_QUAD);
}

_Static_assert(LAUNCHES == 4, "two steps of interleaving");

#ifdef __clang__
#define BYTES_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define BYTES_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (Bytes){__VA_ARGS__})
#endif
/* Interleaves the bytes, or pairs of bytes, of both halves' first or second halves: an instruction each. */
#define BYTES_LO(a, b)                                                                                       \
    BYTES_SHUFFLE(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 16, 48, 17, 49, 18, 50, 19,  \
                  51, 20, 52, 21, 53, 22, 54, 23, 55)
#define BYTES_HI(a, b)                                                                                       \
    BYTES_SHUFFLE(a, b, 8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47, 24, 56, 25, 57, 26,    \
                  58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63)
#define PAIRS_LO(a, b)                                                                                       \
    BYTES_SHUFFLE(a, b, 0, 1, 32, 33, 2, 3, 34, 35, 4, 5, 36, 37, 6, 7, 38, 39, 16, 17, 48, 49, 18, 19, 50,  \
                  51, 20, 21, 52, 53, 22, 23, 54, 55)
#define PAIRS_HI(a, b)                                                                                       \
    BYTES_SHUFFLE(a, b, 8, 9, 40, 41, 10, 11, 42, 43, 12, 13, 44, 45, 14, 15, 46, 47, 24, 25, 56, 57, 26,    \
                  27, 58, 59, 28, 29, 60, 61, 30, 31, 62, 63)

/* The lists of all launches. */
FLOATS_INLINE void lists_of_launches(const ModelForest *f, const float row[LAUNCHES][FLOATS],
                                     int32_t list[LAUNCHES][FLOATS])
{
    const Part *p = &f->launch;
    const size_t most = p->most[0];
    const Floats a = floats_load(row[0]), b = floats_load(row[1]), c = floats_load(row[2]),
                 d = floats_load(row[3]);
    FloatsMask of_a = {0}, of_b = {0}, of_c = {0}, of_d = {0};
    for (size_t i = 0; i < most; i++) {
        const Floats bound = floats_load(p->bound[0][i]);
        of_a += a < bound, of_b += b < bound, of_c += c < bound, of_d += d < bound;
    }
    lists_of(f, p, 0, &of_a, list[0]), lists_of(f, p, 0, &of_b, list[1]);
    lists_of(f, p, 0, &of_c, list[2]), lists_of(f, p, 0, &of_d, list[3]);
}

/* The numbers of all launches' values in all quads of trees. size, known: of the size and of each kernel. */
FLOATS_CLONES
static void numbers_of(const ModelForest *f, const uint8_t *size, const float row[LAUNCHES][FLOATS],
                       const uint8_t *const known[LAUNCHES], Numbers *number)
{
    int32_t list[LAUNCHES][FLOATS];
    lists_of_launches(f, row, list);
    for (size_t t = 0; t < f->padded; t += BLOCK, number += BLOCK / QUAD) {
        const uint8_t *bits = &f->bits[t];
        const Bytes of_size = bytes_load(&size[t]);
#define LIST(i, k) bytes_load(&bits[list[i][k]])
#define NUMBER(i)                                                                                            \
    of_size | bytes_load(&known[i][t]) | LIST(i, 0) | LIST(i, 1) | LIST(i, 2) | LIST(i, 3) | LIST(i, 4) |    \
        LIST(i, 5)
        _Static_assert((int)MODEL_LAUNCH_FEATURES == 6, "a list for each");
        const Bytes a = NUMBER(0), b = NUMBER(1), c = NUMBER(2), d = NUMBER(3);
#undef NUMBER
#undef LIST
        const Bytes ab_lo = BYTES_LO(a, b), ab_hi = BYTES_HI(a, b), cd_lo = BYTES_LO(c, d),
                    cd_hi = BYTES_HI(c, d);
        uint8_t *out = number->of[0];
        bytes_store(out, PAIRS_LO(ab_lo, cd_lo));
        bytes_store(out + BLOCK, PAIRS_HI(ab_lo, cd_lo));
        bytes_store(out + 2 * BLOCK, PAIRS_LO(ab_hi, cd_hi));
        bytes_store(out + 3 * BLOCK, PAIRS_HI(ab_hi, cd_hi));
    }
}

void model_forest_set(ModelForest *f, size_t i, const ModelKernel *k)
{
    float x[LANES] = {0};
    model_kernel_features(k, x);
    kernel_bits_of(f, x, &f->known[i * f->padded]);
}

void model_forest_size(const ModelForest *f, const ModelSize *z, ModelForestSize *out)
{
    float x[FLOATS] = {0};
    model_size_features(z, x);
    size_bits_of(f, x, out->bits);
}

void model_forest_values(const ModelForest *f, const ModelForestSize *z, int n, const size_t *kernel,
                         const ModelTime *const *t, float *value)
{
    float x[LAUNCHES][FLOATS] = {{0}};
    const uint8_t *known[LAUNCHES] = {f->bits, f->bits, f->bits, f->bits};
    float sum[LAUNCHES] = {0};
    _Alignas(16) Numbers number[MODEL_TREES_MAX / QUAD];
    for (int i = 0; i < n; i++) {
        model_launch_features(t[i], x[i]);
        known[i] = &f->known[kernel[i] * f->padded];
    }
    numbers_of(f, z->bits, x, known, number);
    f->sums(f, number, sum);
    memcpy(value, sum, (size_t)n * sizeof *value);
}
