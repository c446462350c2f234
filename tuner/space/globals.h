/* Globals: a config's GlobalParameters; globals.def is the table. An unknown key gives a notice with the most
 * similar name, as in Tensile; an illegal value is an error. Overrides of the command line use globals_set.
 */
#ifndef MODEL_GLOBALS_H
#define MODEL_GLOBALS_H

#include <stdio.h>

#include "problem/problem.h"

/* The Tensile version whose configs are read. */
enum { TENSILE_MAJOR = 4, TENSILE_MINOR = 44, TENSILE_PATCH = 0 };

/* Values of ENUM rows. */
enum { METRIC_DEVICE_EFFICIENCY, METRIC_CU_EFFICIENCY };
enum { RUNTIME_HIP, RUNTIME_HSA, RUNTIME_HOST };
enum { CODE_OBJECT_DEFAULT, CODE_OBJECT_V4, CODE_OBJECT_V5 };
enum { FORMAT_YAML, FORMAT_MSGPACK };
enum { GLOBAL_SEARCH_EXHAUSTIVE, GLOBAL_SEARCH_MODEL, GLOBAL_SEARCH_RANDOM };

typedef enum { GLOBAL_BOOL, GLOBAL_INT, GLOBAL_REAL, GLOBAL_STR, GLOBAL_ENUM } GlobalKind;
typedef enum { GLOBAL_USED, GLOBAL_NONE } GlobalUse;

#define GTYPE_BOOL bool
#define GTYPE_INT int64_t
#define GTYPE_REAL double
#define GTYPE_STR Str
#define GTYPE_ENUM int

enum {
#define G(kind, field, def, legal, use, help) GLOBAL_KEY_##field,
#include "space/globals.def"
#undef G
    GLOBAL_KEYS
};

typedef struct {
#define G(kind, field, def, legal, use, help) GTYPE_##kind field;
#include "space/globals.def"
#undef G
    bool given[GLOBAL_KEYS]; /* by GLOBAL_KEY_name: the config or the command line sets it */
} Globals;

typedef struct {
    const char *name, *legal, *help;
    uint16_t offset; /* of the field in Globals */
    uint8_t kind, use;
} GlobalKey;

/* Rows in order; NULL after the last. */
const GlobalKey *global_key_at(size_t i);
const GlobalKey *global_key_find(Str name);
const char *global_nearest(Str name); /* NULL when no name is similar */

void globals_init(Globals *g);
/* Reads the map below GlobalParameters (null: nothing). Strings are views of the document, NUL-terminated. */
Err globals_read(const char *file, const Node *node, Notices *notices, Globals *g);
/* One key from text, as `--global-parameters key=value` gives it; the value is read as YAML. Strings are kept
 * in a. */
Err globals_set(Arena *a, const char *where, Str key, Str value, Notices *notices, Globals *g);
/* Seconds of a time like "600", "90s", "10m", "2h"; 0 for an empty text. False for anything else. */
bool time_parse(Str text, double *seconds);
/* Value as text: 'true', '128', '0.15', 'DeviceEfficiency'. Appends. */
void global_print(const GlobalKey *key, const Globals *g, Buf *out);
/* `tuner --help-globals`. */
void globals_help(FILE *f);
/* ERR_INPUT when files that need this Tensile version cannot be read; version: "4.44.0". */
Err tensile_version_check(Str version);

#endif
