/* Numbers: converts elements of every data type to and from doubles, and describes the types' precision.
 *
 * Every value of these types is exactly a double (complex: two). Int8x4, which has four values per element,
 * is supported by number_has_nan and number_poison only; its values are converted as Int8 (type_value). F8
 * and B8 are those of gfx94x; type_in_format gives the types of other processors.
 */
#ifndef CLIENT_NUMBER_H
#define CLIENT_NUMBER_H

#include "base/err.h"
#include "problem/datatype.h"

/* ERR_INPUT for types that the functions below do not know. */
Err number_type_check(DataType t);

/* Loads elements first, first + stride, ... of base. im may be NULL for real types, else gets 0. */
void numbers_load(DataType t, const void *base, int64_t first, int64_t stride, int64_t n, double *re,
                  double *im);
/* Rounds to nearest even; integers wrap; finite numbers saturate in 8-bit floats, infinities become NaN in
 * those that have none. */
void number_store(DataType t, void *base, int64_t i, double re, double im);
/* The value of one component after it was stored and loaded. */
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
/* The byte of poison: an element that consists of it is NaN, or an unlikely integer. */
unsigned char number_poison(DataType t);

/* Tensile's tolerance of |a-b| / (|a|+|b|+1) by output type; 0: must be equal. */
double number_tolerance(DataType t);

/* Significant bits that products keep where hardware or the problem rounds them: 11 of f32 multiplied as
 * xf32, 8 of half multiplied as bf16 (Fp16AltImpl); 14 of 8-bit floats in OCP formats, whose products wgmma
 * aligns to the largest one and cuts to about 14 bits before it sums them (DeepSeek-V3 Technical Report,
 * 3.3.2; cublasLt's kernels are subject to it too). 0: all. a: type of A. */
int number_input_bits(DataType a, bool xf32, bool fp16_alt);

#endif
