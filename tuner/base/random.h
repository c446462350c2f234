/* Random numbers by their number in a sequence: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", 2014). No state is needed, so any element of random data can be made alone. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

#define RANDOM_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The finalizer: spreads each bit of x over all bits of the result. */
static inline uint64_t random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Number i, from 0, of the sequence that begins at seed. */
static inline uint64_t random_at(uint64_t seed, uint64_t i)
{
    return random_mix(seed + (i + 1) * RANDOM_STEP);
}

/* The next number of the sequence that begins at *state. */
static inline uint64_t random_next(uint64_t *state) { return random_mix(*state += RANDOM_STEP); }

/* 64 random bits as a number between 0 and 1, which is neither of both. */
static inline double random_unit(uint64_t bits) { return ((double)(bits >> 11) + 0.5) * 0x1p-53; }

#endif
