/* Times one solution on one problem as Tensile's client does: the validated run, then the timing loop of the
 * options. blocks.h has the race's method instead. */
#ifndef CLIENT_TIMING_H
#define CLIENT_TIMING_H

#include "client/worker/launches.h"

/* Sends the messages of the request and fills in the last one, end (WORK_END). On an error the caller reports
 * INVALID with its message. */
Err timing_loop(WorkerContext *r, WorkMessage *end);

#endif
