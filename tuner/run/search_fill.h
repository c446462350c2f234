/* Fills the range of a config's sizes: after a search, kernels of the library are measured on further sizes
 * between the config's, each on those on which the performance model expects it to be good. The library's
 * choice for a size that nobody tuned rests on such residuals, and loses less the more sizes have them
 * (test/README.md). No kernel is compiled for them. */
#ifndef TUNER_SEARCH_FILL_H
#define TUNER_SEARCH_FILL_H

#include "run/run.h"

/* Draws the sizes, as many as take `seconds` (INFINITY: as many as are useful) by measure/search_cost.h times
 * `scale`, to Group.searched.fill: half of them anywhere in the range, half with the config's numbers. None
 * where no sizes between are wanted (search_between.h). */
Err search_fill_choose(Run *r, Group *g, double seconds, double scale);

#endif
