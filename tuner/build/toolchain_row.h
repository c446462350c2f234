/* One row of the table of toolchains. Only toolchain.c and toolchain_rows.c include it. */
#ifndef BUILD_TOOLCHAIN_ROW_H
#define BUILD_TOOLCHAIN_ROW_H

#include "build/toolchain.h"

enum { TOOLCHAIN_MAX_PROGRAMS = 24, TOOLCHAIN_MAX_FIXED = 20 };

typedef struct {
    const char *name;
    /* Best first. A word is looked for in PATH; '%' is the directory of this program, '$NAME' the value of an
     * environment variable. */
    const char *programs[TOOLCHAIN_MAX_PROGRAMS + 1];
    const char *forced_word; /* in the name of a forced compiler that is of this row; NULL: any other */
    const char *install_hint;
    const char *version_word; /* in the line of --version that counts; NULL: the first */
    const char *source_suffix, *object_suffix;
    const char *headers;
    const char *fixed[TOOLCHAIN_MAX_FIXED + 1]; /* arguments of every compilation */
    const char *output[6];                      /* those of them that say what is made: not for a probe */
    const char *probe[6];                       /* checks arguments without making anything */
    const char *architecture_prefix;            /* "-march=", before the target's name */
    /* more that depend on the target; may be NULL */
    void (*flags)(const Target *t, const char **args, size_t *n);
    /* Why this version must not be used for the target, NULL when it may. */
    const char *(*unfit)(const Target *t, const char *version);
    const char *linker;       /* the compiler is asked for it (-print-prog-name); NULL: the compiler links */
    const char *disassembler; /* found like the linker; NULL: none is used */
    const char *link[8];      /* arguments of every link; none: objects of this row are not linked */
} ToolchainRow;

/* Rows in order; NULL behind the last. */
const ToolchainRow *toolchain_row_at(size_t i);

#endif
