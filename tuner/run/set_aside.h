/* What lies in a result folder and is not of this config: named, and moved to OUTDIR/set_aside.
 *
 * The steps that read a folder read all of it, so logic or results of an earlier form of the config, or of
 * another program, would go into the library. Nothing is removed. In a folder outside OUTDIR nothing is moved
 * either: what is not of this config is named there, and the callers do not use it.
 */
#ifndef TUNER_SET_ASIDE_H
#define TUNER_SET_ASIDE_H

#include "run/run.h"

typedef struct {
    Str below;                 /* the folder, as the global parameter names it */
    const char *what;          /* "logic files": for the message */
    const char *const *suffix; /* NULL-terminated: only such files are looked at */
    bool recursive;
    bool (*keep)(const void *ctx, Str name); /* name: relative to the folder */
    const void *ctx;
} Leftovers;

Err set_aside(Run *r, const Leftovers *l);

#endif
