/* Launch: arguments of contractions that are no GEMM (problem/indices.h), in the order of Tensile's
 * ContractionSolution::generateSingleCall. */
#include "client/runtime/launch_priv.h"

void put_dim_strides(Args *a, const IndexSizes *x, int t, int first)
{
    for (int32_t i = first; i < x->indices.tensor[t].n; i++) put_size(a, x->stride[t][i]);
}

static int64_t packed_stride(const IndexSizes *x, int32_t dim)
{
    int64_t stride = 1;
    for (int32_t i = 0; i < dim; i++) stride *= x->size[i];
    return stride;
}

void put_workspace_strides(Args *a, const IndexSizes *x, int first)
{
    for (int32_t i = first; i < x->indices.of_d; i++) put_size(a, packed_stride(x, i));
}

void put_dim_beta_strides(Args *a, const IndexSizes *x, int t, bool workspace, int first)
{
    for (int32_t i = first; i < x->indices.of_d; i++) {
        const int64_t stride = workspace ? packed_stride(x, i) : x->stride[t][i];
        put_size(a, x->size[i] == 1 ? 0 : stride);
    }
}

void put_dim_sizes(Args *a, const IndexSizes *x, int n, bool empty)
{
    for (int i = 0; i < n; i++) put_size(a, empty && i == x->indices.n - 1 ? 0 : x->size[i]);
}

uint64_t dim_elements(const IndexSizes *x, int t, bool with_batch)
{
    const IndexList *l = &x->indices.tensor[t];
    uint64_t n = 1;
    for (int32_t i = 0; i < l->n; i++)
        if (with_batch || !index_list_has(&x->indices.group[INDICES_BATCH], l->v[i]))
            n += (uint64_t)x->stride[t][i] * ((uint64_t)x->size[l->v[i]] - 1);
    return n;
}

/* All packed indices of A or B but the last. */
static void put_packed_sizes(Args *a, const IndexSizes *x, const SizeMapping *map, int t)
{
    Indices packed = x->indices;
    indices_pack(&packed, map->pack_batch_dims & (t ? 2 : 1));
    const IndexList *g = &packed.group[t ? INDICES_N : INDICES_M];
    for (int32_t i = 0; i + 1 < g->n; i++) put_magic(a, map->magic_div_alg, (uint64_t)x->size[g->v[i]]);
}

/* The problem's number of a solution's pad; -1: it does not have it. */
static int32_t pad_find(const IndexSizes *x, const ZeroPadSpec *spec)
{
    const int t = spec->tensor;
    for (int32_t i = 0; i < x->indices.n_pads[t]; i++)
        if (x->indices.pad[t][i].free == spec->free && x->indices.pad[t][i].sum == spec->sum) return i;
    return -1;
}

/* Whether all positions along the pad's dimension are inside the tensor. */
static bool pad_is_empty(const IndexSizes *x, int t, int32_t pad)
{
    const int32_t index[] = {x->indices.pad[t][pad].free, x->indices.pad[t][pad].sum};
    int64_t last = 0;
    for (int i = 0; i < 2; i++) {
        const int32_t dim = index_list_find(&x->indices.tensor[t], index[i]);
        if (dim >= 0) last += (x->size[index[i]] - 1) * x->stride[t][dim];
    }
    return x->pad_start[t][pad] == 0 && last < index_pad_edge(x, t, pad);
}

bool zero_pads_fit(const LibSolution *s, const Contraction *p)
{
    const SizeMapping *m = &s->map;
    if (!p->dims) return m->n_zero_pads == 0;
    for (uint8_t i = 0; i < m->n_zero_pads; i++)
        if (pad_find(p->dims, &m->zero_pad[i]) < 0) return false;
    for (int t = 0; t < 2; t++)
        for (int32_t pad = 0; pad < p->dims->indices.n_pads[t]; pad++) {
            bool taken = false;
            for (uint8_t i = 0; i < m->n_zero_pads; i++)
                taken |= m->zero_pad[i].tensor == t && pad_find(p->dims, &m->zero_pad[i]) == pad;
            if (!taken && !pad_is_empty(p->dims, t, pad)) return false;
        }
    return true;
}

void put_dim_numbers(Args *a, const IndexSizes *x, const SizeMapping *map)
{
    const IndexList *k = &x->indices.group[INDICES_K]; /* the unrolled index first */
    for (int32_t i = k->n - 1; map->pack_summation_dims && i-- > 0;) {
        int64_t n = x->size[k->v[i]];
        const int64_t chunks = (int64_t)map->depth_u * map->global_split_u;
        if (i == 0) n = n / chunks * map->depth_u;
        put_magic(a, map->magic_div_alg, (uint64_t)n);
        if (i == 0 && map->global_split_u > 1) put_magic(a, map->magic_div_alg, (uint64_t)(n + map->depth_u));
    }
    for (int t = 0; t < 2; t++) put_packed_sizes(a, x, map, t);
    for (int32_t i = k->n; i-- > 0;)
        for (int t = 0; t < 2; t++)
            for (uint8_t pad = 0; pad < map->n_zero_pads; pad++) {
                const int32_t at = pad_find(x, &map->zero_pad[pad]);
                if (map->zero_pad[pad].tensor != t || map->zero_pad[pad].sum != k->v[i]) continue;
                put_size(a, at < 0 ? 0 : x->pad_start[t][at]);
                put_size(a, at < 0 ? 0 : x->pad_end[t][at]);
            }
}
