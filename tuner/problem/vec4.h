/* Four floats at once, by the vector types that gcc and clang have on every target. Lists end with padding
 * to a multiple of VEC4 elements. */
#ifndef PROBLEM_VEC4_H
#define PROBLEM_VEC4_H

#include <stdint.h>
#include <string.h>

enum { VEC4 = 4 };
typedef float Vec4 __attribute__((vector_size(16)));
typedef int32_t Vec4Mask __attribute__((vector_size(16)));

/* Elements of a list for n floats. */
static inline size_t vec4_padded(size_t n) { return (n + VEC4 - 1) / VEC4 * VEC4; }

static inline Vec4 vec4_load(const float *p)
{
    Vec4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline void vec4_store(float *p, Vec4 v) { memcpy(p, &v, sizeof v); }

static inline Vec4 vec4_of(float x) { return (Vec4){x, x, x, x}; }

/* a where the mask is set, else b. */
static inline Vec4 vec4_pick(Vec4Mask mask, Vec4 a, Vec4 b)
{
    return (Vec4)(((Vec4Mask)a & mask) | ((Vec4Mask)b & ~mask));
}

#endif
