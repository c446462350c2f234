/* Measures the sizes of a group on several devices of one model at once.
 *
 * Every device has a client of its own. A size is the unit of work: all its kernels are measured on one
 * device, one after the other or in a race, so that its winner is decided there. The largest sizes are dealt
 * first, and each device gets the next one when it is done, so that none waits for another but at the end.
 *
 * A device whose client dies twice in a row without finishing a pair is lost. The size that it worked on goes
 * to another device, and so do the kernels that crashed on it last, because the device may have caused that;
 * a kernel that is returned in this way twice is recorded as crashed. The run fails only when all devices are
 * lost. A killed run continues when it is started again, with these or other devices of the model.
 */
#ifndef TUNER_MEASURE_POOL_H
#define TUNER_MEASURE_POOL_H

#include "run/measuring.h"

/* Measures what the store lacks of m's group and run on r->pool. */
Err pool_measure(Measuring *m);

#endif
