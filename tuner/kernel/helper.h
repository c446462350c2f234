/* Helper kernels: which ones a solution needs beside its own: what prepares
 * D or the workspace and what adds up the parts of a GlobalSplitU. Used by createlib and the benchmark step.
 */
#ifndef KERNEL_HELPER_H
#define KERNEL_HELPER_H

#include "base/arena.h"
#include "kernel/kernel.h"

enum { HELPERS_MAX = 6 };

typedef struct {
    Str symbol;
    bool post_gsu; /* else beta-only */
    bool ga;       /* of beta-only: writes the workspace */
} HelperKernel;

/* All names that a launch of s may ask for, whatever the problem's size. */
Err kernel_helpers(Arena *a, const Solution *s, HelperKernel out[HELPERS_MAX], size_t *n);
Err kernel_emit_helper(const ProblemType *pt, const Target *t, const HelperKernel *h, Buf *out);

#endif
