/* A parallel loop over tasks for the client's own work (data, reference, checks). Kernels do not run here. */
#ifndef CLIENT_PARALLEL_H
#define CLIENT_PARALLEL_H

#include <stdint.h>

typedef void ParallelFn(void *ctx, int64_t task);

/* Calls fn for tasks 0..n-1 on up to n_threads threads (the caller is one), returns when all are done. Fewer
 * threads than asked for are no error. Loops run one at a time: one that is called in a task, or from another
 * thread meanwhile, runs on the caller's thread alone. Not for use by several threads before the first call
 * in a process has returned. */
void parallel_for(int64_t n, int n_threads, ParallelFn *fn, void *ctx);

#endif
