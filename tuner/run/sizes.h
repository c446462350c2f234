/* `tuner sizes LOG...`: the sizes in an application's logs as a table, CSV, JSON or config. */
#ifndef RUN_SIZES_H
#define RUN_SIZES_H

#include <stdio.h>

#include "run/options.h"

/* ERR_INPUT: no log has a call of a GEMM, or a file cannot be read. */
Err sizes_command(const Options *o, FILE *f);

#endif
