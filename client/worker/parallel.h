/* A parallel loop over tasks for the client's own work (data, reference, checks). Kernels do not run here. */
#ifndef CLIENT_PARALLEL_H
#define CLIENT_PARALLEL_H

#include <stdint.h>

typedef void ParallelFn(void *ctx, int64_t task);

/* Calls fn for tasks 0..n-1 on up to n_threads threads (the caller is one), returns when all are done. Fewer
 * threads than asked for are no error. */
void parallel_for(int64_t n, int n_threads, ParallelFn *fn, void *ctx);

#endif
