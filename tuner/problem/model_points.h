/* Which of the measured sizes a selector (model_select.h) has as points. Trees learn from all sizes. More
 * points lower what choices lose (test/README.md), but each makes finding the nearest ones, loading a library
 * and its file longer. */
#ifndef PROBLEM_MODEL_POINTS_H
#define PROBLEM_MODEL_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model_select.h"

enum { MODEL_POINTS_KEPT = 4096 };
/* The most points of a selector with that many kernels, of n sizes: all without trees. */
static inline size_t model_points_most(size_t n_kernels, size_t n, bool has_trees)
{
    const size_t room = MODEL_TIMES_MAX / (n_kernels ? n_kernels : 1);
    if (!has_trees) return n;
    return room < MODEL_POINTS_KEPT ? room : MODEL_POINTS_KEPT;
}
/* *kept: of each of n sizes, in the arena: up to `most` that have times, those with the most of them, and of
 * these an arbitrary part that depends on the sizes alone, not on their order. n_times: of each size. */
Err model_points_keep(Arena *a, size_t n, const ModelSize *size, const uint32_t *n_times, size_t most,
                      bool **kept);

#endif
