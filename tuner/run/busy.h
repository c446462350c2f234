/* Was the machine busy while the host's kernels were timed? Others' work on the CPU makes times long and
 * intervals wide. Told at the end of a run and by `tuner status`. */
#ifndef TUNER_BUSY_H
#define TUNER_BUSY_H

#include "run/run.h"

/* The load average now, for the highest of the measure step. */
void busy_look(Run *r);
/* At the end of a run on a host: counts wide intervals, records what was seen, and says one line when the
 * machine was busy. Nothing on other devices. */
Err busy_tell(Run *r);

#endif
