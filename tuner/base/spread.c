/* Parts of a calculation in forked processes or threads. See spread.h. */
#include "base/spread.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/proc.h"

/* What all processes and threads see. */
typedef struct {
    atomic_size_t next; /* part */
    atomic_bool stops, failed;
    Err e; /* of the part that failed first, and its message */
    char why[1024];
    atomic_bool done[]; /* of each part */
} Shared;

static size_t processors(void)
{
    const int n = cpu_count();
    return n < 1 ? 1 : n > SPREAD_MAX ? SPREAD_MAX : (size_t)n;
}

void *spread_alloc(size_t bytes)
{
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void spread_free(void *p, size_t bytes)
{
    if (p) munmap(p, bytes ? bytes : 1);
}

static void fail(Shared *x, Err e)
{
    bool before = false;
    if (atomic_compare_exchange_strong(&x->failed, &before, true)) {
        snprintf(x->why, sizeof x->why, "%s", err_message());
        x->e = e;
    }
    atomic_store(&x->stops, true);
}

/* Takes parts until there are none. */
static void work(const Spread *s, Shared *x)
{
    size_t i;
    while (!atomic_load(&x->stops) && !interrupted() && (i = atomic_fetch_add(&x->next, 1)) < s->n) {
        const Err e = s->part(s->ctx, i);
        if (e) fail(x, e);
        atomic_store(&x->done[i], !e);
    }
}

static pid_t worker_start(const Spread *s, Shared *x)
{
    const pid_t parent = getpid(), pid = fork();
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) work(s, x);
    _exit(0);
}

/* Calls idle until all workers have ended. */
static Err workers_wait(const Spread *s, Shared *x, pid_t *pid, size_t n)
{
    Err e = 0;
    for (size_t left = n; left;) {
        for (size_t i = 0; i < n; i++)
            if (pid[i] > 0 && waitpid(pid[i], NULL, WNOHANG) != 0) pid[i] = 0, left--;
        if (!left) break;
        if (!e && s->idle) e = s->idle(s->idle_ctx);
        if (e) atomic_store(&x->stops, true);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    return e;
}

/* Parts that no worker has finished. */
static Err rest(const Spread *s, Shared *x)
{
    for (size_t i = 0; i < s->n; i++) {
        if (atomic_load(&x->done[i])) continue;
        if (interrupted()) FAIL(ERR_FAILED, "interrupted");
        if (s->idle) TRY(s->idle(s->idle_ctx));
        TRY(s->part(s->ctx, i));
    }
    return ERR_OK;
}

typedef struct {
    const Spread *s;
    Shared *x;
} Work;

static void *thread_work(void *ctx)
{
    const Work *w = ctx;
    work(w->s, w->x);
    return NULL;
}

/* This thread works too. */
static void threads_run(const Spread *s, Shared *x, size_t n)
{
    pthread_t thread[SPREAD_MAX];
    Work w = {s, x};
    size_t started = 0;
    for (size_t i = 1; i < n; i++) started += !pthread_create(&thread[started], NULL, thread_work, &w);
    work(s, x);
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
}

static Err processes_run(const Spread *s, Shared *x, size_t n)
{
    pid_t pid[SPREAD_MAX];
    size_t started = 0;
    for (size_t i = 0; i < n && n > 1; i++) {
        const pid_t p = worker_start(s, x);
        if (p > 0) pid[started++] = p;
    }
    return workers_wait(s, x, pid, started);
}

static Err run(const Spread *s, Shared *x)
{
    const size_t least = s->least ? s->least : 1, most = processors();
    const size_t n = s->n / least < most ? s->n / least : most;
    if (s->threads)
        threads_run(s, x, n);
    else
        TRY(processes_run(s, x, n));
    if (x->failed) return err_set(x->e ? x->e : ERR_FAILED, "%s", x->why);
    return rest(s, x);
}

Err spread_run(const Spread *s)
{
    const size_t bytes = sizeof(Shared) + s->n * sizeof(atomic_bool);
    Shared *x = spread_alloc(bytes);
    if (!x) FAIL(ERR_FAILED, "out of memory for %zu parts of a calculation", s->n);
    const Err e = run(s, x);
    spread_free(x, bytes);
    return e;
}
