/* `tuner --list-solutions CONFIG...`: forks the configs and applies the rules without building kernels.
 *
 * Prints the minimal names of the valid solutions of each size group in fork order (--names: full names).
 * --count: one line 'permutations/valid/written' per size group, where valid is by Tensile's rules and
 * written is what a run would build (of large spaces, what the writer's rules allow). --reasons: how often
 * each rule and the kernel writer rejected, with the first case of each.
 */
#ifndef TUNER_LIST_H
#define TUNER_LIST_H

#include <stdio.h>

#include "base/arena.h"
#include "run/options.h"

Err list_solutions(const Options *o, FILE *f);
/* `tuner --list-targets`: a line per architecture and, below it, its parts: name, compute units, schedule
 * name of the logic, PCI device ids. */
Err list_targets(FILE *f);
/* `tuner --list-devices`: the devices that tuner-client finds, or the reason why a kind has none, one per
 * line. */
Err list_devices(const Options *o, FILE *f);
/* The architecture of the first device that tuner-client finds (the one that a run without --device uses).
 * ERR_NO_DEVICE: there is none. */
Err first_device(const Options *o, Arena *a, Str *arch);

#endif
