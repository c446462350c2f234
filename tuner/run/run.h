/* A run: `tuner config.yaml outdir` as a list of steps over one context. run.c is the list; step_*.c are the
 * steps, in the order in which they appear here. Every step writes files that the next one, or a user, reads,
 * and records in the store what must not be done twice.
 */
#ifndef TUNER_RUN_H
#define TUNER_RUN_H

#include "base/hash.h"
#include "base/log.h"
#include "build/build.h"
#include "build/facts.h"
#include "kernel/helper.h"
#include "measure/result.h"
#include "measure/store.h"
#include "space/config.h"
#include "problem/part.h"
#include "space/rules.h"
#include "run/candidates.h"
#include "run/options.h"

/* A candidate of a size-group: a valid solution that is like no other. */
typedef struct {
    Solution s;
    Str hash;        /* identity of its kernel: text, launch, predicates */
    Str name;        /* of its kernel in this benchmark */
    int64_t kernel;  /* in the store */
    Str symbol;      /* of the kernel in the object; the host's code object calls it name */
    Str object;      /* path; s == NULL: it was not built */
    CodeFacts facts; /* of GPU kernels that were built */
} Variant;

/* A helper kernel that some variant needs. */
typedef struct {
    HelperKernel h;
    Str object;
} Helper;

/* One benchmark: the kernels of a size-group on its sizes. */
typedef struct {
    const ProblemGroup *problem;
    const SizeGroup *config;
    Str name; /* "Cijk_Ailk_Bljk_SB_00": of directories and of the data files */
    Str dir;  /* OUT/1_BenchmarkProblems/<name>/00_Final */
    Str data; /* OUT/2_BenchmarkData/<name>, without suffix */
    ProblemSize *size;
    int64_t *problem_id; /* of each size, in the store */
    size_t n_sizes;
    Variant *variant;
    size_t n_variants;
    size_t *column; /* variants that were built, in order: the solutions of library, csv and yaml */
    size_t n_columns;
    Helper *helper;
    size_t n_helpers;
    RuleCounts rules;
    Verdict example[RULE_COUNT]; /* the first of each */
    Unwritten unwritten[UNWRITTEN_MAX];
    size_t n_unwritten;
    uint64_t n_same;  /* of the duplicates: solutions with the kernel of another */
    Str *code_object; /* paths of the files with its kernels */
    size_t n_code_objects;
    uint64_t n_permutations, n_duplicates;
    size_t *chosen; /* of each size: the variant that the logic names, or WINNER_; NULL: not analyzed */
    int64_t plan, setting;
    bool skip;     /* ForceRedoBenchmarkProblems is off and its results are there; or given up */
    bool given_up; /* none of its kernels can be made */
} Group;

typedef struct {
    Str kind; /* "host", "sim", ... */
    Str name, arch;
    int64_t index, n_cu;
    bool is_apu;
    bool is_simulated; /* --simulate; sim: the settings of the simulated device */
    Str sim;
    Str text; /* all of it, for the store */
} DeviceChoice;

typedef struct {
    const Options *o;
    const char *outdir;
    Config *config;
    const Target *target;
    const Part *part; /* --part; NULL: none */
    DeviceChoice device;
    Toolchain toolchain;
    Str client; /* program */
    Store store;
    int64_t session, environment;
    Group *group;
    size_t n_groups;
    Str *logic_file; /* names in 3_LibraryLogic that the analyze step wrote; NULL: it did not run */
    size_t n_logic_files;
    uint64_t started_ns;
    size_t n_wrong, n_faults; /* measurements that failed validation; that crashed or hung */
    size_t n_lost;            /* sizes without a winner */
    size_t n_left_out;        /* solutions that createlib could not build */
    size_t n_given_up;        /* groups none of whose kernels can be made */
    size_t n_spilled;         /* kernels that were left out because they spill */
    double load;              /* highest load average while measuring */
    uint64_t load_ns;         /* when it was last looked at; 0: never */
    Arena arena;              /* lives as long as the run */
} Run;

/* Everything: reads the config, runs its steps. */
Err run_pipeline(const Options *o);
/* The config and the target that --list-solutions, --dump-program and a run work on. */
Err run_config(Run *r, const Options *o, int n_configs);

/* The architecture that is asked for, with no look at devices; this machine's level when there is none. */
Err run_target(Run *r);

/* The compiler that was asked for; NULL: any. */
const char *run_compiler(Run *r);

Err step_device(Run *r);  /* target, device, toolchain */
Err step_fork(Run *r);    /* configs to groups of variants */
Err step_plan(Run *r);    /* candidates, sizes, rejections: into the store */
Err step_build(Run *r);   /* sources, objects, code objects of every group */
Err step_write(Run *r);   /* library, ini, run.sh, cache.yaml of every group */
Err step_measure(Run *r); /* tuner-client */
Err step_export(Run *r);  /* csv and yaml */
Err step_analyze(Run *r); /* 3_LibraryLogic */
Err step_pack(Run *r);    /* 4_LibraryClient */
Err step_peer(Run *r);    /* peer.csv, and what it says in short */
Err step_finish(Run *r);  /* winners, how to use them */

/* Reads what a compiled kernel says of itself. *why: it must not be run; s == NULL: it may. step_facts.c, for
 * the build step. */
Err variant_facts(Run *r, Variant *v, Str object, Arena *a, Str *why);
/* Counts main loops in the code objects, records all facts, writes 00_Final/kernels.csv. */
Err group_facts(Run *r, Group *g);

/* The files that a device loads, of the kernels that were built. step_code.c, for the build step. */
Err group_code_objects(Run *r, Group *g);

/* A group that has no kernels: a warning, and the run goes on without it; an error with code when no other
 * group is left. */
Err group_give_up(Run *r, Group *g, Err code, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* "OUT/dir/name" in the run's arena. */
Err run_path(Run *r, Str *out, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* ERR_FAILED "interrupted" after Ctrl-C. */
Err run_check(void);

#endif
