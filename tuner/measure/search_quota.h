/* The limits of a search's next round, from the time that is left. */
#ifndef MEASURE_SEARCH_QUOTA_H
#define MEASURE_SEARCH_QUOTA_H

#include "measure/search.h"

typedef struct {
    double budget_s;         /* of the whole search; 0: there is none */
    double left_s;           /* of the budget: what is left for the next round and later ones */
    double kernel_s, pair_s; /* of compiling a kernel, divided by the cores; of measuring it on a size */
    double choose_s;         /* of choosing a round after the first */
    double sizes_s;          /* of all sizes in a round, without kernels (search_cost.h); 0: not counted */
    double scale;            /* factor of this device over search_cost.h's seconds */
    size_t n_sizes;          /* on which kernels are measured */
    size_t n_rounds;         /* rounds so far */
    size_t n_cores;
    bool learns;   /* rounds learn from each other; those in random or given order do not */
    bool overlaps; /* kernels of a round are compiled while the round before is measured */
} SearchTime;

/* The next round's quota for all groups together; per_size 0: the budget is used up. Without a budget the
 * quota does not depend on measured durations, so that all runs of such a search are equal. */
SearchQuota search_quota(const SearchTime *t);
/* Seconds that a kernel of a round costs, with measuring it. */
double search_kernel_seconds(const SearchTime *t);

/* The typical number of sizes on which a kernel is measured in a round. */
enum { SEARCH_SIZES_OF_KERNEL = 3 };

#endif
