/* The part of an architecture that a run is for, and its compute units, for --compile-only and --simulate. A
 * real device reports its own.
 */
#ifndef TUNER_PART_CHOICE_H
#define TUNER_PART_CHOICE_H

#include "problem/part.h"
#include "run/run.h"

/* The part of --part; *out is NULL without the option. ERR_INPUT when it is unknown or not of --arch. */
Err part_option(const Options *o, const Part **out);
/* Name and compute units for r->target: of --part, else of LibraryLogic's CUCount, else of the largest part
 * among its DeviceNames, else of the architecture's largest part; 0 on the host. Guesses are reported in
 * simulated runs only, whose times depend on them. */
Err part_choose(Run *r, const Part *asked, Str *name, int64_t *n_cu);
/* Reports DeviceNames that belong to another architecture than LibraryLogic's. */
void part_notice(Run *r);

#endif
