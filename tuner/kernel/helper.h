/* Helper kernels that a solution needs beside its own: those that prepare D or the workspace, and those that
 * add up the parts of a GlobalSplitU. */
#ifndef KERNEL_HELPER_H
#define KERNEL_HELPER_H

#include "base/arena.h"
#include "kernel/kernel.h"

enum { HELPERS_MAX = 7 };
#define FLAGS_SYMBOL "WSFlags" /* Tensile's */

typedef enum {
    HELPER_BETA_ONLY,
    HELPER_POST_GSU,
    HELPER_FLAGS, /* sets the counters of a tile's parts to 0 */
    HELPER_PACK   /* copies A and B: problem/pack.h */
} HelperKind;

typedef struct {
    Str symbol;
    HelperKind kind;
    bool ga; /* of beta-only: writes the workspace */
} HelperKernel;

/* Lists all helper kernels that a launch of s may need, for problems of any size. */
Err kernel_helpers(Arena *a, const Solution *s, HelperKernel out[HELPERS_MAX], size_t *n);
Err kernel_emit_helper(const ProblemType *pt, const Target *t, const HelperKernel *h, Buf *out);

/* Is the helper kernel shared by two compute types? A helper's name has the type of D alone, and
 * C.._H_PostGSU is launched by solutions that compute in half (MultipleBuffer) and by those that compute in
 * float (SingleBuffer, which passes alpha 1, beta 0 and one part). One kernel serves both: it reads the word
 * behind alpha, which is beta for float and always 0, and the first stride for half and never 0. The kernel
 * declares 4 bytes fewer than a launch in float passes; NVIDIA's driver needs the exact number, so this is
 * never true there. */
bool helper_is_for_both(const ProblemType *pt, const Target *t, Str symbol);
/* Does the helper kernel of one problem type compute what another needs that launches the same name? */
bool helper_serves(const ProblemType *made_for, const ProblemType *pt, const Target *t, Str symbol);

#endif
