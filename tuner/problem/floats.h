/* Eight floats at once, by the vector types that gcc and clang have on every target. Lists end with padding
 * to a multiple of FLOATS elements. Static functions with FLOATS_CLONES are compiled once more for
 * processors with AVX2, and the program takes the one that the processor runs; both give the same bits. */
#ifndef PROBLEM_FLOATS_H
#define PROBLEM_FLOATS_H

#include <stdint.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ &&         \
    !defined __SANITIZE_THREAD__
#define FLOATS_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define FLOATS_CLONES
#endif
/* Warns of vectors as results, which no function that is not inlined has. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define FLOATS_INLINE static inline __attribute__((always_inline))

enum { FLOATS = 8 };
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t FloatsMask __attribute__((vector_size(32)));

/* Elements of a list for n floats. */
FLOATS_INLINE size_t floats_padded(size_t n) { return (n + FLOATS - 1) / FLOATS * FLOATS; }

FLOATS_INLINE Floats floats_load(const float *p)
{
    Floats v;
    memcpy(&v, p, sizeof v);
    return v;
}

FLOATS_INLINE void floats_store(float *p, Floats v) { memcpy(p, &v, sizeof v); }

FLOATS_INLINE Floats floats_of(float x) { return x - (Floats){0}; }

/* a where the mask is set, else b. */
FLOATS_INLINE Floats floats_pick(FloatsMask mask, Floats a, Floats b)
{
    return (Floats)(((FloatsMask)a & mask) | ((FloatsMask)b & ~mask));
}

/* The logarithm to base 2 of positive numbers, to about 1e-4. */
FLOATS_INLINE Floats floats_log2(Floats x)
{
    const FloatsMask bits = (FloatsMask)x, one = (127 << 23) - (FloatsMask){0};
    const Floats exponent = __builtin_convertvector((bits >> 23) - 127, Floats);
    const Floats m = (Floats)((bits & 0x7fffff) | one); /* 1 to 2 */
    return exponent - 2.5056147F +
           m * (4.0496169F + m * (-2.0994023F + m * (0.63551112F + m * -0.080010877F)));
}

/* The fourth root of positive numbers, to 1e-4, never less. */
FLOATS_INLINE Floats floats_root4(Floats x)
{
    const FloatsMask quarter = ((FloatsMask)x >> 2) + (127 << 23) / 4 * 3;
    Floats y = (Floats)quarter;
    for (int i = 0; i < 2; i++) y = 0.75F * y + 0.25F * x / (y * y * y);
    return y;
}

/* The least of n floats; n is at least 1, and the padding after the last one is never less. */
FLOATS_INLINE float floats_least(const float *p, size_t n)
{
    Floats least = floats_load(p);
    for (size_t i = FLOATS; i < n; i += FLOATS) {
        const Floats v = floats_load(&p[i]);
        least = floats_pick(v < least, v, least);
    }
    float all = least[0];
    for (int i = 1; i < FLOATS; i++) all = all < least[i] ? all : least[i];
    return all;
}

#endif
