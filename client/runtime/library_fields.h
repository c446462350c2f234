/* Library: tables of the fields of the maps in a file, which are read from a Node or checked in msgpack
 * bytes. Both have the same requirements; where the check of bytes gives up (false), the map is read as a
 * Node, which decides. Private to library_*.c. */
#ifndef CLIENT_RUNTIME_LIBRARY_FIELDS_H
#define CLIENT_RUNTIME_LIBRARY_FIELDS_H

#include "fmt/msgpack_scan.h"
#include "fmt/node.h"

typedef enum {
    FIELD_I32,
    FIELD_I64,
    FIELD_BOOL,
    FIELD_DIMS, /* list of n to 3 integers: int32_t[3]; missing ones are not changed */
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
    uint16_t offset; /* in the struct that is filled in */
    int64_t min, max;
} Field;

enum { FIELDS_MAX = 64 }; /* of one table */

/* A row; key must be a string literal. */
#define FIELD(key, kind, required, n, member, min, max)                                                      \
    {                                                                                                        \
        key, sizeof key - 1, FIELD_##kind, required, n, member, min, max                                     \
    }

/* Fills in the struct at to; absent fields do not change it, an absent required one is ERR_INPUT. what: the
 * map's name for messages. */
Err fields_read(const char *name, const char *what, const Node *map, const Field *f, size_t n, void *to);

/* Checks the next object, a map with the table's keys in any order, and returns false if it gives up. For a
 * field of kind FIELD_OTHER, other must skip its value (NULL: the check gives up). It is fastest when the
 * table has the order of the file. to (may be NULL) gets FIELD_I64 and FIELD_TEXT. */
typedef bool FieldScan(void *ctx, const Field *f, Scan *s);
bool fields_scan(Scan *s, const Field *f, size_t n, FieldScan *other, void *ctx, void *to);

#endif
