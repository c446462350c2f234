/* Arena: memory that is freed all at once. One arena per lifetime (process, problem group, candidate).
 *
 * Invariants: what arena_alloc returns is zeroed, aligned to 16 bytes and lives until arena_reset or
 * arena_fini. limit_bytes (0: none) bounds what an untrusted input can make us allocate; beyond it
 * allocations return NULL. Not thread-safe: one arena per thread.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

typedef struct ArenaBlock ArenaBlock;
typedef struct {
    ArenaBlock *block;
    size_t used_bytes, limit_bytes;
} Arena;

void arena_init(Arena *a, size_t limit_bytes);
void arena_fini(Arena *a);
/* Frees everything but the newest block, which is kept for reuse. */
void arena_reset(Arena *a);
/* NULL when memory or the limit is exhausted. size 0 gives a valid pointer. */
void *arena_alloc(Arena *a, size_t size);
/* n objects of size bytes with overflow check. */
void *arena_array(Arena *a, size_t n, size_t size);
/* The same, aligned to ARENA_LINE bytes: a line of caches. */
enum { ARENA_LINE = 64 };
void *arena_lines(Arena *a, size_t n, size_t size);
/* v: an array of n elements of size bytes that only this function has made. Returns an array with these
 * elements and room for one more: v, or a copy of twice its length. */
void *arena_grow(Arena *a, void *v, size_t n, size_t size);
/* Copies; the copy is NUL-terminated. s == NULL in the result when out of memory. */
Str arena_dup(Arena *a, Str s);
Str arena_printf(Arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, n, T) ((T *)arena_array((a), (n), sizeof(T)))
#define ARENA_LINES(a, n, T) ((T *)arena_lines((a), (n), sizeof(T)))
/* Returns ERR_FAILED from the calling function when p is NULL. */
#define TRY_ALLOC(p)                                                                                         \
    do {                                                                                                     \
        if (!(p)) FAIL(ERR_FAILED, "out of memory for '%s'", #p);                                            \
    } while (0)

#endif
