/* Scanning msgpack without a tree: objects one by one, as the caller expects them. For library files, which
 * have millions of objects. What a scan does not recognise is read again by msgpack_read.c, which reports
 * errors.
 *
 * Every function reads one object, or returns false and leaves the position undefined; copy a Scan to return
 * to its position. Every length is checked against the bytes that are left. Everything that is accepted here
 * msgpack_read.c accepts too.
 */
#ifndef FMT_MSGPACK_SCAN_H
#define FMT_MSGPACK_SCAN_H

#include <string.h>

#include "base/str.h"

typedef struct {
    const unsigned char *at, *end;
} Scan;

static inline Scan scan_of(Str s)
{
    const unsigned char *p = (const unsigned char *)s.s;
    return (Scan){p, p + s.n};
}

static inline size_t scan_left(const Scan *s) { return (size_t)(s->end - s->at); }

/* The bytes between two positions of one scan. */
static inline Str scan_between(const Scan *from, const Scan *to)
{
    return (Str){(const char *)from->at, (size_t)(to->at - from->at)};
}

/* Takes the next object if it has exactly these bytes. No object is a prefix of another. */
static inline bool scan_same(Scan *s, Str bytes)
{
    if (bytes.n == 0 || scan_left(s) < bytes.n || memcmp(s->at, bytes.s, bytes.n) != 0) return false;
    s->at += bytes.n;
    return true;
}

/* Big-endian number of n bytes, 1 to 8. */
static inline bool scan_number(Scan *s, unsigned n, uint64_t *out)
{
    if (scan_left(s) < n) return false;
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++) v = v << 8 | s->at[i];
    s->at += n;
    *out = v;
    return true;
}

static inline bool scan_int(Scan *s, int64_t *out)
{
    uint64_t v;
    if (s->at == s->end) return false;
    unsigned type = *s->at++;
    if (type < 0x80 || type >= 0xe0) {
        *out = type < 0x80 ? (int)type : (int)type - 256;
        return true;
    }
    if (type < 0xcc || type > 0xd3) return false;
    unsigned bytes = 1u << (type & 3), shift = 64 - 8 * bytes;
    if (!scan_number(s, bytes, &v) || (type == 0xcf && v > INT64_MAX)) return false;
    *out = type < 0xd0 ? (int64_t)v : (int64_t)(v << shift) >> shift;
    return true;
}

static inline bool scan_int_in(Scan *s, int64_t min, int64_t max, int64_t *out)
{
    return scan_int(s, out) && *out >= min && *out <= max;
}

/* true, false, 0 and 1. */
static inline bool scan_bool(Scan *s)
{
    if (s->at == s->end) return false;
    unsigned type = *s->at++;
    return type <= 1 || type == 0xc2 || type == 0xc3;
}

/* Doubles, floats and integers. */
static inline bool scan_real(Scan *s, double *out)
{
    uint64_t v;
    int64_t i;
    if (s->at == s->end) return false;
    unsigned type = *s->at;
    if (type != 0xcb && type != 0xca) {
        if (!scan_int(s, &i)) return false;
        *out = (double)i;
        return true;
    }
    s->at++;
    if (!scan_number(s, type == 0xcb ? 8 : 4, &v)) return false;
    if (type == 0xcb) {
        memcpy(out, &v, sizeof *out);
    } else {
        uint32_t bits = (uint32_t)v;
        float f;
        memcpy(&f, &bits, sizeof f);
        *out = (double)f;
    }
    return true;
}

/* The count in a header: either in the low bits (mask) of a type byte, or after one of the n_long type bytes
 * from long_type on, in first_bytes bytes for the first of them, twice as many for each next one. */
static inline bool scan_count(Scan *s, unsigned type, unsigned mask, unsigned long_type, unsigned n_long,
                              unsigned first_bytes, uint64_t *n)
{
    if (s->at == s->end) return false;
    unsigned t = *s->at++;
    if ((t & ~mask) == type) {
        *n = t & mask;
        return true;
    }
    return t >= long_type && t < long_type + n_long && scan_number(s, first_bytes << (t - long_type), n);
}

/* n items follow; each has at least one byte. */
static inline bool scan_list(Scan *s, size_t *n)
{
    uint64_t v;
    if (!scan_count(s, 0x90, 15, 0xdc, 2, 2, &v) || v > scan_left(s)) return false;
    *n = (size_t)v;
    return true;
}

/* n pairs follow. */
static inline bool scan_map(Scan *s, size_t *n)
{
    uint64_t v;
    if (!scan_count(s, 0x80, 15, 0xde, 2, 2, &v) || v > scan_left(s) / 2) return false;
    *n = (size_t)v;
    return true;
}

static inline bool scan_str(Scan *s, Str *out)
{
    uint64_t n;
    if (!scan_count(s, 0xa0, 31, 0xd9, 3, 1, &n) || n > scan_left(s)) return false;
    *out = (Str){(const char *)s->at, (size_t)n};
    s->at += n;
    return true;
}

/* Skips one object of any type, nested at most depth levels; the keys of a map must be distinct strings. */
bool scan_skip(Scan *s, unsigned depth);

#endif
