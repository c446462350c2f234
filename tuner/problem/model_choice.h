/* What model_choose (model_select.h) needs beside a selector, made once so that a choice takes about a
 * microsecond.
 *
 * Kernels that are good on the same points lie side by side, FLOATS of them to a part. Of each point and
 * kernel there is the logarithm of the time that is expected there (model_predict) over the model's, and the
 * part of it that near points say. A choice takes means of both over the nearest points, so that it needs no
 * residuals: of the first for all kernels, of the second for the few that are about as fast as the best one,
 * of which it asks the trees. Only parts with a kernel that is good on one of the nearest points are looked
 * at, unless a kernel that would be chosen may not run. */
#ifndef PROBLEM_MODEL_CHOICE_H
#define PROBLEM_MODEL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/floats.h"
#include "problem/model_launch.h"
#include "problem/model_select.h"

/* Of a point and the kernels of a part, in units of 1 / MODEL_CHOICE_UNITS: what is expected, in the upper
 * half of a number, and what near points say of it, in the lower one, so that both take an instruction or two
 * for all kernels, and a choice that reads the one has the other in the cache. */
enum { MODEL_CHOICE_UNITS = 2048 };
typedef struct {
    int32_t said[FLOATS];
} ModelChoicePart;

/* Points on which kernels are good: on the nearest points of a size more of them count than on others. */
enum { MODEL_GOOD_NEAR, MODEL_GOOD_FAR, MODEL_GOODS };

struct ModelChoice {
    size_t n_parts, n_words, n_point_words;
    uint16_t *place;             /* of each kernel */
    uint16_t *kernel;            /* of each place */
    uint16_t *part;              /* all parts */
    bool *is_time;               /* of each kernel: model_lanes_is_time */
    ModelLaunchKernel *launch;   /* of each kernel */
    ModelChoicePart *of;         /* [point][part] */
    uint64_t *on[MODEL_GOODS];   /* [kernel][n_point_words]: a bit for each point on which it is good */
    uint64_t *good[MODEL_GOODS]; /* [point][n_words]: a bit for each part with a kernel that is good there */
};

/* Memory in the arena. */
Err model_choice_new(Arena *a, size_t n_kernels, size_t n_points, ModelChoice **out);
/* Fills it in, when the selector can predict. */
void model_choice_make(const ModelSelector *s);

#endif
