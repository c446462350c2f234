/* Fits the performance model's rates to measured times: least squares of the logarithms of predicted over
 * measured time, separately for each class of kernels. The typical rates are the prior, so that a rate that
 * has no influence on the samples keeps its value.
 */
#ifndef MEASURE_CALIBRATE_H
#define MEASURE_CALIBRATE_H

#include "base/err.h"
#include "problem/model.h"

#include <stddef.h>

typedef struct {
    ModelKernel kernel;
    ModelSize size;
    double seconds; /* measured */
    double weight;  /* 1; less for kernels that lose by far on the size, whose times matter less */
} ModelSample;

/* How well a class fits, over its samples. */
typedef struct {
    size_t n;
    double before, after; /* median of |log(predicted / measured)|, typical rates and fitted ones */
} ModelFit;

/* Weights of samples whose best time on the same size is best_s: 1 at the best, falling with the ratio. */
double model_weight(double seconds, double best_s);

/* Changes r[class] of each class that has at least MODEL_SAMPLES_MIN samples; r holds the start, which is
 * also the prior. fit may be NULL. Deterministic. ERR_FAILED: out of memory. */
enum { MODEL_SAMPLES_MIN = 8 };
Err model_calibrate(const ModelSample *s, size_t n, const ModelDevice *d, ModelRates r[MODEL_CLASSES],
                    ModelFit fit[MODEL_CLASSES]);

#endif
