/* Export: the results CSV of a size-group from the store, with the columns of Tensile's client: GFlops,
 * SizeI.., LDD.., Winner.., one per solution. Becomes Data/00_Final.csv and a file of 2_BenchmarkData. The
 * Winner columns are Tensile's: the first of the fastest cells; the analyzer chooses winners from samples.
 */
#ifndef TUNER_EXPORT_H
#define TUNER_EXPORT_H

#include "measure/result.h"

typedef struct {
    int n_indices;        /* number of sizes of a row, before the leading dimensions */
    int n_strides;        /* of convolutions: strides of A, which stand in place of leading dimensions */
    bool per_cu;          /* PerformanceMetric CUEfficiency */
    bool extra_columns;   /* CSVExportWinner */
    bool merge;           /* CSVMergeSameProblemID */
    const size_t *column; /* the candidates of the solution columns, in order */
    size_t n_columns;
    /* Number of CUs that a candidate uses on a size; called only with per_cu. */
    double (*cus)(void *ctx, size_t candidate, size_t size);
    void *cus_ctx;
} ExportOptions;

Err export_csv(Store *s, const PlanView *p, const ExportOptions *o, Buf *out);

#endif
