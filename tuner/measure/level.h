/* Times of one race at like clocks.
 *
 * A race drops slow runners early. A GPU reaches its power limit only after a while, so that those have a few
 * samples at a high clock, and the runners of the last stage tens at the clock that lasts, up to a third
 * lower. What is compared is therefore samples of the same round, which were taken side by side: the time of
 * a runner is the winner's, times their ratio over the rounds that both took part in. Where the clock fell
 * within a round, its ratios say nothing. Runners that were in several rounds show that: a round counts the
 * less the more it disagrees with the others. A runner that met the winner in no round is compared with those
 * that did.
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

/* The winner, which is the fastest of a last stage, keeps level 1, and so do others of last stages that took
 * part in half of its rounds. Nobody else gets below the winner's time. Without a winner all levels are 1.
 * ERR_FAILED: out of memory. */
Err level_runners(LevelRunner *r, size_t n);

#endif
