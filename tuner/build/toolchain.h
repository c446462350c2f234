/* Toolchains: which compiler makes code objects for a target, where it is, its version and its flags; and the
 * linker that makes one file of several objects.
 *
 * Rows in toolchain.c, named as in the last column of problem/targets.def: "cc" for the host, "hip" for AMD,
 * "cuda" for NVIDIA. A name may have several rows, tried in order (NVRTC, then nvcc). A row says the programs
 * to look for, the arguments that every call has, those that depend on the target, and which targets a
 * version of it must not be used for. Does not run compilations (build.h).
 */
#ifndef BUILD_TOOLCHAIN_H
#define BUILD_TOOLCHAIN_H

#include "base/arena.h"
#include "problem/target.h"

enum { TOOLCHAIN_MAX_ARGS = 40 };

typedef struct {
    const Target *target;
    const char *name;    /* of the row */
    const char *program; /* full path of the compiler */
    const char *version; /* the line of its --version that tells it */
    /* Arguments of a compilation, without program, source and '-o object'; NULL-terminated. */
    const char *args[TOOLCHAIN_MAX_ARGS];
    size_t n_args;
    const char *source_suffix, *object_suffix; /* ".c", ".o"; of what is loaded: target_code_suffix */
    const char *headers;          /* '#include' lines that sources begin with, for precompiling; NULL: none */
    const char *linker;           /* full path of the program that links; NULL: its objects are not linked */
    const char *disassembler;     /* full path; NULL: none is known or there */
    const char *const *link_args; /* of a link, NULL-terminated; behind the objects */
    Str identity; /* version and arguments: with the source, everything that decides what an object has in it
                   */
} Toolchain;

/* Finds the compiler for a target: forced (a name or a path), or the first of the rows' programs that is
 * there and takes the target's flags. extra: more arguments, NULL or NULL-terminated. Strings live in the
 * arena. ERR_FAILED in one line, with what is wrong with each one found, when there is none; ERR_INPUT when
 * no toolchain knows the target. */
Err toolchain_find(Arena *a, const Target *target, const char *forced, const char *const *extra,
                   Toolchain *out);

#endif
