/* Compiling the kernels of groups while the caller does something else, as measuring. step_build does it with
 * nothing else to do. */
#ifndef RUN_BUILDING_H
#define RUN_BUILDING_H

#include "run/run.h"

typedef struct Building Building;

/* Makes the texts of the kernels, as many as compile at once. The list and the groups must live until the
 * end. aside: beside other work, with a core fewer for each device that measures; progress is not drawn. */
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
