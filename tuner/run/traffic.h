/* `tuner traffic`: the bytes that a GPU's L2 caches and last-level cache read in each work-group order, and
 * pictures of the tiles that each die computes. */
#ifndef RUN_TRAFFIC_H
#define RUN_TRAFFIC_H

#include <stdio.h>

#include "run/options.h"

/* ERR_INPUT: an option's value, or a grid that is too large to be drawn; ERR_FAILED: the SVG cannot be
 * written. */
Err traffic_command(const Options *o, FILE *f);

#endif
