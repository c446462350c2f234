/* The performance model of a run's search: predicts the seconds of a kernel on the sizes of a group. */
#ifndef TUNER_SEARCH_MODEL_H
#define TUNER_SEARCH_MODEL_H

#include "measure/search.h"
#include "run/run.h"

/* Frees what init took; m may be zeroed. */
void search_model_fini(SearchModel *m);
/* *out keeps pointers to r and g, and memory of r's arena. */
Err search_model_init(Run *r, const Group *g, SearchModel *out);

#endif
