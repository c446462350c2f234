/* The performance model of a search: the seconds of a kernel on the sizes of a group, with the conditions of
 * solutions on sizes (a size that a solution does not take has no time), and rates that are fitted to what is
 * measured. */
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
    ModelRates rates[MODEL_CLASSES]; /* to begin with: typical ones, or fitted in an earlier run */
} PredictorOptions;

/* What the options point to must outlive *out. */
Err predictor_init(const PredictorOptions *o, SearchModel *out);
/* m may be zeroed. */
void predictor_fini(SearchModel *m);

#endif
