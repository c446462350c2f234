/* Kernels that a person has written, which a solution names (CustomKernelName): what derivation asks of them.
 * Their texts are programs over tiles in files NAME.tile (kernel/custom.h reads them). */
#ifndef SPACE_CUSTOM_H
#define SPACE_CUSTOM_H

#include "base/str.h"

struct ProblemType;

typedef struct CustomKernel {
    Str name, path, text;
    int32_t tile_m, tile_n; /* of D, of a work-group */
    int32_t n_threads;
    int32_t depth;   /* elements of K of the first product */
    int32_t mapping; /* WorkGroupMapping */
} CustomKernel;

/* find: the kernel of that name for the problem type, or NULL. */
typedef struct {
    const CustomKernel *(*find)(void *context, Str name, const struct ProblemType *pt);
    void *context;
} CustomKernels;

#endif
