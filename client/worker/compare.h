/* Compares all elements of two results: a winner's D with the peer's, where a reference on the CPU would take
 * too long. Tolerance: the error formula of validate.h, else twice the bound of bounds.h, as both results are
 * rounded. */
#ifndef CLIENT_COMPARE_H
#define CLIENT_COMPARE_H

#include "client/worker/validate.h"

/* g: the GEMM with its data; d and reference are m x n x batch. */
Err compare_results(const Gemm *g, const Matrix *d, const Matrix *reference, int n_threads, int input_bits,
                    Check *out);

#endif
