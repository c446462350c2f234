/* The performance model's times (model.h) for many kernels of a library at once, so that a choice among
 * hundreds of kernels evaluates the model itself for a few of them only: those of model_lanes_is_time have
 * their time up to about 1 % (what the rounds of a launch load from DRAM is estimated by other formulas than
 * model.c's counts), others a lower bound of it. */
#ifndef PROBLEM_MODEL_LANES_H
#define PROBLEM_MODEL_LANES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "problem/floats.h"
#include "problem/model.h"

typedef struct ModelLanes ModelLanes;
/* How A and B are aligned: 1 by 16 bytes or more, 1/2 by 4 or 8, else 0. Kernels run other code for each. */
static inline float model_aligned(const ModelSize *z)
{
    return z->align_a >= 16 && z->align_b >= 16 ? 1 : z->align_a >= 4 && z->align_b >= 4 ? 0.5F : 0;
}
/* Allocates n places for kernels in the arena; set each with model_lanes_set. ERR_FAILED: out of memory. */
Err model_lanes_new(Arena *a, size_t n, ModelLanes **out);
void model_lanes_set(ModelLanes *l, size_t place, const ModelKernel *k, const ModelDevice *d,
                     const ModelRates *r);
/* Whether such a kernel has its time, not a bound of it alone. */
bool model_lanes_is_time(const ModelKernel *k);
/* Of launches of the kernels of a part on a size: microseconds, INFINITY where the kernel cannot read
 * these operands (model_can_read); work-groups; whole rounds of all compute units, and the work-groups of the
 * last round where it is not whole, else 0. */
typedef struct {
    _Alignas(Floats) float us[FLOATS], groups[FLOATS], rounds[FLOATS], rest[FLOATS];
} ModelLanesTimes;
/* Fills in out for n parts, each of FLOATS places (problem/floats.h). */
void model_lanes_times(const ModelLanes *l, const uint16_t *part, size_t n, const ModelSize *z,
                       ModelLanesTimes *out);

#endif
