/* Formulas of Tensile's client (projected performance); the constants 64 and 4 are its wave size and SIMDs
 * per CU. */
#include "client/worker/granularity.h"

#include <math.h>

static double fullness(double x) { return x / ceil(x); }

void granularity_compute(const GranularityInput *in, Granularity *out)
{
    double n0 = in->m / in->macro_tile0, n1 = in->n / in->macro_tile1;
    double tiles = in->batch * ceil(n0) * ceil(n1);
    out->tiles_per_cu = tiles / (in->n_cu / in->global_split_u / in->local_split_u);
    out->tile0 = fullness(n0);
    out->tile1 = fullness(n1);
    out->cu = fullness(out->tiles_per_cu);
    out->wave = fmin(1, floor(out->tiles_per_cu + 1) * in->n_threads / 64 / 4);
    out->total = out->tile0 * out->tile1 * out->cu * out->wave;
    out->used_cus = fmin(trunc(out->tiles_per_cu * in->n_cu), in->n_cu);

    bool split = in->global_split_u > 1;
    double beta_reads = split ? 0 : in->use_beta, beta_writes = split && !in->use_beta ? 1 : 0;
    double area = in->batch * in->m * in->n;
    out->read_bytes = area * in->k / in->macro_tile1 * in->a_bytes +
                      area * in->k / in->macro_tile0 * in->b_bytes + area * beta_reads * in->c_bytes;
    out->write_bytes = area * (split ? beta_writes + 3 : 1 + beta_writes) * in->d_bytes;
}
