/* Writer of JSON. See json.h. */
#include "fmt/json.h"

#include <inttypes.h>
#include <math.h>

static void next(Json *j, const char *key)
{
    if (j->comma) buf_putc(j->out, ',');
    if (key) buf_printf(j->out, "\"%s\":", key);
    j->comma = true;
}

static void open(Json *j, const char *key, char bracket)
{
    next(j, key);
    buf_putc(j->out, bracket);
    j->comma = false;
}

static void close(Json *j, char bracket)
{
    buf_putc(j->out, bracket);
    j->comma = true;
}

void json_object(Json *j, const char *key) { open(j, key, '{'); }
void json_object_end(Json *j) { close(j, '}'); }
void json_array(Json *j, const char *key) { open(j, key, '['); }
void json_array_end(Json *j) { close(j, ']'); }

/* Bytes of the UTF-8 character at s (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF); 0: none
 * begins there. */
static size_t utf8_length(const unsigned char *s, size_t n)
{
    if (s[0] < 0x80) return 1;
    const size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool beyond = (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf4 && s[1] >= 0x90);
    return overlong || beyond ? 0 : length;
}

static void text(Buf *out, Str s)
{
    const unsigned char *c = (const unsigned char *)s.s;
    buf_putc(out, '"');
    for (size_t i = 0, length; i < s.n; i += length) {
        length = utf8_length(c + i, s.n - i);
        if (!length) {
            length = 1;
            buf_puts(out, "\\ufffd");
        } else if (length == 1 && (c[i] < ' ' || c[i] == 0x7f || c[i] == '<' || c[i] == '>' || c[i] == '&')) {
            buf_printf(out, "\\u%04x", c[i]);
        } else {
            if (c[i] == '"' || c[i] == '\\') buf_putc(out, '\\');
            buf_add(out, c + i, length);
        }
    }
    buf_putc(out, '"');
}

void json_str(Json *j, const char *key, Str s)
{
    next(j, key);
    text(j->out, s);
}

void json_cstr(Json *j, const char *key, const char *s) { json_str(j, key, str_from(s)); }

void json_int(Json *j, const char *key, int64_t v)
{
    next(j, key);
    buf_i64(j->out, v);
}

void json_bool(Json *j, const char *key, bool v)
{
    next(j, key);
    buf_puts(j->out, v ? "true" : "false");
}

void json_null(Json *j, const char *key)
{
    next(j, key);
    buf_puts(j->out, "null");
}

void json_real(Json *j, const char *key, double v)
{
    if (!isfinite(v)) {
        json_null(j, key);
        return;
    }
    next(j, key);
    buf_printf(j->out, "%.6g", v);
}
