/* What model_choose (model_select.h) needs beside a selector, made once so that a choice takes about a
 * microsecond.
 *
 * Kernels with tiles alike lie side by side, FLOATS of them to a part. Of each point and kernel there is the
 * logarithm of the time that is expected there (model_predict) over the model's, and the part of it that near
 * points say. A choice takes means of both over the nearest points, so that it needs no residuals: of the
 * first for all kernels, of the second for the few that are about as fast as the best one, of which it asks
 * the trees. Only parts with a kernel that is good on one of the nearest points are looked at, unless a
 * kernel that would be chosen may not run. */
#ifndef PROBLEM_MODEL_CHOICE_H
#define PROBLEM_MODEL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/model_select.h"

struct ModelChoice {
    size_t n_parts, n_words;
    uint16_t *place;   /* of each kernel */
    uint16_t *kernel;  /* of each place */
    uint16_t *part;    /* all parts */
    bool *is_time;     /* of each kernel: model_lanes_is_time */
    float *expected;   /* [point][place] */
    float *near;       /* [point][place]; NULL without trees */
    uint64_t *good[2]; /* [point][word]: a bit for each part; of near points, of others */
};

/* Memory in the arena. */
Err model_choice_new(Arena *a, size_t n_kernels, size_t n_points, ModelChoice **out);
Err model_choice_trees(Arena *a, const ModelSelector *s);
/* Fills in the places of the kernels, which `entry` must have. */
void model_choice_places(const ModelSelector *s);
/* Fills in the rest, when the selector can predict. */
void model_choice_make(const ModelSelector *s);

#endif
