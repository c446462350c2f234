/* The performance model as a search uses it (SearchModel): predicted seconds of a kernel on the sizes of a
 * group, 0 on sizes on which the solution cannot run (conditions.h), with rates that are fitted to measured
 * times. */
#ifndef MEASURE_PREDICTOR_H
#define MEASURE_PREDICTOR_H

#include "measure/model.h"
#include "measure/search.h"

typedef struct {
    const Target *target;
    const ProblemType *pt;
    const ProblemSize *size;
    size_t n_sizes;
    bool beta;             /* C is read */
    int64_t max_workspace; /* bytes that a kernel may ask for; 0: without limit */
    ModelDevice device;
    ModelRates rates[MODEL_CLASSES]; /* initial rates: typical ones, or those fitted in an earlier run */
} PredictorOptions;

/* What the options point to must outlive *out. */
Err predictor_init(const PredictorOptions *o, SearchModel *out);
/* m may be zeroed. */
void predictor_fini(SearchModel *m);

#endif
