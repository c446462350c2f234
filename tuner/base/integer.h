/* Arithmetic of whole numbers that are not negative. */
#ifndef BASE_INTEGER_H
#define BASE_INTEGER_H

#include <stdint.h>

/* gcd(a, 0) is a. */
static inline int64_t int_gcd(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* a / b rounded up; b > 0. */
static inline int64_t int_ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
/* The least multiple of `unit` that is not below a. */
static inline int64_t int_round_up(int64_t a, int64_t unit) { return int_ceil_div(a, unit) * unit; }

/* The largest power of two that divides n and is at most `most`. */
static inline int int_pow2_in(int n, int most)
{
    int v = 1;
    while (v * 2 <= most && n % (v * 2) == 0) v *= 2;
    return v;
}

#endif
