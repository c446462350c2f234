/* Whether a solution can run on a size: multiples, least and greatest sizes, leading dimensions, alignment
 * for the copy engine, and the workspace. A search checks this before a kernel is made. Other conditions
 * (types, alpha and beta) are the same for all sizes of a group. */
#ifndef MEASURE_CONDITIONS_H
#define MEASURE_CONDITIONS_H

#include "problem/sizes.h"
#include "space/solution.h"

typedef struct Conditions Conditions;

/* pt must outlive the conditions. max_workspace: bytes; 0: without limit. */
Err conditions_new(const ProblemType *pt, const ProblemSize *size, size_t n_sizes, int64_t max_workspace,
                   Conditions **out);
void conditions_free(Conditions *c);
/* Sets the solution, which is derived and valid, for conditions_hold; false when memory is exhausted. */
bool conditions_take(Conditions *c, const Solution *s);
/* Whether that solution can run on size[size]. */
bool conditions_hold(const Conditions *c, size_t size);

#endif
