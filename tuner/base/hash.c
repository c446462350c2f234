/* Hashes over libxxhash and libmd. See hash.h. */
#include "base/hash.h"

#include <sha2.h>

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

static void hex_put(const unsigned char *sum, int n, char *out)
{
    static const char digit[] = "0123456789abcdef";
    for (int i = 0; i < n; i++) {
        out[2 * i] = digit[sum[i] >> 4];
        out[2 * i + 1] = digit[sum[i] & 15];
    }
    out[2 * n] = 0;
}

void content_hex(Str data, char out[CONTENT_HEX + 1])
{
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(data.s ? data.s : "", data.n));
    hex_put(sum.digest, CONTENT_HEX / 2, out);
}

void sha256(Str data, unsigned char out[SHA256_BYTES])
{
    SHA2_CTX ctx;
    SHA256Init(&ctx);
    SHA256Update(&ctx, (const uint8_t *)(data.s ? data.s : ""), data.n);
    SHA256Final(out, &ctx);
}

void sha256_hex(Str data, char out[SHA256_HEX + 1])
{
    unsigned char sum[SHA256_BYTES];
    sha256(data, sum);
    hex_put(sum, SHA256_BYTES, out);
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
