/* A run: `tuner config.yaml outdir` as a list of steps over one context. run.c is the list; step_*.c are the
 * steps, in the order in which they appear here. Every step writes files for the next step or for the user,
 * and records in the store what later runs need not repeat.
 */
#ifndef TUNER_RUN_H
#define TUNER_RUN_H

#include "base/hash.h"
#include "base/log.h"
#include "build/build.h"
#include "build/facts.h"
#include "build/pch.h"
#include "kernel/helper.h"
#include "measure/result.h"
#include "measure/store.h"
#include "space/config.h"
#include "problem/part.h"
#include "space/derive.h"
#include "space/rules.h"
#include "run/candidates.h"
#include "run/options.h"

/* A candidate of a size-group: a valid solution whose kernel and launch differ from those of all others.
 * Solutions whose work-group order is an argument may share a kernel. */
typedef struct {
    Solution s;
    Str hash;            /* identity of its kernel: text, launch, predicates */
    Str name;            /* in this benchmark */
    Str kernel_name;     /* symbol of its kernel: the name, or that of solutions that share it */
    int64_t kernel;      /* id in the store */
    Str symbol;          /* of the kernel in the object; host code objects export it as name */
    Str object;          /* path; s == NULL: it was not built */
    CodeFacts facts;     /* only of GPU kernels that were built */
    size_t shares;       /* 1 + the number of an earlier variant whose kernel it has; 0: none */
    int64_t permutation; /* of the group's space */
    bool for_range;      /* of a search, for sizes between the tuned ones, where rounds measured it */
} Variant;

/* A helper kernel of a group and its object. */
typedef struct {
    HelperKernel h;
    Str object;
} GroupHelper;

/* One benchmark: the kernels of a size-group on its sizes. */
typedef struct {
    const ProblemGroup *problem;
    const SizeGroup *config;
    Str name; /* "Cijk_Ailk_Bljk_SB_00": name of directories and data files */
    Str dir;  /* OUT/1_BenchmarkProblems/<name>/00_Final */
    Str data; /* OUT/2_BenchmarkData/<name>, without suffix */
    ProblemSize *size;
    int64_t *problem_id; /* of each size, in the store */
    size_t n_sizes;
    size_t n_held_out; /* of them, at the end: the library does not get them (held_out.h) */
    size_t n_between;  /* before those, while a search runs: sizes between the config's (search_between.h) */
    Variant *variant;
    size_t n_variants;
    size_t *column; /* the variants that were built, in order: solutions of library, csv, yaml */
    size_t n_columns;
    GroupHelper *helper;
    size_t n_helpers;
    RuleCounts rules;
    Verdict example[RULE_COUNT]; /* the first rejection of each rule */
    Unwritten unwritten[UNWRITTEN_MAX];
    size_t n_unwritten;
    uint64_t n_same;  /* solutions left out because another one has the same kernel */
    Str *code_object; /* paths of the files with its kernels */
    size_t n_code_objects;
    uint64_t n_permutations, n_duplicates;
    size_t *chosen; /* of each size: the variant that the logic names, or WINNER_; NULL: not analyzed */
    int64_t plan, setting;
    bool skip;                 /* nothing is measured: its results are kept, or it is given up */
    bool given_up;             /* none of its kernels can be made */
    int64_t round;             /* of a search, while its kernels are measured; 0: the final ones are */
    const bool *wanted;        /* [size][variant]: the pairs to measure; NULL: all */
    const uint32_t *order;     /* of a round: in which its sizes are measured; NULL: as they are listed */
    const struct Namer *namer; /* of the kernels of a search; NULL: names depend on the variants */
    struct {                   /* what the rounds of a search leave for the final measurements */
        double *ns;            /* [size that is not held out][variant]; 0: not measured; NULL: no search */
        size_t n_variants;     /* of ns; the work-group orders that come later have no times */
        bool *raced; /* [size that is not held out][variant]: close enough to the size's best for the last
                      * race, for which time is short; NULL: all are */
        ProblemSize *between; /* sizes between the config's that were measured too */
        double *between_ns;   /* [between][variant], as ns */
        size_t n_between;
        ProblemSize *fill; /* further ones, for search_fill.h; once measured they are in `between` */
        size_t n_fill;
        int64_t *setting; /* of each round, in the store */
        size_t n_settings;
        double *seconds; /* of each size: what its final measurement takes, an estimate */
        bool *cut;       /* sizes that TimeBudget leaves no time for; NULL: none */
    } searched;
} Group;

