/* Shortest decimal text of a double. See real.h. */
#include "fmt/real.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* '-d.ddde-xx' with the fewest digits that read back as v. 15 digits of any normal number survive the round
 * trip, so a shorter text shows in %.15g as trailing zeros. The lower neighbour of a power of two is at half
 * the distance of the upper one, where the shortest text may be rounded up. */
static void shortest_exponent_form(double v, char text[REAL_TEXT])
{
    int exponent;
    bool power_of_two = frexp(v, &exponent) == 0.5;
    for (int digits = v < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(text, REAL_TEXT, "%.*e", digits - 1, v);
        if (strtod(text, NULL) == v) return;
        char *last = &text[digits == 1 ? 0 : digits];
        if (!power_of_two || *last == '9') continue;
        ++*last;
        if (strtod(text, NULL) == v) return;
    }
}

static size_t put(char out[REAL_TEXT], const char *text)
{
    size_t n = strlen(text);
    memcpy(out, text, n + 1);
    return n;
}

/* Writes digits with the point after `point` of them in fixed or exponent form, as Python's repr chooses. */
static size_t digits_format(bool negative, const char *digits, int n, int point, char out[REAL_TEXT])
{
    char *p = out;
    if (negative) *p++ = '-';
    if (point > 16 || point < -3) {
        *p++ = digits[0];
        if (n > 1) {
            *p++ = '.';
            memcpy(p, digits + 1, (size_t)n - 1);
            p += n - 1;
        }
        p += snprintf(p, 8, "e%+03d", point - 1);
        return (size_t)(p - out);
    }
    if (point <= 0) {
        *p++ = '0';
        *p++ = '.';
        for (int i = point; i < 0; i++) *p++ = '0';
    }
    for (int i = 0; i < n || i < point; i++) {
        if (i == point && i) *p++ = '.';
        *p++ = i < n ? digits[i] : '0';
    }
    if (n <= point) {
        *p++ = '.';
        *p++ = '0';
    }
    *p = 0;
    return (size_t)(p - out);
}

size_t real_text(double v, char out[REAL_TEXT])
{
    if (isnan(v)) return put(out, "nan");
    if (isinf(v)) return put(out, v < 0 ? "-inf" : "inf");
    bool negative = signbit(v) != 0;
    v = fabs(v);
    if (v < 1e15 && v == floor(v))
        return (size_t)snprintf(out, REAL_TEXT, "%s%lld.0", negative ? "-" : "", (long long)v);
    char text[REAL_TEXT], digits[20];
    shortest_exponent_form(v, text);
    int n = 0;
    char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p != '.') digits[n++] = *p;
    int point = 1 + atoi(p + 1);
    while (n > 1 && digits[n - 1] == '0') n--;
    return digits_format(negative, digits, n, point, out);
}
