/* One solution on one problem as Tensile's client times it: the validated run, then the timing loop of the
 * options, with nothing in between. Used by worker.c; blocks.h is the other way. */
#ifndef CLIENT_TIMING_H
#define CLIENT_TIMING_H

#include "client/worker/launches.h"

/* Fills in end (WORK_END) and sends the messages before it. An Err is INVALID with its message. */
Err timing_loop(Run *r, WorkMessage *end);

#endif