/* The sizes of a size-group that a shard measures, as ascending numbers in the group's list, which the
 * held-out sizes follow. */
typedef struct {
    int64_t *number;
    size_t n, n_all; /* of the shard; of the whole list */
} SizesOnly;

typedef struct {
    Str kind; /* "host", "sim", ... */
    Str name, arch;
    int64_t index, n_cu;
    bool is_apu;
    bool is_simulated; /* --simulate; sim: settings of the simulated device */
    Str sim;
    Str text;     /* description for the store */
    bool is_lost; /* of a pool: it measures no more */
} DeviceChoice;

typedef struct ShardRun ShardRun;   /* run/shard_run.h */
typedef struct Gathering Gathering; /* run/gather.h */

typedef struct {
    const Options *o;
    const char *outdir;
    Config *config;
    const Target *target;
    const Part *part;    /* --part; NULL: none */
    DeviceChoice device; /* the first of a pool */
    DeviceChoice *pool;  /* the devices that measure, all of one model */
    size_t n_pool;       /* 0: device alone */
    Toolchain toolchain;
    Pch pch;    /* of the toolchain, for all builds of the run */
    Str client; /* path of tuner-client */
    Store store;
    int64_t session, environment;
    Group *group;
    size_t n_groups;
    Str *logic_file; /* files of 3_LibraryLogic from the analyze step; NULL: it did not run */
    size_t n_logic_files;
    uint64_t started_ns;
    size_t n_wrong, n_faults;  /* measurements that failed validation; that crashed, hung or could not run */
    size_t n_measured;         /* pairs of the variants that are in the store */
    size_t n_lost;             /* sizes without a winner */
    size_t n_left_out;         /* solutions that createlib could not build */
    size_t n_given_up;         /* groups none of whose kernels can be made */
    size_t n_spilled;          /* kernels that were left out because they spill */
    uint64_t deadline_ns;      /* clock_ns() when a search stops measuring; 0: never */
    uint64_t fill_deadline_ns; /* when the step after it, which fills the range, stops; 0: never */
    bool late;                 /* the last step_measure stopped there */
    bool stopped;        /* Ctrl-C: nothing is measured any more, the library is made of what is known */
    bool cache_cleared;  /* of objects, once, by --no-cache */
    double race_seconds; /* of a race on one size; 0: the client's own */
    int race_stages;     /* of races in rounds */
    bool in_rounds;      /* of a search: races have race_stages, and winners are checked on fresh data in the
                          * last race alone */
    struct {             /* work that is done while a client measures: starting and reaping compilers */
        Err (*work)(void *ctx); /* NULL: none */
        void *ctx;
        bool works;    /* it is running, and must not be entered again */
        Err e;         /* the error of work, which is then not called again */
        char why[512]; /* the message of e */
    } aside;
    double load;           /* highest load average while measuring */
    uint64_t load_ns;      /* time of the last sample of the load; 0: none */
    struct {               /* state of metrics.c */
        const char *step;  /* name of the running step */
        Progress progress; /* the last that was seen; its step NULL: none */
        uint64_t written_ns;
        bool failed; /* a warning was printed */
    } metrics;
    const SizesOnly *only; /* of each size-group; NULL: all sizes */
    size_t n_only;
    const ShardRun *shard; /* the shard that this run measures; NULL: none */
    Gathering *gather;     /* the shards that this run puts together; NULL: none */
    Arena arena;           /* of what lives as long as the run */
} Run;

