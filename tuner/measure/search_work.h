/* What search.c and search_next.c share. See search.h. */
#ifndef MEASURE_SEARCH_WORK_H
#define MEASURE_SEARCH_WORK_H

#include "measure/search.h"

enum { SEARCH_EXTENTS = 4 }; /* numbers in Search.place of a size */

Err search_work_new(const Search *s, struct SearchWork **out);
void search_work_free(struct SearchWork *w);
/* Finds a derived, valid solution among the known candidates by its hash, or adds it. */
Err search_known_add(Search *s, int64_t permutation, const Solution *solution, Hash128 hash,
                     uint32_t *candidate);

#endif
