/* Config: a tuning configuration, read and checked completely: problem types and sizes, the fork of
 * solutions, global parameters, library logic.
 *
 * A Config lives in the arena it was read into; values of parameters are views of its document tree and were
 * checked against params.def. Names of older Tensile versions are accepted with a notice. The fork is
 * enumerated by space.h.
 *
 * As in Tensile, with a notice: the last of duplicate keys counts; a leading dimension of an Exact below the
 * minimum is raised to it; strides beyond a tensor's last index, and other unknown keys of a size-group, have
 * no effect; with an empty ProblemSizes nothing is measured.
 *
 * Intended differences from Tensile:
 * - renamed parameters are accepted under their old names; an old name of two parameters stays one dimension
 *   (a group before the others), so that n values do not become n * n;
 * - unknown keys at the top level, in a ProblemType and in LibraryLogic are refused; in a size-group, keys
 *   that look misspelt;
 * - sizes are 1..2^31-1; a Range that never ends, or starts after its end, is refused;
 * - MinimumRequiredVersion 0.0.0 means no requirement;
 * - a Conv whose packed spatial dimensions are not contiguous is refused (problem/conv.h).
 */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "space/globals.h"
#include "problem/sizes.h"
#include "space/solution.h"

/* Bounds of a config. */
enum {
    CONFIG_BYTES_MAX = 64 << 20,
    CONFIG_NODES_MAX = 4000000,
    CONFIG_GROUPS_MAX = 4096,  /* problem groups; size-groups in each; Groups in a size-group */
    CONFIG_VALUES_MAX = 65536, /* values of parameters in a size-group, in all */
    CONFIG_NAME_MAX = 255      /* characters of names that become file names */
};
/* Longer enumerations are refused: this many take about an hour on one core. */
#define CONFIG_PERMUTATIONS_MAX UINT64_C(1000000000)

/* The values of one parameter; a single value is a constant. */
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

/* One entry of a group: it sets several parameters. */
typedef struct {
    const ForkAssign *assign;
    size_t n;
    int line;
} ForkEntry;

typedef struct {
    const ForkEntry *entry;
    size_t n;
} ForkGroup;

/* A benchmark: a set of solutions and a list of sizes. */
typedef struct {
    ProblemSizes sizes;
    ProblemSizes held_out; /* HeldOutSizes beside ProblemSizes: measured, not given to the library */
    int held_out_line;     /* 0: there are none */
    /* The parameters in the config, each once: those of the default table (GROUP_FORK) in table order, then
     * the others in the order of the file. All others have their defaults. */
    const ForkParam *param;
    size_t n_params;
    const ForkGroup *group; /* one dimension each, after all parameters */
    size_t n_groups;
    const Str *custom_kernel; /* names; "*": all for the problem type */
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
    bool has_problems, has_logic, has_client; /* the steps in the file */
    const ProblemGroup *problem;
    size_t n_problems;
    LogicSettings logic; /* defaults without has_logic */
    Notices notices;     /* each is to be printed once */
} Config;

typedef struct {
    Str key, value;
} ConfigOverride;

typedef struct {
    bool alternate;                 /* the file has the alternate format */
    const char *sizes_path;         /* alternate format: file with the list of sizes, or NULL */
    const ConfigOverride *override; /* of global parameters, applied after the file */
    size_t n_overrides;
} ConfigOptions;

/* options may be NULL. ERR_INPUT with one line, 'path:line: what'; a missing file has no line. */
Err config_read(Arena *a, const char *path, const ConfigOptions *options, Config **out);
/* The same from a parsed document; path is for messages. */
Err config_from_node(Arena *a, const char *path, const Node *root, const ConfigOptions *options,
                     Config **out);

/* Number of permutations of a size-group: the product of the lengths of all lists; UINT64_MAX when it is
 * larger. */
uint64_t size_group_permutations(const SizeGroup *g);
/* ERR_INPUT with the number when there are more than CONFIG_PERMUTATIONS_MAX. */
Err size_group_check(const Config *c, const SizeGroup *g);

#endif