void run_init(Run *r);
void run_fini(Run *r);
/* Reads the config and runs all steps. */
Err run_pipeline(const Options *o);
/* The same with r->outdir and r->shard or r->gather set; all operands of o are configs. */
Err run_with(Run *r, const Options *o);
/* The config and the target that --list-solutions, --dump-program and a run work on. */
Err run_config(Run *r, const Options *o, int n_configs);

/* Sets the target to the requested architecture, or else to this machine's level; does not ask devices. */
Err run_target(Run *r);

/* The architecture that the options or the config ask for; n == 0: none. */
Str run_wanted_arch(const Run *r);

/* The requested compiler; NULL: any. */
const char *run_compiler(Run *r);

Err step_device(Run *r); /* target, device, toolchain */
/* The groups of the config with their names, without sizes and variants; their whole lists of sizes. */
Err groups_make(Run *r);
Err groups_sizes(Run *r);

Err step_fork(Run *r);    /* configs to groups of variants */
Err step_search(Run *r);  /* where SearchMethod asks for it: chooses the variants of every group */
Err step_order(Run *r);   /* further work-group orders of the best kernels, as variants */
Err step_plan(Run *r);    /* candidates, sizes and rejections to the store */
Err step_build(Run *r);   /* sources, objects, code objects of every group */
Err step_write(Run *r);   /* library, ini, run.sh, cache.yaml of every group */
Err step_measure(Run *r); /* runs tuner-client */
Err step_fill(Run *r);    /* kernels of a search's library on further sizes (search_fill.h) */
Err step_final(
    Run *r); /* the same within a search's time limit; sizes beyond it get the results of its rounds */
Err final_fill(Run *r);   /* copies results of a search's rounds to pairs without a final result */
Err step_cover(Run *r);   /* MaxLoss: leaves out kernels that are not needed */
Err step_export(Run *r);  /* csv and yaml */
Err step_analyze(Run *r); /* 3_LibraryLogic */
Err step_pack(Run *r);    /* 4_LibraryClient */
Err step_peer(Run *r);    /* peer.csv and its summary */
Err step_finish(Run *r);  /* the winners table, and how to use the library */

/* Reads registers, LDS and spills from the object. On rejection sets *why to the reason; otherwise STR_NULL.
 */
Err variant_facts(Run *r, Variant *v, Str object, Arena *a, Str *why);
/* Counts main loops in the code objects, records all facts and writes 00_Final/kernels.csv. */
Err group_facts(Run *r, Group *g);

/* Gives the group's setting, sizes and variants their ids in the store. */
Err group_identify(Run *r, Group *g);
/* Names the variants of a group. */
Err group_names(Run *r, Group *g);
/* Limits of derivation by the config; the folder of kernels written by hand is added by the caller. */
DeriveLimits run_derive_limits(const Run *r);
/* Prints why a group has no kernels, and gives it up. */
Err group_none_valid(Run *r, Group *g);
/* Whether solutions are chosen by a search, not all measured. */
bool run_searches(const Run *r);
/* Whether the final race on size p has variant v: on sizes that are not held out it leaves out kernels that a
 * search kept for sizes between, and, where time is short, those far behind the best (Group.searched). */
bool group_races(const Group *g, size_t p, size_t v);

/* Makes the files that the device loads from the objects that were built. */
Err group_code_objects(Run *r, Group *g);

/* Gives up a group that has no kernels: warns and continues, or fails with code when no other group is left.
 */
Err group_give_up(Run *r, Group *g, Err code, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* "OUT/dir/name" in the run's arena; an absolute path stands for itself, like in Python's os.path.join, with
 * which Tensile joins its *Path parameters. */
Err run_path(Run *r, Str *out, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* After an error: true when it was Ctrl-C and there are results for a library. Then the interrupt is cleared,
 * r->stopped is set, and the caller continues. */
bool run_stop(Run *r, Err e, bool has_results);
/* ERR_FAILED "interrupted" after Ctrl-C. */
Err run_check(void);
/* Calls r->aside.work; an error is kept in r->aside. */
void run_aside(Run *r);

#endif
