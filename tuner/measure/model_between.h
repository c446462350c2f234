/* Which sizes between the tuned ones are worth measuring, and with which kernels: where the choice by the
 * model is expected to lose most for the seconds that measuring takes. What is measured there corrects the
 * model nearby, and makes rows of tables. */
#ifndef MEASURE_MODEL_BETWEEN_H
#define MEASURE_MODEL_BETWEEN_H

#include "measure/model_range.h"

/* Kernels that are measured on a size, at most. */
enum { BETWEEN_KERNELS = 6 };

typedef struct {
    ModelSize size;
    double seconds, kernel_seconds; /* measuring takes: without kernels; each kernel more */
    double gain;                    /* expected of measuring: a share of the time */
    uint32_t kernel[BETWEEN_KERNELS];
    int n_kernels;
    bool taken;
} BetweenSize;

typedef struct {
    double before, after; /* expected loss of the choice, mean over the pool */
    double seconds;
    size_t n, n_pairs;
} BetweenChoice;

/* Fills in all of the pool but size and seconds. Sizes are taken while they promise something and there is
 * time. s: over all of m's kernels and the sizes for which out (may be NULL) is false. */
Err model_between_choose(Arena *a, const ModelMatrix *m, const bool *out, const ModelSelector *s,
                         BetweenSize *pool, size_t n, double seconds, BetweenChoice *choice);

#endif
