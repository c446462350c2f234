/* Eight floats at once, by the vector types that gcc and clang have on every target. Lists end with padding
 * to a multiple of FLOATS elements. Static functions with FLOATS_CLONES are compiled once more for
 * processors with AVX2 and with AVX-512, and the program takes the one that the processor runs. Their results
 * are the same, but for the last bits in files that the Makefile compiles with -ffp-contract=fast: there a
 * product and a sum are one instruction where the processor has it. */
#ifndef PROBLEM_FLOATS_H
#define PROBLEM_FLOATS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__ && !defined __SANITIZE_ADDRESS__ &&         \
    !defined __SANITIZE_THREAD__
#define FLOATS_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FLOATS_CLONES
#endif
#define FLOATS_INLINE static inline __attribute__((always_inline))

enum { FLOATS = 8 };
typedef float Floats __attribute__((vector_size(32)));
typedef int32_t FloatsMask __attribute__((vector_size(32)));
typedef uint32_t FloatsBits __attribute__((vector_size(32)));
/* The number of each lane. */
#define FLOATS_LANES ((FloatsMask){0, 1, 2, 3, 4, 5, 6, 7})

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

FLOATS_INLINE FloatsMask floats_mask_load(const int32_t *p)
{
    FloatsMask v;
    memcpy(&v, p, sizeof v);
    return v;
}

FLOATS_INLINE void floats_mask_store(int32_t *p, FloatsMask v) { memcpy(p, &v, sizeof v); }

/* Compilers make one instruction of it, also where x comes from memory. */
FLOATS_INLINE FloatsMask floats_mask_of(int32_t x) { return (FloatsMask){x, x, x, x, x, x, x, x}; }

/* a where the mask is set, else b. */
FLOATS_INLINE Floats floats_pick(FloatsMask mask, Floats a, Floats b)
{
    return (Floats)(((FloatsMask)a & mask) | ((FloatsMask)b & ~mask));
}

/* Compilers make one instruction of such a loop. b where one of both is not a number. */
FLOATS_INLINE Floats floats_min(Floats a, Floats b)
{
    Floats v;
    for (int i = 0; i < FLOATS; i++) v[i] = a[i] < b[i] ? a[i] : b[i];
    return v;
}

FLOATS_INLINE Floats floats_max(Floats a, Floats b)
{
    Floats v;
    for (int i = 0; i < FLOATS; i++) v[i] = a[i] > b[i] ? a[i] : b[i];
    return v;
}

FLOATS_INLINE FloatsMask floats_mask_min(FloatsMask a, FloatsMask b)
{
    FloatsMask v;
    for (int i = 0; i < FLOATS; i++) v[i] = a[i] < b[i] ? a[i] : b[i];
    return v;
}

FLOATS_INLINE FloatsMask floats_mask_max(FloatsMask a, FloatsMask b)
{
    FloatsMask v;
    for (int i = 0; i < FLOATS; i++) v[i] = a[i] > b[i] ? a[i] : b[i];
    return v;
}

#ifdef __clang__
#define FLOATS_SHUFFLE(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#define FLOATS_SHUFFLE_2(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define FLOATS_SHUFFLE(v, ...) __builtin_shuffle(v, (FloatsMask){__VA_ARGS__})
#define FLOATS_SHUFFLE_2(a, b, ...) __builtin_shuffle(a, b, (FloatsMask){__VA_ARGS__})
#endif

/* The largest and the least element. */
FLOATS_INLINE int32_t floats_mask_most(FloatsMask v)
{
    v = floats_mask_max(v, FLOATS_SHUFFLE(v, 4, 5, 6, 7, 0, 1, 2, 3));
    v = floats_mask_max(v, FLOATS_SHUFFLE(v, 2, 3, 0, 1, 6, 7, 4, 5));
    v = floats_mask_max(v, FLOATS_SHUFFLE(v, 1, 0, 3, 2, 5, 4, 7, 6));
    return v[0];
}

FLOATS_INLINE int32_t floats_mask_least(FloatsMask v) { return ~floats_mask_most(~v); }

FLOATS_INLINE float floats_sum(Floats v)
{
    v += FLOATS_SHUFFLE(v, 4, 5, 6, 7, 0, 1, 2, 3);
    v += FLOATS_SHUFFLE(v, 2, 3, 0, 1, 6, 7, 4, 5);
    v += FLOATS_SHUFFLE(v, 1, 0, 3, 2, 5, 4, 7, 6);
    return v[0];
}

/* A bit for each element that is negative. */
FLOATS_INLINE uint32_t floats_negative(Floats x)
{
#ifdef __SSE__
    typedef float Half __attribute__((vector_size(16)));
    Half half[2];
    memcpy(half, &x, sizeof x);
    return (uint32_t)__builtin_ia32_movmskps(half[0]) | (uint32_t)__builtin_ia32_movmskps(half[1]) << 4;
#else
    const FloatsMask mask = ((FloatsMask)x >> 31) & (FloatsMask){1, 2, 4, 8, 16, 32, 64, 128};
    uint64_t part[sizeof mask / sizeof(uint64_t)], all = 0;
    memcpy(part, &mask, sizeof mask);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) all |= part[i];
    return (uint32_t)(all | all >> 32);
#endif
}

/* A bit for each element of a mask. */
FLOATS_INLINE uint32_t floats_bits(FloatsMask mask) { return floats_negative((Floats)mask); }

/* The logarithm to base 2 of positive numbers, to about 1e-4. */
FLOATS_INLINE Floats floats_log2(Floats x)
{
    const FloatsMask bits = (FloatsMask)x, one = (127 << 23) - (FloatsMask){0};
    const Floats exponent = __builtin_convertvector((bits >> 23) - 127, Floats);
    const Floats m = (Floats)((bits & 0x7fffff) | one); /* 1 to 2 */
    return exponent - 2.5056147F +
           m * (4.0496169F + m * (-2.0994023F + m * (0.63551112F + m * -0.080010877F)));
}

/* exp(x) to 2e-7, for x from -80 to 80: a power of two, whose exponent is the whole number nearest to
 * x / ln 2, which are the last bits of a large number when it is added; times a polynomial of the rest. */
FLOATS_INLINE Floats floats_exp(Floats x)
{
    const Floats large = floats_of(12582912), at = x * 1.44269504F, whole = at + large,
                 r = at - (whole - large);
    const Floats y =
        1.00000007F +
        r * (0.693146967F +
             r * (0.240221202F + r * (0.0555071332F + r * (0.00967551501F + r * 0.0013276375F))));
    return (Floats)((FloatsBits)y + ((FloatsBits)whole << 23));
}

/* The fourth root of positive numbers, to 6e-4, never more: from y near x^(-1/4), whose bits are about a
 * quarter of those of x less, x y^3 (x y^4)^(-3/4), the last factor by a polynomial for 1.5 to 1.8985. */
FLOATS_INLINE Floats floats_root4(Floats x)
{
    const Floats y = (Floats)(0x4f700000 - ((FloatsMask)x >> 2)), root = x * (y * y * y), r = root * y;
    return root * (1.62453283F + r * (-0.82247393F + r * 0.15404294F));
}

#endif
