/* Which part of an architecture a run is for, and how many compute units that has. A device that is there
 * tells its own; what is here counts for --compile-only and --simulate. Called by list.c and step_device.c.
 */
#ifndef TUNER_PART_CHOICE_H
#define TUNER_PART_CHOICE_H

#include "problem/part.h"
#include "run/run.h"

/* --part; *out NULL: there is none. ERR_INPUT: unknown, or not of --arch. */
Err part_option(const Options *o, const Part **out);
/* The name and compute units of what r->target is: of --part, else LibraryLogic's CUCount, else the parts
 * that its DeviceNames stand for (the largest), else the architecture's largest; 0 on the host. A simulated
 * run is told of guesses: on their numbers its times depend, while --compile-only uses them nowhere. */
Err part_choose(Run *r, const Part *asked, Str *name, int64_t *n_cu);
/* Says which DeviceNames are parts of another architecture than LibraryLogic's. */
void part_notice(Run *r);

#endif
