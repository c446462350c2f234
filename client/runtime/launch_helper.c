/* Launch: the helper kernels around the main one: beta-only, post-GSU, StreamK flags. Source: Tensile's
 * ContractionSolution.cpp. */
#include "client/runtime/launch_priv.h"

enum { HELPER_WORK_GROUP = 256 };

static uint64_t outputs(const Contraction *p) { return (uint64_t)p->m * (uint64_t)p->n * (uint64_t)p->batch; }

static void put_offsets_dc(const Helper *h, Args *a)
{
    if (h->s->strided_batched) return;
    put_u64(a, (uint64_t)h->in->offset_d);
    put_u64(a, (uint64_t)h->in->offset_c);
}

static void put_sizes(const Helper *h, Args *a)
{
    if (h->p->dims) {
        put_dim_sizes(a, h->p->dims, h->p->dims->indices.of_d, false);
        return;
    }
    put_size(a, h->p->m);
    put_size(a, h->p->n);
    if (h->p->batched) put_size(a, h->p->batch);
}

/* A dimension of one element has stride 0 here. */
static void put_beta_strides(const Helper *h, Args *a, const int64_t stride[3])
{
    put_size(a, h->p->n == 1 ? 0 : stride[1]);
    if (h->p->batched) put_size(a, h->p->batch == 1 ? 0 : stride[2]);
}

Err beta_only_call(const Helper *h, LaunchList *out)
{
    const uint64_t grid[3] = {(outputs(h->p) + HELPER_WORK_GROUP - 1) / HELPER_WORK_GROUP, 1, 1};
    const int64_t packed[3] = {1, h->p->m, h->p->m * h->p->n};
    bool accumulates = h->s->map.global_accumulation != GLOBAL_ACC_NONE;
    Args a;
    TRY(call_add(out, CALL_BETA_ONLY, h->s->beta_only, grid, HELPER_WORK_GROUP, &a));
    if (accumulates)
        put_ptr(&a, h->in->workspace);
    else
        put_tensor(&a, h->s, h->in->d, h->in->offset_d, tensor_type(h->p, 3));
    put_tensor(&a, h->s, h->in->c, h->in->offset_c, tensor_type(h->p, 2));
    put_offsets_dc(h, &a);
    if (h->p->dims) {
        const int first = h->s->use_initial_strides_cd ? 0 : 1;
        put_dim_beta_strides(&a, h->p->dims, 3, accumulates, first);
        put_dim_beta_strides(&a, h->p->dims, 2, false, first);
    } else {
        put_beta_strides(h, &a, accumulates ? packed : h->p->d);
        put_beta_strides(h, &a, h->p->c);
    }
    put_sizes(h, &a);
    put_scalar(&a, h->p, h->in->beta);
    return call_done(out, &a);
}

/* ---- post-GSU ---- */

static Reduction reduction_of(const Helper *h)
{
    bool multiple = h->s->map.global_accumulation == GLOBAL_ACC_MULTIPLE;
    bool wide = h->p->compute_type == TYPE_S || h->p->compute_type == TYPE_D;
    Reduction r = {.gsu = multiple ? (uint32_t)h->s->map.global_split_u : 1, 1, 1, 1};
    uint64_t total = outputs(h->p), threads = h->g->cu * HELPER_WORK_GROUP;
    if (!wide) return r;
    /* pairs are neighbours along D's first index */
    const int64_t row = h->p->dims ? h->p->dims->size[0] : h->p->m;
    const bool pairs = !h->p->dims || !fused_any(&h->s->fused);
    if (total > 2 * threads && row % 2 == 0 && pairs) r.width = 2;
    uint32_t most = r.gsu / 32 < 4 ? r.gsu / 32 : 4; /* at least 32 parts for each reducer */
    if ((r.gsu & (r.gsu - 1)) == 0 && most > 1) {
        r.reducers = most;
        while (r.reducers > 1 && (r.gsu % r.reducers || total * r.reducers / r.width > threads))
            r.reducers /= 2;
        if (r.reducers == 2 && h->p->compute_type == TYPE_S) r.reducers = 1;
    }
    if (multiple) r.unit = 16 * r.reducers;
    return r;
}

/* One or zero of the compute type. */
static void constant(unsigned char out[16], uint8_t type, bool one)
{
    memset(out, 0, 16);
    if (!one) return;
    float f = 1;
    double d = 1;
    uint16_t half = type == TYPE_B ? 0x3f80 : 0x3c00;
    int32_t i = 1;
    if (type == TYPE_D || type == TYPE_Z)
        memcpy(out, &d, 8);
    else if (type == TYPE_H || type == TYPE_B)
        memcpy(out, &half, 2);
    else if (type == TYPE_I || type == TYPE_I8)
        memcpy(out, &i, 4);
    else
        memcpy(out, &f, 4);
}

Err post_gsu_call(const Helper *h, LaunchList *out)
{
    Reduction r = reduction_of(h);
    uint64_t per_group = (uint64_t)HELPER_WORK_GROUP * r.width;
    const uint64_t grid[3] = {(outputs(h->p) * r.reducers + per_group - 1) / per_group, 1, 1};
    const int64_t packed[3] = {1, h->p->m, h->p->m * h->p->n};
    bool multiple = h->s->map.global_accumulation == GLOBAL_ACC_MULTIPLE;
    unsigned char one[16], zero[16];
    Args a;
    helper_reduction_name(h->s->post_gsu, &r, out->symbol);
    TRY(call_add(out, CALL_POST_GSU, out->symbol, grid, HELPER_WORK_GROUP, &a));
    constant(one, h->p->compute_type, true);
    constant(zero, h->p->compute_type, false);
    put_tensor(&a, h->s, h->in->d, h->in->offset_d, tensor_type(h->p, 3));
    put_ptr(&a, h->in->workspace);
    put_tensor(&a, h->s, h->in->c, h->in->offset_c, tensor_type(h->p, 2));
    put_offsets_dc(h, &a);
    put_scalar(&a, h->p, multiple ? h->in->alpha : one);
    put_scalar(&a, h->p, multiple && h->s->use_beta ? h->in->beta : zero);
    if (h->p->dims) {
        const int first = h->s->use_initial_strides_cd ? 0 : 1;
        put_dim_strides(&a, h->p->dims, 3, first);
        put_workspace_strides(&a, h->p->dims, first);
        put_dim_strides(&a, h->p->dims, 2, first);
    } else {
        put_strides(&a, h->p, h->p->d, 1);
        put_strides(&a, h->p, packed, 1);
        put_strides(&a, h->p, h->p->c, 1);
    }
    put_sizes(h, &a);
    put_u32(&a, r.gsu);
    if (h->s->stochastic_rounding) put_u32(&a, h->in->rnd_seed);
    if (multiple) put_fused(h, &a);
    out->call[out->n - 1].dependent = h->s->map.dependent_launch;
    return call_done(out, &a);
}

/* ---- StreamK ---- */

Err streamk_init_call(const Helper *h, LaunchList *out)
{
    WorkspaceParts parts = workspace_parts(h->s, h->g);
    uint64_t n = parts.n_flags;
    const uint64_t grid[3] = {(n + HELPER_WORK_GROUP - 1) / HELPER_WORK_GROUP, 1, 1};
    Args a;
    TRY(call_add(out, CALL_STREAMK_INIT, "WSFlags", grid, HELPER_WORK_GROUP, &a));
    put_u64(&a, (uint64_t)(uintptr_t)h->in->workspace + parts.sum_bytes);
    put_u32(&a, (uint32_t)n);
    out->call[out->n - 1].dependent = h->s->map.dependent_launch;
    return call_done(out, &a);
}
