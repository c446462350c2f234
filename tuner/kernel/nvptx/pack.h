/* The helper kernel that copies operands into the workspace (problem/pack.h). */
#ifndef KERNEL_NVPTX_PACK_H
#define KERNEL_NVPTX_PACK_H

#include "kernel/lower/stmt.h"
#include "problem/problem.h"
#include "problem/target.h"

/* Appends its text. The symbol contains the element size (pack_kernel_bytes). */
Err nvptx_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out);

/* pack_text.c: adds pack(a, b), of elements of that size. ERR_FAILED: slices_verify refuses it. */
Err nvptx_pack_text(Stmts *s, int bytes);

#endif
