/* The table of known.def. See known.h. */
#include "logic/known.h"

#include <stddef.h>
#include <stdint.h>

static const Known known[] = {
#define KNOWN(name, follows, last, text) {name, follows, last, text},
#include "logic/known.def"
#undef KNOWN
};
enum { N_KNOWN = sizeof known / sizeof *known };
_Static_assert((int)N_KNOWN <= (int)KNOWN_MAX, "KNOWN_MAX is too small");

/* Compares versions by their numbers: 4.9.6 is before 4.10.0. */
static bool is_up_to(Str version, Str last)
{
    Str part[2];
    while (str_split(&version, '.', &part[0]) && str_split(&last, '.', &part[1])) {
        int64_t v = 0, w = 0;
        (void)str_to_i64(part[0], &v);
        (void)str_to_i64(part[1], &w);
        if (v != w) return v < w;
    }
    return true;
}

const Known *known_find(Str name, Str version)
{
    for (int i = 0; i < N_KNOWN; i++)
        if (str_eq_c(name, known[i].name))
            return is_up_to(version, str_from(known[i].last)) ? &known[i] : NULL;
    return NULL;
}

const Known *known_at(int i) { return i < N_KNOWN ? &known[i] : NULL; }

int known_index(const Known *k) { return (int)(k - known); }
