/* How long a search goes on. See search_left.h. */
#include "measure/search_left.h"

#include <math.h>

/* WORTH: a search ends at about this gain. The gain is assumed to fall in each round by a factor between FAST
 * and SLOW; SPREAD: factor by which the number of rounds may be smaller or larger than the estimate. */
static const double WORTH = 1e-3, FAST = 0.2, SLOW = 0.9, SPREAD = 2;

SearchLeft search_left(const SearchPace *p)
{
    double factor = SLOW, rounds = 0;
    if (p->n_rounds > 1 && p->first_hope > 0 && p->last_hope > 0)
        factor = pow(p->last_hope / p->first_hope, 1 / (double)(p->n_rounds - 1));
    factor = fmin(fmax(factor, FAST), SLOW);
    if (p->last_hope > WORTH) rounds = log(WORTH / p->last_hope) / log(factor);
    const double each = p->compile_s + p->measure_s, within = each > 0 ? p->budget_s / each : 0;
    const double hi = fmin(fmax(within, 0), SPREAD * rounds + 1), lo = fmin(rounds / SPREAD, hi);
    return (SearchLeft){lo * p->compile_s, hi * p->compile_s, lo * p->measure_s, hi * p->measure_s};
}
