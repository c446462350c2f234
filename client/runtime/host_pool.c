/* Host pool: see host_pool.h. */
#include "client/runtime/host_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"

enum {
    THREADS_MAX = 1024,
    SCRATCH_SLOTS = 64,
    SPIN_ROUNDS = 2000, /* about 20-60 us of waiting for the next job before a worker sleeps */
    YIELD_ROUNDS = 32,  /* about 1 us: a waiting thread may be on the processor of the one it waits for */
    AT_ONCE_NS = 20000, /* most time between two brief jobs that count as consecutive */
    CACHE_LINE = 64
};

/* The job word: open flag, generation, workers inside. */
#define JOB_OPEN (UINT64_C(1) << 63)
#define JOB_GENERATION (UINT64_C(1) << 32)
#define JOB_INSIDE(w) ((w)&UINT64_C(0xffffffff))

typedef struct {
    _Alignas(CACHE_LINE) atomic_bool taken;
    void *p;
    uint64_t bytes;
} Scratch;

struct HostPool {
    _Alignas(CACHE_LINE) _Atomic uint64_t job;
    _Alignas(CACHE_LINE) _Atomic uint64_t next; /* first unit that no thread has taken */
    HostRangeFn *fn;
    void *ctx;
    uint64_t n, chunk, local_bytes, last_end_ns;
    _Atomic int failed; /* a worker could not allocate scratch: other threads take its units */
    _Alignas(CACHE_LINE) _Atomic int n_sleeping;
    _Atomic int n_threads; /* includes the caller; fewer when threads cannot be started */
    int n_started;         /* excludes the caller; guarded by launch */
    atomic_bool quit;
    pthread_mutex_t launch; /* one job at a time */
    pthread_mutex_t sleep;
    pthread_cond_t wake;
    pthread_t *thread;
    Scratch scratch[SCRATCH_SLOTS];
};

static inline void cpu_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* ---- scratch ---- */

static Err scratch_alloc(uint64_t bytes, void **out)
{
    uint64_t rounded = (bytes + CACHE_LINE - 1) & ~(uint64_t)(CACHE_LINE - 1);
    *out = aligned_alloc(CACHE_LINE, rounded);
    if (!*out) FAIL(ERR_FAILED, "out of memory for %llu bytes of kernel scratch", (unsigned long long)bytes);
    return ERR_OK;
}

Err host_scratch_take(HostPool *pool, uint64_t bytes, HostScratch *out)
{
    *out = (HostScratch){NULL, -1};
    if (bytes == 0) return ERR_OK;
    for (int i = 0; i < SCRATCH_SLOTS; i++) {
        Scratch *s = &pool->scratch[i];
        if (atomic_load_explicit(&s->taken, memory_order_relaxed) ||
            atomic_exchange_explicit(&s->taken, true, memory_order_acquire))
            continue;
        if (s->bytes < bytes) {
            free(s->p);
            s->bytes = 0;
            s->p = NULL;
            Err e = scratch_alloc(bytes, &s->p);
            if (e) {
                atomic_store_explicit(&s->taken, false, memory_order_release);
                return e;
            }
            s->bytes = bytes;
        }
        *out = (HostScratch){s->p, i};
        return ERR_OK;
    }
    return scratch_alloc(bytes, &out->p); /* more callers than slots */
}

void host_scratch_give(HostPool *pool, HostScratch *s)
{
    if (s->slot >= 0)
        atomic_store_explicit(&pool->scratch[s->slot].taken, false, memory_order_release);
    else
        free(s->p);
}

/* ---- work ---- */

static void work(HostPool *pool)
{
    HostScratch scratch;
    if (host_scratch_take(pool, pool->local_bytes, &scratch)) {
        atomic_store(&pool->failed, 1);
        return;
    }
    for (;;) {
        uint64_t first = atomic_fetch_add_explicit(&pool->next, pool->chunk, memory_order_relaxed);
        if (first >= pool->n) break;
        uint64_t last = pool->n - first > pool->chunk ? first + pool->chunk : pool->n;
        pool->fn(pool->ctx, first, last, scratch.p);
    }
    host_scratch_give(pool, &scratch);
}

