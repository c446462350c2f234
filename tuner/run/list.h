/* `tuner --list-solutions CONFIG...`: forks and judges without running anything. Called by main.c.
 *
 * Prints the minimal names of the valid solutions of each size group, in fork order (--names: full names), or
 * with --count one line 'permutations/valid/written' per size group: by Tensile's rules, and what a run would
 * build; with --reasons how often each rule rejected, and the kernel writer, with the first case of each.
 */
#ifndef TUNER_LIST_H
#define TUNER_LIST_H

#include <stdio.h>

#include "run/options.h"

Err list_solutions(const Options *o, FILE *f);
/* `tuner --list-targets`: a line per architecture, and below it its parts: name, compute units, schedule name
 * of its logic, PCI device ids. */
Err list_targets(FILE *f);
/* `tuner --list-devices`: what tuner-client sees, one device or reason per line. */
Err list_devices(const Options *o, FILE *f);

#endif
