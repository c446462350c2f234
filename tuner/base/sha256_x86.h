/* SHA-256 (FIPS 180-4) of whole blocks by the SHA instructions of x86 processors, about ten times as fast as
 * libmd's C code. Padding and output bytes are hash.c's. */
#ifndef BASE_SHA256_X86_H
#define BASE_SHA256_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64 };

/* Does this processor have them? Always false where the program is not for x86-64. */
bool sha256_x86_usable(void);
/* Continues the hash `state` (H0 to H7) with n blocks. Only where they are usable. */
void sha256_x86_blocks(uint32_t state[8], const unsigned char *data, size_t n);

#endif
