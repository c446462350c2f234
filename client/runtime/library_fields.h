/* Library: the fields of the maps in a file, as tables, read from a Node or checked in msgpack bytes. Both
 * ask the same of them; what the bytes' check does not know (false) the Node's reader has the last word on.
 * For the library_*.c files alone. */
#ifndef CLIENT_RUNTIME_LIBRARY_FIELDS_H
#define CLIENT_RUNTIME_LIBRARY_FIELDS_H

#include "fmt/msgpack_scan.h"
#include "fmt/node.h"

typedef enum {
    FIELD_I32,
    FIELD_I64,
    FIELD_BOOL,
    FIELD_DIMS, /* list of n to 3 integers: int32_t[3], the rest is left as it is */
    FIELD_TYPE, /* data type: int32_t */
    FIELD_TEXT, /* string of 1 to max bytes without NUL: Str, a view */
    FIELD_OTHER /* read elsewhere */
} FieldKind;

typedef struct {
    const char *key;
    uint8_t key_n;
    uint8_t kind; /* FieldKind */
    bool required;
    uint8_t n;
    uint16_t offset; /* in the struct that is read */
    int64_t min, max;
} Field;

enum { FIELDS_MAX = 64 }; /* of one table */

/* key is a literal. */
#define FIELD(key, kind, required, n, member, min, max)                                                      \
    {                                                                                                        \
        key, sizeof key - 1, FIELD_##kind, required, n, member, min, max                                     \
    }

/* Fills in the struct at to; fields that are absent leave it as it is, a required one is ERR_INPUT. what
 * names the map in messages. */
Err fields_read(const char *name, const char *what, const Node *map, const Field *f, size_t n, void *to);

/* Checks the next object, a map with the table's keys in any order. Where a field of kind FIELD_OTHER comes,
 * other (NULL: the check is given up) must pass over its value. Sorted tables are fastest. to (may be NULL)
 * gets FIELD_I64 and FIELD_TEXT. */
typedef bool FieldScan(void *ctx, const Field *f, Scan *s);
bool fields_scan(Scan *s, const Field *f, size_t n, FieldScan *other, void *ctx, void *to);

#endif
