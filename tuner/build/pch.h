/* A precompiled header: the system headers that all kernels of a toolchain include. Parsing immintrin.h takes
 * a third to two thirds of the compile time of a kernel (gcc 12: 130 to 200 ms). It is made once for the
 * builds of one program and not cached, because a precompiled header is invalid once the system headers
 * change, and not every compiler notices.
 */
#ifndef BUILD_PCH_H
#define BUILD_PCH_H

#include "base/proc.h"
#include "build/cache.h"
#include "build/toolchain.h"

/* Zero: it was not begun. */
typedef struct Pch {
    enum { PCH_NONE, PCH_RUNS, PCH_READY, PCH_FAILED } state; /* PCH_RUNS: its compiler */
    Proc proc;
    Cache cache; /* the header is in its work directory */
} Pch;

/* Starts the compiler that makes the header, unless it was begun before. That a toolchain has no headers, or
 * that its compiler fails, is no error: kernels then include the headers themselves. */
void pch_begin(Pch *p, const Toolchain *t, const char *cache_dir);
/* Puts the header into a directory and returns its name there, for '-include'; waits until it is made. NULL:
 * there is none. */
const char *pch_use(Pch *p, const char *dir);
/* Also ends the compiler. */
void pch_fini(Pch *p);

#endif
