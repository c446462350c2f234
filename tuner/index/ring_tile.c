/* Layout of a ring's stages in shared memory. See ring_tile.h. */
#include "index/ring_tile.h"

enum { CHUNK = 16, ALIGN = 128 };

/* Rows that lanes read at once must begin in different banks: chunks of eight rows fill all of them. Rows of
 * less than 128 bytes share a line of banks. Of 4-byte and longer elements along the free dimension four rows
 * are read at once, two chunks each; of bytes, every fourth of sixteen rows. */
static RingSwizzle swizzle_of(const RingOperand *x)
{
    int chunks = (x->tlu ? x->tile : x->depth) * x->bytes / CHUNK;
    if (!x->matrix || x->shifts) return SWIZZLE_NONE;
    if (x->bytes == 8 || (x->bytes == 4 && x->tlu)) return SWIZZLE_QUAD;
    if (x->bytes == 1 && x->tlu) return SWIZZLE_QUAD4;
    switch (chunks & -chunks) {
    case 1:
        return SWIZZLE_NONE;
    case 2:
        return SWIZZLE_ROW1;
    case 4:
        return SWIZZLE_ROW3;
    default:
        return SWIZZLE_ROW7;
    }
}

RingTile ring_tile(const RingOperand *x)
{
    bool transposed = !x->matrix && !x->tlu && !x->vectors, along_free = x->tlu || transposed;
    int pad = transposed || x->vectors ? CHUNK : x->shifts ? x->tlu ? 2 * CHUNK : CHUNK : 0;
    RingTile t = {.rows = along_free ? x->depth : x->tile,
                  .row_bytes = (along_free ? x->tile : x->depth) * x->bytes,
                  /* the rows of A that lanes read at once are a run apart, those of B are neighbours */
                  .every = x->vectors && x->first ? CHUNK / x->bytes : 1,
                  .transposed = transposed,
                  .swizzle = swizzle_of(x),
                  .element_bytes = x->bytes,
                  .depth = x->depth};
    if (t.every == 1)
        t.row_bytes += pad;
    else
        t.gap = pad;
    t.bytes = (t.rows * t.row_bytes + t.rows / t.every * t.gap + ALIGN - 1) / ALIGN * ALIGN;
    return t;
}

const Expr *ring_row(ExprPool *p, const RingTile *t, const Expr *row)
{
    const Expr *gaps = expr_mul_i(p, expr_div_i(p, row, t->every), t->gap);
    return expr_add(p, expr_mul_i(p, row, t->row_bytes), gaps);
}

const Expr *ring_swizzle(ExprPool *p, const RingTile *t, const Expr *row)
{
    int mask = t->row_bytes / CHUNK - 1;
    switch (t->swizzle) {
    case SWIZZLE_ROW7:
        return expr_mod_i(p, row, 8);
    case SWIZZLE_ROW3:
        return expr_mod_i(p, expr_div_i(p, row, 2), 4);
    case SWIZZLE_ROW1:
        return expr_mod_i(p, expr_div_i(p, row, 4), 2);
    case SWIZZLE_QUAD:
        return expr_and_i(p, expr_mul_i(p, expr_mod_i(p, row, 4), 2), mask);
    case SWIZZLE_QUAD4:
        return expr_and_i(p, expr_mul_i(p, expr_mod_i(p, expr_div_i(p, row, 4), 4), 2), mask);
    default:
        return expr_const(p, 0);
    }
}

const Expr *ring_at(ExprPool *p, const RingTile *t, const Expr *row, const Expr *byte)
{
    const Expr *chunk = expr_op(p, EXPR_XOR, expr_div_i(p, byte, CHUNK), ring_swizzle(p, t, row));
    return expr_add(p, expr_add(p, ring_row(p, t, row), expr_mul_i(p, chunk, CHUNK)),
                    expr_mod_i(p, byte, CHUNK));
}

const Expr *ring_element_swizzle(ExprPool *p, const RingTile *t, const Expr *k)
{
    int run = CHUNK / t->element_bytes;
    const Expr *eights = expr_div_i(p, k, 8);
    if (!t->transposed || t->depth < 16 || run == 1) return expr_const(p, 0);
    if (run == 2) return expr_mod_i(p, eights, 2);
    return t->depth < 32 ? expr_mul_i(p, expr_mod_i(p, eights, 2), 2) : expr_mod_i(p, eights, 4);
}

RingResults ring_results(const int tile[2], int parts, int run, int sum_bytes, int splits)
{
    RingResults r = {.line = tile[0] + run * (run * sum_bytes >= CHUNK ? 1 : 4), .slots = tile[1] / parts};
    r.bytes = (int64_t)r.line * r.slots * sum_bytes * splits;
    return r;
}

/* Each thread fills about one entry of a block. The chunks that are copied before the main loop lie in the
 * first one. */
RingTable ring_table(int n_threads, int depth, int ahead, int pads)
{
    const int least = ahead + 2, even = n_threads / depth, chunks = even > least ? even : least;
    RingTable t = {.entry_bytes = pads > 2 ? 2 * CHUNK : CHUNK, .chunks = chunks, .entries = chunks * depth};
    t.operand_bytes = RING_BLOCKS * t.entries * t.entry_bytes;
    t.bytes = 2 * t.operand_bytes;
    return t;
}

int64_t ring_local_bytes(int64_t stages, int64_t results, bool separate)
{
    enum { UNIT = 128 };
    results = (results + UNIT - 1) / UNIT * UNIT;
    if (separate) return stages + results;
    return results > stages ? results : stages;
}
