/* Sides and matrices of convolutions as their kernels have them. See model.h. */
#include <math.h>

#include "problem/model.h"

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* Kernels that keep pixels have tiles of the rows of all groups. A warp multiplies its rows by the channels
 * of all their groups, `wide` times those of its own; the other elements of filters are zeros, which are not
 * loaded. */
static void merge_groups(const ModelKernel *k, ModelSize *z, double *wide)
{
    const bool a_kept = model_is_kept(k->pack_a);
    *wide = most(1, k->keep_rows / (a_kept ? z->n : z->m));
    z->k *= *wide;
    *(a_kept ? &z->n : &z->m) *= z->batch;
    z->once_a *= (a_kept ? z->batch : 1) / *wide;
    z->once_b *= (a_kept ? 1 : z->batch) / *wide;
    z->batch = 1;
}

ModelSize model_sides(const ModelKernel *k, const ModelSize *size, double *wide, bool *groups)
{
    ModelSize z = *size;
    const int32_t flags = k->pack_a | k->pack_b, of_a = k->pack_a & MODEL_BATCH_MASK;
    *wide = 1, *groups = false;
    if (!model_has_other_sides(k) || z.batch <= 1) return z;
    z.once_a = model_once(z.once_a), z.once_b = model_once(z.once_b);
    double *const side = of_a ? &z.m : &z.n, *const other_once = of_a ? &z.once_b : &z.once_a;
    if (flags & MODEL_BATCH_PACKED) {
        *side *= z.batch, *other_once *= z.batch;
        z.batch = 1;
    } else if (flags & MODEL_BATCH_SWAPPED) {
        const double taps = model_taps(of_a ? k->pack_a : k->pack_b), matrices = ceil(*side / taps);
        *other_once *= z.batch / matrices;
        *side = z.batch * taps, z.batch = matrices;
    } else if (flags & MODEL_BATCH_BLOCKS) { /* a group has about as many rows as channels */
        double *const rows = of_a ? &z.n : &z.m;
        const double merged = least(z.batch, most(1, (double)(int64_t)(k->depth / *rows)));
        *rows *= merged, z.k *= merged;
        z.batch = ceil(z.batch / merged);
        *(of_a ? &z.once_a : &z.once_b) /= merged;
    } else {
        *groups = true;
        merge_groups(k, &z, wide);
    }
    return z;
}
