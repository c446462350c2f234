/* The fixed parts of kernels (instructions, conversions, helper functions), which are files in the kernels'
 * own language. They stand in tuner/kernel/FOLDER/text and are compiled into the program. Names in them begin
 * with g_, which replaces the '@' of printed statements. */
#ifndef KERNEL_TEXT_H
#define KERNEL_TEXT_H

#include "base/str.h"

typedef struct {
    const char *name, *text;
} KernelText;
/* The table that the Makefile generates; its last entry has a NULL name. */
extern const KernelText kernel_texts[];

/* Appends the file of that name, "nvptx/async.cuh". Aborts when there is none: names are constants. */
void kernel_text_put(const char *name, Buf *out);

/* ---- a kernel's name ---- */

/* A placeholder for the symbol of a kernel whose name is made from the hash of its text. A program that is
 * lowered with it gives a text without title and hash, in which the placeholder stands for the symbol. */
#define KERNEL_UNNAMED STR("\1")
static inline bool kernel_is_unnamed(Str symbol) { return str_eq(symbol, KERNEL_UNNAMED); }
/* Appends such a text with the symbol in place of the placeholder. */
void kernel_text_name(Str text, Str symbol, Buf *out);

#endif
