/* SHA-256 by SHA256RNDS2, SHA256MSG1 and SHA256MSG2. See sha256_x86.h and Intel's "Software Developer's
 * Manual", volume 2. */
#include "base/sha256_x86.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <stdatomic.h>

#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* FIPS 180-4, 4.2.2. */
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static bool has_instructions(void)
{
    enum { SSSE3 = 1 << 9, SSE41 = 1 << 19, SHA = 1 << 29 };
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (SSSE3 | SSE41)) != (SSSE3 | SSE41)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & SHA;
}

/* The answer is kept: in a virtual machine CPUID takes as long as hashing some kilobytes. */
bool sha256_x86_usable(void)
{
    enum { UNKNOWN, NO, YES };
    static atomic_int answer;
    int is = atomic_load_explicit(&answer, memory_order_relaxed);
    if (is == UNKNOWN) {
        is = has_instructions() ? YES : NO;
        atomic_store_explicit(&answer, is, memory_order_relaxed);
    }
    return is == YES;
}

/* The working variables as SHA256RNDS2 takes them, the highest word first. */
typedef struct {
    __m128i abef, cdgh;
} Variables;

SHA_TARGET static Variables variables_load(const uint32_t h[8])
{
    const __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)h);
    const __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)(h + 4));
    const __m128i abcd = _mm_shuffle_epi32(dcba, 0x1b), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    return (Variables){_mm_unpackhi_epi64(efgh, abcd), _mm_unpacklo_epi64(efgh, abcd)};
}

SHA_TARGET static void variables_store(Variables v, uint32_t h[8])
{
    const __m128i abcd = _mm_unpackhi_epi64(v.cdgh, v.abef), efgh = _mm_unpacklo_epi64(v.cdgh, v.abef);
    _mm_storeu_si128((__m128i *)(void *)h, _mm_shuffle_epi32(abcd, 0x1b));
    _mm_storeu_si128((__m128i *)(void *)(h + 4), _mm_shuffle_epi32(efgh, 0x1b));
}

/* Four rounds with the words `w` of the message schedule. */
SHA_TARGET static inline Variables four_rounds(Variables v, __m128i w, const uint32_t *k)
{
    __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)(const void *)k));
    v.cdgh = _mm_sha256rnds2_epu32(v.cdgh, v.abef, sum);
    sum = _mm_shuffle_epi32(sum, 0x0e);
    v.abef = _mm_sha256rnds2_epu32(v.abef, v.cdgh, sum);
    return v;
}

/* The next four words of the schedule, from the sixteen before them. */
SHA_TARGET static inline __m128i next_words(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    const __m128i seven_before = _mm_alignr_epi8(w3, w2, 4);
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), seven_before), w3);
}

SHA_TARGET static Variables block(Variables v, const unsigned char *data)
{
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    const Variables before = v;
    __m128i w[4];
    for (int i = 0; i < 4; i++) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i));
        w[i] = _mm_shuffle_epi8(bytes, big_endian);
        v = four_rounds(v, w[i], constants + 4 * i);
    }
    for (int round = 16; round < 64; round += 16)
        for (int i = 0; i < 4; i++) {
            w[i] = next_words(w[i], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
            v = four_rounds(v, w[i], constants + round + 4 * i);
        }
    return (Variables){_mm_add_epi32(before.abef, v.abef), _mm_add_epi32(before.cdgh, v.cdgh)};
}

SHA_TARGET void sha256_x86_blocks(uint32_t state[8], const unsigned char *data, size_t n)
{
    Variables v = variables_load(state);
    for (size_t i = 0; i < n; i++) v = block(v, data + i * SHA256_BLOCK);
    variables_store(v, state);
}

#else

bool sha256_x86_usable(void) { return false; }

void sha256_x86_blocks(uint32_t state[8], const unsigned char *data, size_t n)
{
    (void)state, (void)data, (void)n;
}

#endif
