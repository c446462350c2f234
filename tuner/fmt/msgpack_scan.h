/* Scanning msgpack without a tree: objects one by one, as the caller expects them. For the hot lists of
 * library files (NodeLimits.raw_list); anything else goes through msgpack_read.c, which has the messages.
 *
 * Every function reads one object, or returns false and leaves the place undefined: copy a Scan to come back.
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

/* Big-endian number of n bytes, 1 to 8. */
static inline bool scan_number(Scan *s, unsigned n, uint64_t *out)
{
    if ((size_t)(s->end - s->at) < n) return false;
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

/* Strings below 32 bytes, lists and maps below 16 items. */
static inline bool scan_short(Scan *s, unsigned type, unsigned mask, size_t *n)
{
    if (s->at == s->end || (*s->at & ~mask) != type) return false;
    *n = *s->at++ & mask;
    return true;
}
static inline bool scan_list(Scan *s, size_t *n) { return scan_short(s, 0x90, 15, n); }
static inline bool scan_map(Scan *s, size_t *n) { return scan_short(s, 0x80, 15, n); }
static inline bool scan_str(Scan *s, Str *out)
{
    if (!scan_short(s, 0xa0, 31, &out->n) || (size_t)(s->end - s->at) < out->n) return false;
    out->s = (const char *)s->at;
    s->at += out->n;
    return true;
}

#endif
