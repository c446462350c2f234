/* The warning of a busy machine. See busy.h. */
#include "measure/busy.h"

#include <stdio.h>

bool busy_text(const Busy *b, char *text, size_t size)
{
    char load[96] = "", wide[96] = "";
    if (b->load > (double)b->n_cores + b->margin)
        snprintf(load, sizeof load, "load average %.1f on %lld cores", b->load, (long long)b->n_cores);
    if (2 * b->n_wide > b->n_sizes)
        snprintf(wide, sizeof wide, "%lld of %lld intervals wider than %g%%", (long long)b->n_wide,
                 (long long)b->n_sizes, BUSY_WIDTH * 100);
    if (!load[0] && !wide[0]) return false;
    snprintf(text, size, "the machine was busy while kernels were timed: %s%s%s", load,
             load[0] && wide[0] ? "; " : "", wide);
    return true;
}
