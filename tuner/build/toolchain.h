/* Toolchains: which compiler makes code objects for a target, where it is, its version and its flags.
 *
 * One row per toolchain in toolchain.c, named as in the last column of model/targets.def ("cc"). A row says
 * the programs to look for, the arguments that every call has, and those that depend on the target. Does not
 * run compilations (build.h).
 */
#ifndef BUILD_TOOLCHAIN_H
#define BUILD_TOOLCHAIN_H

#include "base/arena.h"
#include "model/target.h"

enum { TOOLCHAIN_MAX_ARGS = 32 };

typedef struct {
    const Target *target;
    const char *name;    /* of the row */
    const char *program; /* full path of the compiler */
    const char *version; /* first line of its --version */
    /* Arguments of a compilation, without program, source and '-o object'; NULL-terminated. */
    const char *args[TOOLCHAIN_MAX_ARGS];
    size_t n_args;
    const char *source_suffix, *object_suffix; /* ".c", ".o" */
    const char *headers;          /* '#include' lines that sources begin with, for precompiling; NULL: none */
    const char *const *link_args; /* of a link, NULL-terminated; behind the objects */
    Str identity; /* version and arguments: with the source, everything that decides what an object has in it
                   */
} Toolchain;

/* Finds the compiler for a target: forced (a name or a path) or the first of the row's programs that is
 * there, and checks that it takes the target's flags. extra: more arguments, NULL or NULL-terminated. Strings
 * live in the arena. ERR_FAILED in one line when there is no compiler or it is too old; ERR_INPUT when no
 * toolchain knows the target. */
Err toolchain_find(Arena *a, const Target *target, const char *forced, const char *const *extra,
                   Toolchain *out);

#endif
