/* Library: a master solution library in memory (TensileLibrary*.dat|.yaml) and the choice of a solution for a
 * problem.
 *
 * A file is msgpack or YAML by content; it is untrusted: every index, count and depth is checked when it is
 * opened, and a damaged one gives one error. msgpack files stay mapped; a table is read when a problem first
 * needs it, a solution when it is first considered, placeholders (lazy libraries) when they are first
 * reached, all under a lock. A file may be replaced by rename while it is open; one that is written to or
 * truncated gives errors for the parts that were not read yet (filemap.h describes the limits of this check).
 * Selection gives exactly the results of Tensile's findBestSolution (SolutionLibrary.hpp), except that a
 * table with a performance model, which tuner writes, chooses by that for sizes that were not measured;
 * parts that were read need no further allocation. A Library is for one kind of hardware: rows for other
 * kinds are not kept. Selection may be called from any thread. Code objects and launches are in launch.h
 * and host_run.h.
 */
#ifndef CLIENT_RUNTIME_LIBRARY_H
#define CLIENT_RUNTIME_LIBRARY_H

#include "client/runtime/tensor_map.h"
#include "problem/mapping.h"
#include "problem/helper_name.h"
#include "problem/fused.h"
#include "problem/predicate.h"
#include "problem/traffic.h"

typedef struct Library Library;

enum { GLOBAL_ACC_NONE, GLOBAL_ACC_SINGLE, GLOBAL_ACC_MULTIPLE, GLOBAL_ACC_PARTIALS };

/* A zero pad that the kernel takes as two arguments: of tensor A (0) or B (1), along the dimension of a free
 * and a summation index. */
typedef struct {
    uint8_t tensor, free, sum;
} ZeroPadSpec;

/* sizeMapping of the file; keys and bounds: problem/size_mapping.def. */
typedef struct {
    int32_t work_group[3], macro_tile[3], thread_tile[3];
    int32_t depth_u, global_split_u, stagger_u, stagger_stride_shift, work_group_mapping;
    int32_t pack_summation_dims, pack_batch_dims, magic_div_alg;
    int32_t pack_operands;         /* extension "packOperands": PACK_A, PACK_B */
    int32_t window_taps;           /* extension "windowTaps": taps along W of a stage; else 0 */
    int32_t keep_window;           /* extension "keepWindow": bytes of local memory for pixels */
    int32_t keep_rows, keep_piece; /* the same: rows of a warp, elements of the filter copied at once */
    int32_t persistent_kernel, stream_k, global_accumulation;
    int32_t workspace_bytes_per_c; /* workspaceSizePerElemC */
    bool persistent_along_batch, source_kernel, stream_k_atomic, preload_kernargs;
    bool gsu_round_robin;  /* extension "globalSplitUWorkGroupMappingRoundRobin" */
    bool dependent_launch; /* extension "dependentLaunch": the kernel waits for the launches in front of it */
    bool self_reset;       /* extension "selfResetCounters": the kernel's counters need not be cleared */
    int32_t cluster[3];    /* extension "cluster": work-groups of a cluster along M, N and K; else 1 */
    /* extensions "workGroupMappingDim": -1: the order is part of the kernel; 0, 1: it is an argument, for
     * bands along M or N; "workGroupMappingXCC", "-XCCGroup", "-XCCChunk": as params.def has them */
    int32_t mapping_dim, mapping_xcc, mapping_group, mapping_chunk;
    int32_t stream_k_part,
        stream_k_fix,      /* extensions "streamKPart", "streamKFix": those of Walk (index/walk.h) */
        stream_k_blocks;   /* extension "streamKBlocks": as in StreamKernel (problem/stream_cut.h) */
    uint8_t n_tensor_maps; /* extension "tensorMaps" */
    const TensorMapSpec *tensor_map;
    uint8_t n_zero_pads; /* extension "zeroPads": those of A, then those of B, in the problem type's order */
    const ZeroPadSpec *zero_pad;
} SizeMapping;

