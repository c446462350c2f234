/* Detects that other processes kept the CPU busy while host kernels were timed, which makes times long and
 * intervals wide. The end of a run and `tuner status` report it. */
#ifndef TUNER_BUSY_H
#define TUNER_BUSY_H

#include "run/run.h"

/* Samples the load average; the highest one of the measure step is kept. */
void busy_look(Run *r);
/* At the end of a run on the host: counts wide intervals, records the result and warns when the machine was
 * busy. Does nothing on other devices. */
Err busy_report(Run *r);

#endif
