/* Model columns of the log: the share of the device that a solution's tiles fill, and the bytes that it
 * should move. */
#ifndef CLIENT_GRANULARITY_H
#define CLIENT_GRANULARITY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    double m, n, batch, k;
    double macro_tile0, macro_tile1, global_split_u, local_split_u, n_threads;
    double n_cu;
    double a_bytes, b_bytes, c_bytes, d_bytes; /* of one element */
    bool use_beta;
} GranularityInput;

typedef struct {
    double tiles_per_cu, tile0, tile1, cu, wave, total;
    double read_bytes, write_bytes;
    double used_cus; /* the divisor of gflops-per-cu */
} Granularity;

void granularity_compute(const GranularityInput *in, Granularity *out);

#endif
