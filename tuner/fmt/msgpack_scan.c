/* Skipping msgpack objects. See msgpack_scan.h. */
#include "fmt/msgpack_scan.h"

enum { KEYS_MAX = 32 }; /* keys of a map that is skipped; larger maps are left to msgpack_read.c */

static bool skip_map(Scan *s, unsigned depth)
{
    Str key[KEYS_MAX];
    size_t n;
    if (!scan_map(s, &n) || n > KEYS_MAX) return false;
    for (size_t i = 0; i < n; i++) {
        if (!scan_str(s, &key[i])) return false;
        for (size_t j = 0; j < i; j++)
            if (str_eq(key[i], key[j])) return false;
        if (!scan_skip(s, depth)) return false;
    }
    return true;
}

static bool skip_list(Scan *s, unsigned depth)
{
    size_t n;
    if (!scan_list(s, &n)) return false;
    while (n-- > 0)
        if (!scan_skip(s, depth)) return false;
    return true;
}

bool scan_skip(Scan *s, unsigned depth)
{
    double number;
    uint64_t bits;
    Str text;
    if (s->at == s->end) return false;
    unsigned type = *s->at;
    if ((type >= 0x80 && type < 0x90) || type == 0xde || type == 0xdf)
        return depth > 0 && skip_map(s, depth - 1);
    if ((type >= 0x90 && type < 0xa0) || type == 0xdc || type == 0xdd)
        return depth > 0 && skip_list(s, depth - 1);
    if ((type >= 0xa0 && type < 0xc0) || (type >= 0xd9 && type <= 0xdb)) return scan_str(s, &text);
    if (type == 0xcf) { /* also above 2^63 */
        s->at++;
        return scan_number(s, 8, &bits);
    }
    if (type == 0xc0 || type == 0xc2 || type == 0xc3) {
        s->at++;
        return true;
    }
    return scan_real(s, &number);
}
