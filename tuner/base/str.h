/* Strings: Str is a view (pointer and length, not NUL-terminated, owns nothing), Buf is a growing byte
 * buffer.
 *
 * A Buf that runs out of memory remembers it (b->failed) and drops what is added, so that a writer checks
 * once, at the end, with buf_check. buf_cstr writes a NUL after the content.
 */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

typedef struct {
    const char *s;
    size_t n;
} Str;

/* For string literals and for char arrays that hold a string. */
#define STR(lit) ((Str){(lit), sizeof(lit) - 1})
#define STR_NULL ((Str){NULL, 0})
/* For printf: "%.*s", STR_ARG(x). */
#define STR_ARG(x) (int)(x).n, (x).s

Str str_from(const char *cstr);
bool str_eq(Str a, Str b);
bool str_eq_c(Str a, const char *b);
bool str_eq_nocase(Str a, Str b);
int str_cmp(Str a, Str b); /* memcmp order, shorter first */
bool str_starts(Str s, const char *prefix);
bool str_ends(Str s, const char *suffix);
Str str_sub(Str s, size_t from, size_t to); /* clamped */
Str str_trim(Str s);
/* Index of the first c at or after from, or s.n. */
size_t str_find(Str s, char c, size_t from);
/* Splits off the text before sep; *rest becomes what follows. False when *rest was exhausted (s == NULL). */
bool str_split(Str *rest, char sep, Str *part);
/* The whole text as a number; false when it holds anything else or the number does not fit. */
bool str_to_i64(Str s, int64_t *out);
bool str_to_f64(Str s, double *out);
/* Edit distance, for "did you mean"; case counts as half. At most 64 characters of each are looked at. */
unsigned str_distance(Str a, Str b);

typedef struct {
    char *s;
    size_t n, cap;
    bool failed;
} Buf;

void buf_init(Buf *b);
void buf_fini(Buf *b);
void buf_reset(Buf *b); /* empty, memory kept */
/* Makes room for n bytes and one more, for buf_cstr; false where there is none, or where an addition before
 * has failed. */
bool buf_room(Buf *b, size_t n);
/* Texts of kernels are made of many short pieces, whose lengths compilers mostly know: inline. */
static inline void buf_add(Buf *b, const void *data, size_t n)
{
    if (n == 0 || ((b->failed || n >= b->cap - b->n) && !buf_room(b, n))) return;
    memcpy(b->s + b->n, data, n);
    b->n += n;
}
static inline void buf_str(Buf *b, Str s) { buf_add(b, s.s, s.n); }
static inline void buf_puts(Buf *b, const char *cstr) { buf_add(b, cstr, strlen(cstr)); }
static inline void buf_putc(Buf *b, char c) { buf_add(b, &c, 1); }
void buf_i64(Buf *b, int64_t v);
void buf_printf(Buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(Buf *b, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);
const char *buf_cstr(Buf *b); /* "" when empty or failed */
Str buf_view(const Buf *b);
Err buf_check(const Buf *b);

#endif
