/* Launch: tensor maps after the arguments of a main kernel (tensor_map.h). */
#include "client/runtime/launch_priv.h"
#include "problem/copy_engine.h"

/* K or alpha is 0: kernels read only elements outside the matrix, for which the copy engine returns zeros;
 * the address does not matter. */
static void nothing(const void *address, uint64_t bytes, TensorMap *out)
{
    enum { STEP = 16 };
    for (int i = 0; i < 2; i++)
        if (out->size[i] == 0) out->size[i] = 1;
    out->address = (uint64_t)(uintptr_t)address & ~(uint64_t)(STEP - 1);
    out->stride[0] = (out->size[0] * bytes + STEP - 1) / STEP * STEP;
    out->stride[1] = out->stride[0] * out->size[1];
}

/* A or B as the kernel reads it, maybe the copy. */
static void describe_operand(const Helper *h, unsigned tensor, uint64_t bytes, TensorMap *out)
{
    const PackedOperand x = packed_operand(h->p, h->s, tensor);
    out->size[0] = x.line, out->size[1] = x.lines;
    if (!launch_reads_ab(h->p)) nothing(h->in->d, bytes, out);
    if (!x.is_copied) return;
    out->address = packed_address(h, tensor);
    out->stride[0] = x.ld, out->stride[1] = x.matrix;
}

/* The dimension of a box's rows: in a matrix the second one; in a filter, whose elements are taken one by
 * one, the last one. */
static int across(const TensorMap *m) { return m->rank == 3 ? 1 : m->rank - 1; }

static bool accumulates(const LibSolution *s)
{
    int32_t acc = s->map.global_accumulation;
    return acc == GLOBAL_ACC_SINGLE || acc == GLOBAL_ACC_MULTIPLE;
}

/* The sums of parts of K in the workspace, without gaps: all matrices of a part, then those of the next. */
static void describe_parts(const Helper *h, TensorMap *out)
{
    const Contraction *p = h->p;
    const DataType type = (DataType)p->compute_type;
    const uint64_t row = (uint64_t)p->m * (uint64_t)type_bytes(type);
    *out = (TensorMap){
        .address = (uint64_t)(uintptr_t)h->in->workspace,
        .rank = 3,
        .type = (int)type,
        .size = {(uint64_t)p->m, (uint64_t)p->n, (uint64_t)p->batch * (uint64_t)h->s->map.global_split_u},
        .stride = {row, row * (uint64_t)p->n}};
}

/* Describes the matrix in memory order: contiguous dimension, the other one, batch. */
static void describe(const Helper *h, unsigned tensor, TensorMap *out)
{
    const Contraction *p = h->p;
    const LaunchInputs *in = h->in;
    const void *const base[] = {in->a, in->b, in->c, in->d};
    const int64_t offset[] = {in->offset_a, in->offset_b, in->offset_c, in->offset_d};
    const int64_t *const stride[] = {p->a, p->b, p->c, p->d};
    DataType type = tensor_type(p, tensor);
    uint64_t bytes = (uint64_t)type_bytes(type);
    *out = (TensorMap){.address = (uint64_t)(uintptr_t)base[tensor] + (uint64_t)offset[tensor] * bytes,
                       .type = (int)type,
                       .rank = 3,
                       .size = {(uint64_t)p->m, (uint64_t)p->n, (uint64_t)p->batch},
                       .stride = {(uint64_t)stride[tensor][1] * bytes, (uint64_t)stride[tensor][2] * bytes}};
    if (tensor < 2) describe_operand(h, tensor, bytes, out);
    /* with one matrix the batch stride may have any value */
    if (p->batch == 1) out->stride[1] = out->stride[0] * out->size[1];
}

bool tensor_maps_fit(const LibSolution *s, const Contraction *p)
{
    if (s->map.n_tensor_maps && (p->m < 1 || p->n < 1 || p->batch < 1)) return false;
    if (s->map.n_tensor_maps && !s->strided_batched)
        return false; /* a map is of one array, not of pointers */
    if (s->map.keep_window && !keep_fits(s, p)) return false;
    if (s->map.n_tensor_maps && is_window(p)) return window_fits(s, p);
    for (int i = 0; i < s->map.n_tensor_maps; i++) {
        const unsigned t = s->map.tensor_map[i].tensor;
        if (!engine_map_fits(p, t, s->map.pack_operands & 1 << t, accumulates(s))) return false;
    }
    return true;
}

Err put_tensor_maps(const Helper *h, Args *a)
{
    const SizeMapping *m = &h->s->map;
    if (m->n_tensor_maps == 0) return ERR_OK;
    if (!h->s->strided_batched)
        FAIL(ERR_INPUT, "kernel %s takes tensor maps, which arrays of pointers cannot have", h->s->name);
    if (is_window(h->p)) TRY(put_window(h, a));
    put_align(a, TENSOR_MAP_ALIGN);
    for (int i = 0; i < m->n_tensor_maps; i++) {
        const TensorMapSpec *spec = &m->tensor_map[i];
        TensorMap map;
        const unsigned t = spec->tensor == 2 && !h->in->c ? 3 : spec->tensor; /* NULL where beta is 0 */
        if (is_window(h->p))
            TRY(describe_window(h, t, &map));
        else if (t > 1 && accumulates(h->s))
            describe_parts(h, &map);
        else
            describe(h, t, &map);
        if (spec->tensor < 2 && map.type == TYPE_S && h->s->f32_xdl == TYPE_X) map.type = TYPE_X;
        for (int d = 0; d < map.rank; d++) map.box[d] = 1;
        map.box[0] = spec->box[0];
        map.box[map.pixels ? 1 : across(&map)] = spec->box[1];
        map.swizzle = spec->swizzle;
        map.l2 = spec->l2;
        const TensorMapEncoder *maps = h->in->maps;
        Err e = ERR_OK;
        if (maps)
            e = maps->encode(maps->ctx, &map, a->at + a->n);
        else
            memset(a->at + a->n, 0, TENSOR_MAP_BYTES);
        if (e) return err_context(e, "kernel %s: tensor map of %c: ", h->s->name, "ABCD"[spec->tensor]);
        a->n += TENSOR_MAP_BYTES;
    }
    return ERR_OK;
}
