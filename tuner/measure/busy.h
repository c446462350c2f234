/* Whether other programs kept the machine busy while kernels were timed, which makes times long and intervals
 * wide. Does not look itself: run/busy.c does for a run, client/bench/compare.c for a comparison. */
#ifndef MEASURE_BUSY_H
#define MEASURE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    double load;             /* threads that ran or waited for a core while kernels were timed; NAN: none */
    int64_t n_cores;         /* of the machine */
    int64_t n_wide, n_sizes; /* intervals: wider than BUSY_WIDTH of the median, and all */
    double margin;           /* the load may be so much above n_cores without others being the reason */
} Busy;
#define BUSY_WIDTH 0.05 /* on a quiet machine intervals are one or two percent wide */

/* True when the load was higher than n_cores and the margin, or most intervals are wide; text then gets a
 * warning of one line. */
bool busy_text(const Busy *b, char *text, size_t size);

#endif
