/* Library: a master solution library in memory (TensileLibrary*.dat|.yaml) and the choice of a solution for a
 * problem.
 *
 * A file is msgpack or YAML by content; it is untrusted: every index, count and depth is checked when it is
 * opened, and a damaged one gives one error. msgpack files are mapped and stay so; a table is read when a
 * problem first needs it, a solution when it is first considered, placeholders (lazy libraries) when they
 * are first met, all under a lock. A file that is replaced by rename does no harm; one that is written to
 * or cut while it is open gives errors for what was not read yet (filemap.h says what cannot be found out).
 * Selection follows Tensile's findBestSolution (tensile-formats 8.1) to the letter; what was read once
 * needs no further allocation. One Library serves one kind of hardware: rows for others are not kept.
 * Selection may be called from any thread. Not here: code objects and launches (launch.h, host_run.h).
 */
#ifndef CLIENT_RUNTIME_LIBRARY_H
#define CLIENT_RUNTIME_LIBRARY_H

#include "client/runtime/tensor_map.h"
#include "problem/helper_name.h"
#include "problem/predicate.h"

typedef struct Library Library;

enum { GLOBAL_ACC_NONE, GLOBAL_ACC_SINGLE, GLOBAL_ACC_MULTIPLE, GLOBAL_ACC_PARTIALS };

/* sizeMapping of the file; keys and bounds: problem/size_mapping.def. */
typedef struct {
    int32_t work_group[3], macro_tile[3], thread_tile[3];
    int32_t depth_u, global_split_u, stagger_u, stagger_stride_shift, work_group_mapping;
    int32_t pack_summation_dims, pack_batch_dims, magic_div_alg;
    int32_t persistent_kernel, stream_k, global_accumulation;
    int32_t workspace_bytes_per_c; /* workspaceSizePerElemC */
    bool persistent_along_batch, source_kernel, stream_k_atomic, preload_kernargs;
    bool gsu_round_robin;  /* extension "globalSplitUWorkGroupMappingRoundRobin" */
    int32_t cluster[3];    /* extension "cluster": work-groups along M and N that run together; else 1, 1 */
    uint8_t n_tensor_maps; /* extension "tensorMaps" */
    const TensorMapSpec *tensor_map;
} SizeMapping;

typedef struct {
    const char *name;    /* kernel symbol */
    int64_t index;       /* global, as in the file */
    int64_t logic_index; /* -1 when absent */
    uint32_t number;     /* 0, 1, 2..: for the caller's own arrays */
    int32_t code_object; /* number of the placeholder it came from, -1: the library's own code objects */
    uint64_t operation;
    const char *operation_text;
    uint32_t types; /* types_pack */
    uint8_t f32_xdl, compute_type;
    bool use_beta, high_precision_accumulate, use_initial_strides_ab, use_initial_strides_cd, strided_batched;
    bool stochastic_rounding, fp16_alt, fp16_alt_round;
    bool hardware_ok;    /* hardwarePredicate holds on this Library's hardware */
    int64_t n_cu;        /* of this Library's hardware */
    bool task_workspace; /* taskPredicate is WorkspaceCheck */
    SizeMapping map;
    const PredOp *problem_pred;
    char beta_only[HELPER_NAME_MAX]; /* "Cijk_S", "Cijk_S_GA": 8.4, made at load */
    char post_gsu[HELPER_NAME_MAX];  /* "Cijk_S_PostGSU" */
} LibSolution;

typedef enum { WHY_NONE, WHY_EXACT, WHY_NEAREST, WHY_ROW, WHY_TREE, WHY_GRANULARITY } SelectWhy;

typedef struct {
    const LibSolution *solution; /* NULL: no solution applies */
    SelectWhy why;               /* exact size of a table, nearest of a table, a plain row (Single), a tree */
    bool fallback; /* reached through a hardware row that holds anywhere ("fallback" architecture) */
    uint8_t n_key;
    int64_t key[4];  /* the table's size, first elements */
    double distance; /* of the table's distance function; 0 when exact */
    double speed;    /* the table's figure */
} Selection;

/* Reads the file for this hardware. dir of the file is where placeholders are looked for. */
Err library_open(const char *path, const Hardware *hw, Library **out);
/* The same from memory (tests, fuzzing), which is copied; name is for messages, dir may be NULL: no
 * placeholders. */
Err library_parse(const char *name, Str data, const char *dir, const Hardware *hw, Library **out);
/* The same for embedded data, not copied, and placeholders' files from somewhere else: all of it lives as
 * long as the Library. */
typedef struct {
    Err (*read)(const void *ctx, const char *file, Str *data);
    const void *ctx;
} LibraryFiles;
Err library_parse_files(const char *name, Str data, const LibraryFiles *files, const Hardware *hw,
                        Library **out);
void library_free(Library *lib);

size_t library_n_solutions(const Library *lib);
/* By number (0..n-1), in file order; NULL when out of range or when it cannot be read (err_message). */
const LibSolution *library_solution(const Library *lib, size_t number);
const LibSolution *library_solution_by_index(const Library *lib, int64_t index);
const Hardware *library_hardware(const Library *lib);
/* Does a hardware row name this Library's architecture? False: only fallback rows hold. */
bool library_names_arch(const Library *lib);
/* Does the file ask for a line on stderr per launch (createlib --library-print-debug)? */
bool library_print_debug(const Library *lib);
/* Base names ("TensileLibrary_Type_SS_...") of placeholders that have been read, by code_object number; NULL
 * out of range or not read. *fallback (may be NULL): the name's end is "fallback". */
const char *library_code_object(const Library *lib, int32_t code_object);
/* Reads all placeholders now. */
Err library_load_all(Library *lib);

/* Can this solution run this problem (hardware, problem and task predicates)? */
bool solution_can_solve(const LibSolution *s, const Contraction *p);
/* Can the copy engine go the strides of the tensors that the solution wants tensor maps of, and store
 * columns of D of this length? True without tensor maps. (launch_maps.c) */
bool tensor_maps_fit(const LibSolution *s, const Contraction *p);

/* findBestSolution with the cache. Err only when a placeholder cannot be read; no match is ERR_OK with
 * solution NULL. */
Err library_select(Library *lib, const Contraction *p, Selection *out);
/* The same without the cache. */
Err library_select_uncached(Library *lib, const Contraction *p, Selection *out);

const char *select_why_name(SelectWhy why); /* "exact", "nearest", ... */

#endif
