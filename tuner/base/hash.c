/* Hashes over libxxhash, and over libmd or the processor's SHA instructions. See hash.h. */
#include "base/hash.h"

#include <sha2.h>
#include <string.h>

#include "base/sha256_x86.h"
#define XXH_INLINE_ALL
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#endif
#include <xxhash.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

uint64_t hash64(Str data) { return XXH3_64bits(data.s ? data.s : "", data.n); }

Hash128 hash128(Str data)
{
    XXH128_hash_t h = XXH3_128bits(data.s ? data.s : "", data.n);
    return (Hash128){h.low64, h.high64};
}

/* Hashes by the processor's instructions: the whole blocks of the message, then its rest with the padding of
 * FIPS 180-4, 5.1.1: a bit 1, zeros, and the message's length in bits, big-endian. */
static void sha256_by_instructions(Str data, unsigned char out[SHA256_BYTES])
{
    enum { LENGTH_BYTES = 8 };
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char last[2 * SHA256_BLOCK] = {0};
    const size_t whole = data.n / SHA256_BLOCK, rest = data.n % SHA256_BLOCK;
    const size_t n_last = rest + 1 + LENGTH_BYTES <= SHA256_BLOCK ? 1 : 2;
    if (whole) sha256_x86_blocks(state, (const unsigned char *)data.s, whole);
    if (rest) memcpy(last, data.s + whole * SHA256_BLOCK, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < LENGTH_BYTES; i++)
        last[n_last * SHA256_BLOCK - 1 - i] = (unsigned char)((uint64_t)data.n * 8 >> 8 * i);
    sha256_x86_blocks(state, last, n_last);
    for (int i = 0; i < SHA256_BYTES; i++) out[i] = (unsigned char)(state[i / 4] >> (24 - i % 4 * 8));
}

void sha256(Str data, unsigned char out[SHA256_BYTES])
{
    if (sha256_x86_usable()) {
        sha256_by_instructions(data, out);
        return;
    }
    SHA2_CTX ctx;
    SHA256Init(&ctx);
    SHA256Update(&ctx, (const uint8_t *)(data.s ? data.s : ""), data.n);
    SHA256Final(out, &ctx);
}

void sha256_hex(Str data, char out[SHA256_HEX + 1])
{
    static const char digit[] = "0123456789abcdef";
    unsigned char sum[SHA256_BYTES];
    sha256(data, sum);
    for (int i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digit[sum[i] >> 4];
        out[2 * i + 1] = digit[sum[i] & 15];
    }
    out[SHA256_HEX] = 0;
}

void sha256_base64(Str data, char out[45])
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    unsigned char sum[SHA256_BYTES + 1] = {0};
    sha256(data, sum);
    for (int i = 0; i < 11; i++) {
        unsigned v =
            (unsigned)sum[3 * i] << 16 | (unsigned)sum[3 * i + 1] << 8 | (i < 10 ? sum[3 * i + 2] : 0u);
        for (int j = 0; j < 4; j++) out[4 * i + j] = digit[v >> (18 - 6 * j) & 63];
    }
    out[43] = '='; /* 32 bytes are 43 digits and one pad */
    out[44] = 0;
}
