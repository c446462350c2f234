/* How far rounding can take one element of a product from the truth, by the norms of its row of A and its
 * column of B (Cauchy-Schwarz for the sum of products, independent roundings; probability below 1e-9). What
 * the error formula cannot judge is judged by it: elements near zero of long sums, and products in xf32. Not
 * for integers, which are exact. Used by validate.c and compare.c. */
#ifndef CLIENT_BOUNDS_H
#define CLIENT_BOUNDS_H

#include "client/worker/reference.h"

typedef struct Bounds Bounds;

/* Reads all of A and B. */
Err bounds_new(const Gemm *g, int n_threads, bool xf32, Bounds **out);
/* NULL is fine. */
void bounds_free(Bounds *b);
/* Of |got - want| where one of them is rounded; 0 when the inputs are integers or not finite. */
double bounds_of(const Bounds *b, int64_t i, int64_t j, int64_t batch, double got, double want);

#endif
