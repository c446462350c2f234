/* The command `tuner derive-gridwise`: the matrix products of a convolution, or one product, with the
 * parameters of gridwise kernels that follow from the tuned ones. */
#ifndef RUN_GRIDWISE_H
#define RUN_GRIDWISE_H

#include <stdio.h>

#include "run/options.h"

/* Operands: "M,N,K", or the words of a MIOpenDriver line. ERR_INPUT: neither, or a --perf-config that is not
 * possible for the problem. ERR_PARTIAL: no row of the quick list is possible. */
Err gridwise_command(const Options *o, FILE *f);

#endif
