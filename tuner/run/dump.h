/* `tuner --dump-program[=PASS] CONFIG`: the kernel program of every valid solution as text. Called by main.c.
 */
#ifndef TUNER_DUMP_H
#define TUNER_DUMP_H

#include <stdio.h>

#include "run/options.h"

Err dump_programs(const Options *o, FILE *f);

#endif
