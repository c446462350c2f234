/* How much a round of a search may take of its time. */
#ifndef MEASURE_SEARCH_QUOTA_H
#define MEASURE_SEARCH_QUOTA_H

#include "measure/search.h"

typedef struct {
    double budget_s;         /* of the whole search; 0: there is none */
    double left_s;           /* of it, for the next round and later ones */
    double kernel_s, pair_s; /* of compiling a kernel, all cores together; of measuring it on a size */
    double
        sizes_s;  /* of measuring on all sizes once, without kernels (search_cost.h); 0: that costs nothing */
    double scale; /* of search_cost.h's seconds */
    size_t n_rounds; /* before */
    size_t n_cores;
    bool learns;   /* rounds learn from each other; those in random or given order do not */
    bool overlaps; /* kernels of a round are compiled while the round before is measured */
} SearchTime;

/* The next round's quota, of all groups together; per_size 0: the time is over. Without a budget it does not
 * depend on the time that anything takes, so that every run of such a search is alike. */
SearchQuota search_quota(const SearchTime *t);
/* Seconds that a kernel of a round costs, with measuring it. */
double search_kernel_seconds(const SearchTime *t);

/* On how many sizes a kernel is measured in a round, about. */
enum { SEARCH_SIZES_OF_KERNEL = 3 };

#endif
