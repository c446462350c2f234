/* Kernels written by hand, by name: NAME.tile of a folder, read when a solution asks for it first. */
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
    Err error; /* of the first file that is faulty; ERR_OK */
    Str why;
} CustomFolder;

/* dir must outlive *f, which must not move. */
void custom_folder_init(CustomFolder *f, Arena *arena, const Target *target, Str dir);
/* The first fault of a file that was asked for: "FILE:line: what". */
Err custom_folder_check(const CustomFolder *f);

#endif
