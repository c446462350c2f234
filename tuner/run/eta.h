/* Estimates the remaining measuring time from the finished pairs of kernel and size. The model is that a pair
 * takes a + b * flops seconds.
 *
 * The number of pairs alone is misleading when the small sizes come first. Two estimates bound the result for
 * all a, b >= 0: all time is overhead (proportional to the count), or all is work (proportional to flops).
 * When sizes differ enough, a and b are fitted by least squares, which narrows the range.
 */
#ifndef TUNER_ETA_H
#define TUNER_ETA_H

#include <stdbool.h>

typedef struct {
    double n, w, t, ww, wt, tt; /* sums over the measured pairs: 1, flops, seconds and their products */
    double w_max;               /* largest flops of a measured pair */
    double left_n, left_w;      /* pairs that are left, and their flops */
    double left_max;            /* largest flops of a pair that is left */
} Eta;

typedef struct {
    double lo, hi; /* seconds; hi < 0: unknown */
} EtaRange;

/* Adds pairs that will be measured. */
void eta_expect(Eta *e, double n_pairs, double flops_of_each);
/* Adds a measured pair, which took the seconds since the last one ended. past: it was measured by an earlier
 * run and is not among the expected ones. */
void eta_measured(Eta *e, double flops, double seconds, bool past);
/* waited: seconds since the last pair ended. Unknown before the first pair. */
EtaRange eta_range(const Eta *e, double waited);

#endif
