/* Results: a plan's candidates and sizes, and for each pair of them the verdict and the times of all runs.
 * Everything is read from the store; nothing is written.
 */
#ifndef MEASURE_RESULT_H
#define MEASURE_RESULT_H

#include "measure/level.h"
#include "measure/stats.h"
#include "measure/store.h"

typedef struct {
    int64_t kernel;
    Str name, hash;
    BuildOutcome compile; /* outcome of the last compilation in the plan's environment */
} Candidate;

typedef struct {
    int64_t problem;
    Str key; /* "Cijk_Ailk_Bljk_SB 64,64,1,64,64,64,64,64", and " A=1,64,0" where strides were given */
    double flops;
    Str conv; /* of a convolution: "n=64,c=3,.." (SizeExtra.conv); s NULL: none */
} SizeRow;

/* The numbers of SizeRow.key that result and logic files list: "64,64,1,64,64,64,64,64". */
Str size_numbers(Str key);

typedef struct {
    int64_t id, setting, environment;
    Str group, arch;
    int64_t n_permutations, n_valid, n_duplicates, n_runs;
    Candidate *candidate;
    size_t n_candidates;
    SizeRow *size;
    size_t n_sizes;
    int64_t n_left; /* pairs of one run that a search measured in its rounds only, not in the final race */
} PlanView;

/* Pairs that are measured when n_failed kernels were not compiled. */
static inline int64_t plan_pairs(const PlanView *p, int64_t n_failed)
{
    return (((int64_t)p->n_candidates - n_failed) * (int64_t)p->n_sizes - p->n_left) * p->n_runs;
}

enum { PLAN_RUNS_MAX = 10000 }; /* the maximum of NumBenchmarks */

/* Plans of the last session that had any, in order. ERR_INPUT for contents that no run writes: names with
 * characters other than letters, digits, '_', '.', '+' and '-', missing rows, numbers out of bounds. */
Err plans_latest(Store *s, Arena *a, PlanView **out, size_t *n);
Err plan_load(Store *s, Arena *a, int64_t plan, PlanView *out);
/* Fills in SizeRow.conv. */
Err plan_convs_load(Store *s, Arena *a, PlanView *p);

typedef struct {
    bool found; /* there is a measurement */
    bool good;  /* its status is PASSED or NO_CHECK, and it has samples */
    Str status, detail;
    double mean_ns; /* total time over launches, as Tensile's time-us; after a race: the median */
    /* Time per launch of each timed group, in the order of measuring; of a race, those that count. */
    double *sample_ns;
    int64_t *round; /* of each sample, over all runs; 0: no race */
    size_t n_samples;
    const LevelSample *race; /* samples of all stages of races */
    size_t n_race;
    const Sample *last; /* the last sample that counts, for its sensor readings; NULL: none */
    Summary ns;         /* summary of sample_ns, interval at 0.95 */
} Result;

/* PASSED or NO_CHECK: the kernel ran and its times count. */
bool status_good(Str status);

/* The result of one run, or of all runs together (run < 0), whose status is the first that is not good. */
Err result_get(Store *s, Arena *a, const PlanView *p, size_t candidate, size_t size, int64_t run,
               Result *out);

/* The peer's result on a size; found is false when no peer was measured. */
Err result_peer(Store *s, Arena *a, const PlanView *p, size_t size, Str *name, Result *out);
/* r: the results of all n candidates on one size. Converts times of a race to the winner's clocks, by the
 * rounds in which both took part (level.h). Scratch memory comes from a. */
Err results_level(Arena *a, Result *r, size_t n);
/* The results of all candidates of a size, over all runs, at the winner's clocks. */
Err results_get(Store *s, Arena *a, const PlanView *p, size_t size, Result **out);
/* Ratio of the times of x and y; from pairs where a race measured them side by side. */
Err results_compare(Arena *a, const Result *x, const Result *y, Comparison *out);

/* The candidates of one size ranked by median, and how certain the first place is. */
typedef struct {
    size_t best, second; /* candidates; SIZE_MAX: none */
    Result *result;      /* of every candidate */
    size_t *order;       /* the n_good candidates with good results, fastest first */
    Comparison versus;   /* best against second; its verdict is UNKNOWN without a second */
    bool dropped;        /* the second left the race early, with too few samples for an interval */
    size_t n_good, n_failed, n_missing;
} Ranking;
Err ranking_make(Store *s, Arena *a, const PlanView *p, size_t size, Ranking *out);

static inline double gflops_of(double flops, double ns) { return flops / ns; }

#endif
