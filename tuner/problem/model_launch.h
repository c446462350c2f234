/* The features of launches that trees compare (model_trees.h), from what the times of many kernels at once
 * leave (model_lanes.h), so that a choice asks the model itself for few kernels. */
#ifndef PROBLEM_MODEL_LAUNCH_H
#define PROBLEM_MODEL_LAUNCH_H

#include "problem/floats.h"
#include "problem/model.h"
#include "problem/model_trees.h"

/* Of a kernel on any size: the part of a round that a work-group is; parts of K over the elements of a tile;
 * seconds that the hardware needs for a product, for an element of A or B, and for one of D. */
typedef struct {
    float per_slot, per_element, math_s, ab_s, d_s;
} ModelLaunchKernel;

static inline ModelLaunchKernel model_launch_kernel(const ModelKernel *k, const ModelDevice *d)
{
    return (ModelLaunchKernel){(float)(1 / (model_cus(k, d) * k->groups)),
                               (float)k->split / ((float)k->tile_m * (float)k->tile_n),
                               (float)(2 / ((double)k->peak * d->n_cu * d->clock_hz)),
                               (float)(k->bytes_ab / d->dram_rate), (float)(k->bytes_d / d->dram_rate)};
}

/* Of a size and any kernel: elements of D, products, elements of A and B for all tiles of one, and elements
 * of D and C that are stored and loaded. */
typedef struct {
    float d, products, ab, d_and_c;
} ModelLaunchSize;

static inline ModelLaunchSize model_launch_size(const ModelSize *z)
{
    const double d = z->m * z->n * z->batch;
    return (ModelLaunchSize){(float)d, (float)(d * z->k), (float)(z->batch * (z->m + z->n) * z->k),
                             (float)(z->reads_c ? 2 * d : d)};
}

/* As in ModelLanesTimes. */
typedef struct {
    float us, groups, rounds, rest;
} ModelLaunch;

/* model_launch_features of a kernel that does not cut tiles, has the sides of the problem, and is not the
 * host's. */
FLOATS_INLINE Floats model_launch_row(const ModelLaunchKernel *k, const ModelLaunchSize *z,
                                      const ModelLaunch *x)
{
    const bool part = x->rest > 0.5F;
    const float seconds = 1e-6F * x->us, math = z->products * k->math_s,
                memory = z->ab * k->ab_s + z->d_and_c * k->d_s;
    float f[FLOATS] = {0};
    f[MODEL_LAUNCH_GROUPS] = x->groups;
    f[MODEL_LAUNCH_WAVES] = part ? x->rounds + 1 : x->rounds;
    f[MODEL_LAUNCH_LAST_FILL] = part ? x->rest * k->per_slot : 1;
    f[MODEL_LAUNCH_SECONDS] = seconds;
    f[MODEL_LAUNCH_WASTE] = 1 - z->d * k->per_element / x->groups;
    f[MODEL_LAUNCH_BOUND] = (math > memory ? math : memory) / seconds;
    return (Floats){f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]};
}

#endif
