/* Progress of a run as an OpenMetrics text file (--metrics), for scrapers such as the node exporter's
 * textfile collector. Written to a temporary file that is renamed, at most every few seconds, and at the
 * end. */
#ifndef TUNER_METRICS_H
#define TUNER_METRICS_H

#include "run/run.h"

/* From now on the file is written while long steps work. Does nothing without --metrics. ERR_FAILED: the file
 * cannot be written. */
Err metrics_begin(Run *r);
/* A step begins. */
void metrics_step(Run *r, const char *name);
/* Writes the file with the run's final state and stops. */
void metrics_end(Run *r, const char *state);
/* Appends the text; state: "running", "done", "interrupted" or "failed". */
void metrics_text(const Run *r, const char *state, Buf *out);

#endif
