/* Bounds of the rounding error of one element of a product, from the norms of its row of A and its column of
 * B (Cauchy-Schwarz for the sum of products, independent roundings; probability below 1e-9). They decide
 * where the error formula of validate.h cannot: for elements near zero of long sums, and for products
 * of inputs that are rounded first (xf32, Fp16AltImpl). Not for integers, which are exact. */
#ifndef CLIENT_BOUNDS_H
#define CLIENT_BOUNDS_H

#include "client/worker/reference.h"

typedef struct Bounds Bounds;

/* Reads all of A and B. input_bits: of number_input_bits. */
Err bounds_new(const Gemm *g, int n_threads, int input_bits, Bounds **out);
/* b may be NULL. */
void bounds_free(Bounds *b);
/* Bound of |got - want|, where one of the two is rounded; 0 when the inputs are integers or not finite. */
double bounds_of(const Bounds *b, int64_t i, int64_t j, int64_t batch, double got, double want);

#endif
