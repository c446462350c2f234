/* Seals of code objects. See seal.h. */
#include "base/seal.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static const char mark[] = "\ntuner-seal 1 ";
enum { MARK_BYTES = sizeof mark - 1, DIGITS = 16 };
_Static_assert(MARK_BYTES + DIGITS + 2 == SEAL_BYTES, "mark, hash, line end, NUL");

void seal_make(Str data, char out[SEAL_BYTES])
{
    snprintf(out, SEAL_BYTES, "%s%016" PRIx64 "\n", mark, hash64(data));
}

/* Linkers put the section headers last, so a file that ends after them is complete. */
static Err check_length(const char *name, Str data)
{
    Elf64_Ehdr h;
    if (data.n < sizeof h)
        FAIL(ERR_INPUT, "code object %s: truncated or not a code object: %zu bytes", name, data.n);
    memcpy(&h, data.s, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) || h.e_ident[EI_CLASS] != ELFCLASS64)
        FAIL(ERR_INPUT, "code object %s: not a 64-bit ELF file", name);
    uint64_t table = (uint64_t)h.e_shentsize * h.e_shnum;
    if (h.e_shoff > data.n || table > data.n - h.e_shoff)
        FAIL(ERR_INPUT, "code object %s: truncated: %zu bytes, but its section table ends at %" PRIu64, name,
             data.n, h.e_shoff + table);
    return 0;
}

Err seal_check(const char *name, Str data)
{
    char now[SEAL_BYTES];
    size_t n = data.n < SEAL_BYTES ? 0 : data.n - SEAL_BYTES;
    if (n == 0 || memcmp(data.s + n, mark, MARK_BYTES)) return check_length(name, data);
    seal_make(str_sub(data, 0, n), now);
    if (memcmp(now, data.s + n, SEAL_BYTES))
        FAIL(ERR_INPUT, "code object %s: its bytes changed since it was linked (hash %.*s, now %.*s)", name,
             DIGITS, data.s + n + MARK_BYTES, DIGITS, now + MARK_BYTES);
    return 0;
}
