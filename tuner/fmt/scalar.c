/* Resolution of plain scalars by the regular expressions of PyYAML's resolver. Does not look at tags or
 * quotes. See scalar.h. */
#include "fmt/scalar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 400 }; /* characters; longer texts are strings */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Skips characters of set; at least min of them, else s.n + 1. */
static size_t skip_set(Str s, size_t at, const char *set, size_t min)
{
    size_t from = at;
    while (at < s.n && s.s[at] && strchr(set, s.s[at])) at++;
    return at - from >= min ? at : s.n + 1;
}

static size_t skip_sign(Str s) { return s.n && (s.s[0] == '-' || s.s[0] == '+'); }

/* One of lower, Title and UPPER case of a lower-case word. */
static bool word_is(Str s, const char *word)
{
    size_t n = strlen(word), n_upper = 0;
    if (s.n != n) return false;
    for (size_t i = 0; i < n; i++) {
        bool upper = s.s[i] == (word[i] & ~0x20);
        if (!upper && s.s[i] != word[i]) return false;
        n_upper += upper;
    }
    return n_upper == 0 || n_upper == n || (n_upper == 1 && s.s[0] != word[0]);
}

static bool resolve_word(Str s, Node *n)
{
    static const struct {
        const char *word;
        bool value;
    } words[] = {{"true", true}, {"false", false}, {"yes", true},
                 {"no", false},  {"on", true},     {"off", false}};
    if (s.n == 0 || (s.n == 1 && s.s[0] == '~') || word_is(s, "null")) {
        n->kind = NODE_NULL;
        return true;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!word_is(s, words[i].word)) continue;
        n->kind = NODE_BOOL;
        n->boolean = words[i].value;
        return true;
    }
    return false;
}

/* ':' and 0..59, one or more times; s.n + 1 when there is none. */
static size_t skip_sixties(Str s, size_t at)
{
    size_t groups = 0;
    while (at < s.n && s.s[at] == ':' && at + 1 < s.n && is_digit(s.s[at + 1])) {
        bool two = at + 2 < s.n && is_digit(s.s[at + 2]);
        if (two && s.s[at + 1] > '5') break;
        at += two ? 3 : 2;
        groups++;
    }
    return groups ? at : s.n + 1;
}

/* The base of an integer text, 60 for sexagesimal, 0 when it is none. */
static unsigned integer_base(Str s)
{
    size_t at = skip_sign(s);
    if (at >= s.n || !is_digit(s.s[at])) return 0;
    if (s.s[at] != '0') {
        size_t end = skip_set(s, at, "0123456789_", 1);
        if (end == s.n) return 10;
        return skip_sixties(s, end) == s.n ? 60 : 0;
    }
    if (at + 1 == s.n) return 10;
    if (s.s[at + 1] == 'b') return skip_set(s, at + 2, "01_", 1) == s.n ? 2 : 0;
    if (s.s[at + 1] == 'x') return skip_set(s, at + 2, "0123456789abcdefABCDEF_", 1) == s.n ? 16 : 0;
    return skip_set(s, at + 1, "01234567_", 1) == s.n ? 8 : 0;
}

static bool is_exponent(Str s, size_t at)
{
    if (at == s.n) return true;
    if (at + 2 >= s.n || (s.s[at] != 'e' && s.s[at] != 'E') || (s.s[at + 1] != '-' && s.s[at + 1] != '+'))
        return false;
    return skip_set(s, at + 2, "0123456789", 1) == s.n;
}

typedef enum { REAL_NOT, REAL_DECIMAL, REAL_SIXTIES, REAL_INF, REAL_NAN } RealForm;

static RealForm real_form(Str s)
{
    size_t at = skip_sign(s);
    Str rest = str_sub(s, at, s.n);
    if (rest.n == 4 && rest.s[0] == '.') {
        Str word = str_sub(rest, 1, 4);
        if (word_is(word, "inf")) return REAL_INF;
        if (at == 0 && (str_eq_c(word, "nan") || str_eq_c(word, "NaN") || str_eq_c(word, "NAN")))
            return REAL_NAN;
    }
    if (rest.n < 2) return REAL_NOT;
    if (rest.s[0] == '.') {
        if (at || !is_digit(rest.s[1])) return REAL_NOT;
        return is_exponent(s, skip_set(s, 1, "0123456789_", 1)) ? REAL_DECIMAL : REAL_NOT;
    }
    if (!is_digit(rest.s[0])) return REAL_NOT;
    size_t end = skip_set(s, at, "0123456789_", 1);
    if (end < s.n && s.s[end] == '.')
        return is_exponent(s, skip_set(s, end + 1, "0123456789_", 0)) ? REAL_DECIMAL : REAL_NOT;
    end = skip_sixties(s, end);
    if (end < s.n && s.s[end] == '.' && skip_set(s, end + 1, "0123456789_", 0) == s.n) return REAL_SIXTIES;
    return REAL_NOT;
}

/* The text without sign and underscores, NUL-terminated. */
static size_t number_digits(Str s, char out[MAX_NUMBER + 1])
{
    size_t n = 0;
    for (size_t i = skip_sign(s); i < s.n; i++)
        if (s.s[i] != '_') out[n++] = s.s[i];
    out[n] = 0;
    return n;
}

