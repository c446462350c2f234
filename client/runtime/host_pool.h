/* Host pool: threads that share ranges of units, and scratch memory for them. Private to libtuner and the
 * host device.
 *
 * A job is open while units are left; workers enter and leave it by a counter, so that the caller does not
 * wait for a worker that wakes up too late. Scratch buffers are kept between launches and grow to the largest
 * kernel.
 */
#ifndef CLIENT_RUNTIME_HOST_POOL_H
#define CLIENT_RUNTIME_HOST_POOL_H

#include "client/runtime/host_run.h"

typedef void HostRangeFn(void *ctx, uint64_t first, uint64_t last, void *local);

/* Calls fn for ranges that cover [0, n); the caller's thread works too. local_bytes: scratch for each thread.
 * brief: the job is shorter than waking a thread takes; sleeping threads are woken only when such jobs follow
 * each other at once. */
Err host_pool_run(HostPool *pool, HostRangeFn *fn, void *ctx, uint64_t n, uint64_t local_bytes, bool brief);

typedef struct {
    void *p;  /* NULL for 0 bytes; aligned to 64 bytes */
    int slot; /* of the pool; -1: freed when it is given back */
} HostScratch;
Err host_scratch_take(HostPool *pool, uint64_t bytes, HostScratch *out);
void host_scratch_give(HostPool *pool, HostScratch *s);

#endif
