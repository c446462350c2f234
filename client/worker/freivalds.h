/* Product check of all of D (Freivalds): compares D * X with alpha * A * (B * X) + beta * C * X for a matrix
 * X of random signs with few columns, which costs far less than the whole product. validate.h describes what
 * the check guarantees. */
#ifndef CLIENT_FREIVALDS_H
#define CLIENT_FREIVALDS_H

#include "client/worker/reference.h"

typedef struct Freivalds Freivalds;

/* `most` limits the work unless it is 0: about that number of elements of A, of B and, unless beta is 0, of C
 * are read. Where one of them has more, a part of D is checked. This part consists of stripes of up to 512
 * rows at equal distances, the first and the last row among them, and of blocks of columns that are narrower
 * than their distance, the first and the last column among them. Where 16 rows of each batch matrix are too
 * many already, it is a part of the batch matrices, the first and the last among them. */

/* A sum outside its tolerance: row i, columns j0..j1-1, batch b. */
typedef struct {
    int64_t i, j0, j1, b;
} Suspect;

Err freivalds_new(const Gemm *g, int n_threads, int input_bits, int64_t most, Freivalds **out);
void freivalds_free(Freivalds *f);
/* False when inputs are not finite, as sums cannot be compared then. */
bool freivalds_usable(const Freivalds *f);
/* True when sums must be equal: integer inputs, exact accumulation. */
bool freivalds_exact(const Freivalds *f);
/* Whether all of D is checked, not a part of it. */
bool freivalds_covers(const Freivalds *f);
/* Number of blocks of columns, all batch matrices together, and the columns of one. */
int64_t freivalds_n_blocks(const Freivalds *f);
void freivalds_block(const Freivalds *f, int64_t block, int64_t *j0, int64_t *j1, int64_t *b);
/* Checks n_blocks blocks, evenly spread from the first to the last (0: all). *n_suspects may exceed max, the
 * number of entries of list. */
Err freivalds_check(const Freivalds *f, const Matrix *d, int64_t n_blocks, Suspect *list, int64_t max,
                    int64_t *n_suspects);
/* The i-th of the n blocks that such a check reads. */
int64_t freivalds_pick(const Freivalds *f, int64_t i, int64_t n);

#endif