static unsigned digit_value(char c)
{
    return is_digit(c) ? (unsigned)(c - '0') : ((unsigned)c | 0x20) - 'a' + 10;
}

/* False when there is no digit at all ('0x_'). */
static bool resolve_integer(Str s, unsigned base, Node *n)
{
    char digits[MAX_NUMBER + 1];
    size_t len = number_digits(s, digits), from = base == 2 || base == 16 ? 2 : 0;
    if (from >= len) return false;
    bool negative = s.s[0] == '-', fits = true;
    uint64_t v = 0, group = 0;
    double real = 0, real_group = 0;
    for (size_t i = from; i < len; i++) {
        if (digits[i] == ':') {
            v += group, real += real_group;
            fits = fits && v <= UINT64_MAX / 60;
            v *= 60, real *= 60, group = 0, real_group = 0;
            continue;
        }
        unsigned step = base == 60 ? 10 : base;
        fits = fits && group <= (UINT64_MAX - 15) / step;
        group = group * step + digit_value(digits[i]);
        real_group = real_group * step + digit_value(digits[i]);
    }
    fits = fits && v <= UINT64_MAX - group;
    v += group;
    fits = fits && v <= (uint64_t)INT64_MAX + negative;
    n->kind = fits ? NODE_INT : NODE_FLOAT;
    if (fits)
        n->integer = negative ? (int64_t)(0 - v) : (int64_t)v;
    else
        n->real = (negative ? -1 : 1) * (base == 10 ? strtod(digits, NULL) : real + real_group);
    return true;
}

static void resolve_real(Str s, RealForm form, Node *n)
{
    char digits[MAX_NUMBER + 1];
    double v = 0;
    if (form == REAL_INF) {
        v = (double)INFINITY;
    } else if (form == REAL_NAN) {
        v = (double)NAN;
    } else {
        number_digits(s, digits);
        char *part = digits, *colon;
        while (form == REAL_SIXTIES && (colon = strchr(part, ':'))) {
            *colon = 0;
            v = (v + strtod(part, NULL)) * 60;
            part = colon + 1;
        }
        v += strtod(part, NULL);
    }
    n->kind = NODE_FLOAT;
    n->real = s.s[0] == '-' ? -v : v;
}

void scalar_resolve(Str text, Node *n)
{
    n->kind = NODE_STR;
    if (text.n == 0 || strchr("~nNtTfFyYoO", text.s[0])) {
        resolve_word(text, n);
        return;
    }
    if (text.n > MAX_NUMBER || !strchr("+-.0123456789", text.s[0])) return;
    unsigned base = integer_base(text);
    if (base) {
        resolve_integer(text, base, n);
        return;
    }
    RealForm form = real_form(text);
    if (form) resolve_real(text, form, n);
}

/* 2001-12-14, or 2001-12-14t21:59:43.10-05:00 with the variations that YAML 1.1 allows. */
static bool is_date(Str s)
{
    size_t at = 5, from;
    if (s.n < 8 || !is_digit(s.s[0]) || skip_set(str_sub(s, 0, 4), 0, "0123456789", 4) != 4 || s.s[4] != '-')
        return false;
    if (s.n == 10 && is_digit(s.s[5]) && is_digit(s.s[6]) && s.s[7] == '-' && is_digit(s.s[8]) &&
        is_digit(s.s[9]))
        return true;
    for (int part = 0; part < 2; part++) {
        from = at;
        while (at < s.n && at - from < 2 && is_digit(s.s[at])) at++;
        if (at == from) return false;
        if (part == 0 && (at >= s.n || s.s[at++] != '-')) return false;
    }
    if (at >= s.n) return false;
    if (s.s[at] == 'T' || s.s[at] == 't')
        at++;
    else if ((at = skip_set(s, at, " \t", 1)) > s.n)
        return false;
    for (int part = 0; part < 3; part++) {
        from = at;
        while (at < s.n && at - from < 2 && is_digit(s.s[at])) at++;
        if (at - from < (part ? 2u : 1u)) return false;
        if (part < 2 && (at >= s.n || s.s[at++] != ':')) return false;
    }
    if (at < s.n && s.s[at] == '.') at = skip_set(s, at + 1, "0123456789", 0);
    size_t zone = skip_set(s, at, " \t", 0);
    if (zone == s.n) return at == s.n;
    if (s.s[zone] == 'Z') return zone + 1 == s.n;
    if (s.s[zone] != '+' && s.s[zone] != '-') return false;
    at = zone + 1;
    from = at;
    while (at < s.n && at - from < 2 && is_digit(s.s[at])) at++;
    if (at == from) return false;
    if (at == s.n) return true;
    return s.s[at] == ':' && s.n - at == 3 && is_digit(s.s[at + 1]) && is_digit(s.s[at + 2]);
}

bool scalar_ambiguous(Str text)
{
    if (text.n == 0 || str_eq_c(text, "=") || str_eq_c(text, "<<")) return true;
    if (text.n <= MAX_NUMBER && (integer_base(text) || real_form(text) || is_date(text))) return true;
    Node n;
    scalar_resolve(text, &n);
    return n.kind != NODE_STR;
}
