/* Programs from text, as program_dump writes it. */
#ifndef KERNEL_PARSE_H
#define KERNEL_PARSE_H

#include "kernel/program.h"

enum { PARSE_MAX_BYTES = 1 << 20, PARSE_MAX_OPS = 4096, PARSE_MAX_DEPTH = 16 };

/* Reads a program; everything in *p lives in the arena. name: of the file, for messages. The target's modules
 * and the order of the kernel's arguments follow from the program's numbers. ERR_INPUT: "name:line: what,
 * with the value". */
Err program_parse(Program *p, Str text, const char *name, Arena *arena);

#endif
