/* Parallel loop: threads that wait for loops and take tasks from a counter. See parallel.h. */
#include "client/worker/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

typedef struct {
    _Atomic int64_t next;
    int64_t n;
    ParallelFn *fn;
    void *ctx;
} Loop;

/* The threads of this process. They are started when a loop first needs them, and wait between loops, because
 * starting them takes longer than most loops. */
static struct {
    pid_t owner;         /* the process that started them: a forked one has none */
    pthread_mutex_t one; /* held during a loop: one at a time */
    pthread_mutex_t m;   /* guards what follows */
    pthread_cond_t wake, left;
    Loop *loop;   /* the loop that runs; NULL: none */
    int n_wanted; /* threads that may still enter the loop */
    int n_inside, n_threads;
} pool = {.one = PTHREAD_MUTEX_INITIALIZER,
          .m = PTHREAD_MUTEX_INITIALIZER,
          .wake = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static void loop_run(Loop *l)
{
    for (int64_t i; (i = atomic_fetch_add(&l->next, 1)) < l->n;) l->fn(l->ctx, i);
}

static void *pool_thread(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&pool.m);
    for (;;) {
        while (!pool.n_wanted) pthread_cond_wait(&pool.wake, &pool.m);
        Loop *l = pool.loop;
        pool.n_wanted--, pool.n_inside++;
        pthread_mutex_unlock(&pool.m);
        loop_run(l);
        pthread_mutex_lock(&pool.m);
        if (!--pool.n_inside) pthread_cond_signal(&pool.left);
    }
    return NULL;
}

static void threads_start(int wanted)
{
    pthread_t thread;
    while (pool.n_threads < wanted && !pthread_create(&thread, NULL, pool_thread, NULL)) {
        pthread_detach(thread);
        pool.n_threads++;
    }
}

/* After a fork the locks may be in any state, and there are no threads. */
static void pool_own(void)
{
    if (pool.owner == getpid()) return;
    pthread_mutex_init(&pool.one, NULL);
    pthread_mutex_init(&pool.m, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.left, NULL);
    pool.loop = NULL;
    pool.n_wanted = pool.n_inside = pool.n_threads = 0;
    pool.owner = getpid();
}

static void pool_run(Loop *l, int n_helpers)
{
    threads_start(n_helpers);
    pthread_mutex_lock(&pool.m);
    pool.loop = l;
    pool.n_wanted = n_helpers < pool.n_threads ? n_helpers : pool.n_threads;
    for (int i = 0; i < pool.n_wanted; i++) pthread_cond_signal(&pool.wake);
    pthread_mutex_unlock(&pool.m);
    loop_run(l);
    pthread_mutex_lock(&pool.m);
    pool.loop = NULL;
    pool.n_wanted = 0; /* threads that wake up later find nothing to do */
    while (pool.n_inside) pthread_cond_wait(&pool.left, &pool.m);
    pthread_mutex_unlock(&pool.m);
}

void parallel_for(int64_t n, int n_threads, ParallelFn *fn, void *ctx)
{
    Loop l = {.n = n, .fn = fn, .ctx = ctx};
    int64_t n_helpers = n_threads < THREADS_MAX ? n_threads - 1 : THREADS_MAX - 1;
    if (n_helpers > n - 1) n_helpers = n - 1;
    atomic_init(&l.next, 0);
    if (n_helpers > 0) pool_own();
    if (n_helpers <= 0 || pthread_mutex_trylock(&pool.one)) { /* a loop in a task of another one */
        loop_run(&l);
        return;
    }
    pool_run(&l, (int)n_helpers);
    pthread_mutex_unlock(&pool.one);
}
