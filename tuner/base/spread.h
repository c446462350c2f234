/* Spread: parts of a long calculation, done by copies of this process (fork) on several processors. A part
 * writes its results to memory of spread_alloc, which all copies share; anything else that it changes is
 * lost. What is to come of the parts must not depend on which process does which part. Parts that change
 * nothing but results of their own are done by threads, which do not copy a large process.
 *
 *   double *sum = spread_alloc(n * sizeof *sum);
 *   TRY(spread_run(&(Spread){.n = n, .part = add_up, .ctx = &x})); */
#ifndef BASE_SPREAD_H
#define BASE_SPREAD_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { SPREAD_MAX = 256 }; /* processes, or threads */

typedef struct {
    size_t n;     /* parts */
    size_t least; /* parts that are worth a process; 0: one */
    bool threads; /* threads in place of copies; without idle. A part may spread calculations of its own */
    /* Does part i from its beginning: it may have been begun by a process that was killed. Threads: several
     * at the same time. */
    Err (*part)(void *ctx, size_t i);
    void *ctx;
    Err (*idle)(void *ctx); /* called by this process now and then; an error ends the work; may be NULL */
    void *idle_ctx;
} Spread;

/* Shared memory, zeroed; untouched pages cost nothing. NULL: there is none. */
void *spread_alloc(size_t bytes);
void spread_free(void *p, size_t bytes);
/* Does all parts, on as many processors as there are. Those that no copy could do (no process could be
 * made, or it was killed) are done here. The error is that of a part, idle's, or "interrupted" after
 * Ctrl-C. */
Err spread_run(const Spread *s);

#endif
