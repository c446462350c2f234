/* The helper kernel that copies operands into the workspace (problem/pack.h). */
#ifndef KERNEL_NVPTX_PACK_H
#define KERNEL_NVPTX_PACK_H

#include "kernel/lower/stmt.h"
#include "problem/problem.h"
#include "problem/target.h"

/* Appends its text. The symbol contains the element size (pack_kernel_bytes). */
Err nvptx_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out);

/* The types of the fields of problem/pack.def; element: what addresses point to. */
#define PACK_TYPE_TO(element) element " *"
#define PACK_TYPE_FROM(element) "const " element " *"
#define PACK_TYPE_U64(element) "u64"
#define PACK_TYPE_U32(element) "u32"
#define PACK_TYPE_I32(element) "int"
/* Adds the names u8, u32, u64; a structure of those fields. */
void nvptx_pack_types(Stmts *s);
void nvptx_pack_struct(Stmts *s, const char *name, const StmtParam *field, int n);

/* pack_text.c: adds pack(a, b), of elements of that size. ERR_FAILED: slices_verify refuses it. */
Err nvptx_pack_text(Stmts *s, int bytes);
/* pack_window.c: adds pack(pixels, filter). */
void nvptx_pack_window_text(Stmts *s, int bytes);

#endif