/* Enters the open job, if this worker has not seen it; *generation is the last job that it has seen. */
static bool enter(HostPool *pool, uint64_t *generation)
{
    uint64_t word = atomic_load_explicit(&pool->job, memory_order_acquire);
    while (word & JOB_OPEN) {
        uint64_t now = (word & ~JOB_OPEN) / JOB_GENERATION;
        if (now == *generation) return false;
        if (atomic_compare_exchange_weak_explicit(&pool->job, &word, word + 1, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            *generation = now;
            return true;
        }
    }
    return false;
}

static bool has_news(HostPool *pool, uint64_t generation)
{
    uint64_t word = atomic_load(&pool->job);
    return (word & JOB_OPEN && (word & ~JOB_OPEN) / JOB_GENERATION != generation) || atomic_load(&pool->quit);
}

static void wait_round(int round)
{
    if (round % YIELD_ROUNDS == YIELD_ROUNDS - 1)
        sched_yield();
    else
        cpu_pause();
}

static void *worker(void *arg)
{
    HostPool *pool = arg;
    uint64_t generation = 0;
    int rounds = 0; /* of spinning: only after a job, when the next one is likely soon */
    while (!atomic_load(&pool->quit)) {
        if (enter(pool, &generation)) {
            work(pool);
            atomic_fetch_sub_explicit(&pool->job, 1, memory_order_acq_rel);
            rounds = SPIN_ROUNDS;
            continue;
        }
        int spin = 0;
        while (spin < rounds && !has_news(pool, generation)) wait_round(spin++);
        if (spin < rounds) continue;
        rounds = 0;
        pthread_mutex_lock(&pool->sleep);
        atomic_fetch_add(&pool->n_sleeping, 1);
        while (!has_news(pool, generation)) pthread_cond_wait(&pool->wake, &pool->sleep);
        atomic_fetch_sub(&pool->n_sleeping, 1);
        pthread_mutex_unlock(&pool->sleep);
    }
    return NULL;
}

static void start_threads(HostPool *pool)
{
    for (; pool->n_started < pool->n_threads - 1; pool->n_started++)
        if (pthread_create(&pool->thread[pool->n_started], NULL, worker, pool)) break;
    atomic_store_explicit(&pool->n_threads, pool->n_started + 1, memory_order_relaxed);
}

static void wake_threads(HostPool *pool, uint64_t wanted)
{
    int sleeping = atomic_load(&pool->n_sleeping);
    if (sleeping == 0) return;
    pthread_mutex_lock(&pool->sleep);
    if (wanted >= (uint64_t)sleeping)
        pthread_cond_broadcast(&pool->wake);
    else
        while (wanted--) pthread_cond_signal(&pool->wake);
    pthread_mutex_unlock(&pool->sleep);
}

/* Units that a thread takes at once: several chunks per thread, so that a slow one does not delay the
 * others. */
static uint64_t chunk_size(uint64_t n, uint64_t n_threads)
{
    uint64_t chunk = n / (n_threads * 8);
    return chunk ? chunk : 1;
}

Err host_pool_run(HostPool *pool, HostRangeFn *fn, void *ctx, uint64_t n, uint64_t local_bytes, bool brief)
{
    if (n <= 1 || atomic_load_explicit(&pool->n_threads, memory_order_relaxed) <= 1) {
        HostScratch scratch;
        TRY(host_scratch_take(pool, local_bytes, &scratch));
        fn(ctx, 0, n, scratch.p);
        host_scratch_give(pool, &scratch);
        return ERR_OK;
    }
    pthread_mutex_lock(&pool->launch);
    if (pool->n_started < pool->n_threads - 1) start_threads(pool);
    uint64_t old = atomic_load(&pool->job);
    uint64_t generation = ((old & ~JOB_OPEN) / JOB_GENERATION + 1) & 0x7fffffff;
    pool->fn = fn;
    pool->ctx = ctx;
    pool->n = n;
    pool->local_bytes = local_bytes;
    pool->chunk = chunk_size(n, (uint64_t)pool->n_threads);
    atomic_store(&pool->next, 0);
    atomic_store(&pool->failed, 0);
    atomic_store(&pool->job, JOB_OPEN | generation * JOB_GENERATION);
    if (!brief || clock_ns() - pool->last_end_ns < AT_ONCE_NS) wake_threads(pool, n - 1);
    work(pool);
    uint64_t word = atomic_fetch_and(&pool->job, ~JOB_OPEN) & ~JOB_OPEN;
    for (int spin = 0; JOB_INSIDE(word); word = atomic_load_explicit(&pool->job, memory_order_acquire))
        wait_round(spin++ & 0xffff);
    bool undone = atomic_load(&pool->next) < n;
    pool->last_end_ns = clock_ns();
    pthread_mutex_unlock(&pool->launch);
    if (undone)
        FAIL(ERR_FAILED, "no thread could allocate %llu bytes of kernel scratch",
             (unsigned long long)local_bytes);
    return ERR_OK;
}

/* ---- life cycle ---- */

static Err wanted_threads(int *n)
{
    const char *text = getenv("TUNER_NUM_THREADS");
    int64_t v;
    if (*n == 0 && text && *text) {
        if (!str_to_i64(str_from(text), &v) || v < 1 || v > THREADS_MAX)
            FAIL(ERR_INPUT, "TUNER_NUM_THREADS is '%s', expected a number from 1 to %d", text, THREADS_MAX);
        *n = (int)v;
    }
    if (*n == 0) *n = cpu_count();
    if (*n < 1 || *n > THREADS_MAX) FAIL(ERR_INPUT, "n_threads is %d, limit %d", *n, THREADS_MAX);
    return ERR_OK;
}

Err host_pool_new(int n_threads, HostPool **out)
{
    *out = NULL;
    TRY(wanted_threads(&n_threads));
    HostPool *pool = aligned_alloc(CACHE_LINE, (sizeof *pool + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    TRY_ALLOC(pool);
    memset(pool, 0, sizeof *pool);
    atomic_init(&pool->n_threads, n_threads);
    pool->thread = calloc((size_t)n_threads, sizeof *pool->thread);
    if (!pool->thread) {
        free(pool);
        FAIL(ERR_FAILED, "out of memory for %d threads", n_threads);
    }
    pthread_mutex_init(&pool->launch, NULL);
    pthread_mutex_init(&pool->sleep, NULL);
    pthread_cond_init(&pool->wake, NULL);
    *out = pool;
    return ERR_OK;
}

void host_pool_free(HostPool *pool)
{
    if (!pool) return;
    atomic_store(&pool->quit, true);
    pthread_mutex_lock(&pool->sleep);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->sleep);
    for (int i = 0; i < pool->n_started; i++) pthread_join(pool->thread[i], NULL);
    for (int i = 0; i < SCRATCH_SLOTS; i++) free(pool->scratch[i].p);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->sleep);
    pthread_mutex_destroy(&pool->launch);
    free(pool->thread);
    free(pool);
}

int host_pool_threads(const HostPool *pool)
{
    return atomic_load_explicit(&pool->n_threads, memory_order_relaxed);
}
