/* Parallel loop: threads that live for one call and take tasks from a counter. */
#include "client/worker/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

enum { THREADS_MAX = 256 };

typedef struct {
    _Atomic int64_t next;
    int64_t n;
    ParallelFn *fn;
    void *ctx;
} Loop;

static void *work(void *arg)
{
    Loop *l = arg;
    for (int64_t i; (i = atomic_fetch_add(&l->next, 1)) < l->n;) l->fn(l->ctx, i);
    return NULL;
}

void parallel_for(int64_t n, int n_threads, ParallelFn *fn, void *ctx)
{
    Loop l = {.n = n, .fn = fn, .ctx = ctx};
    atomic_init(&l.next, 0);
    pthread_t thread[THREADS_MAX];
    int started = 0;
    for (; started < n_threads - 1 && started < THREADS_MAX && started < n - 1; started++)
        if (pthread_create(&thread[started], NULL, work, &l)) break;
    work(&l);
    for (int i = 0; i < started; i++) pthread_join(thread[i], NULL);
}
