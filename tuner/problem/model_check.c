/* Bounds of the performance model's numbers in files. See model.h. */
#include "problem/model.h"

#include <stddef.h>

static bool within(double v, double lo, double hi) { return v >= lo && v <= hi; }

bool model_kernel_ok(const ModelKernel *k)
{
    const int32_t positive[] = {k->tile_m,  k->tile_n,    k->depth,     k->threads,   k->groups,
                                k->stages,  k->split,     k->cluster_m, k->cluster_n, k->bytes_ab,
                                k->bytes_d, k->bytes_sum, k->load_a,    k->load_b,    k->store};
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
        if (positive[i] < 1 || positive[i] > 1 << 24) return false;
    bool host = k->class == MODEL_HOST;
    int32_t least_unit = host ? 1 : 0;
    return k->class >= 0 && k->class < MODEL_CLASSES && k->split_kind >= 0 &&
           k->split_kind <= MODEL_SPLIT_STREAM && k->steps >= 0 && k->steps <= 1 << 24 &&
           k->unit_m >= least_unit && k->unit_n >= least_unit && k->block_m >= least_unit &&
           k->block_n >= least_unit && within((double)k->rate, 1e-3, 1e9) &&
           within((double)k->peak, 1e-3, 1e9) && within((double)k->local_bytes, 0, 1e9);
}

bool model_device_ok(const ModelDevice *d)
{
    return within(d->n_cu, 1, 1e6) && within(d->clock_hz, 1e6, 1e11) && within(d->local_rate, 1e-3, 1e6) &&
           within(d->l2_bytes, 0, 1e12) && within(d->l2_rate, 1e6, 1e18) && within(d->dram_rate, 1e6, 1e18) &&
           within(d->dies, 1, 1e3);
}

bool model_rates_ok(const ModelRates *r)
{
    return within(r->math, 1e-4, 1e4) && within(r->local, 1e-4, 1e4) && within(r->l2, 1e-4, 1e4) &&
           within(r->dram, 1e-4, 1e4) && within(r->store, 1e-4, 1e4) && within(r->launch_s, 0, 1) &&
           within(r->group_clocks, 0, 1e9) && within(r->load_clocks, 0, 1e9) &&
           within(r->step_clocks, 0, 1e9) && within(r->cluster_clocks, 0, 1e9) &&
           within(r->slow, 1e-4, 1e4) && within(r->chunk_clocks, 0, 1e9) && within(r->split_s, 0, 1) &&
           within(r->power, 0, 10);
}
