/* Compiles the kernels of groups while the caller does something else, such as measuring. step_build uses it
 * too, and only waits. */
#ifndef RUN_BUILDING_H
#define RUN_BUILDING_H

#include "run/run.h"

typedef struct Building Building;

/* Begins what the first kernels of a search need (build/pch.h), while it chooses them. */
Err building_prepare(Run *r);
/* Generates the texts of the first kernels. The list and the groups must live until building_end. aside: the
 * build runs beside measurements: it uses one core fewer for each device that measures, and draws no
 * progress. */
Err building_begin(Run *r, Group *const *group, size_t n, bool aside, Building **out);
/* Starts compilers and takes their results; does not wait. */
Err building_work(Building *b);
/* Waits for the last compiler. *ns (may be NULL): wall time since its first work. */
Err building_wait(Building *b, uint64_t *ns);
/* After the wait: makes code objects and facts of the groups, and frees. */
Err building_end(Building *b);
/* Frees without waiting: compilers that still run are killed. NULL: nothing. */
void building_drop(Building *b);

#endif
