/* Kernels written by hand: a solution's CustomKernelName names a file NAME.tile of a folder, which is read
 * when the first solution asks for it. */
#ifndef KERNEL_CUSTOM_H
#define KERNEL_CUSTOM_H

#include "base/arena.h"
#include "problem/target.h"
#include "space/custom.h"

enum { CUSTOM_KERNELS_MAX = 256 };

typedef struct {
    CustomKernels kernels; /* for DeriveLimits.custom */
    Arena *arena;
    const Target *target;
    Str dir;
    CustomKernel *kernel[CUSTOM_KERNELS_MAX];
    size_t n;
    Err error; /* of the first faulty file; ERR_OK: there is none */
    Str why;
} CustomFolder;

/* dir must outlive *f, which must not move. */
void custom_folder_init(CustomFolder *f, Arena *arena, const Target *target, Str dir);
/* Returns the first fault in the files that were asked for, as "FILE:line: what". */
Err custom_folder_check(const CustomFolder *f);

#endif
