/* Held-out sizes (HeldOutSizes): they are measured but not given to the library, so that its choices on
 * untuned sizes can be judged. They are drawn from the range of the config's own sizes, or given as a list
 * beside ProblemSizes; of the list, sizes that are tuned too are left out with a warning. */
#ifndef RUN_HELD_OUT_H
#define RUN_HELD_OUT_H

#include "run/run.h"

/* HELD_OUT_AUTO, the default: a tenth of the config's sizes and at least 20, where a problem type has
 * HELD_OUT_SIZES of them; none where it has fewer. */
enum { HELD_OUT_AUTO = -1, HELD_OUT_SIZES = 24, HELD_OUT_LEAST = 20 };

/* Draws n sizes of a problem type: log-uniform between the least and the largest M, N and K of `given`, with
 * one of its batch counts, and with no more operations and bytes than its largest size. The first of every
 * `of` sizes has multiples of 32 (of 8 where the range is small), the others arbitrary numbers. No size is in
 * given, and none comes twice.
 * Equal arguments give equal sizes. Returns how many were drawn: fewer than n where the range has no more. */
size_t held_out_draw(const ProblemType *pt, const ProblemSize *given, size_t n_given, uint64_t seed, size_t n,
                     size_t of, ProblemSize *out);
/* The same, but M, N, K and the batch count are each those of one of `given`, so that the sizes have the
 * numbers that occur in the application. */
size_t held_out_mix(const ProblemType *pt, const ProblemSize *given, size_t n_given, uint64_t seed, size_t n,
                    ProblemSize *out);
/* True when M, N and K are multiples of 8, as those of aligned drawn ones. */
bool held_out_is_aligned(const ProblemType *pt, const ProblemSize *s);

/* Fills in the order in which n_own sizes and the n_held that follow them are measured: the own ones as they
 * stand in `order` (NULL: as they are listed), the others evenly among them, so that where the time is over
 * early some of both are measured. */
void held_out_deal(const uint32_t *order, size_t n_own, size_t n_held, uint32_t *out);

/* Appends the held-out sizes to the groups of each problem type. */
Err held_out_add(Run *r);

#endif
