/* Arena of chained blocks. See arena.h. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaBlock {
    ArenaBlock *next;
    size_t cap, used;
    _Alignas(16) unsigned char data[];
};

enum { FIRST_BLOCK = 4096, MAX_BLOCK = 1 << 20 };

void arena_init(Arena *a, size_t limit_bytes) { *a = (Arena){.limit_bytes = limit_bytes}; }

void arena_fini(Arena *a)
{
    for (ArenaBlock *b = a->block, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *a = (Arena){.limit_bytes = a->limit_bytes};
}

void arena_reset(Arena *a)
{
    ArenaBlock *keep = a->block;
    if (!keep) return;
    a->block = keep->next;
    arena_fini(a);
    keep->next = NULL;
    keep->used = 0;
    a->block = keep;
}

static ArenaBlock *block_add(Arena *a, size_t size)
{
    size_t cap = a->block ? 2 * a->block->cap : FIRST_BLOCK;
    if (cap > MAX_BLOCK) cap = MAX_BLOCK;
    if (cap < size) cap = size;
    ArenaBlock *b = malloc(sizeof *b + cap);
    if (!b) return NULL;
    *b = (ArenaBlock){.next = a->block, .cap = cap};
    return a->block = b;
}

void *arena_alloc(Arena *a, size_t size)
{
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + 15) & ~(size_t)15;
    if (a->limit_bytes && (size > a->limit_bytes || a->used_bytes > a->limit_bytes - size)) return NULL;
    ArenaBlock *b = a->block;
    if (!b || b->cap - b->used < size) b = block_add(a, size);
    if (!b) return NULL;
    void *p = b->data + b->used;
    b->used += size;
    a->used_bytes += size;
    return memset(p, 0, size);
}

void *arena_array(Arena *a, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) return NULL;
    return arena_alloc(a, n * size);
}

void *arena_lines(Arena *a, size_t n, size_t size)
{
    if (size && n > (SIZE_MAX - ARENA_LINE) / size) return NULL;
    uint8_t *p = arena_alloc(a, n * size + ARENA_LINE);
    return p ? p + (ARENA_LINE - (uintptr_t)p % ARENA_LINE) : NULL;
}

void *arena_grow(Arena *a, void *v, size_t n, size_t size)
{
    if (n & (n - 1)) return v; /* there is room for the next power of two */
    void *more = arena_array(a, n ? 2 * n : 1, size);
    if (more && n) memcpy(more, v, n * size);
    return more;
}

Str arena_dup(Arena *a, Str s)
{
    char *copy = s.n < SIZE_MAX ? arena_alloc(a, s.n + 1) : NULL;
    if (!copy) return STR_NULL;
    if (s.n) memcpy(copy, s.s, s.n);
    return (Str){copy, s.n};
}

Str arena_printf(Arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = n >= 0 ? arena_alloc(a, (size_t)n + 1) : NULL;
    if (text) vsnprintf(text, (size_t)n + 1, fmt, again);
    va_end(again);
    return text ? (Str){text, (size_t)n} : STR_NULL;
}
