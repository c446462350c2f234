/* Shared by the search*.c files. See search.h. */
#ifndef MEASURE_SEARCH_WORK_H
#define MEASURE_SEARCH_WORK_H

#include "measure/search.h"

/* For each size, a scan of the pool keeps TOP candidates, and the best candidate of FAMILIES families. */
enum { SEARCH_TOP = 48, SEARCH_FAMILIES = 32 };

/* A candidate that may be measured on a size. */
typedef struct {
    int64_t permutation;
    double gain, time; /* expected gain over the best; expected logarithm of its time */
    uint64_t family;
} Offer;

typedef struct {
    Offer v[SEARCH_TOP];
    size_t n;
} Offers;

typedef struct SearchWork {
    Offers *top;    /* of each size */
    Offers *family; /* of each size: the best one of each family */
    int64_t *near;  /* permutations */
    size_t n_near_max;
    unsigned char *chosen; /* of the pairs of this batch: bit of each size, by candidate */
    size_t n_chosen;
} SearchWork;

Err search_work_new(const Search *s, SearchWork **out);
void search_work_free(SearchWork *w);
/* Finds a derived, valid solution among the known candidates by its hash, or adds it. */
Err search_known_add(Search *s, int64_t permutation, const Solution *solution, Hash128 hash,
                     uint32_t *candidate);
/* Kernels of one family are built alike: instruction, schedule, split of K, cluster or not, size of the
 * tile. */
uint64_t search_family(const Solution *s);
/* A number that is equal for kernels that differ only in the order of work-groups. */
uint64_t search_twins(const Solution *s);
/* Whether that order matters on a size: only where there are several rows and several columns of tiles. */
bool search_order_counts(const Solution *s, double m, double n);
/* The traits of a solution that SearchModel.kernel has accepted. */
void search_traits(const Search *s, const Solution *x, Traits *out);
/* Looks at a kernel. The functions below are about it. */
void search_look(Search *s, const uint32_t *choice, const Traits *t);
/* Expected logarithm of its time over the model's on a size, by the regression alone, and by all that is
 * known. */
double search_error_choice(const Search *s, size_t z);
double search_error(Search *s, size_t z);
/* The standard deviation of that, after search_error, which takes ten times as long; the largest that it may
 * have. */
double search_error_sd(const Search *s, size_t z);
double search_error_sd_max(const Search *s, size_t z);
/* Scores the pool on all processors and fills in top and family. Of a large pool it scores as many
 * candidates, drawn at random, as a few seconds of one processor allow. */
Err search_scan(Search *s);
/* Counts for each size the batches since it was in one. */
void search_wait(Search *s, const SearchBatch *batch);
/* Chooses a batch by the model and appends its pairs to out. flight may be NULL. */
Err search_batch(Search *s, const SearchQuota *q, const SearchBatch *flight, SearchBatch *out);
/* Adds a pair to a batch unless the batch has it or it is measured. *n counts the added ones. */
Err search_take(Search *s, SearchBatch *out, uint32_t candidate, uint32_t size, size_t *n);

#endif
