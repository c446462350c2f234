/* Supervisor: owns plan, results, log and events, and lets worker processes run the kernels. When a worker
 * dies or is late, the solution that it was running is recorded as crashed or timed out, and a new worker
 * continues with the next one. */
#ifndef CLIENT_SUPERVISE_H
#define CLIENT_SUPERVISE_H

#include "client/race/plan.h"

/* Runs the plan. *n_failures: solutions that failed validation, were invalid, crashed or were late.
 * ERR_PARTIAL when interrupted (files are written). */
Err supervise(Session *s, const RunPlan *plan, int64_t *n_failures);

/* Properties of the device. A child process asks the driver, as a process that initialised it cannot fork
 * workers. */
Err supervise_props(const DeviceApi *api, int index, const DeviceOptions *options, DeviceProps *out);

#endif
