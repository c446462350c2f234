/* Helper kernels that a solution needs beside its own: those that prepare D or the workspace, and those that
 * add up the parts of a GlobalSplitU. */
#ifndef KERNEL_HELPER_H
#define KERNEL_HELPER_H

#include "base/arena.h"
#include "kernel/kernel.h"

enum { HELPERS_MAX = 7 };

typedef enum {
    HELPER_BETA_ONLY,
    HELPER_POST_GSU,
    HELPER_PACK /* copies A and B: problem/pack.h */
} HelperKind;

typedef struct {
    Str symbol;
    HelperKind kind;
    bool ga; /* of beta-only: writes the workspace */
} HelperKernel;

/* All names that a launch of s may ask for, whatever the problem's size. */
Err kernel_helpers(Arena *a, const Solution *s, HelperKernel out[HELPERS_MAX], size_t *n);
Err kernel_emit_helper(const ProblemType *pt, const Target *t, const HelperKernel *h, Buf *out);

/* Names tell the type of D alone. C.._H_PostGSU is asked for by what computes in half (MultipleBuffer) and by
 * what computes in float (SingleBuffer, which passes alpha 1, beta 0, one part): one kernel that knows them
 * apart by the word behind alpha, which is float's beta, 0, or half's first stride, which is never 0. It
 * takes 4 bytes less than float's launch passes; not for NVIDIA, whose driver is told the exact number. */
bool helper_is_for_both(const ProblemType *pt, const Target *t, Str symbol);
/* A kernel made for one problem type is right for another that asks for the same name. */
bool helper_serves(const ProblemType *made_for, const ProblemType *pt, const Target *t, Str symbol);

#endif
