/* Maps of a contraction's tensors: the offsets of rows, columns and batches of the matrices that its groups
 * of indices are, for the reference and for checks. */
#ifndef CLIENT_MATRIX_MAP_H
#define CLIENT_MATRIX_MAP_H

#include "client/worker/reference.h"

typedef struct {
    MatrixMap map[INDICES_TENSORS]; /* A (M x K), B (K x N), C and D (M x N) */
    int64_t *offsets;               /* memory of all tables; NULL: there are no maps */
} MatrixMaps;

/* x may be NULL: no maps. ERR_FAILED: out of memory. */
Err matrix_maps_init(MatrixMaps *m, const IndexSizes *x);
void matrix_maps_fini(MatrixMaps *m);
/* Which elements of D's extent belong to D: a bit of each, from the first element on, in whole words, which
 * the caller frees; bits beyond the extent are set. NULL without an error: all of them, as D has no gaps.
 * ERR_FAILED: out of memory. */
Err matrix_map_used(const MatrixMap *m, const IndexSizes *x, int64_t n_elements, uint64_t **used);
/* Elements from the first to the last that are accessed of tensor t. ERR_INPUT above 2^40. */
Err matrix_map_elements(const IndexSizes *x, int t, int64_t *n);

#endif
