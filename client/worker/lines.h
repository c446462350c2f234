/* Loops over lines of doubles, which are where the preparation of checks spends its time. They are compiled
 * for several x86-64 levels, and their sums have eight parts, as one sum would wait for each addition. */
#ifndef CLIENT_LINES_H
#define CLIENT_LINES_H

#include <stdbool.h>
#include <stdint.h>

/* Of a function: it is compiled for several x86-64 levels, and the processor's is called. */
#if defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__) || defined(__clang__)
#define CLONES
#else
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

enum { LANES = 8 };

/* to[i] += factor * x[i]. */
void line_add(double *to, double factor, const double *x, int64_t n);
/* to[i] += x[i] * x[i]. */
void line_add_squares(double *to, const double *x, int64_t n);
/* to[i % LANES] += x[i] * x[i]; n is a multiple of LANES. */
void line_add_lanes(double *to, const double *x, int64_t n);
/* The sum of x[i] * y[i]. */
double line_dot(const double *x, const double *y, int64_t n);
/* The largest number, at least 0; NaN does not count. */
double line_max(const double *x, int64_t n);
/* Whether all numbers are integers; infinities are, NaN is not. */
bool line_is_integral(const double *x, int64_t n);

#endif
