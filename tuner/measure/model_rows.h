/* The table of a library as Tensile's readers use it: the nearest row's kernel, by one of Tensile's
 * distances. Rows are those of measured sizes, and of sizes for which the model predicts another winner. */
#ifndef MEASURE_MODEL_ROWS_H
#define MEASURE_MODEL_ROWS_H

#include "measure/model_quality.h"
#include "problem/sizes.h"

/* MODEL_ROW_GAIN: what a predicted winner must gain over the nearest row's kernel for a row of its own. */
#define MODEL_ROW_GAIN 0.05
enum { MODEL_ROWS_MAX = 1000 };

typedef struct {
    ProblemSize at;
    ModelSize size;
    size_t kernel;
    double seconds; /* predicted */
} ModelRow;

typedef struct {
    const ProblemType *pt;
    const ModelMatrix *m;
    const bool *out;    /* sizes that the table does not have; NULL: it has all */
    const bool *usable; /* kernels; NULL: all */
    size_t *row;        /* of m's sizes: the kernel; SIZE_MAX: it has no row */
    ModelRow *more;     /* predicted rows */
    size_t n_more;
} ModelTable;

/* Allocates row and fills it with the fastest usable kernels; no predicted rows. */
Err model_table_make(Arena *a, ModelTable *t);
/* The kernel of the nearest row that can run: whose time in seconds is > 0 (NULL: every kernel can).
 * SIZE_MAX: there is none. */
size_t model_table_nearest(const ModelTable *t, ModelWay way, const ModelSize *z, const double *seconds);
/* Adds predicted rows, at powers of two in the range of the table's sizes; fills in more. */
Err model_table_predict(Arena *a, ModelTable *t, ModelWay way, const ModelSelector *s);

#endif
