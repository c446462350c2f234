/* Estimates the measuring time before measuring begins, for the ETA of the whole run while kernels are
 * compiled. */
#ifndef TUNER_FORECAST_H
#define TUNER_FORECAST_H

#include "run/eta.h"
#include "run/run.h"

/* Seconds of a race on one size (the client's option race-seconds), after a first launch of each kernel. */
#define RACE_SECONDS 2.0
/* Before anything was measured: seconds of a compilation on one core, and of a pair of kernel and size
 * besides its launches (validation, start). */
#define COMPILE_GUESS_SECONDS 1.5
#define PAIR_GUESS_SECONDS 0.05

/* Whether the client races the kernels of a size, or times them one after the other. */
bool run_races(const Run *r);
/* Adds the earlier measurements of a setting; the time of each is that since the end of the one before. */
Err forecast_history(Store *s, int64_t setting, Eta *eta);
/* The estimate for all groups: from earlier measurements, or else from the budget of a race
 * (client/options.def). hi < 0: unknown. */
Err forecast_measure(Run *r, EtaRange *out);

#endif
