/* Hashes: XXH3 for tables and de-duplication inside one process, SHA-256 for content keys and file names. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

typedef struct {
    uint64_t lo, hi;
} Hash128;

uint64_t hash64(Str data);
Hash128 hash128(Str data);

enum { SHA256_BYTES = 32, SHA256_HEX = 64 };
void sha256(Str data, unsigned char out[SHA256_BYTES]);
/* Lower-case hex, NUL-terminated. */
void sha256_hex(Str data, char out[SHA256_HEX + 1]);
/* Base64 with '_' for '+' and '-' for '/', padded: 44 characters and NUL; as Tensile shortens file names. */
void sha256_base64(Str data, char out[45]);

#endif
