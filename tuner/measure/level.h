/* Times of one race at like clocks.
 *
 * A race drops slow runners early. A GPU reaches its power limit only after a while, so that those have a few
 * samples at a high clock, and the runners of the last stage tens at the clock that lasts, up to a third
 * lower. Ratios within a round are free of that, because all its samples were taken side by side: the level
 * of a runner is its median ratio to the winner over the rounds that both took part in, times the winner's
 * time. Of several races the rounds differ; a runner that met the winner in none gets its level from rounds
 * with runners whose level is known.
 */
#ifndef MEASURE_LEVEL_H
#define MEASURE_LEVEL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    double ns; /* of one launch */
    int64_t round;
} LevelSample;

/* What took part in races of one size. */
typedef struct {
    const LevelSample *sample; /* of all stages but outliers, later ones last; of a round the last counts */
    size_t n;
    double ns;    /* median of the samples that are its result */
    bool final;   /* these are of the last stage */
    double level; /* out: what its times have to be multiplied with; 1 where nothing can be compared */
} LevelRunner;

/* The winner, which is the fastest of a last stage, keeps level 1, and so do others of last stages that took
 * part in the same rounds of it. Nobody else gets below the winner's time. Without a winner all levels are 1.
 * ERR_FAILED: out of memory. */
Err level_runners(LevelRunner *r, size_t n);

#endif
