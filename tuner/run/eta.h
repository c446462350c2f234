/* How long measuring will take, from what was measured: time of a pair of kernel and size is a + b * flops.
 *
 * Counting pairs alone says "nearly done" when the small sizes are done. Two bounds hold for any a, b >= 0:
 * all time was overhead (a, by count) or all was work (b, by flops). With sizes that differ enough a and b
 * are fitted by least squares and the range is narrower.
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

/* Pairs to come. */
void eta_expect(Eta *e, double n_pairs, double flops_of_each);
/* A pair that was measured in the seconds since the last one ended; expected before unless past is set. */
void eta_measured(Eta *e, double flops, double seconds, bool past);
/* waited: seconds since the last pair ended. Unknown before the first pair. */
EtaRange eta_range(const Eta *e, double waited);

#endif
