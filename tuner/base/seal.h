/* Seal: the last bytes of a host code object (.so), which hold a hash of all bytes before them.
 *
 * dlopen maps a file without reading it: calling a kernel of a truncated file raises SIGBUS, and a corrupt
 * one executes whatever bytes are there. So the seal is added after linking and checked before dlopen. Of a
 * file without a seal (linked by hand, or stripped) only the length is checked, against its ELF header.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include "base/err.h"
#include "base/str.h"

enum { SEAL_BYTES = 32 };

/* Makes the seal that is to be appended to data. */
void seal_make(Str data, char out[SEAL_BYTES]);
/* data: a whole file; name: for the message. ERR_INPUT when it is truncated or was changed since sealing. */
Err seal_check(const char *name, Str data);

#endif
