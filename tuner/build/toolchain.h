/* Toolchains: the compiler that makes code objects for a target (path, version, flags) and the linker that
 * joins objects into one file.
 *
 * Rows are in toolchain_rows.c, named as in the last column of problem/targets.def: "cc" for the host, "hip"
 * for AMD, "cuda" for NVIDIA. A name may have several rows, tried in order (NVRTC, then nvcc). A row lists
 * the programs to look for, the arguments of every call, those that depend on the target, and the targets for
 * which a version must not be used. Compilations are run by build.h.
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
    const char *version; /* the line of --version that has it */
    /* Arguments of a compilation, without program, source and '-o object'; NULL-terminated. */
    const char *args[TOOLCHAIN_MAX_ARGS];
    size_t n_args;
    /* Further arguments of sources that have the word near their beginning; NULL: there are none. */
    const char *marked_word;
    const char *const *marked;
    const char *source_suffix, *object_suffix; /* ".c", ".o"; code objects: target_code_suffix */
    const char *headers;          /* '#include' lines that sources begin with, for precompiling; NULL: none */
    const char *linker;           /* full path; NULL: objects are not linked */
    const char *disassembler;     /* full path; NULL: there is none */
    const char *const *link_args; /* arguments after the objects, NULL-terminated */
    Str identity; /* version and arguments: together with the source they determine the object */
} Toolchain;

/* The further arguments of a source, NULL-terminated; NULL: it has none. */
const char *const *toolchain_marked(const Toolchain *t, Str source);

/* Finds the compiler for a target: forced (a name or a path), or the first of the rows' programs that is
 * there and accepts the target's flags. extra: more arguments, NULL or NULL-terminated. Strings live in the
 * arena. ERR_FAILED when no compiler can be used: one line says what is wrong with each that was found.
 * ERR_INPUT when no toolchain knows the target. */
Err toolchain_find(Arena *a, const Target *target, const char *forced, const char *const *extra,
                   Toolchain *out);

#endif
