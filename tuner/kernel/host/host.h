/* Host lowering: programs and helper kernels to C with vector types. Called by kernel.c only; the ABI is in
 * kernel.h. */
#ifndef KERNEL_HOST_HOST_H
#define KERNEL_HOST_HOST_H

#include "kernel/program.h"
#include "problem/problem.h"

Err host_lower(const Program *p, Str symbol, Buf *out);
/* Header with name and hash, then body with names prefixed. Of an unnamed kernel (kernel/text.h): body. */
Err host_finish_program(const Program *p, Str symbol, Str body, Buf *out);
Err host_beta_only(const ProblemType *pt, const Target *t, bool ga, Str symbol, Buf *out);
/* Sets n 32-bit flags to 0. */
Err host_flags(const ProblemType *pt, const Target *t, Str symbol, Buf *out);
Err host_post_gsu(const ProblemType *pt, const Target *t, Str symbol, Buf *out);

#endif
