/* JSON text (RFC 8259), written value by value into a buffer.
 *
 * The caller opens and closes objects and arrays; commas are set here. key: of a member of an object, a
 * literal without characters that need escapes; NULL in arrays. Strings may hold anything: bytes that are no
 * UTF-8 become U+FFFD, and '<', '>' and '&' are escaped, so that the text can stand inside of an HTML page.
 * Does not check that brackets match.
 */
#ifndef FMT_JSON_H
#define FMT_JSON_H

#include "base/str.h"

typedef struct {
    Buf *out;
    bool comma; /* a value stands before the next one */
} Json;

static inline Json json_to(Buf *out) { return (Json){.out = out}; }

void json_object(Json *j, const char *key);
void json_object_end(Json *j);
void json_array(Json *j, const char *key);
void json_array_end(Json *j);

void json_str(Json *j, const char *key, Str s);
void json_cstr(Json *j, const char *key, const char *s);
void json_int(Json *j, const char *key, int64_t v);
void json_bool(Json *j, const char *key, bool v);
void json_null(Json *j, const char *key);
/* Six significant digits; null for NAN and infinities, which JSON has not. */
void json_real(Json *j, const char *key, double v);

#endif
