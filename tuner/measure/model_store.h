/* What the store knows for the performance model: the numbers of kernels, fitted rates, and the measured
 * times of a plan as a matrix. The tables are made when something is first written to them. */
#ifndef MEASURE_MODEL_STORE_H
#define MEASURE_MODEL_STORE_H

#include "measure/calibrate.h"
#include "measure/result.h"

/* A kernel that is already there is replaced: a newer program may count differently. */
Err store_model_kernel_add(Store *s, int64_t kernel, const ModelKernel *k);
Err store_model_kernel_get(Store *s, int64_t kernel, ModelKernel *out, bool *found);

/* Rates of a class that were fitted on a device for a problem type. key: the device's fingerprint and the
 * problem type. */
typedef struct {
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES];
    ModelFit fit[MODEL_CLASSES];
} ModelRecord;
/* A record is kept under two keys: the fingerprint, and that of each plan whose times it was fitted to. */
#define MODEL_PLAN_KEY "plan %lld"
Err store_model_add(Store *s, Str key, const ModelRecord *m);
Err store_model_get(Store *s, Str key, ModelRecord *out, bool *found);

/* The times of a plan's candidates on its sizes. */
typedef struct {
    size_t n_kernels, n_sizes;
    ModelKernel *kernel;
    bool *known; /* of each kernel: its numbers are in the store */
    ModelSize *size;
    double *seconds; /* [size * n_kernels + kernel]; 0: not measured, or it failed */
} ModelMatrix;
Err model_matrix_load(Store *s, Arena *a, const PlanView *p, ModelMatrix *out);

/* A problem's size as the model sees it, which its key does not tell of contractions. */
Err store_model_size_add(Store *s, int64_t problem, const ModelSize *z);
/* Of a store that does not have it: that of the key. bytes: of an element of A and B, and of D. */
Err store_model_size_get(Store *s, const SizeRow *row, int32_t bytes_ab, int32_t bytes_d, ModelSize *out);

/* The size of a SizeRow.key of a GEMM, with packed batches. */
ModelSize model_size_of_key(Str key, int32_t bytes_ab, int32_t bytes_d);

#endif
