/* Logic: one library logic file in memory: solutions, and which of them is best for which size.
 *
 * Reads both written forms (a list of 9 to 14 elements, or a map) of every Tensile version, keeps unknown
 * keys so that writing gives equivalent data, and writes the same bytes as PyYAML. Nothing is derived: a
 * solution has the parameters and derived values of the file (solution_has). analyze.h chooses winners. All
 * parts of a Logic live in the arena into which it was read.
 */
#ifndef LOGIC_LOGIC_H
#define LOGIC_LOGIC_H

#include "base/arena.h"
#include "base/version.h"
#include "fmt/node.h"
#include "problem/problem.h"
#include "space/solution.h"

typedef struct Emit Emit;

/* The version that writers put into MinimumRequiredVersion and into libraries. */
#define LOGIC_VERSION TENSILE_VERSION

enum {
    LOGIC_KEY_MAX = 20,           /* integers of one size */
    LOGIC_MAX_SOLUTIONS = 200000, /* of one file */
    LOGIC_MAX_ROWS = 8000000
};
#define LOGIC_MAX_BYTES ((size_t)256 << 20)
#define SIZE_VALUE_LIMIT (INT64_C(1) << 40) /* of one integer in a size */

/* A key that has no row in params.def, or a value that its row would write differently: kept as it was
 * written. */
typedef struct {
    Str key;
    const Node *value;
} LogicKept;

typedef struct {
    Solution s; /* keys of the file are marked as present; s.pt is the file's problem type */
    uint64_t flipped[PARAM_WORDS]; /* numbers written as true or false, and true or false written as 0 or 1 */
    const Node *problem_type;      /* nested map as written, shared when equal; NULL: written from s.pt */
    LogicKept *kept;               /* sorted by key */
    size_t n_kept;
    int line;
} LogicSolution;

/* Names of parameters in byte order, for reading and writing many solutions. */
typedef struct {
    ParamId order[PARAM_COUNT];
    Str name[PARAM_COUNT]; /* of order[i] */
} LogicKeys;
void logic_keys_init(LogicKeys *k);
/* PARAM_COUNT when there is no such row. */
ParamId logic_keys_find(const LogicKeys *k, Str name);

typedef struct {
    const int64_t *size; /* n integers: [m,n,b,k] or [m,n,b,k,ldd,ldc,lda,ldb] */
    int32_t n;
    int32_t solution; /* position in Logic.solution */
    double speed;     /* gflops, gflops per CU or %, by the metric and the history of the file */
    int32_t line;
} LogicRow;

typedef struct {
    const char *path; /* for messages */
    Str version, schedule, arch;
    int32_t cu_count; /* 0: any */
    int32_t is_apu;   /* -1: not said */
    Str *device;
    size_t n_devices;
    const ProblemType *pt;
    const Node *pt_node; /* element 4 as written; NULL: write it from pt */
    LogicSolution *solution;
    size_t n_solutions;
    int32_t index_order[LOGIC_KEY_MAX];
    size_t n_index_order;
    LogicRow *row;
    size_t n_rows;
    const Node *range;                       /* element 8; NULL: null */
    const Node *tiles;                       /* element 9; NULL: null */
    const Node *trees;                       /* Library of a decision tree file; NULL: a Matching file */
    Str metric;                              /* s NULL: not said */
    Str fp16_alt, fp16_alt_round;            /* s NULL: none */
    Str distance;                            /* s NULL: not said */
    size_t n_elements;                       /* of the list form; 11 for new ones */
    bool dict;                               /* map form */
    size_t n_kept;                           /* kept keys of all solutions together */
    size_t n_duplicates;                     /* rows whose size was there before */
    int32_t duplicate_line, first_line;      /* the first of them, and the row it repeats */
    size_t n_infinite;                       /* rows whose speed is infinite: it was measured in no time */
    int32_t infinite_line;                   /* the first of them */
    bool fp16_alt_said, fp16_alt_round_said; /* the map form has the key, be it false */
} Logic;

/* An empty Matching logic of today's version: list of 11 elements, DeviceEfficiency, Euclidean, any CU count.
 */
void logic_init(Logic *l);

/* The metric and the distance; without them in the file DeviceEfficiency and Euclidean. */
Str logic_metric(const Logic *l);
Str logic_distance(const Logic *l);

/* Reads a file or a text (which must outlive the arena). Errors are 'path:line: value, expected ...'.
 * Existing files have some sizes twice: both rows are kept and counted, and the faster one is used. */
typedef struct {
    bool refuse_duplicates; /* a second row for a size is an error */
    bool no_scan;           /* as general YAML from the start: slower, same result (tests) */
} LogicReadOptions;
Err logic_read(Arena *a, const char *path, const LogicReadOptions *o, Logic *out);
Err logic_parse(Arena *a, const char *path, Str text, const LogicReadOptions *o, Logic *out);

/* Warns of duplicate sizes and infinite speeds in the table. */
void logic_warn(const Logic *l);

/* Writes the text like Tensile: sorted keys, automatic flow style. Equal logic gives equal bytes. */
Err logic_emit(const Logic *l, Buf *out);
Err logic_write(const Logic *l, const char *path);

/* Appends the distinct unknown keys with their counts, for reports. */
Err logic_report_kept(const Logic *l, Buf *out);

/* One solution map with sorted keys (also what 2_BenchmarkData yaml files hold). derive_pt: the dict form's
 * `ProblemType: derive`. */
Err logic_solution_emit(const LogicKeys *k, const LogicSolution *s, bool derive_pt, Emit *e);
/* name: of the document, for messages. Keeps views into map's tree. */
Err logic_solution_parse(Arena *a, const LogicKeys *k, const char *name, const Node *map,
                         const ProblemType *pt, LogicSolution *out);

/* Keys of a solution that only tuner writes: numbers of the performance model (problem/model_select.h), and
 * the sizes of the table that were not measured but predicted. Other programs keep or ignore them. */
#define LOGIC_MODEL_KEY "PerformanceModel"
#define LOGIC_PREDICTED_KEY "PredictedSizes"
/* Gives the solution a key with a list of numbers, or of lists of n_each integers; replaces an earlier one.
 * */
Err logic_solution_numbers(Arena *a, LogicSolution *s, const char *key, const double *v, size_t n);
Err logic_solution_lists(Arena *a, LogicSolution *s, const char *key, const int64_t *v, size_t n,
                         size_t n_each);
/* The value of a kept key; NULL when the solution has none. */
const Node *logic_solution_kept(const LogicSolution *s, const char *key);

/* Whether both have the same keys with equal values, except SolutionIndex, SolutionNameMin and the two
 * above. */
bool logic_solution_equal(const LogicSolution *a, const LogicSolution *b);
/* Marks a key as present, and as written by the type of its row in params.def; the caller sets its value. */
void logic_solution_own(LogicSolution *s, ParamId id);
/* Sets SolutionIndex. */
void logic_solution_number(LogicSolution *s, int32_t index);
/* Sets SolutionNameMin. */
Err logic_solution_rename(Arena *a, LogicSolution *s, Str name);
uint64_t logic_solution_hash(const LogicSolution *s); /* equal ones have equal hashes */

/* A problem type map with all keys, as element 4 holds it; and any tree, keys sorted, flow style where PyYAML
 * would. */
void logic_problem_type_emit(const ProblemType *pt, Emit *e);
void logic_node_emit(const Node *n, Emit *e);

#endif
