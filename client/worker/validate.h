/* Validation of D against the reference, prepared once per problem and used for each of its solutions.
 *
 * What is compared: every element when the problem is small, when n_validate is -1, or when it is at least
 * the number of elements; else every p-th logical element, p prime, as Tensile does (validate_stride), and a
 * product check of all of D: D * X against alpha * A * (B * X) + beta * C * X with random signs X
 * (Freivalds). X has a column for each block of D's columns, so that each sum has few elements and one wrong
 * element is significant. With integer inputs whose sums are exact in the accumulator (the default Random)
 * the two must be equal. Else the tolerance is a bound that rounding exceeds with probability below 1e-9
 * (probabilistic rounding analysis, Higham & Mary 2019; Hoeffding for the random signs). A sum outside its
 * tolerance is only a suspicion: its elements are then compared one by one, and only the error formula
 * decides FAILED.
 *
 * A brief check is for measurements whose winners are checked again. Its products read about 2^24 elements at
 * most of A, of B and, unless beta is 0, of C. Where all of these have no more, it checks all of D. Else
 * freivalds.h describes the part of D that it checks; a wrong element elsewhere is found only when it is in
 * the sample.
 *
 * Error formula: |a-b| / (|a|+|b|+1) < tolerance of the type (number.h), per component; integers must be
 * equal.
 */
#ifndef CLIENT_VALIDATE_H
#define CLIENT_VALIDATE_H

#include "client/worker/reference.h"

typedef struct {
    int64_t n_validate;  /* elements: 0 none, -1 all, else about this number */
    int64_t n_allocated; /* elements of D from first to last */
    int n_threads;
    int input_bits;    /* of number_input_bits */
    bool brief;        /* the product check of large operands looks at a part of D only */
    bool never_all;    /* for tests: treat small problems like large ones */
    int64_t brief_max; /* for tests: elements of an operand that a brief check reads; 0: 2^24 */
    int64_t print_max; /* elements to print; -1 all, 0 none */
    bool print_valids; /* right ones too */
} ValidateOptions;

typedef struct {
    bool passed;
    bool covered; /* all of D was checked, by element or by product; false after a brief check of a part */
    int64_t n_checked; /* elements compared one by one */
    int64_t n_wrong;   /* of these */
    int64_t n_suspect; /* sums of the product check outside their tolerance */
    double max_err;    /* largest value of the error formula; INFINITY: one of two values is NaN */
    double diff, want; /* sums over the compared elements of |D - reference| and |reference| */
    char text[256];    /* the first wrong element, or remarks */
} Check;

typedef struct Validator Validator;

/* Whether the problem is small enough to compare every element (at most about 0.1 s). */
bool validator_is_small(const Gemm *g);

/* The data of g must outlive the validator. */
Err validator_new(const Gemm *g, const ValidateOptions *o, Validator **out);
void validator_free(Validator *v);
/* d: D with its layout. Prints up to print_max elements to stderr. */
Err validator_check(Validator *v, const Matrix *d, Check *out);
/* Checks only the column blocks of validator_range, by product; out->covered is then false. */
Err validator_check_some(Validator *v, const Matrix *d, Check *out);
/* Whether there is a product check, so that some columns can be checked without the others. */
bool validator_has_ranges(const Validator *v);
/* The i-th range of columns that validator_check_some reads; false after the last one. */
bool validator_range(const Validator *v, int64_t i, int64_t *j0, int64_t *j1, int64_t *b);
/* Stores the whole reference of D, rounded to its type, to data in the layout of d; for the simulated
 * device. */
Err validator_store(Validator *v, const Matrix *d, void *data);

/* Smallest prime >= n_allocated / n_validate, at least 2. */
int64_t validate_stride(int64_t n_allocated, int64_t n_validate);
/* The formula for one component; 0 when equal or both NaN, INFINITY when only one is finite or integers
 * differ. */
double validate_error(DataType t, double a, double b);

#endif
