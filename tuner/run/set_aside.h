/* Moves files of a result folder that do not belong to the config to OUTDIR/set_aside, with a warning.
 *
 * Steps read whole folders. Without this, logic or results of an earlier version of the config, or of another
 * program, would get into the library. Nothing is deleted. Files of a folder outside OUTDIR are only
 * reported, and callers do not use them.
 */
#ifndef TUNER_SET_ASIDE_H
#define TUNER_SET_ASIDE_H

#include "run/run.h"

typedef struct {
    Str below;                 /* the folder, as the global parameter names it */
    const char *what;          /* "logic files", for the message */
    const char *const *suffix; /* NULL-terminated; files with other suffixes are ignored */
    bool recursive;
    bool (*keep)(const void *ctx, Str name); /* name: relative to the folder */
    const void *ctx;
} Leftovers;

Err set_aside(Run *r, const Leftovers *l);

#endif
