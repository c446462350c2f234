/* Private to library_*.c: the nodes of a Library in memory.
 *
 * Opening a msgpack file checks all its bytes once (library_read.c, library_solution.c, library_table.c), but
 * makes only the nodes and the offsets of solutions and tables. Those are read, and checked again, when they
 * are first needed (library_use.c). YAML files are read whole. The search (library_find.c, library_match.c)
 * relies on these checks.
 */
#ifndef CLIENT_RUNTIME_LIBRARY_PRIV_H
#define CLIENT_RUNTIME_LIBRARY_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/filemap.h"
#include "base/vec.h"
#include "client/runtime/library.h"
#include "problem/model_select.h"

enum {
    LIBRARY_MAX_BYTES = 1 << 30,
    LIBRARY_MAX_SOLUTIONS = 1 << 20,
    LIBRARY_DEPTH_MAX = 24,
    TABLE_DIMS_MAX = 20,
    TABLE_BLOCK = 16,
    TREE_FEATURES_MAX = 64,
    ROWS_MAX = 1 << 16,
    SPARE_SOLUTIONS = 64
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

/* The solutions of one file. */
typedef struct {
    size_t n;
    uint32_t first_number; /* LibSolution.number of the first */
    int32_t code_object;
    const char *name;                       /* of the file, for messages */
    FileMap map;                            /* of the file; not open: data is in memory of another owner */
    Str data;                               /* msgpack: the bytes of the file */
    uint32_t *place;                        /* msgpack: offsets of the solutions in data */
    _Atomic(const LibSolution *) *solution; /* NULL: not read yet */
    int64_t first_index;                    /* index of the first one, where indices are consecutive */
    int64_t *index;                         /* else the indices, sorted, */
    uint32_t *at;                           /* and the solution that has each of them */
} SolutionChunk;

/* One solution of a file. */
typedef struct {
    SolutionChunk *chunk;
    uint32_t at;
} SolutionRef;

typedef struct {
    const PredOp *pred; /* NULL: always true */
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

/* A node of the k-d tree: its box, and the block of a leaf or the right child (the left child is the next
 * node). */
typedef struct {
    double lo[NEAR_DIMS], hi[NEAR_DIMS];
    uint32_t right, block; /* right 0: a leaf */
} NearNode;

/* What predicts times of the table's solutions. */
typedef struct {
    ModelSelector select;
    uint32_t *solution; /* in chunk, of each kernel of select */
} TableModel;

/* key, speed and solution are sorted by (key ascending, speed descending). */
typedef struct {
    Distance distance;
    int n_dims;
    Property prop[TABLE_DIMS_MAX];
    size_t n, n_blocks;
    SolutionChunk *chunk;
    Str bytes;         /* msgpack: the entries in the file, until they are read */
    atomic_bool ready; /* the following members are filled in */
    int64_t *key;      /* n * n_dims */
    double *speed;
    uint32_t *solution; /* in chunk */
    /* Euclidean and Manhattan: the same keys in the tree's order, by dimension, padded with infinity */
    uint32_t *order; /* position in the tree -> index of key, speed and solution */
    NearNode *near;
    double *column[TABLE_DIMS_MAX];
    TableModel *model; /* NULL: sizes without a row get that of the nearest */
} Table;

typedef enum {
    FEATURE_PROPERTY,
    FEATURE_TILE0,
    FEATURE_TILE1,
    FEATURE_CU,
    FEATURE_WAVES,
    FEATURE_SCALE /* N * N * batch */
} FeatureKind;

typedef struct {
    FeatureKind kind;
    Property prop;
    float mt0, mt1, cus, waves; /* TILE0: mt0; TILE1: mt1 */
} Feature;

typedef struct {
    int32_t feature, next_lte, next_gt; /* next: -1 no, -2 yes, otherwise the number of a later node */
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
    uint32_t solution;
} ExactSize;

struct LibNode {
    LibKind kind;
    union {
        SolutionRef single;
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
            SolutionChunk *chunk;
            uint32_t *solution; /* by index ascending */
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

enum { CACHE_SLOTS = 2048, CACHE_WORDS = (sizeof(Contraction) + sizeof(Selection) + 7) / 8 };

/* A slot with a sequence lock: seq is odd while it is written. A reader that meets a writer misses the cache
 * instead of retrying. */
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
    TrafficDevice device;
    LibNode *root;
    bool names_arch, print_debug;
    pthread_mutex_t lock;
    VEC(SolutionChunk *) chunks; /* one per file read */
    size_t n_solutions;
    const char **code_object; /* names of placeholders */
    LibSolution *spare; /* allocated for the solutions that are read next, so that they are contiguous */
    size_t n_spare;
    VEC(LibNode *) placeholders;
    CacheSlot *cache;
};

/* The state of reading one file. */
typedef struct {
    Library *lib;
    const char *name; /* for messages */
    Arena *arena;     /* for the result */
    SolutionChunk *chunk;
} FileReader;

/* Reads one file into lib (arena, chunks); *root is its `library`. name and data must outlive lib; map (NULL:
 * none) is owned by lib afterwards, also after an error. */
Err library_read_file(Library *lib, const char *name, Str data, FileMap *map, int32_t code_object,
                      LibNode **root);
Err solution_read(FileReader *r, const Node *n, LibSolution *s);

/* The state of checking consecutive solutions in bytes. */
enum { SOLUTION_PARTS = 8 };
typedef struct {
    FileReader *r;
    Arena *scratch;
    Str last[SOLUTION_PARTS]; /* bytes of the last solution's parts */
    PredScan preds;
} SolutionScan;
/* True: solution_read would accept the next object. False: it has to be asked. */
bool solution_scan(SolutionScan *c, Scan *s, int64_t *index);

/* Checks a whole table; also reads it if n has its entries as nodes. */
Err table_read(FileReader *r, const Node *n, Table *t);
/* Reads the entries of a table that was checked. */
Err table_load(FileReader *r, Table *t);
/* An entry while a table is read. */
typedef struct {
    const int64_t *key;
    double speed;
    uint32_t solution;
    int n_dims;
} TableEntry;

/* Key ascending, then speed descending. */
bool entry_before(const TableEntry *a, const TableEntry *b);
/* Sorts by entry_before; entries that are equal in both get the order of Tensile's loader. */
void entries_sort(TableEntry *e, size_t n);
/* For Euclidean and Manhattan tables: near_build makes the tree, near_find the nearest entry; false: there is
 * none, or several have the least distance. */
Err near_build(Arena *a, Table *t);
bool near_find(const Table *t, const double *p, size_t *at, double *distance);
Err forest_read(FileReader *r, const Node *n, Forest *f, unsigned depth);
Err node_read(FileReader *r, const Node *n, unsigned depth, LibNode **out);
Err property_read(FileReader *r, const Node *n, Property *out);
/* Number in its chunk of the solution with this index; SOLUTION_NONE when there is none. */
#define SOLUTION_NONE UINT32_MAX
uint32_t solution_at(const SolutionChunk *c, int64_t index);
/* The same for an index of the file; ERR_INPUT when there is none. */
Err solution_ref(FileReader *r, const Node *index, uint32_t *out);
/* Makes the chunk's map from the indices of all solutions; ERR_INPUT when one occurs twice. */
Err chunk_index(Arena *a, SolutionChunk *c, const int64_t *index);

/* library_use.c: read on first use. */
Err solution_load(Library *lib, SolutionChunk *c, uint32_t at, const LibSolution **out);
Err table_use(Library *lib, Table *t);
Err placeholder_load(Library *lib, LibNode *n);

static inline Err solution_of(Library *lib, SolutionChunk *c, uint32_t at, const LibSolution **out)
{
    *out = atomic_load_explicit(&c->solution[at], memory_order_acquire);
    return *out ? ERR_OK : solution_load(lib, c, at, out);
}

int64_t property_value(const Property *prop, const Contraction *p);
/* Searches a table that was read; out->solution is NULL when no entry applies. Also sets why, key, distance
 * and speed. */
Err table_find(Library *lib, const Table *t, const Contraction *p, Selection *out);
Err node_find(Library *lib, LibNode *n, const Contraction *p, Selection *out);
/* library_model.c. n: the node performanceModel; NULL gives NULL. */
Err table_model_read(FileReader *r, const Node *n, TableModel **out);
/* Whether the size was measured; rows of other sizes are predictions themselves. */
bool table_model_measured(const TableModel *m, const Contraction *p);
/* The solution with the least predicted time; out->solution stays NULL when none can run the problem. */
Err table_model_find(Library *lib, const Table *t, const Contraction *p, Selection *out);
Err forest_find(Library *lib, const Forest *f, const Contraction *p, Selection *out);

#endif
