/* One row of the table of toolchains (toolchain_rows.c). */
#ifndef BUILD_TOOLCHAIN_ROW_H
#define BUILD_TOOLCHAIN_ROW_H

#include "build/toolchain.h"

enum { TOOLCHAIN_MAX_PROGRAMS = 24, TOOLCHAIN_MAX_FIXED = 20 };

typedef struct {
    const char *name;
    /* Programs to look for, the preferred one first. A bare word is searched in PATH; '%' is the directory of
     * this program, '$NAME' the value of an environment variable. */
    const char *programs[TOOLCHAIN_MAX_PROGRAMS + 1];
    const char *forced_word; /* a forced compiler with this in its name belongs to the row; NULL: any other */
    const char *install_hint;
    const char *version_word; /* in the line of --version with the version; NULL: the first line */
    const char *source_suffix, *object_suffix;
    const char *headers;
    const char *fixed[TOOLCHAIN_MAX_FIXED + 1]; /* arguments of every compilation */
    const char *output[6];           /* those of `fixed` that choose the output; a probe omits them */
    const char *probe[6];            /* arguments that check others without making a file */
    const char *architecture_prefix; /* "-march=", before the target's name */
    /* Adds arguments that depend on the target; may be NULL. */
    void (*flags)(const Target *t, const char **args, size_t *n);
    /* Arguments for sources that have `marked_word` among their first MARKED_BYTES bytes; compilers that do
     * not know them go without. NULL: none. */
    const char *marked_word, *marked[4];
    /* The reason why this version must not be used for the target, or NULL. */
    const char *(*unfit)(const Target *t, const char *version);
    const char *linker;       /* found by the compiler's -print-prog-name; NULL: the compiler links */
    const char *disassembler; /* found like the linker; NULL: none is used */
    const char *link[8];      /* arguments of every link; none: objects of this row are not linked */
} ToolchainRow;

/* Rows in order; NULL after the last. */
const ToolchainRow *toolchain_row_at(size_t i);

#endif
