/* Reference: D computed on the CPU in higher precision than any kernel's.
 *
 * A Gemm describes D[i,j,b] = alpha * sum_l A[i,l,b] * B[l,j,b] + beta * C[i,j,b] by logical strides, so that
 * transposes and any leading dimension are only numbers here. alpha == 0 and beta == 0 do not read A, B or C
 * (BLAS). Sums of integers are exact up to 2^53; alpha and beta are applied to them as kernels do, in int32
 * that wraps. Sizes count values: an Int8x4 element of A or B is four of them along k.
 */
#ifndef CLIENT_REFERENCE_H
#define CLIENT_REFERENCE_H

#include <stdatomic.h>

#include "base/err.h"
#include "client/worker/pieces.h"
#include "problem/datatype.h"
#include "problem/indices.h"

/* Where the elements of a contraction's operand lie, whose rows, columns and batches are groups of indices
 * (problem/indices.h): element (r, c) of matrix b is data[row[r] + col[c] + batch[b]]. It is 0 where, for a
 * pad, pad.row[r] + pad.col[c] is below its start or not below its edge. row_run[r] rows from r on, and
 * col_run[c] columns from c on, lie at equal distances, in data and in each pad. */
typedef struct {
    const int64_t *row, *col, *batch, *row_run, *col_run;
    int n_pads;
    struct {
        const int64_t *row, *col;
        int64_t start, edge;
    } pad[TUPLE_MAX];
} MatrixMap;

/* Value (r, c) of matrix b is data[r * row + c * col + b * batch], conjugated when conj. Of types with
 * packing p (Int8x4: 4) it is one of the p in such an element: number r % p of that of row r / p when
 * packed_rows, else number c % p of that of column c / p. */
typedef struct {
    DataType type;
    const void *data;
    int64_t row, col, batch;
    bool conj;
    bool packed_rows;     /* values are packed along rows (B) or along columns (A): always along k */
    const MatrixMap *map; /* NULL: row, col and batch are strides */
    bool map_transposed;  /* rows of the matrix are columns of the map */
} Matrix;

/* The operands of fused operations (problem/fused.h): element i of a vector, or the only one. The biases of
 * two matrices of a batch are bias_batch apart. exchanged: the rows of D, along M, are those of B. */
typedef struct {
    Fused op;
    bool exchanged;
    const double *value[FUSED_OPERANDS];
    int64_t bias_batch;
    double number[2]; /* the activation's */
} FusedVectors;

typedef struct {
    int64_t m, n, batch, k;
    Matrix a, b, c; /* a: (i, l), b: (l, j), c: (i, j); packed along l */
    double alpha[2], beta[2];
    DataType compute;          /* of the accumulation, for tolerances */
    DataType out;              /* of D */
    const FusedVectors *fused; /* NULL: none */
} Gemm;

typedef struct {
    double re, im;
} Value;

/* One element, accumulated in long double and not rounded to D's type. */
Value reference_element(const Gemm *g, int64_t i, int64_t j, int64_t b);
/* n columns of k packed doubles for each of n_batches matrices of the batch, from position b of batches on.
 * The im part is NULL when nothing is complex. */
typedef struct {
    const double *re, *im;
    int64_t n, b, n_batches;
    int64_t batch; /* numbers from the columns of a matrix to those of the next; 0: all have the same */
    Pieces rows, batches; /* of A and of the result */
} ColumnSet;

/* What a product finds out about the rows of A that it reads. */
typedef struct {
    double *norm2;         /* sums of squares, by positions of the row and of the batch matrix; zero before */
    atomic_bool fractions; /* some number is not an integer */
} RowFacts;

/* alpha * A * X for each matrix of x: out has a column for each of X, which has the rows of x->rows and is
 * packed. facts may be NULL. Blocked, several threads. */
Err reference_product(const Gemm *g, const ColumnSet *x, int n_threads, RowFacts *facts, double *out_re,
                      double *out_im);
/* All of D, packed (i fastest, then j, then b), not rounded. out_im NULL when nothing is complex. */
Err reference_all(const Gemm *g, int n_threads, double *out_re, double *out_im);

bool gemm_is_complex(const Gemm *g);
/* Value (r, c) of matrix b. */
Value matrix_at(const Matrix *m, int64_t r, int64_t c, int64_t b);
/* Values (r, c), (r + 1, c), ... (r + n - 1, c). im may be NULL for real types. */
void matrix_column(const Matrix *m, int64_t r, int64_t c, int64_t b, int64_t n, double *re, double *im);
/* The number of value (r, c) of matrix b in data, of a type without packing; -1: it is in a zero pad. */
int64_t matrix_index(const Matrix *m, int64_t r, int64_t c, int64_t b);
/* The same data with rows and columns exchanged. */
Matrix matrix_transposed(const Matrix *m);

#endif
