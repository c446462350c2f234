/* Launch: the helper kernel that copies operands into the workspace (problem/pack.h), where they lie, and
 * when that is needed. */
#include "client/runtime/launch_priv.h"
#include "problem/copy_engine.h"

enum { PACK_WORK_GROUP = 256 };

static uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }

PackedOperand packed_operand(const Contraction *p, const LibSolution *s, unsigned operand)
{
    const uint64_t side = (uint64_t)(operand ? p->n : p->m), k = (uint64_t)p->k;
    const int bytes = type_bytes(tensor_type(p, operand));
    const bool k_major = operand ? !p->trans_b : p->trans_a;
    const bool may = s->map.pack_operands & 1 << operand;
    PackedOperand x = {.transposes = may && pack_transposes(bytes, k_major)};
    const bool along_k = k_major || x.transposes;
    x.line = along_k ? k : side;
    x.lines = along_k ? side : k;
    x.ld = round_up(x.line * (uint64_t)bytes, PACK_LINE_BYTES);
    if (__builtin_mul_overflow(x.ld, x.lines, &x.matrix)) x.matrix = UINT64_MAX;
    x.is_copied =
        may && launch_reads_ab(p) && side > 0 && p->batch > 0 && (x.transposes || !engine_takes(p, operand));
    return x;
}

/* Bytes of one operand's packed copy, of all matrices of the batch; the next copy may begin right after
 * it. */
static uint64_t copy_bytes(const Contraction *p, const LibSolution *s, unsigned operand)
{
    const PackedOperand x = packed_operand(p, s, operand);
    uint64_t bytes;
    if (!x.is_copied) return 0;
    if (__builtin_mul_overflow(x.matrix, (uint64_t)p->batch, &bytes) || bytes > UINT64_MAX / 4)
        return UINT64_MAX / 4;
    return round_up(bytes, PACK_START_BYTES);
}

uint64_t launch_pack_bytes(const Contraction *p, const LibSolution *s)
{
    const uint64_t bytes = copy_bytes(p, s, 0) + copy_bytes(p, s, 1);
    if (bytes == 0) return 0;
    return bytes >= UINT64_MAX / 4 ? UINT64_MAX : bytes + PACK_START_BYTES; /* the results may end anywhere */
}

uint64_t packed_address(const Helper *h, unsigned operand)
{
    return round_up(h->copies, PACK_START_BYTES) + (operand ? copy_bytes(h->p, h->s, 0) : 0);
}

/* The groups may be more than 32 bits count; the caller gets all of them. */
static PackArgs pack_args(const Helper *h, unsigned operand, uint64_t *groups)
{
    const Contraction *p = h->p;
    const PackedOperand x = packed_operand(p, h->s, operand);
    const int64_t *stride = operand ? p->b : p->a;
    const DataType type = tensor_type(p, operand);
    const uint64_t bytes = (uint64_t)type_bytes(type);
    const void *base = operand ? h->in->b : h->in->a;
    const int64_t offset = operand ? h->in->offset_b : h->in->offset_a;
    *groups = 0;
    if (!x.is_copied) return (PackArgs){0};
    const uint64_t lines = x.transposes ? x.line : x.lines;
    PackArgs out = {.to = packed_address(h, operand),
                    .from = (uint64_t)(uintptr_t)base + (uint64_t)offset * bytes,
                    .ld = (uint64_t)stride[1] * bytes,
                    .matrix = (uint64_t)stride[2] * bytes,
                    .to_ld = x.ld,
                    .to_matrix = x.matrix,
                    .line_bytes = (x.transposes ? x.lines : x.line) * bytes,
                    .lines = (uint32_t)lines,
                    .transposes = x.transposes};
    const uint64_t tiles = ceil_div(out.line_bytes, PACK_TILE_BYTES), rows = ceil_div(lines, PACK_TILE_LINES);
    if (__builtin_mul_overflow(tiles * rows, (uint64_t)p->batch, groups)) *groups = UINT64_MAX / 4;
    out.tiles = (uint32_t)tiles, out.per_matrix = (uint32_t)(tiles * rows), out.groups = (uint32_t)*groups;
    return out;
}

Err pack_call(const Helper *h, LaunchList *out)
{
    uint64_t groups[2];
    const PackArgs operand[2] = {pack_args(h, 0, &groups[0]), pack_args(h, 1, &groups[1])};
    const uint64_t grid[3] = {groups[0] + groups[1], 1, 1};
    Args a;
    if (grid[0] == 0) return ERR_OK;
    const char *name = pack_kernel_name(type_bytes(tensor_type(h->p, 0)));
    if (!name)
        FAIL(ERR_INPUT, "kernel %s: operands of %d bytes are not copied", h->s->name,
             type_bytes(tensor_type(h->p, 0)));
    TRY(call_add(out, CALL_PACK, name, grid, PACK_WORK_GROUP, &a));
    put_struct(&a, operand, sizeof operand);
    out->call[out->n - 1].dependent = h->s->map.dependent_launch;
    return call_done(out, &a);
}
