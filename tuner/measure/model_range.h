/* Sizes between those that were measured, and which kernels a library needs for them.
 *
 * A library that keeps only what wins on its own sizes has no good kernel for sizes of another kind: on an
 * H200's f16 list the best of the winners loses 20 % on sizes left out, whatever chooses among them
 * (test/README.md). So kernels stay that the performance model expects to win on a grid over the range.
 */
#ifndef MEASURE_MODEL_RANGE_H
#define MEASURE_MODEL_RANGE_H

#include "measure/model_store.h"
#include "problem/model_select.h"
#include "problem/sizes.h"

/* On which alignments kernels ran: a kernel runs on a size if it has a time on one that is aligned no
 * better. */
typedef struct {
    size_t n_kernels;
    uint64_t (*of)[2]; /* of each kernel: a bit for each combination of alignments of A, B and D */
} ModelRuns;
Err model_runs_make(Arena *a, const ModelMatrix *m, const bool *out, ModelRuns *runs);
bool model_runs_on(const ModelRuns *runs, size_t kernel, const ModelSize *z);

typedef struct {
    ProblemSize at;
    ModelSize size;
} RangeSize;

/* A grid over the range of the sizes for which out (may be NULL) is false: powers of two, with `steps` points
 * to an octave of M and N, none with more operations or bytes than the largest of these sizes; the same one
 * element below in those of M, N and K that align operands. batch: the same for all. */
Err model_range_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out, int steps,
                     int64_t batch, RangeSize **size, size_t *n);

/* Sizes that have two dimensions of such a size of one batch (of the first LINE_SIZES of them), and a third
 * one up to LINE_OCTAVES above or below its own, LINE_STEPS to an octave: what an application asks for that
 * has few weights and any number of tokens. The third one is a multiple of 16 from 16 on; and one less where
 * that changes an alignment. */
enum { LINE_OCTAVES = 2, LINE_STEPS = 4, LINE_SIZES = 800 };
Err model_lines_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out, RangeSize **size,
                     size_t *n);

/* n sizes anywhere in the range, log-uniform, by turns multiples of 32 and any others; fewer where the range
 * has few. */
typedef struct {
    size_t n;
    int64_t batch; /* the same for all; 0: drawn too, from those of the batched sizes */
    uint64_t seed;
} RangeDraws;
Err model_draws_make(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out,
                     const RangeDraws *draws, RangeSize **size, size_t *n);

/* The geometric mean of the batch counts of the batched sizes for which out (may be NULL) is false, which
 * stands for them in grids; 1: there are none. */
int64_t model_range_batch(const ModelMatrix *m, const bool *out);

/* Adds to `keep` (of m's kernels), which has the winners of measured sizes, up to `most` others that lower
 * what the best kept kernel loses on the range by prediction, of one batch and of several: the largest sum
 * of losses first, until none is above MODEL_RANGE_LOSS. A size that no kept kernel takes counts as a loss of
 * MODEL_RANGE_NONE. s: over all kernels of m. */
#define MODEL_RANGE_LOSS 0.03
#define MODEL_RANGE_NONE 2.0
enum { MODEL_RANGE_KERNELS = 40 };
Err model_range_keep(Arena *a, const ProblemType *pt, const ModelMatrix *m, const bool *out,
                     const ModelSelector *s, size_t most, bool *keep);

#endif
