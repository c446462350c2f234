/* Names of helper kernels. See helper_name.h. */
#include "problem/helper_name.h"

#include <stdio.h>
#include <string.h>

static const char post_gsu[] = "_PostGSU", width_part[] = "_VW", reducers_part[] = "_R";

_Static_assert(HELPER_INDICES_MAX + sizeof "_4xi8_GB_PostGSU" + FUSED_SUFFIX_MAX <= HELPER_NAME_MAX,
               "names of helpers fit");
_Static_assert(HELPER_INDICES_MAX + sizeof "_4xi8_GB_PostGSU64_mod64_VW2_R4" + FUSED_SUFFIX_MAX <=
                   HELPER_SYMBOL_MAX,
               "names of reductions fit");

static void base_name(Str c, DataType dest, bool strided_batched, const char *suffix, char *out)
{
    snprintf(out, HELPER_NAME_MAX, "%.*s_%s%s%s", (int)(c.n < HELPER_INDICES_MAX ? c.n : HELPER_INDICES_MAX),
             c.s, type_letter(dest), strided_batched ? "" : "_GB", suffix);
}

void helper_beta_only_name(Str c_indices, DataType dest, bool strided_batched, bool ga,
                           char out[HELPER_NAME_MAX])
{
    base_name(c_indices, dest, strided_batched, ga ? "_GA" : "", out);
}

void helper_post_gsu_name(Str c_indices, DataType dest, bool strided_batched, const Fused *fused,
                          char out[HELPER_NAME_MAX])
{
    char suffix[FUSED_SUFFIX_MAX + sizeof post_gsu];
    const size_t n = fused_suffix(fused, suffix);
    memcpy(suffix + n, post_gsu, sizeof post_gsu);
    base_name(c_indices, dest, strided_batched, suffix, out);
}

static char *append(char *to, const char *text)
{
    while (*text) *to++ = *text++;
    *to = 0;
    return to;
}

/* Launches call this for every problem: it does not go through printf. */
static char *append_number(char *to, uint32_t v)
{
    char digits[11];
    int n = sizeof digits - 1;
    digits[n] = 0;
    do digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    return append(to, digits + n);
}

void helper_reduction_name(const char *base, const Reduction *r, char out[HELPER_SYMBOL_MAX])
{
    char *at = append(out, base);
    if (r->unit > 1) {
        uint32_t last = r->gsu % r->unit;
        at = append_number(at, last ? last : r->unit);
        if (r->gsu > r->unit) at = append_number(append(at, "_mod"), r->unit);
    }
    if (r->width >= 2) at = append_number(append(at, width_part), r->width);
    if (r->reducers >= 2) append_number(append(at, reducers_part), r->reducers);
}

/* The number that follows a part of the name; 1 when the name does not have the part. */
static uint32_t number_after(Str symbol, const char *part)
{
    const size_t n = strlen(part);
    int64_t value;
    for (size_t i = 0; i + n < symbol.n; i++) {
        if (memcmp(symbol.s + i, part, n)) continue;
        size_t end = str_find(symbol, '_', i + 1);
        if (str_to_i64(str_sub(symbol, i + n, end), &value) && value > 0 && value <= UINT32_MAX)
            return (uint32_t)value;
    }
    return 1;
}

uint32_t helper_name_width(Str symbol) { return number_after(symbol, width_part); }

uint32_t helper_name_reducers(Str symbol) { return number_after(symbol, reducers_part); }

bool helper_name_is_plain_post_gsu(Str symbol)
{
    return symbol.n > sizeof post_gsu - 1 && str_ends(symbol, post_gsu);
}
