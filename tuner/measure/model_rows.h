/* The table of a library as Tensile's readers use it: the nearest row's kernel, by one of Tensile's
 * distances. Rows are those of measured sizes, and of sizes for which the model predicts another winner. */
#ifndef MEASURE_MODEL_ROWS_H
#define MEASURE_MODEL_ROWS_H

#include "measure/model_quality.h"
#include "measure/model_range.h"

/* MODEL_ROW_GAIN: what a predicted winner must gain over the nearest row's kernel for a row of its own; less
 * fills the table with rows that gain little before all drawn sizes were looked at.
 * MODEL_ROW_STEPS: points to an octave of M and N of a table that is written; one that is judged has one.
 * MODEL_ROWS_MAX: the most predicted rows. Before sizes are drawn there are MODEL_ROWS_GRIDS at most, of them
 * MODEL_ROWS_BATCHED for batches and MODEL_ROWS_LINES for sizes that share two dimensions with measured
 * ones. */
#define MODEL_ROW_GAIN 0.12
enum {
    MODEL_ROWS_MAX = 56000,
    MODEL_ROWS_GRIDS = 24000,
    MODEL_ROWS_BATCHED = 8000,
    MODEL_ROWS_LINES = 8000,
    MODEL_ROW_STEPS = 2
};

typedef struct {
    ProblemSize at;
    ModelSize size;
    size_t kernel;
    double seconds; /* predicted */
} ModelRow;

/* The parts of a key: M, N, K and the batch count, which tables of batched sections have. */
enum { MODEL_ROW_BATCH = 3, MODEL_ROW_DIMS };

/* Rows of one section, in the order in which they were added: measured sizes by number, then predicted rows,
 * whose numbers follow. */
typedef struct {
    double log[MODEL_ROW_DIMS];
    uint32_t row;
} ModelRowKey;
typedef struct {
    ModelRowKey *v;
    float *log[MODEL_ROW_DIMS]; /* the same logarithms in single precision, side by side, padded to vectors */
    size_t n, room;
} ModelRowKeys;

typedef struct {
    const ProblemType *pt;
    const ModelMatrix *m;
    const bool *out;    /* sizes that the table does not have; NULL: it has all */
    const bool *usable; /* kernels; NULL: all */
    bool sections;      /* sections (problem/section.h) are asked before all rows, as in a library */
    ModelRuns runs;
    ModelRowKeys *keys; /* of each section (problem/section.h) */
    size_t *row;        /* of m's sizes: the kernel; SIZE_MAX: it has no row */
    ModelRow *more;     /* predicted rows */
    size_t n_more;
} ModelTable;

/* Allocates row and fills it with the fastest usable kernels; no predicted rows. */
Err model_table_make(Arena *a, ModelTable *t);
/* The kernel of the nearest row that can run: whose time in seconds is > 0 (NULL: that has run on a size that
 * is aligned no better).
 * SIZE_MAX: there is none. */
size_t model_table_nearest(const ModelTable *t, TableDistance d, const ModelSize *z, const double *seconds);
/* Adds predicted rows for Ratio in the range of the table's sizes (model_range.h); fills in more. written:
 * as many as a library gets; else fewer, which loses a little more, for judging. */
Err model_table_predict(Arena *a, ModelTable *t, bool written, const ModelSelector *s);

#endif
