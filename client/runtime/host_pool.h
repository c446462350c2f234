/* Host pool: threads that share ranges of units, and scratch memory for them. For host_run.c and libtuner.
 *
 * A job is open while its units are handed out; workers enter and leave it by a counter, so that one that
 * wakes up too late costs nothing. Scratch buffers are kept between launches and grow to the largest kernel.
 */
#ifndef CLIENT_RUNTIME_HOST_POOL_H
#define CLIENT_RUNTIME_HOST_POOL_H

#include "client/runtime/host_run.h"

typedef void HostRangeFn(void *ctx, uint64_t first, uint64_t last, void *local);

/* Calls fn for ranges that cover [0, n), the caller's thread among the workers. brief: shorter than waking a
 * thread takes; sleeping threads are woken when such jobs follow each other at once only. */
Err host_pool_run(HostPool *pool, HostRangeFn *fn, void *ctx, uint64_t n, uint64_t local_bytes, bool brief);

typedef struct {
    void *p;  /* NULL for 0 bytes; aligned to 64 */
    int slot; /* -1: not kept */
} HostScratch;
Err host_scratch_take(HostPool *pool, uint64_t bytes, HostScratch *out);
void host_scratch_give(HostPool *pool, HostScratch *s);

#endif
