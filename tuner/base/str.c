/* String views and the growing buffer. See str.h. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

Str str_from(const char *cstr) { return (Str){cstr, cstr ? strlen(cstr) : 0}; }

bool str_eq(Str a, Str b) { return a.n == b.n && (a.n == 0 || memcmp(a.s, b.s, a.n) == 0); }

/* The first byte settles most of the comparisons with tables of names. */
bool str_eq_c(Str a, const char *b)
{
    if (a.n == 0 || !b || a.s[0] != b[0]) return a.n == 0 && (!b || !*b);
    return str_eq(a, str_from(b));
}

bool str_eq_nocase(Str a, Str b) { return a.n == b.n && (a.n == 0 || strncasecmp(a.s, b.s, a.n) == 0); }

int str_cmp(Str a, Str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.s, b.s, n) : 0;
    if (c) return c;
    return (a.n > b.n) - (a.n < b.n);
}

bool str_starts(Str s, const char *prefix)
{
    size_t n = strlen(prefix);
    return s.n >= n && memcmp(s.s, prefix, n) == 0;
}

bool str_ends(Str s, const char *suffix)
{
    size_t n = strlen(suffix);
    return s.n >= n && memcmp(s.s + s.n - n, suffix, n) == 0;
}

Str str_sub(Str s, size_t from, size_t to)
{
    if (to > s.n) to = s.n;
    if (from > to) from = to;
    return (Str){from ? s.s + from : s.s, to - from}; /* s.s may be NULL */
}

Str str_trim(Str s)
{
    while (s.n && isspace((unsigned char)s.s[0])) s.s++, s.n--;
    while (s.n && isspace((unsigned char)s.s[s.n - 1])) s.n--;
    return s;
}

size_t str_find(Str s, char c, size_t from)
{
    if (from >= s.n) return s.n;
    const char *p = memchr(s.s + from, c, s.n - from);
    return p ? (size_t)(p - s.s) : s.n;
}

bool str_split(Str *rest, char sep, Str *part)
{
    if (!rest->s) return false;
    size_t at = str_find(*rest, sep, 0);
    *part = (Str){rest->s, at};
    *rest = at < rest->n ? (Str){rest->s + at + 1, rest->n - at - 1} : STR_NULL;
    return true;
}

bool str_to_i64(Str s, int64_t *out)
{
    size_t i = 0;
    bool negative = false;
    if (i < s.n && (s.s[i] == '-' || s.s[i] == '+')) negative = s.s[i++] == '-';
    if (i == s.n) return false;
    uint64_t v = 0, limit = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    for (; i < s.n; i++) {
        if (!isdigit((unsigned char)s.s[i])) return false;
        uint64_t digit = (uint64_t)(s.s[i] - '0');
        if (v > (limit - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

bool str_to_f64(Str s, double *out)
{
    char text[64], *end;
    if (s.n == 0 || s.n >= sizeof text || isspace((unsigned char)s.s[0])) return false;
    memcpy(text, s.s, s.n);
    text[s.n] = 0;
    errno = 0;
    double v = strtod(text, &end);
    if (end != text + s.n || (errno == ERANGE && !(fabs(v) < 1))) return false;
    *out = v;
    return true;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
    unsigned m = a < b ? a : b;
    return m < c ? m : c;
}

unsigned str_distance(Str a, Str b)
{
    enum { MAX = 64 };
    unsigned row[MAX + 1];
    a = str_sub(a, 0, MAX);
    b = str_sub(b, 0, MAX);
    for (unsigned j = 0; j <= b.n; j++) row[j] = 2 * j;
    for (unsigned i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0];
        row[0] = 2 * i;
        for (unsigned j = 1; j <= b.n; j++) {
            char x = a.s[i - 1], y = b.s[j - 1];
            unsigned cost = x == y ? 0 : tolower((unsigned char)x) == tolower((unsigned char)y) ? 1 : 2;
            unsigned best = min3(row[j] + 2, row[j - 1] + 2, diagonal + cost);
            diagonal = row[j];
            row[j] = best;
        }
    }
    return row[b.n];
}

void buf_init(Buf *b) { *b = (Buf){0}; }

void buf_fini(Buf *b)
{
    free(b->s);
    *b = (Buf){0};
}

void buf_reset(Buf *b)
{
    b->n = 0;
    b->failed = false;
}

bool buf_room(Buf *b, size_t n)
{
    if (b->failed) return false;
    if (n < b->cap - b->n) return true; /* one byte stays for buf_cstr; cap == n == 0 at first */
    if (n > SIZE_MAX / 4 || b->n > SIZE_MAX / 4) {
        b->failed = true;
        return false;
    }
    size_t cap = b->cap ? b->cap : 256;
    while (cap - b->n <= n) cap *= 2;
    char *s = realloc(b->s, cap);
    if (!s) {
        b->failed = true;
        return false;
    }
    b->s = s;
    b->cap = cap;
    return true;
}

void buf_i64(Buf *b, int64_t v)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do text[--at] = (char)('0' + u % 10);
    while (u /= 10);
    if (v < 0) text[--at] = '-';
    buf_add(b, text + at, sizeof text - at);
}

void buf_vprintf(Buf *b, const char *fmt, va_list ap)
{
    const size_t room = b->failed ? 0 : b->cap - b->n;
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(room ? b->s + b->n : NULL, room, fmt, ap);
    if (n >= 0 && buf_room(b, (size_t)n)) {
        if ((size_t)n >= room) vsnprintf(b->s + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void buf_printf(Buf *b, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(b, fmt, ap);
    va_end(ap);
}

const char *buf_cstr(Buf *b)
{
    if (!b->s || b->failed) return "";
    b->s[b->n] = 0;
    return b->s;
}

Str buf_view(const Buf *b) { return (Str){b->s, b->n}; }

Err buf_check(const Buf *b)
{
    if (b->failed) FAIL(ERR_FAILED, "out of memory after %zu bytes of text", b->n);
    return 0;
}
