/* How good choices by the performance model are, judged on measured times, and beside them Tensile's nearest
 * sizes. */
#ifndef MEASURE_MODEL_QUALITY_H
#define MEASURE_MODEL_QUALITY_H

#include "measure/model_teach.h"
#include "measure/model_tree.h"
#include "problem/model_select.h"
#include "problem/problem.h"

/* Tensile's distances, by which a library's table finds the nearest size. */
typedef enum {
    DISTANCE_RATIO,
    DISTANCE_MANHATTAN,
    DISTANCE_EUCLIDEAN,
    DISTANCE_JSD,
    TABLE_DISTANCES
} TableDistance;
const char *table_distance_name(TableDistance d);

/* Methods that select a kernel for a size. */
typedef enum {
    SELECT_MODEL_TYPICAL,  /* the performance model with the rates of data sheets */
    SELECT_MODEL_FITTED,   /* with rates that are fitted to measured times */
    SELECT_MODEL_RESIDUAL, /* and with the residuals of measured sizes, as libtuner selects */
    SELECT_TABLE,          /* the winner of the nearest size: SELECT_TABLE + TableDistance */
    SELECT_TREE = SELECT_TABLE + TABLE_DISTANCES, /* a decision tree */
    SELECT_TABLE_ROWS, /* the nearest row by Ratio, in a table with predicted rows */
    SELECT_METHODS
} SelectMethod;
const char *select_method_name(SelectMethod m);

/* Loss of a choice on a size: its time over the best, minus 1. */
typedef struct {
    size_t n;                          /* sizes */
    size_t n_ranked;                   /* of them with at least 3 kernels, which have a rank correlation */
    double share;                      /* mean speed of the first choice over the best */
    double spearman;                   /* mean over ranked sizes; NAN: there are none */
    double mean, p50, p90, p95, worst; /* of the losses */
    double mean_lo, mean_hi;           /* 95% interval of the mean, by bootstrap */
    double first_99;                   /* mean number of first choices that hold 99% of the best; NAN */
    double *loss;                      /* of each size, in the arena; NAN: not judged */
    size_t n_sizes;                    /* of loss */
} ModelQuality;

/* Fits rates of all classes to the matrix, without the sizes for which out (may be NULL) is true. */
Err model_fit_matrix(const ModelMatrix *m, const bool *out, const ModelDevice *d, ModelRates r[MODEL_CLASSES],
                     ModelFit fit[MODEL_CLASSES]);
/* A selector over the matrix's kernels and sizes, in the arena; without the sizes for which out is true.
 * taught: by model_teach; NULL: it is called for this matrix. */
Err model_selector_of(Arena *a, const ModelMatrix *m, const bool *out, const ModelDevice *d,
                      const ModelRates r[MODEL_CLASSES], const ModelTaught *taught, ModelSelector *s);

double table_distance(TableDistance d, const ModelSize *a, const ModelSize *b);

/* How sizes are dealt into folds; other seeds give other folds. */
typedef struct {
    int n;
    uint64_t seed;
} ModelFolds;
/* The size's fold. Sizes with the same M and N, which teach each other most, are in one. */
int model_fold_of(const ModelSize *z, ModelFolds f);

/* All methods on sizes that the fold had not seen. Sizes that differ only in K and the batch are in one fold.
 * With residuals the choice is among the kernels that a library of the other sizes keeps (model_range_keep),
 * as is that of predicted rows. pt NULL: among all kernels, and without predicted rows. */
Err model_cross_validate(Arena *a, const ProblemType *pt, const ModelMatrix *m, const ModelDevice *d,
                         ModelFolds folds, ModelQuality q[SELECT_METHODS]);
/* Fills in a quality from q->loss of n sizes (n_sizes, share and losses). */
Err model_quality_finish(Arena *a, ModelQuality *q, size_t n);
/* Whether the mean of a's losses is clearly less than that of b's: the 95% interval of the mean difference,
 * on sizes that both judged, is below 0. Both are of the same sizes. */
bool model_quality_is_less(const ModelQuality *a, const ModelQuality *b);
void model_quality_text(SelectMethod method, const ModelQuality *q, char *text, size_t size);

#endif
