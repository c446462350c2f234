/* Launch: the parts of problems whose grids exceed a device's limit. See launch.h. */
#include "client/runtime/launch_priv.h"

enum { WHOLE_TILES = 64 }; /* tiles per part are multiples of it, to satisfy the solutions' assertions */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Columns of D and matrices of the batch that one launch may have; at least 1 each. */
static void part_size(const Contraction *p, const LibSolution *s, const LaunchHardware *hw, uint64_t *columns,
                      uint64_t *matrices)
{
    const SizeMapping *m = &s->map;
    uint64_t n = (uint64_t)p->n, batch = (uint64_t)p->batch;
    *columns = n, *matrices = batch;
    if (!hw || !hw->grid_limit || n == 0 || batch == 0 || p->dims) return;
    uint64_t limit = hw->grid_limit, side = (uint64_t)m->macro_tile[1];
    uint64_t tiles = limit / (uint64_t)m->global_split_u;
    bool packed = m->pack_batch_dims & 2; /* then tiles along N hold columns of all matrices */
    Geometry g;
    geometry_init(&g, p, s, hw);
    if (g.grid[2] > limit) *matrices = limit;
    if (g.grid[1] <= limit) return;
    if (packed)
        *matrices = least(batch, tiles * side / n ? tiles * side / n : 1);
    else if (tiles)
        *columns = (tiles > WHOLE_TILES ? tiles - tiles % WHOLE_TILES : tiles) * side;
}

/* Moves an operand to the part's first element; in general batched problems along the batch, the array of
 * pointers. */
static void move(const LibSolution *s, const void **base, int64_t *offset, const int64_t stride[3], int along,
                 uint64_t first, uint64_t matrix)
{
    *offset += (int64_t)first * (along < 0 ? 0 : stride[along]);
    if (s->strided_batched)
        *offset += (int64_t)matrix * stride[2];
    else if (*base)
        *base = (const void *const *)*base + matrix;
}

bool launch_part(const Contraction *p, const LibSolution *s, const LaunchInputs *in, const LaunchHardware *hw,
                 uint64_t i, LaunchPart *out)
{
    uint64_t n = (uint64_t)p->n, batch = (uint64_t)p->batch, columns, matrices;
    const void *d = in->d;
    part_size(p, s, hw, &columns, &matrices);
    bool whole = columns >= n && matrices >= batch;
    if (whole && i > 0) return false;
    out->problem = *p, out->in = *in;
    if (whole) return true;
    uint64_t along = ceil_div(n, columns), first = i % along * columns, matrix = i / along * matrices;
    if (matrix >= batch) return false;
    out->problem.n = (int64_t)least(columns, n - first);
    out->problem.batch = (int64_t)least(matrices, batch - matrix);
    move(s, &out->in.a, &out->in.offset_a, p->a, -1, first, matrix);
    move(s, &out->in.b, &out->in.offset_b, p->b, p->trans_b ? 0 : 1, first, matrix);
    move(s, &out->in.c, &out->in.offset_c, p->c, 1, first, matrix);
    move(s, &d, &out->in.offset_d, p->d, 1, first, matrix);
    out->in.d = (void *)(uintptr_t)d;
    for (int o = 0; o < FUSED_OPERANDS; o++) {
        const bool bias = o == FUSED_BIAS;
        const DataType type = bias ? s->fused.bias_type : (DataType)p->compute_type;
        int64_t by = fused_along(&s->fused, (FusedOperand)o) == ALONG_N ? (int64_t)first : 0;
        if (bias) by += (int64_t)matrix * in->bias_batch;
        if (in->fused[o]) out->in.fused[o] = (const char *)in->fused[o] + by * type_bytes(type);
    }
    return true;
}
