/* Seal: the last bytes of a code object of the host, with a hash of all before them. The loader of the system
 * maps such files unread: a cut one is SIGBUS in whoever uses it, a changed one runs whatever the bytes say.
 * Written by build/link.c, checked by client/runtime/host_run.c before dlopen. A file without a seal (made by
 * hand, or stripped) only has to be as long as its ELF header says.
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include "base/err.h"
#include "base/str.h"

enum { SEAL_BYTES = 32 };

/* The seal of data, which it is to follow. */
void seal_make(Str data, char out[SEAL_BYTES]);
/* data: a whole file; name: for the message. ERR_INPUT when it is cut or not what was sealed. */
Err seal_check(const char *name, Str data);

#endif
