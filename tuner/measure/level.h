/* Makes times of one race comparable that were taken at different clocks.
 *
 * A race drops slow runners early. A GPU reaches its power limit only after a while, so that dropped runners
 * have a few samples at a high clock, whereas runners of the last stage have tens of samples at the sustained
 * clock, which is up to a third lower. Therefore only samples of the same round, which were taken side by
 * side, are compared: the time of a runner is the winner's time, multiplied by the ratio of the two over the
 * rounds in which both took part. A round within which the clock fell has meaningless ratios. Runners with
 * several rounds reveal such a round, and it counts the less the more it disagrees with their other rounds. A
 * runner that shares no round with the winner is compared with runners that do.
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
    const LevelSample *sample; /* of all stages; of a round the last counts */
    size_t n;
    double ns;    /* median of the samples that are its result; 0: it has none */
    bool final;   /* these are of the last stage */
    double level; /* out: what its times have to be multiplied with; 1 where nothing can be compared */
} LevelRunner;

/* Sets the level of each runner. The winner, which is the fastest of a last stage (or of a race without one,
 * among runners with three samples), has level 1, and so have other runners of last stages that took part in
 * at least half of its rounds. No other runner's time becomes less than the winner's. Without a winner all
 * levels are 1. ERR_FAILED: out of memory. */
Err level_runners(LevelRunner *r, size_t n);

#endif
