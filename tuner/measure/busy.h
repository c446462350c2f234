/* Judges from a load average and the widths of intervals whether other programs kept the machine busy while
 * kernels were timed. The numbers are collected by run/busy.c in a run and by client/bench/compare.c in a
 * comparison. */
#ifndef MEASURE_BUSY_H
#define MEASURE_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    double load;     /* threads that ran or waited for a core while kernels were timed; NAN: unknown */
    int64_t n_cores; /* of the machine */
    int64_t n_wide, n_sizes; /* intervals that are wider than BUSY_WIDTH of the median; all intervals */
    double margin;           /* threads above n_cores that the measuring program itself may add to the load */
} Busy;
#define BUSY_WIDTH 0.05 /* on a quiet machine intervals are one or two percent wide */

/* True when the load was higher than n_cores + margin, or most intervals are wide; text then gets a warning
 * of one line. */
bool busy_text(const Busy *b, char *text, size_t size);

#endif
