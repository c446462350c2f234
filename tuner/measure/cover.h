/* Cover: the fewest kernels with which no size loses more than a given share of its speed. Greedy set cover,
 * within ln(n) of the least number (Chvatal 1979).
 */
#ifndef MEASURE_COVER_H
#define MEASURE_COVER_H

#include "base/arena.h"

typedef struct {
    size_t n_sizes, n_kernels;
    const double *ns; /* [size][kernel]: time; INFINITY or NAN: it cannot be used on the size */
} CoverTimes;

typedef struct {
    bool *kept; /* of each kernel */
    size_t n_kept;
    size_t *choice;     /* of each size: its fastest kept kernel; SIZE_MAX: none works */
    double mean, worst; /* loss of speed against all kernels: geometric mean over sizes, and largest */
    /* Of each kernel: the same two losses if this kept kernel were left out too; 0 for kernels that are not
     * kept. INFINITY: a size would have no kernel. */
    double *mean_without, *worst_without;
} Cover;

/* max_loss: share of the speed, 0 to 1. A size on which no kernel runs is left out. Memory comes from a.
 * ERR_FAILED: out of memory. */
Err cover_make(Arena *a, const CoverTimes *t, double max_loss, Cover *out);

#endif