typedef struct {
    const char *name;
    const char *symbol;  /* of the kernel: extension "kernelName", else the name */
    int64_t index;       /* global, as in the file */
    int64_t logic_index; /* -1 when absent */
    uint32_t number;     /* 0, 1, 2..: an index for arrays of the caller */
    int32_t code_object; /* number of its placeholder; -1: the code objects of the whole library */
    uint64_t operation;
    const char *operation_text;
    uint32_t types; /* types_pack */
    uint8_t f32_xdl, compute_type;
    bool use_beta, high_precision_accumulate, use_initial_strides_ab, use_initial_strides_cd, strided_batched;
    bool stochastic_rounding, fp16_alt, fp16_alt_round;
    Fused fused;                 /* of the operation identifier's suffix */
    bool hardware_ok;            /* hardwarePredicate is true on this Library's hardware */
    int64_t n_cu;                /* of this Library's hardware */
    bool task_workspace;         /* taskPredicate is WorkspaceCheck */
    const TrafficDevice *device; /* this Library's hardware */
    Mapping mapping; /* the order's numbers on this Library's hardware; wgm 0: by the traffic model */
    SizeMapping map;
    const PredOp *problem_pred;
    char beta_only[HELPER_NAME_MAX]; /* name of the beta-only kernel: "Cijk_S", "Cijk_S_GA" */
    char post_gsu[HELPER_NAME_MAX];  /* "Cijk_S_PostGSU" */
} LibSolution;

/* Where the numbers of a launch's work-group order come from: they are part of the kernel, of the file, the
 * choice of the traffic model, or the caller's. */
typedef enum { MAPPING_FIXED, MAPPING_TUNED, MAPPING_MODEL, MAPPING_GIVEN } MappingSource;

typedef enum { WHY_NONE, WHY_EXACT, WHY_NEAREST, WHY_ROW, WHY_TREE, WHY_GRANULARITY, WHY_MODEL } SelectWhy;

typedef struct {
    const LibSolution *solution; /* NULL: no solution applies */
    SelectWhy why; /* exact size of a table, nearest of a table, a plain row (Single), a tree, the
                                  * least time that the table's performance model predicts */
    bool fallback; /* through a hardware row for any architecture ("fallback") */
    uint8_t n_key;
    int64_t key[4];  /* the table's size, first elements */
    double distance; /* by the table's distance function; 0 when exact */
    double speed;    /* of the table's entry; WHY_MODEL: predicted GFlops */
    MappingSource mapping_source;
    Mapping mapping; /* MAPPING_FIXED: zeros */
} Selection;

/* Reads the file for this hardware. Placeholders are searched in the file's directory. */
Err library_open(const char *path, const Hardware *hw, Library **out);
/* The same from memory, which is copied. name is for messages; dir NULL: placeholders are errors. */
Err library_parse(const char *name, Str data, const char *dir, const Hardware *hw, Library **out);
/* The same for embedded data, which is not copied; files->read returns the data of placeholders. All of it
 * must outlive the Library. */
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
/* Whether a hardware row names this Library's architecture; else only fallback rows apply. */
bool library_names_arch(const Library *lib);
/* Whether the file asks for a line on stderr per launch (createlib --library-print-debug). */
bool library_print_debug(const Library *lib);
/* Base name ("TensileLibrary_Type_SS_...") of the placeholder with this number; NULL when it is out of range
 * or was not read. */
const char *library_code_object(const Library *lib, int32_t code_object);
/* Reads all placeholders. */
Err library_load_all(Library *lib);

/* Whether the hardware, problem and task predicates of the solution are true for this problem. */
bool solution_can_solve(const LibSolution *s, const Contraction *p);
/* Whether the copy engine supports the strides of the tensors for which the solution takes tensor maps, and
 * can store columns of D of this length; true without tensor maps. (launch_maps.c) */
bool tensor_maps_fit(const LibSolution *s, const Contraction *p);
/* Whether the problem has the solution's zero pads, and no others that change a result. (launch_dims.c) */
bool zero_pads_fit(const LibSolution *s, const Contraction *p);

/* findBestSolution with a cache. An error only when a part of the library cannot be read; without a matching
 * solution ERR_OK with solution NULL. */
Err library_select(Library *lib, const Contraction *p, Selection *out);
/* The same without the cache. */
Err library_select_uncached(Library *lib, const Contraction *p, Selection *out);

const char *select_why_name(SelectWhy why);            /* "exact", "nearest", ... */
const char *mapping_source_name(MappingSource source); /* "fixed", "tuned", "model", "given" */

#endif
