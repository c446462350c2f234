/* A precompiled header for one build: the system headers that all kernels of a toolchain include. Parsing
 * immintrin.h takes most of the compile time of a small kernel (gcc 12: 200 of 290 ms).
 */
#ifndef BUILD_PCH_H
#define BUILD_PCH_H

#include "build/toolchain.h"

/* Makes the header in dir and returns its path relative to dir, for '-include'. NULL when the toolchain has
 * no headers or its compiler fails; kernels then include the headers themselves. It is not cached, because a
 * precompiled header is invalid once the system headers change, and not every compiler notices. */
const char *pch_make(Arena *a, const Toolchain *t, const char *dir);

#endif
