/* Kernels written by hand, which a solution names (CustomKernelName): the facts that derivation needs. Their
 * texts are kernel programs in files NAME.tile, which kernel/custom.h reads. */
#ifndef SPACE_CUSTOM_H
#define SPACE_CUSTOM_H

#include "base/str.h"

struct ProblemType;

typedef struct CustomKernel {
    Str name, path, text;
    int32_t tile_m, tile_n; /* the tile of D of a work-group */
    int32_t n_threads;      /* of a work-group */
    int32_t depth;          /* elements of K of the first product op */
    int32_t mapping;        /* WorkGroupMapping */
} CustomKernel;

/* find: the kernel of that name for the problem type, or NULL. */
typedef struct {
    const CustomKernel *(*find)(void *context, Str name, const struct ProblemType *pt);
    void *context;
} CustomKernels;

#endif
