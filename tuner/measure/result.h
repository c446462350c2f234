/* Results: what the store knows about one plan, as tables that exports and reports read: candidates, sizes,
 * and for each pair the verdict and the times of all runs together.
 *
 * Does not write files. Used by the exports (csv), the analyzer's intervals, the winners table and the
 * reports.
 */
#ifndef MEASURE_RESULT_H
#define MEASURE_RESULT_H

#include "measure/stats.h"
#include "measure/store.h"

typedef struct {
    int64_t kernel;
    Str name, hash;
    BuildOutcome compile; /* the last in the plan's environment */
} Candidate;

typedef struct {
    int64_t problem;
    Str key; /* "Cijk_Ailk_Bljk_SB 64,64,1,64,64,64,64,64", and " A=1,64,0" where strides were given */
    double flops;
} SizeRow;

/* "64,64,1,64,64,64,64,64" of such a key: the numbers that result and logic files list. */
Str size_numbers(Str key);

typedef struct {
    int64_t id, setting, environment;
    Str group, arch;
    int64_t n_permutations, n_valid, n_duplicates, n_runs;
    Candidate *candidate;
    size_t n_candidates;
    SizeRow *size;
    size_t n_sizes;
} PlanView;

enum { PLAN_RUNS_MAX = 10000 }; /* as NumBenchmarks */

/* Plans of the last session that had any, in order. What a store has that no run writes (names with other
 * characters than letters, digits, '_', '.', '+' and '-', missing rows, numbers out of bounds) is
 * ERR_INPUT. */
Err plans_latest(Store *s, Arena *a, PlanView **out, size_t *n);
Err plan_load(Store *s, Arena *a, int64_t plan, PlanView *out);

typedef struct {
    bool found; /* measured at all */
    bool good;  /* PASSED or NO_CHECK, with samples */
    Str status, detail;
    double mean_ns; /* total over launches, as Tensile's time-us; of a race: the median */
    double
        *sample_ns; /* per launch, one per timed group, in order of measuring; of a race those that count */
    int64_t *round; /* of each, over all runs; 0: no race */
    size_t n_samples;
    double first_ns;    /* of a race: median of the samples before the last stage; NAN none */
    const Sample *last; /* the last that counts, for its sensors; NULL: none */
    Summary ns;         /* of sample_ns, at 0.95 */
} Result;

/* PASSED or NO_CHECK: the kernel ran and its times count. */
bool status_good(Str status);

/* One run, or all runs (run < 0): then the verdict is the first that is not good. */
Err result_get(Store *s, Arena *a, const PlanView *p, size_t candidate, size_t size, int64_t run,
               Result *out);

/* The peer on a size: found false when there was none. */
Err result_peer(Store *s, Arena *a, const PlanView *p, size_t size, Str *name, Result *out);
/* All candidates of one size: times of those that dropped out of a race early are raised by as much as the
 * device was slower in the last stage (a power limit sets in after a while), so that no loser's early time
 * stands beside the winner's late one. */
void results_level(Result *r, size_t n);
/* Time of x over time of y: by pairs where a race took them side by side. */
Err results_compare(Arena *a, const Result *x, const Result *y, Comparison *out);

/* Best by median, and how clear that is. */
typedef struct {
    size_t best, second; /* candidates; SIZE_MAX: none */
    Result *result;      /* of every candidate */
    Comparison versus;   /* best against second; verdict UNKNOWN without second */
    bool dropped; /* the second dropped out of the race, with few samples: slower without an interval */
    size_t n_good, n_failed, n_missing;
} Ranking;
Err ranking_make(Store *s, Arena *a, const PlanView *p, size_t size, Ranking *out);

static inline double gflops_of(double flops, double ns) { return flops / ns; }

#endif
