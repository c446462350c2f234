/* `tuner tile FILE`: programs over tiles that are written by hand. */
#ifndef RUN_TILE_H
#define RUN_TILE_H

#include <stdio.h>

#include "run/options.h"

/* Checks the program and prints it (with the maps' distribution as remarks), runs it, or prints its kernel,
 * as the options say. ERR_INPUT: "FILE:line: what"; ERR_FAILED: it ran and is wrong. */
Err tile_file(const Options *o, FILE *f);

#endif
