/* Shards: a run that is cut into parts for several machines, as files.
 *
 *   DIR/shards.yaml              the plan: which sizes each shard measures, how, and of which config
 *   DIR/config.yaml, ...         copies of the config and of kernels written by hand, with their hashes
 *   DIR/shard_0003/              the run directory of a shard: its own store, its own object cache
 *   DIR/shard_0003/shard.yaml    written when the shard is finished: device, compiler, kernels
 *
 * No two shards write the same file. Both formats are untrusted input: numbers, names and hashes are checked
 * where they are read.
 */
#ifndef MEASURE_SHARD_H
#define MEASURE_SHARD_H

#include "base/arena.h"
#include "base/hash.h"

enum { SHARD_FORMAT = 1, SHARDS_MAX = 100000, SHARD_FILES_MAX = 300, SHARD_GLOBALS_MAX = 128 };
#define SHARD_PLAN_FILE "shards.yaml"
#define SHARD_RESULT_FILE "shard.yaml"
#define SHARD_HASH "sha256: " /* begins the last line of both: the hash of all before it */

/* Sizes first to last of a size-group, by their numbers in the config's list; held-out sizes follow that
 * list. */
typedef struct {
    int64_t group, first, last;
} ShardRange;

typedef struct {
    double seconds; /* expected */
    ShardRange *range;
    size_t n_ranges, n_sizes;
} Shard;

typedef struct {
    Str name; /* below DIR: "config.yaml" */
    Str hash; /* SHA-256 of its contents */
} ShardFile;

typedef struct {
    Str key, value; /* a global parameter of the command line */
} ShardGlobal;

/* The options of the command line that decide what is measured. Str: n == 0 where not given. */
typedef struct {
    bool simulate, alternate, allow_spills;
    Str part, cc, cxx;
    ShardGlobal *global;
    size_t n_globals;
} ShardOptions;

typedef struct {
    Str id;            /* SHA-256 of the plan's text */
    Str version, arch; /* of the tuner that made it; of the kernels */
    ShardFile *file;   /* the first n_configs are the config and, with alternate, its sizes */
    size_t n_files, n_configs;
    ShardOptions options;
    Str *group; /* names of the size-groups: "Cijk_Ailk_Bljk_SB_00" */
    int64_t *group_sizes;
    size_t n_groups;
    Shard *shard;
    size_t n;
} ShardPlan;

/* Writes the text of a plan; its id is not read. */
Err shard_plan_print(const ShardPlan *p, Buf *out);
/* Parses a plan; its hash is not compared, its files are not looked at. name: for messages. */
Err shard_plan_parse(Arena *a, const char *name, Str text, ShardPlan *out);
/* Reads DIR/shards.yaml and compares the hashes of its files. ERR_INPUT: a file is damaged or was changed. */
Err shard_plan_read(Arena *a, const char *dir, ShardPlan *out);
/* "DIR/shard_0003". */
Str shard_dir(Arena *a, const char *dir, size_t i);

/* A solution of a shard: its permutation in the space of the size-group, its name, and the name of its kernel
 * in the code object. Solutions that differ only in the work-group order may share a kernel, which then has a
 * name of its own. */
typedef struct {
    int64_t permutation;
    Str name, kernel_name;
} ShardKernel;

typedef struct {
    int64_t group;
    int64_t n_permutations, n_valid, n_duplicates;
    ShardKernel *kernel;
    size_t n_kernels; /* 0: none of the group's kernels can be made */
} ShardGroup;

typedef struct {
    Str plan; /* id of the plan */
    int64_t shard;
    Str version, arch;
    Str toolchain;                 /* identity of the compiler */
    Str kind, device, device_arch; /* "cuda", "NVIDIA H200", "sm_90" */
    Str sim;                       /* settings of a simulated device */
    Str host;                      /* where it ran */
    int64_t n_cu;
    bool simulated; /* --simulate */
    ShardGroup *group;
    size_t n_groups;
} ShardResult;

Err shard_result_print(const ShardResult *r, Buf *out);
/* ERR_INPUT when the text is damaged, or of another plan or shard; its hash is not compared. */
Err shard_result_parse(Arena *a, const char *name, Str text, const ShardPlan *p, size_t shard,
                       ShardResult *out);
/* Reads the file of DIR's shard and compares its hash. */
Err shard_result_read(Arena *a, const char *dir, const ShardPlan *p, size_t shard, ShardResult *out);

#endif
