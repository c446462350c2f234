/* Names of helper kernels, which prepare D or the workspace before a kernel with GlobalSplitU and add up the
 * parts after it. Tensile's launcher builds these names from the solution and the problem, so that kernels
 * and launches must agree on every letter (Tensile/Source/lib/source/ContractionSolution.cpp,
 * betaOnlyKernelName and outputConversionKernelName).
 *
 * The functions allocate nothing. C indices: "Cijk".
 */
#ifndef PROBLEM_HELPER_NAME_H
#define PROBLEM_HELPER_NAME_H

#include "problem/fused.h"

enum {
    HELPER_INDICES_MAX = 16, /* of the C indices */
    HELPER_NAME_MAX =
        48 + FUSED_SUFFIX_MAX, /* bytes of a name without the numbers of a reduction, with its NUL */
    HELPER_SYMBOL_MAX = 64 + FUSED_SUFFIX_MAX /* bytes of any helper's name, with its NUL */
};

/* "Cijk_S", "Cijk_S_GB" for arrays of pointers; with "_GA" where the kernel prepares the workspace (any
 * GlobalAccumulation) and not D. */
void helper_beta_only_name(Str c_indices, DataType dest, bool strided_batched, bool ga,
                           char out[HELPER_NAME_MAX]);
/* "Cijk_S_PostGSU": the name without the numbers of its reduction; "Cijk_S_BiasS_RELU_PostGSU" where it does
 * the fused operations, which Tensile does not have. */
void helper_post_gsu_name(Str c_indices, DataType dest, bool strided_batched, const Fused *fused,
                          char out[HELPER_NAME_MAX]);

/* How a post-GSU kernel adds up the parts. */
typedef struct {
    uint32_t gsu;      /* parts */
    uint32_t unit;     /* parts per round of the unrolled loop, 16 per reducer; 1: the loop is not unrolled */
    uint32_t width;    /* elements of D per thread: 1 or 2 */
    uint32_t reducers; /* threads that share an element: 1, 2 or 4 */
} Reduction;

/* "Cijk_S_PostGSU16_mod32_VW2_R2": base with the parts that the last round takes, the unit where there are
 * several rounds, width and reducers where they are not 1. */
void helper_reduction_name(const char *base, const Reduction *r, char out[HELPER_SYMBOL_MAX]);
/* Width and reducers of such a name; 1 where it has none. */
uint32_t helper_name_width(Str symbol);
uint32_t helper_name_reducers(Str symbol);
/* The name ends with "_PostGSU": no numbers follow. */
bool helper_name_is_plain_post_gsu(Str symbol);

#endif
