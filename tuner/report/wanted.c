/* The size that a user asks for. See wanted.h. */
#include "report/wanted.h"

enum { LEAST_SIZES = 3 }; /* of a contraction without a batch */

Err wanted_parse(const char *text, Wanted *w)
{
    Str rest = str_trim(str_from(text)), part;
    *w = (Wanted){.n = 0};
    if (str_starts(rest, "[") && str_ends(rest, "]")) rest = str_sub(rest, 1, rest.n - 1);
    if (str_find(rest, '=', 0) < rest.n) {
        w->conv = rest;
        return 0;
    }
    bool numbers = true;
    while (numbers && str_split(&rest, ',', &part))
        numbers = w->n < WANTED_MAX && str_to_i64(str_trim(part), &w->v[w->n++]);
    if (!numbers || w->n < LEAST_SIZES)
        FAIL(ERR_INPUT,
             "'%s' is not a size, expected M,N,batch,K or [M,N,batch,K,LDD,LDC,LDA,LDB], or "
             "n=..,c=..,k=.. of a convolution",
             text);
    return 0;
}

bool size_seen_before(const PlanView *p, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (p->size[i].problem == p->size[size].problem) return true;
    return false;
}

static bool has_number(Str conv, Str wanted)
{
    Str part;
    while (str_split(&conv, ',', &part))
        if (str_eq(str_trim(part), str_trim(wanted))) return true;
    return false;
}

static bool is_conv(Str conv, Str wanted)
{
    Str part;
    while (str_split(&wanted, ',', &part))
        if (!has_number(conv, part)) return false;
    return true;
}

bool wanted_is(const SizeRow *row, const Wanted *w)
{
    size_t i = 0;
    Str rest = size_numbers(row->key), part;
    if (w->conv.s) return is_conv(row->conv, w->conv);
    for (; i < w->n && str_split(&rest, ',', &part); i++) {
        int64_t v;
        if (!str_to_i64(part, &v) || v != w->v[i]) return false;
    }
    return i == w->n;
}
