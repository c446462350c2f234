/* `tuner --dump-program[=PASS] CONFIG`: prints the kernel program of every valid solution as text; of a
 * config that is searched, of some that are drawn. */
#ifndef TUNER_DUMP_H
#define TUNER_DUMP_H

#include <stdio.h>

#include "run/options.h"

Err dump_programs(const Options *o, FILE *f);

#endif
