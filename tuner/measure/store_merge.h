/* Copies the facts of one store into another: compilations, facts of code, measurements. All of them are
 * keyed by content, so the order of merges does not matter and merging a store again adds nothing. Plans,
 * sessions and searches are not copied: they belong to the run that made them.
 */
#ifndef MEASURE_STORE_MERGE_H
#define MEASURE_STORE_MERGE_H

#include "measure/store.h"

typedef struct {
    int64_t n_measurements, n_compiles; /* rows that were new */
} MergeCount;

/* from is open for reading, into for writing, inside a transaction of the caller. check is called every few
 * thousand rows; an error ends the merge. ERR_INPUT where rows of `from` refer to missing ones. */
Err store_merge(Store *into, Store *from, Err (*check)(void), MergeCount *count);

/* Copies the rejections of the latest plan of that name in `from` to a plan of `into`. */
Err store_merge_rejections(Store *into, int64_t plan, Store *from, Str group);

#endif
