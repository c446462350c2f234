/* Pool: the candidates of a space, identified by the hash of their derived parameters before any kernel is
 * generated.
 *
 * A space is a product of dimensions and is indexed by permutation (space.h). Up to POOL_LOOKS
 * permutations are derived, on all processors; of a larger space, POOL_DRAWN are drawn without repetition
 * by a fixed bijection, so that equal spaces give equal pools. A search reaches further candidates as
 * neighbours of good ones; drawing four times as many did not improve what it finds in the same time
 * (test/bench/search_replay). The pool keeps the permutations of at most POOL_ITEMS distinct valid
 * candidates, a uniform sample where there are more. pool_get accepts any permutation. */
#ifndef MEASURE_POOL_H
#define MEASURE_POOL_H

#include "space/space.h"

enum { POOL_LOOKS = 1 << 22, POOL_DRAWN = 1 << 20, POOL_ITEMS = 1 << 18 };

typedef struct {
    const Space *space;
    const Deriver *deriver;
    int64_t size;     /* permutations of the space */
    uint64_t n_looks; /* permutations that were derived */
    int64_t *item;    /* distinct valid candidates, in the order in which they were found */
    size_t n, cap;
    uint64_t keep_below; /* of a thinned pool: it keeps the permutations whose hash is below this */
    bool drawn;          /* the space was sampled, not enumerated */
    RuleCounts rules;    /* of the permutations that were derived */
    uint64_t n_duplicates;
    Verdict example[RULE_COUNT];
} Pool;

/* Called between blocks of permutations, for Ctrl-C and progress; an error ends the work. */
typedef Err PoolCheckFn(void);

/* space (sealed) and deriver must outlive the pool. check may be NULL. pool_init_some: as of a larger space,
 * at most `most` permutations are drawn where there are more. */
Err pool_init(Pool *p, const Space *space, const Deriver *deriver, PoolCheckFn *check);
Err pool_init_some(Pool *p, const Space *space, const Deriver *deriver, uint64_t most, PoolCheckFn *check);
void pool_fini(Pool *p);
/* True when item has every valid candidate of the space. */
bool pool_is_whole(const Pool *p);
/* Derives a permutation; false when it is not valid. */
bool pool_get(const Pool *p, int64_t permutation, Solution *out, Hash128 *hash);
/* A permutation that derives to s, whose hash is given; -1 when none was found. s has the values that the
 * derivation gave it, which may be others than those of the space: of groups the entries that have most
 * values of s are looked at, of single parameters all values, POOL_FINDS permutations at most. */
enum { POOL_FINDS = 1 << 16 };
int64_t pool_find(const Pool *p, const Solution *s, Hash128 hash);
/* The choice of each dimension at a permutation. */
void pool_choices(const Pool *p, int64_t permutation, uint32_t *choice);
/* Lists permutations that differ in one dimension: two values on either side in long lists of numbers, all
 * values of short lists, at most POOL_STEPS of groups and names. They may be invalid or duplicates. Returns
 * how many are in out, at most max. */
enum { POOL_STEPS = 16 };
size_t pool_neighbours(const Pool *p, int64_t permutation, int64_t *out, size_t max);
/* Upper bound of the number that pool_neighbours gives. */
size_t pool_neighbours_max(const Pool *p);
/* A bijection of 0 .. size-1 onto itself that looks random; size > 0. */
int64_t pool_shuffle(int64_t i, int64_t size, uint64_t seed);
/* SHA-256 input that identifies the space: every dimension with its values, and the constants. */
void pool_identity(const Space *space, Buf *out);

#endif
