/* Search: chooses which candidates of a pool are measured on which sizes, batch by batch.
 *
 *   search_init(&s, &options); loop { search_next -> pairs; measure them; search_result for each }
 *
 * SEARCH_MODEL. Predictions are the model's, with rates fitted to what was measured, corrected by a
 * regression over parameters (surrogate.h) and, on each size, by kernels that are built alike
 * (size_errors.h). A scan of the pool keeps, for each size, the candidates with the largest expected gain and
 * the best of each family; the one-step neighbours of the size's best kernel and all compiled kernels are
 * added. Of these a batch takes the kernels with the largest expected gain, summed over all sizes by weight,
 * for the seconds that compiling and measuring take (search_gain.h), so that kernels that serve many sizes
 * come first. A kernel is measured only on the sizes on which it is expected to be faster. A search is
 * finished when no unmeasured pair is expected to gain. SEARCH_RANDOM: candidates in random order.
 * SEARCH_EXHAUSTIVE: all of them in their order. Equal options and equal results give equal batches: a search
 * is continued by repeating it.
 */
#ifndef MEASURE_SEARCH_H
#define MEASURE_SEARCH_H

#include "base/vec.h"
#include "measure/pool.h"
#include "measure/size_errors.h"
#include "measure/surrogate.h"
#include "problem/sizes.h"

typedef enum { SEARCH_EXHAUSTIVE, SEARCH_MODEL, SEARCH_RANDOM } SearchMethod;

/* The performance model. kernel: takes a derived, valid solution; false when no kernel can be made of it.
 * seconds: of that kernel on a size, by its number; 0: the kernel does not take that size. measured: the
 * time of that kernel on a size; fit: adjusts the model to all times since the last fit, and forgets them.
 * class: the class of that kernel, ModelClass. The last three may be NULL. */
typedef struct {
    bool (*kernel)(void *ctx, const Solution *s);
    double (*seconds)(void *ctx, size_t size);
    Err (*measured)(void *ctx, size_t size, double seconds);
    Err (*fit)(void *ctx);
    void *ctx;
    int (*class)(void *ctx);
} SearchModel;

/* Limits of a batch. kernels: kernels that are not compiled yet (the caller divides them among the groups
 * that share a compiler). per_size: new candidates of a size. kernel_s, pair_s: seconds of compiling a
 * kernel, divided by the processors that compile, and of measuring a kernel on a size. seconds: of measuring
 * the batch, where sizes and pairs take `scale` times the seconds of search_cost.h; 0: no limit. is_last: it
 * takes all time that is left. */
typedef struct {
    size_t kernels, per_size;
    double kernel_s, pair_s, seconds, scale;
    bool is_last;
} SearchQuota;

typedef struct SearchFirst {
    int64_t permutation;
    uint32_t size;
} SearchFirst;

typedef struct {
    const Pool *pool;
    SearchMethod method;
    const ProblemType *pt;
    const ProblemSize *size;
    const double *weight; /* of each size, its share of use; NULL: all are equal */
    size_t n_sizes;
    SearchModel model;
    const struct SearchFirst *first; /* pairs that the next batch begins with: known to be good elsewhere */
    size_t n_first;
    uint64_t seed;           /* of the random ones */
    bool graphs;             /* short kernels are timed in graphs (GPUs) */
    Err (*check)(void *ctx); /* called between parts of the work; an error ends it; may be NULL */
    void *check_ctx;
} SearchOptions;

typedef struct {
    int64_t permutation;
    Hash128 hash;
    bool failed; /* it cannot be written or compiled */
} SearchCandidate;

/* again: the size's best kernel so far is measured once more, side by side with the new ones. */
typedef struct {
    uint32_t candidate, size;
    bool again;
} SearchPair;
typedef VEC(SearchPair) SearchBatch;

typedef struct {
    SearchOptions o;
    Arena arena;
    VEC(SearchCandidate) known;
    Map by_hash;
    VEC(double) value;     /* [candidate][size] ns; 0: not measured, INFINITY: failed */
    VEC(double) predicted; /* [candidate][size] logarithm of the model's seconds */
    VEC(uint32_t) choice;  /* [candidate][dimension] */
    VEC(Traits) traits;    /* of each candidate */
    uint32_t *best;        /* of each size; UINT32_MAX: none */
    double *x, *place;     /* of each size: scaled log of work; logarithms of its extents */
    double *hope;          /* of each size: largest expected gain of what is not measured */
    double *launch_s;      /* of each size: the model's estimate of the fastest launch */
    size_t *n_measured;    /* of each size */
    double *promise;       /* of each size: expected gain of the pairs of the last batch */
    double *peer;          /* of each size: ns of another library (search_peer); 0: not known */
    size_t *waited;        /* of each size: batches since it was in one */
    size_t n_dims, next;   /* next: in the order of random and exhaustive search */
    size_t n_batches, n_pairs;
    Surrogate surrogate;
    SizeErrors errors;
    SurrogateKernel of_choice; /* of the kernel that search_look looks at, as the three below */
    ErrorKernel of_traits;
    Traits traits_looked_at;
    bool looks_built; /* of_traits is filled in */
    struct SearchWork *work;
} Search;

/* Weights of sizes: the application's number of calls (`count` in the config) times the estimated duration of
 * a call, scaled to a mean of 1 and bounded from below, so that no size is left out. *out is NULL where no
 * size has a count; where only some have one, the others count as 1. */
enum { SEARCH_WEIGHT_LEAST = 20 }; /* a weight is at least 1 / SEARCH_WEIGHT_LEAST */
Err search_weights(Arena *a, const ProblemType *pt, const ProblemSize *size, size_t n, const double **out);

/* What the options point to must outlive the search. */
Err search_init(Search *s, const SearchOptions *o);
void search_fini(Search *s);
/* Chooses the next pairs. flight: pairs of an earlier batch that are still being measured while this batch is
 * compiled; NULL: none. Their expected times are used as if they were measured. When there are neither new
 * pairs nor pairs in flight, the search is finished. */
Err search_next(Search *s, const SearchQuota *q, const SearchBatch *flight, SearchBatch *out);
/* The order in which the sizes of the last batch are to be measured (order has n_sizes entries): those with
 * the largest expected gain per second first, so that a batch whose time runs out loses little. */
Err search_order(const Search *s, const SearchBatch *batch, uint32_t *order);
/* Records a batch that an earlier run chose; called in place of search_next. */
void search_replay(Search *s, const SearchBatch *batch);
/* A candidate by its permutation, which a recorded batch names. ERR_INPUT when it is not a valid one. */
Err search_candidate(Search *s, int64_t permutation, uint32_t *candidate);
/* The time of a pair in ns; INFINITY: it failed. */
void search_result(Search *s, uint32_t candidate, uint32_t size, double ns);
/* Another library takes ns on a size: where that is less than the best candidate takes, later batches weigh
 * the size more, since a faster kernel is known to be possible. */
void search_peer(Search *s, uint32_t size, double ns);
/* The candidate cannot be written or compiled. */
void search_failed(Search *s, uint32_t candidate);
double search_value(const Search *s, uint32_t candidate, uint32_t size);
/* The expected time of a pair in ns: the measured one, else the predicted one; INFINITY for a failed pair. */
double search_expected(Search *s, uint32_t candidate, uint32_t size);
/* Mean over the sizes of the expected gain that is left, as a share of the time. */
double search_hope(const Search *s);
/* Fits model and surrogate to the results; search_next does it first. */
Err search_learn(Search *s);

#endif
