/* Options of tuner-client, from its ini files and command line. options.def is the table. */
#ifndef CLIENT_OPTIONS_H
#define CLIENT_OPTIONS_H

#include "base/arena.h"
#include "base/cli.h"
#include "client/worker/init.h"
#include "problem/datatype.h"

typedef enum { BOUNDS_DISABLE, BOUNDS_NAN, BOUNDS_FRONT, BOUNDS_BACK, BOUNDS_ALL } BoundsCheck;
typedef enum { LEVEL_ERROR, LEVEL_TERSE, LEVEL_NORMAL, LEVEL_VERBOSE, LEVEL_DEBUG } LogLevel;

/* Values of a repeatable option, in order. */
typedef struct {
    Str *v;
    size_t n;
} StrList;

#define OPT_FIELD_NONE(field)
#define OPT_FIELD_TEXT(field) const char *field;
#define OPT_FIELD_FILE(field) const char *field;
#define OPT_FIELD_INT(field) int64_t field;
#define OPT_FIELD_REAL(field) double field;
#define OPT_FIELD_BOOL(field) bool field;
#define OPT_FIELD_LIST(field) StrList field;
#define OPT_FIELD_TYPE(field) DataType field;
#define OPT_FIELD_INIT(field) InitType field;
#define OPT_FIELD_BOUNDS(field) BoundsCheck field;
#define OPT_FIELD_LEVEL(field) LogLevel field;
#define OPT_FIELD_METRIC(field) bool field;

typedef struct {
#define OPT(name, kind, field, def, help) OPT_FIELD_##kind(field)
#include "client/options.def"
#undef OPT
    bool list_devices, check_peer;
    const char *config_file; /* "" none */
} ClientOptions;

extern const CliProgram client_program;

/* Reads the command line and the ini files it names (--config-file F, repeatable); the command line wins.
 * Strings live in the arena and in argv. *done: help or another text was printed. ERR_INPUT: unknown option
 * (with the nearest), bad value ('file:line: '). */
Err options_read(Arena *a, int argc, char **argv, ClientOptions *out, bool *done);

#endif
