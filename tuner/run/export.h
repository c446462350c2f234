/* Export: the results CSV of a size-group out of the store, in the form that tuner-client itself writes
 * (tensile-formats 4.3 names: GFlops, SizeI.., LDD.., Winner.., one column per solution). Becomes
 * Data/00_Final.csv and 2_BenchmarkData/.
 *
 * Does not choose winners: the Winner columns are Tensile's, the first of the fastest cells. Called by the
 * run.
 */
#ifndef TUNER_EXPORT_H
#define TUNER_EXPORT_H

#include "measure/result.h"

typedef struct {
    int n_indices;        /* sizes of a row before the leading dimensions */
    bool per_cu;          /* PerformanceMetric CUEfficiency */
    bool extra_columns;   /* CSVExportWinner */
    bool merge;           /* CSVMergeSameProblemID */
    const size_t *column; /* candidates that have one, in order */
    size_t n_columns;
    /* CUs that a candidate uses on a size; only asked for when per_cu. */
    double (*cus)(void *ctx, size_t candidate, size_t size);
    void *cus_ctx;
} ExportOptions;

Err export_csv(Store *s, const PlanView *p, const ExportOptions *o, Buf *out);

#endif
