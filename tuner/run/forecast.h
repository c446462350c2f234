/* How long measuring will take, before it begins: for the whole run's ETA while kernels are compiled. */
#ifndef TUNER_FORECAST_H
#define TUNER_FORECAST_H

#include "run/eta.h"
#include "run/run.h"

/* Adds what the store has of earlier measurements in a setting: the times between their ends. */
Err forecast_history(Store *s, int64_t setting, Eta *eta);
/* Of all groups: from history where there is some, else from the budget of a race (client/options.def); hi
 * < 0: nothing is known yet. */
Err forecast_measure(Run *r, EtaRange *out);

#endif
