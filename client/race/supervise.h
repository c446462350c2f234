/* Supervisor: owns plan, results, log and events, and lets workers run the kernels. A worker that dies or is
 * late costs the solution that it was running, which is recorded; the next worker goes on behind it. Used by
 * main.c. */
#ifndef CLIENT_SUPERVISE_H
#define CLIENT_SUPERVISE_H

#include "client/race/plan.h"

/* Runs the plan. *n_failures: solutions that failed validation, were invalid, crashed or were late.
 * ERR_PARTIAL when interrupted (files are written). */
Err supervise(Session *s, const Plan *plan, int64_t *n_failures);

/* Properties of the device, asked of a process of its own, so that this one stays fit to fork. */
Err supervise_props(const DeviceApi *api, int index, const DeviceOptions *options, DeviceProps *out);

#endif
