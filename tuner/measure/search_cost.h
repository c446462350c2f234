/* Estimated seconds of measuring in a search. The operands of a size are made once in a round, however many
 * kernels are measured on it, and each kernel is checked and raced. On large sizes the operands cost as much
 * as fifty kernels. */
#ifndef MEASURE_SEARCH_COST_H
#define MEASURE_SEARCH_COST_H

#include "measure/search.h"

/* Seconds of a size in a round, and of one kernel on it, as fitted on an H200. Other devices multiply them by
 * a factor that is learned from the rounds (SearchTime.scale). */
double search_cost_client(void); /* from the start of a client to its first measurement, in each round */
double search_cost_size(const Search *s, size_t z);
double search_cost_of_size(const ProblemType *pt, const ProblemSize *size);
double search_cost_pair(const Search *s, size_t z);
/* The same of a kernel without its launches. */
double search_cost_kernel(const ProblemType *pt, const ProblemSize *size);
/* Seconds of all sizes in a round without kernels; seconds of a batch. */
double search_cost_sizes(const Search *s);
double search_cost_batch(const Search *s, const SearchBatch *b);

#endif
