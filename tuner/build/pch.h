/* A precompiled header for one build: the system headers that every kernel of a toolchain includes. Parsing
 * immintrin.h is most of the time that a small kernel takes (gcc 12: 200 of 290 ms). Private to tuner/build.
 */
#ifndef BUILD_PCH_H
#define BUILD_PCH_H

#include "build/toolchain.h"

/* Makes it in dir and gives the header's path, relative to dir, for '-include'. NULL when the toolchain has
 * none or its compiler cannot make it: then the kernels just include the headers. Never in the cache: a
 * compiler refuses it, or worse, takes it, after its headers have changed. */
const char *pch_make(Arena *a, const Toolchain *t, const char *dir);

#endif
