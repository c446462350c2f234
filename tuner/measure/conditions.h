/* Conditions of solutions on sizes: multiples, least and greatest sizes, leading dimensions, what the copy
 * engine takes, and the workspace. A search asks them before a kernel is made; other conditions (types, alpha
 * and beta) hold for all sizes of a group alike. */
#ifndef MEASURE_CONDITIONS_H
#define MEASURE_CONDITIONS_H

#include "problem/sizes.h"
#include "space/solution.h"

typedef struct Conditions Conditions;

/* pt must outlive the conditions. max_workspace: bytes; 0: without limit. */
Err conditions_new(const ProblemType *pt, const ProblemSize *size, size_t n_sizes, int64_t max_workspace,
                   Conditions **out);
void conditions_free(Conditions *c);
/* Takes the conditions of a derived, valid solution; false when memory is exhausted. */
bool conditions_take(Conditions *c, const Solution *s);
/* Whether that solution takes a size, by its number. */
bool conditions_hold(const Conditions *c, size_t size);

#endif
