/* The winners table at the end of a run: for every size the solution that the library uses, its speed, and
 * the best other one. It reads the store only. */
#ifndef TUNER_WINNERS_H
#define TUNER_WINNERS_H

#include <stdint.h>
#include <stdio.h>

#include "measure/result.h"

/* In place of a candidate: no solution works; the logic takes one of another group. */
#define WINNER_NONE SIZE_MAX
#define WINNER_ELSEWHERE (SIZE_MAX - 1)

enum { WINNERS_MAX = 40 };

typedef struct {
    const size_t *const
        *chosen; /* per plan: of each size the candidate that the logic names, or WINNER_; NULL for
                                    a plan without logic: the fastest */
    size_t max;  /* lines for sizes in all; 0: no limit */
    int width;   /* columns; the table needs 80 */
} WinnersOptions;

Err report_winners(Store *s, const PlanView *plans, size_t n, const WinnersOptions *o, FILE *f);

#endif
