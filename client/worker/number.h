/* Numbers: elements of every data type as doubles, both ways, and what is known of a type's precision.
 *
 * Every value of the types handled here is a double exactly (complex: two). Int8x4 is not handled but by
 * number_has_nan and number_poison: four values in one element have no single double, and its users look at
 * those (type_value). F8 and B8 are those of gfx94x; type_in_format gives the types of other processors. Used
 * by data initialisation, reference and validation.
 */
#ifndef CLIENT_NUMBER_H
#define CLIENT_NUMBER_H

#include "base/err.h"
#include "problem/datatype.h"

/* ERR_INPUT for types that the functions below do not know. */
Err number_type_check(DataType t);

/* Elements first, first + stride, ... of base. im may be NULL for real types, else gets 0. */
void numbers_load(DataType t, const void *base, int64_t first, int64_t stride, int64_t n, double *re,
                  double *im);
/* Rounds to nearest even; integers wrap; finite numbers saturate in 8-bit floats, infinities become NaN in
 * those that have none. */
void number_store(DataType t, void *base, int64_t i, double re, double im);
/* What storing and loading one component gives. */
double number_round(DataType t, double x);

/* Half a unit in the last place of 1: 2^-24 for f32; 0 for integers. */
double number_unit(DataType t);
/* All integers up to this magnitude are exact: 2^24 for f32. */
double number_exact_limit(DataType t);
double number_max(DataType t);
/* Smallest and largest value with the smallest exponent; NAN for integers. */
double number_denorm_min(DataType t);
double number_denorm_max(DataType t);
bool number_has_nan(DataType t);
/* A byte that makes NaN, of integers an unlikely number, when an element consists of it. */
unsigned char number_poison(DataType t);

/* Tensile's tolerance of |a-b| / (|a|+|b|+1) by output type; 0: must be equal. */
double number_tolerance(DataType t);

#endif
