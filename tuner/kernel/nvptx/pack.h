/* The helper kernel that copies operands into the workspace (problem/pack.h). */
#ifndef KERNEL_NVPTX_PACK_H
#define KERNEL_NVPTX_PACK_H

#include "base/str.h"
#include "problem/problem.h"
#include "problem/target.h"

/* Appends its text; the symbol says the size of elements. */
Err nvptx_pack(const ProblemType *pt, const Target *t, Str symbol, Buf *out);

#endif
