/* Which of the measured sizes a selector (model_select.h) has as points. Trees learn from all sizes. More
 * points lower what choices lose (test/README.md), but each makes finding the nearest ones, loading a library
 * and its file longer. */
#ifndef PROBLEM_MODEL_POINTS_H
#define PROBLEM_MODEL_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model.h"

enum { MODEL_POINTS_KEPT = 4096 };
/* *kept: of each of n sizes, in the arena. Without trees all are kept that have times, else up to
 * MODEL_POINTS_KEPT: those with the most times, and of these an arbitrary part that depends on the sizes
 * alone, not on their order. n_times: of each size. */
Err model_points_keep(Arena *a, size_t n, const ModelSize *size, const uint32_t *n_times, bool has_trees,
                      bool **kept);

#endif
