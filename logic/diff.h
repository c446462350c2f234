/* Comparing two logic files. */
#ifndef LOGIC_DIFF_H
#define LOGIC_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct {
    size_t n_gone, n_new, n_winner, n_speed, n_same; /* sizes */
    size_t n_sol_gone, n_sol_new;
    bool differ; /* in anything, heads included */
} LogicDiff;

/* Prints what differs, line by line; summary: only the differences between the heads of the files. ERR_INPUT
 * when a file cannot be read. */
Err logic_diff_files(const char *x, const char *y, bool summary, LogicDiff *out);
/* The counts as one line. */
void logic_diff_print(const LogicDiff *r);

#endif
