/* Hashes: XXH3 for tables and for keys of contents (kernels, objects in caches), which nobody is expected to
 * forge; SHA-256 where a format asks for it: Tensile's file names, content security policies, shards. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

typedef struct {
    uint64_t lo, hi;
} Hash128;

uint64_t hash64(Str data);
Hash128 hash128(Str data);

/* The 128-bit hash in lower-case hex, NUL-terminated: a key of contents. */
enum { CONTENT_HEX = 32 };
void content_hex(Str data, char out[CONTENT_HEX + 1]);

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };
void sha256(Str data, unsigned char out[SHA256_BYTES]);
/* Lower-case hex, NUL-terminated. */
void sha256_hex(Str data, char out[SHA256_HEX + 1]);
/* Base64 with '_' for '+' and '-' for '/', padded: 44 characters and NUL; as Tensile shortens file names. */
void sha256_base64(Str data, char out[45]);

#endif
