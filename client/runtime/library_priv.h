/* Inside of Library: nodes as they are kept after reading. For the library_*.c files alone.
 *
 * Reading (library_read.c, library_table.c) checks everything; searching (library_find.c, library_match.c)
 * trusts it.
 */
#ifndef CLIENT_RUNTIME_LIBRARY_PRIV_H
#define CLIENT_RUNTIME_LIBRARY_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "client/runtime/library.h"

enum {
    LIBRARY_MAX_BYTES = 1 << 30,
    LIBRARY_MAX_SOLUTIONS = 1 << 20,
    LIBRARY_DEPTH_MAX = 24,
    TABLE_DIMS_MAX = 10,
    TABLE_BLOCK = 16,
    TREE_FEATURES_MAX = 64,
    ROWS_MAX = 1 << 16
};

typedef enum {
    LIB_SINGLE,
    LIB_ROWS,
    LIB_BY_OPERATION,
    LIB_MATCHING,
    LIB_GRANULARITY,
    LIB_TREES,
    LIB_PLACEHOLDER
} LibKind;

typedef struct LibNode LibNode;

typedef struct {
    const PredOp *pred; /* NULL: always */
    LibNode *node;
    bool fallback;
} LibRow;

typedef struct {
    uint64_t operation;
    LibNode *node;
} LibMapEntry;

typedef enum {
    PROP_FREE_A,
    PROP_FREE_B,
    PROP_BATCH,
    PROP_BOUND,
    PROP_STRIDE_A,
    PROP_STRIDE_B,
    PROP_STRIDE_C,
    PROP_STRIDE_D
} PropKind;

typedef struct {
    PropKind kind;
    int index;
} Property;

typedef enum {
    DIST_EUCLIDEAN,
    DIST_MANHATTAN,
    DIST_RATIO,
    DIST_JSD,
    DIST_RANDOM,
    DIST_EQUALITY,
    DIST_GRID
} Distance;

enum { NEAR_DIMS = 3 };

/* A node of the k-d tree: a box, and the block of a leaf or the right child (the left one is the next node).
 */
typedef struct {
    double lo[NEAR_DIMS], hi[NEAR_DIMS];
    uint32_t right, block; /* right 0: a leaf */
} NearNode;

/* key, speed and solution are sorted by (key ascending, speed descending). */
typedef struct {
    Distance distance;
    int n_dims;
    Property prop[TABLE_DIMS_MAX];
    size_t n, n_blocks;
    int64_t *key; /* n * n_dims */
    double *speed;
    const LibSolution **solution;
    /* Euclidean and Manhattan: the same keys in the tree's order, by dimension, padded with infinity */
    uint32_t *order; /* place in the tree -> place above */
    NearNode *near;
    double *column[TABLE_DIMS_MAX];
} Table;

typedef enum { FEATURE_PROPERTY, FEATURE_TILE0, FEATURE_TILE1, FEATURE_CU, FEATURE_WAVES } FeatureKind;

typedef struct {
    FeatureKind kind;
    Property prop;
    float mt0, mt1, cus, waves; /* TILE0: mt0; TILE1: mt1 */
} Feature;

typedef struct {
    int32_t feature, next_lte, next_gt; /* -1 no, -2 yes, otherwise a later node */
    float threshold;
} TreeNode;

typedef struct {
    const TreeNode *node;
    size_t n;
    LibNode *value;
} Tree;

typedef struct {
    Feature *feature;
    size_t n_features;
    Tree *tree;
    size_t n_trees;
    LibNode *null_value; /* may be NULL */
} Forest;

typedef struct {
    int64_t size[4]; /* M, N, batch, K */
    const LibSolution *solution;
} ExactSize;

struct LibNode {
    LibKind kind;
    union {
        const LibSolution *single;
        struct {
            LibRow *row;
            size_t n;
        } rows;
        struct {
            LibMapEntry *entry; /* sorted by operation */
            size_t n;
        } map;
        Table table;
        Forest forest;
        struct {
            const LibSolution **solution; /* by index ascending */
            size_t n;
            ExactSize *exact;
            size_t n_exact;
        } granularity;
        struct {
            const char *name;
            int32_t code_object;
            _Atomic(LibNode *) loaded;
        } placeholder;
    };
};

typedef struct {
    LibSolution *solution;
    size_t n;
} SolutionChunk;

enum { CACHE_SLOTS = 2048, CACHE_WORDS = (sizeof(Contraction) + sizeof(Selection) + 7) / 8 };

/* A sequence lock per slot: odd while it is written. Readers retry nowhere, they just miss. */
typedef struct {
    _Atomic uint32_t seq;
    _Atomic uint32_t used;
    _Atomic uint64_t word[CACHE_WORDS];
} CacheSlot;

struct Library {
    Arena arena; /* guarded by lock once the library is open */
    const char *name, *dir, *suffix;
    LibraryFiles files; /* read NULL: dir */
    Hardware hw;
    LibNode *root;
    bool names_arch;
    pthread_mutex_t lock;
    SolutionChunk *chunk; /* one per file read */
    size_t n_chunks, cap_chunks, n_solutions;
    const char **code_object; /* names of placeholders */
    LibNode **placeholder;
    size_t n_placeholders, cap_placeholders;
    CacheSlot *cache;
};

/* What is known while one file is read. */
typedef struct {
    Library *lib;
    const char *name; /* for messages */
    int32_t code_object;
    SolutionChunk chunk;
    uint32_t *by_index; /* positions in chunk, sorted by index */
} FileReader;

/* Reads one file's text into lib (arena, chunks); *root is its `library`. */
Err library_read_file(Library *lib, const char *name, Str data, int32_t code_object, LibNode **root);
Err solution_read(FileReader *r, const Node *n, LibSolution *s);
Err table_read(FileReader *r, const Node *n, Table *t);
/* An entry while a table is read. */
typedef struct {
    const int64_t *key;
    double speed;
    const LibSolution *solution;
    int n_dims;
} TableEntry;

/* Key ascending, then speed descending. */
bool entry_before(const TableEntry *a, const TableEntry *b);
/* In that order; entries that are equal in both come out as Tensile's loader leaves them. */
void entries_sort(TableEntry *e, size_t n);
/* Euclidean and Manhattan tables alone: the tree, and the one nearest entry. False: none, or several as near.
 */
Err near_build(Arena *a, Table *t);
bool near_find(const Table *t, const double *p, size_t *at, double *distance);
Err forest_read(FileReader *r, const Node *n, Forest *f, unsigned depth);
Err node_read(FileReader *r, const Node *n, unsigned depth, LibNode **out);
Err property_read(FileReader *r, const Node *n, Property *out);
/* NULL when the file has no such solution. */
const LibSolution *solution_at(const FileReader *r, int64_t index);
/* ERR_INPUT then. */
Err solution_ref(FileReader *r, const Node *index, const LibSolution **out);

int64_t property_value(const Property *prop, const Contraction *p);
/* NULL when nothing applies; out gets why, key, distance and speed. */
const LibSolution *table_find(const Table *t, const Contraction *p, Selection *out);
Err node_find(Library *lib, LibNode *n, const Contraction *p, Selection *out);
Err forest_find(Library *lib, const Forest *f, const Contraction *p, Selection *out);

#endif
