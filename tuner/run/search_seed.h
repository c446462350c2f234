/* The seed of a search (--seed-from): winners of an earlier run, or of logic files, on the nearest sizes, and
 * the rates of the performance model that were fitted on this device. Winners of other transposes, and of
 * types of as many bytes, count as a little farther away; rates are those of the same problem type. */
#ifndef RUN_SEARCH_SEED_H
#define RUN_SEARCH_SEED_H

#include "measure/search.h"
#include "problem/model.h"
#include "run/run.h"

/* A solution that is to be tried on a size. */
typedef struct {
    Solution s;
    Hash128 hash;        /* of its derived parameters */
    int64_t permutation; /* in the space of the search; -1: not looked for, or not there */
    uint32_t size;
} SeedPair;

typedef struct {
    SeedPair *pair; /* the nearest rows of every size first, then those that are second */
    size_t n;
    size_t n_solutions; /* of the logic, for this problem type and those like it */
    bool has_rates;
    ModelRates rates[MODEL_CLASSES];
} SearchSeed;

/* *out is empty without --seed-from. ERR_INPUT when the path holds no logic. Logic for another architecture
 * and rates of another device are not used, with a warning. n_sizes: without the held-out ones. */
Err search_seed_read(Run *r, const Group *g, const Deriver *deriver, size_t n_sizes, SearchSeed *out);
/* What is added to the distance of a size when winners of the type `of` are tried for pt; -1: they say
 * nothing about it. */
double search_seed_apart(const ProblemType *of, const ProblemType *pt);
/* Sum of the distances of the logarithms of all extents of two sizes. */
double search_seed_distance(const ProblemType *pt, const int64_t *a, const int64_t *b);
/* Appends text that identifies the seed, for the key of the search. */
void search_seed_identity(const SearchSeed *s, Buf *out);

#endif
