/* Config: one tuning configuration, read and checked whole: what to solve (problem types, sizes), which
 * solutions to try (fork lists and groups), how to measure (globals), what to write (library logic).
 *
 * A Config lives in the arena it was read into; values of parameters are views of its document tree and were
 * checked against params.def. Names that older Tensile versions used are accepted; each use leaves a line in
 * notices. Not here: enumeration of the fork (space.h), derivation, running. Called by tuner/main.
 *
 * As in Tensile, with a notice: the last of duplicate keys counts; an Exact's leading dimension below the
 * least one is raised to it; strides behind a tensor's last index, and other unknown keys of a size-group,
 * have no effect; an empty ProblemSizes measures nothing.
 *
 * Differences from Tensile that are kept on purpose:
 * - names it has since renamed are accepted; an old name of a pair stays one dimension (a group in front of
 *   the others), so that n values do not become n * n;
 * - unknown keys of the top level, a ProblemType or LibraryLogic are refused, not ignored; in a size-group
 *   those that look like a misspelt key;
 * - sizes are 1..2^31-1; a Range that never ends, or starts behind its end, is refused;
 * - MinimumRequiredVersion 0.0.0 means no requirement;
 * - the Convolution operations need their index assignments written out, and Conv sizes are refused.
 */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "space/globals.h"
#include "problem/sizes.h"
#include "space/solution.h"

/* Bounds on what a config may hold. */
enum {
    CONFIG_BYTES_MAX = 64 << 20,
    CONFIG_NODES_MAX = 4000000,
    CONFIG_GROUPS_MAX = 4096,  /* problem groups; size-groups in each; Groups in a size-group */
    CONFIG_VALUES_MAX = 65536, /* values of parameters in a size-group, in all */
    CONFIG_NAME_MAX = 255      /* characters of names that become file names */
};
/* Enumerations longer than this are refused: about an hour on one core. */
#define CONFIG_PERMUTATIONS_MAX UINT64_C(1000000000)

/* Candidate values of one parameter. One value: a constant. */
typedef struct {
    const Param *param;
    const Node *const *value;
    size_t n;
    int line;
} ForkParam;

typedef struct {
    const Param *param;
    const Node *value;
} ForkAssign;

/* One choice of a group: several parameters at once. */
typedef struct {
    const ForkAssign *assign;
    size_t n;
    int line;
} ForkEntry;

typedef struct {
    const ForkEntry *entry;
    size_t n;
} ForkGroup;

/* A benchmark: one list of sizes for one set of solutions. */
typedef struct {
    ProblemSizes sizes;
    /* The parameters that the config names, each once: those of the default table (GROUP_FORK) in table
     * order, then the others in the order of the file. What is not here has its default. */
    const ForkParam *param;
    size_t n_params;
    const ForkGroup *group; /* one more dimension each, behind all parameters */
    size_t n_groups;
    const Str *custom_kernel; /* names; "*": all that fit */
    size_t n_custom_kernels;
    int line;
} SizeGroup;

typedef struct {
    ProblemType pt;
    const SizeGroup *size_group;
    size_t n_size_groups;
    int line;
} ProblemGroup;

typedef struct {
    Str ScheduleName, ArchitectureName;
    const Str *DeviceNames;
    size_t n_DeviceNames;
    int64_t CUCount, IsAPU; /* -1: not given */
    double SolutionImportanceMin;
} LogicSettings;

typedef struct {
    const char *path;
    Globals globals;
    bool has_problems, has_logic, has_client; /* the steps that the file asks for */
    const ProblemGroup *problem;
    size_t n_problems;
    LogicSettings logic; /* defaults when !has_logic */
    Notices notices;     /* print each line once */
} Config;

typedef struct {
    Str key, value;
} ConfigOverride;

typedef struct {
    bool alternate;                 /* the file has the alternate format */
    const char *sizes_path;         /* alternate format: file with the list of sizes, or NULL */
    const ConfigOverride *override; /* of global parameters, behind the file's */
    size_t n_overrides;
} ConfigOptions;

/* options may be NULL. Errors are one line, 'path:line: what', ERR_INPUT, without line for a missing file. */
Err config_read(Arena *a, const char *path, const ConfigOptions *options, Config **out);
/* The same from a document that was read before; path is for messages. */
Err config_from_node(Arena *a, const char *path, const Node *root, const ConfigOptions *options,
                     Config **out);

/* Points of the fork of a size-group: the product of all lists' lengths; UINT64_MAX when there are more. */
uint64_t size_group_permutations(const SizeGroup *g);
/* ERR_INPUT with the number when there are more than CONFIG_PERMUTATIONS_MAX. */
Err size_group_check(const Config *c, const SizeGroup *g);

#endif
