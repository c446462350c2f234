/* The winners table at the end of a run: for every size the solution that the library uses, its speed, and
 * the best of the others. Everything is read from the store. */
#ifndef TUNER_WINNERS_H
#define TUNER_WINNERS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/result.h"

/* In place of a candidate. NONE: no solution works. ELSEWHERE: the logic takes a solution of another group.
 * HELD_OUT: the logic has no row for the size, which is not shown. */
#define WINNER_NONE SIZE_MAX
#define WINNER_ELSEWHERE (SIZE_MAX - 1)
#define WINNER_HELD_OUT (SIZE_MAX - 2)

enum { WINNERS_MAX = 40 };

typedef struct {
    /* chosen[plan][size]: the candidate that the logic names, or WINNER_*. chosen, or chosen[plan], is NULL
     * where there is no logic: then the fastest is shown. */
    const size_t *const *chosen;
    bool covered; /* MaxLoss left out kernels, so that the logic may name a slower one than the fastest */
    size_t max; /* most lines for sizes, over all plans; 0: no limit */
    int width;  /* columns of the terminal; the table needs 80 */
} WinnersOptions;

Err report_winners(Store *s, const PlanView *plans, size_t n, const WinnersOptions *o, FILE *f);

#endif
